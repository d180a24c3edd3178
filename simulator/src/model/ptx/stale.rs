//! Loads that read something older than memory holds: which, what they passed over, and which edge was missing.
//!
//! Kept are kinds: a load and the write that it passed over, as instructions, with how often and one example, not long
//! before the last. What
//! the program meant is not known: a spinning load that reads an old flag is among them, marked as one of two
//! accesses that synchronise.
//!
//! The missing edge is found from what threads did last: has the reader come across the writer's release without acquiring
//! it? Had the writer, or who met it at a barrier, released behind its write? Has the reader, or who met it, acquired
//! since? Did their scopes take each other in? If all that is so, no strong access of the one has read one of the other.

use rustc_hash::FxHashMap;

use super::PtxMachine;
use super::chains::NONE;
use crate::model::LackingEdge;
use bugaroo_semantics::location::Location;
use bugaroo_semantics::scope::{Scope, Strength, ThreadKey, includes, morally_strong};

/// Loads that read something older than the last value of their location, all by one instruction, passing over writes
/// by one instruction. What it says of threads, place and edge is of one of them, whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct StaleRead {
    pub reader: ThreadKey,
    pub load: u32,
    pub location: Location,
    /// Who wrote the value that was passed over, and by what.
    pub writer: ThreadKey,
    pub write: u32,
    pub missing: LackingEdge,
    /// Load and write are morally strong: what one reads of the other is how they synchronise.
    pub synchronising: bool,
    pub count: u64,
    /// Larger than that of earlier ones.
    last: u64,
}

/// Kinds that are kept.
const MOST_KINDS: usize = 128;

/// The kinds of a launch.
#[derive(Debug, Default)]
pub(super) struct StaleReads {
    kinds: FxHashMap<(u32, u32), StaleRead>,
    serial: u64,
}

/// A thread's last release or acquire.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub time: u64,
    pub scope: Scope,
}

impl Default for Edge {
    fn default() -> Edge {
        Edge { time: 0, scope: Scope::Cta }
    }
}

impl PtxMachine {
    /// A thread reads a message of a granule: if others are later, that is noted.
    pub(super) fn note_stale(
        &mut self,
        slot: usize,
        location: Location,
        read: u32,
        strength: Strength,
        origin: u32,
    ) {
        let Some(chain) = self.histories.chain_as_is(location) else { return };
        let (mut missed, mut index) = (NONE, chain.last);
        while index != read && index != NONE {
            missed = index;
            index = self.histories.chains.message(index).links.older;
        }
        if missed == NONE || index == NONE {
            return;
        }
        let (message, key) = (self.histories.chains.message(missed), self.threads[slot].key);
        let (writer, written, by, time) =
            (message.by.thread, message.strength, message.by.origin, message.time);
        self.told.stale.serial += 1;
        let serial = self.told.stale.serial;
        let count = 1 + self.told.stale.kinds.get(&(origin, by)).map_or(0, |kind| kind.count);
        if count == 1 && self.told.stale.kinds.len() >= MOST_KINDS {
            return;
        }
        // Which edge was missing takes a search: for some of the reads, later and later ones.
        let kind = if count.is_power_of_two() {
            StaleRead {
                reader: key,
                load: origin,
                location,
                writer,
                write: by,
                missing: self.missing(slot, writer, time),
                synchronising: morally_strong((key, strength), (writer, written)),
                count,
                last: serial,
            }
        } else {
            let kind = self.told.stale.kinds[&(origin, by)];
            StaleRead { count, last: serial, ..kind }
        };
        self.told.stale.kinds.insert((origin, by), kind);
    }

    /// Which edge was missing between a write and a thread that doesn't know it.
    fn missing(&self, slot: usize, writer: ThreadKey, time: u64) -> LackingEdge {
        let reader = &self.threads[slot];
        // Whoever met the thread at a barrier behind may release for it, and before, acquire for it.
        let mates = |of: ThreadKey| {
            self.threads
                .iter()
                .filter(move |mate| mate.key.cta() == of.cta() && mate.key != ThreadKey::NOBODY)
        };
        let acquirers = || mates(reader.key).filter(|mate| mate.key == reader.key || mate.edges.met > time);
        let banked = acquirers().flat_map(|mate| mate.hands.bank.values().map(move |banked| (mate, banked)));
        let mut reached = banked.filter_map(|(mate, banked)| {
            let (wide, any) = banked.entries.as_ref()?.knows(writer, time);
            any.then_some((mate, banked.time, wide))
        });
        if let Some((mate, since, wide)) = reached.next() {
            let other = mate.key.cta() != writer.cta();
            let narrow = other
                && (!wide || mate.edges.acquired.time >= since && mate.edges.acquired.scope == Scope::Cta);
            return if narrow { LackingEdge::Scope } else { LackingEdge::Acquire };
        }
        let releasers = || mates(writer).filter(|mate| mate.key == writer || mate.edges.met > time);
        let release = releasers()
            .map(|mate| mate.edges.released)
            .filter(|edge| edge.time >= time)
            .max_by_key(|edge| edge.time);
        let Some(release) = release else { return LackingEdge::Release };
        if !includes(release.scope, writer, reader.key) {
            return LackingEdge::Scope;
        }
        let acquire = acquirers()
            .map(|mate| mate.edges.acquired)
            .filter(|edge| edge.time > time)
            .max_by_key(|edge| edge.time);
        let Some(acquire) = acquire else { return LackingEdge::Acquire };
        if !includes(acquire.scope, reader.key, writer) {
            return LackingEdge::Scope;
        }
        LackingEdge::Strong
    }

    /// The stale reads: those first that are between accesses which do not synchronise, the last first.
    pub(super) fn stale_reads(&self) -> Vec<StaleRead> {
        let mut all: Vec<StaleRead> = self.told.stale.kinds.values().copied().collect();
        all.sort_unstable_by_key(|kind| (kind.synchronising, std::cmp::Reverse(kind.last)));
        all
    }
}

#[cfg(test)]
mod tests;
