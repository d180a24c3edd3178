//! Loads that read something older than memory holds: which, what they passed over, and which edge was missing.
//!
//! Kept are kinds: a load and the write that it passed over, as instructions, with how often and the last example. What
//! the program meant is not known: a spinning load that reads an old flag is among them, marked as one of two
//! accesses that synchronise.
//!
//! The missing edge is found from what threads did last: has the reader come across the writer's release without acquiring
//! it? Had the writer, or who met it at a barrier, released behind its write? Has the reader, or who met it, acquired
//! since? Did their scopes take each other in? If all that is so, no strong access of the one has read one of the other.

use rustc_hash::FxHashMap;

use super::history::NONE;
use super::scope::{Scope, Strength, ThreadKey, morally_strong};
use super::{Machine, Missing, StaleRead};

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

impl Machine {
    /// A thread reads a message of a granule: if others are later, that is noted.
    pub(super) fn note_stale(
        &mut self,
        slot: usize,
        granule: u64,
        read: u32,
        strength: Strength,
        origin: u32,
    ) {
        let Some(chain) = self.histories.chain(granule) else { return };
        let (mut missed, mut index) = (NONE, chain.last);
        while index != read && index != NONE {
            missed = index;
            index = self.histories.message(index).older;
        }
        if missed == NONE || index == NONE {
            return;
        }
        let (message, key) = (self.histories.message(missed), self.threads[slot].key);
        let (writer, written, by, time) = (message.thread, message.strength, message.origin, message.time);
        self.stale.serial += 1;
        let serial = self.stale.serial;
        let room = self.stale.kinds.len() < MOST_KINDS;
        if let Some(kind) = self.stale.kinds.get_mut(&(origin, by)) {
            kind.count += 1;
            kind.last = serial;
            (kind.reader, kind.writer, kind.granule) = (key, writer, granule);
            return;
        }
        if !room {
            return;
        }
        let missing = self.missing(slot, writer, time);
        let kind = StaleRead {
            reader: key,
            load: origin,
            granule,
            writer,
            write: by,
            missing,
            synchronising: morally_strong((key, strength), (writer, written)),
            count: 1,
            last: serial,
        };
        self.stale.kinds.insert((origin, by), kind);
    }

    /// Which edge was missing between a write and a thread that doesn't know it.
    fn missing(&self, slot: usize, writer: ThreadKey, time: u64) -> Missing {
        let reader = &self.threads[slot];
        // Whoever met the thread at a barrier behind may release for it, and before, acquire for it.
        let mates = |of: ThreadKey| {
            self.threads
                .iter()
                .filter(move |mate| mate.key.cta() == of.cta() && mate.key != ThreadKey::NOBODY)
        };
        let acquirers = || mates(reader.key).filter(|mate| mate.key == reader.key || mate.met > time);
        let banked = acquirers().flat_map(|mate| mate.bank.iter().map(move |banked| (mate, &banked.entry)));
        let mut reached = banked.filter(|(_, entry)| {
            entry.thread == writer && entry.time >= time || entry.view.knows(writer, time)
        });
        if let Some((mate, entry)) = reached.next() {
            let narrow = !entry.reaches(mate.key, Scope::Sys)
                || mate.acquired.time >= entry.time && !mate.acquired.scope.includes(mate.key, entry.thread);
            return if narrow { Missing::Scope } else { Missing::Acquire };
        }
        let releasers = || mates(writer).filter(|mate| mate.key == writer || mate.met > time);
        let release = releasers()
            .map(|mate| mate.released)
            .filter(|edge| edge.time >= time)
            .max_by_key(|edge| edge.time);
        let Some(release) = release else { return Missing::Release };
        let acquire = acquirers()
            .map(|mate| mate.acquired)
            .filter(|edge| edge.time > time)
            .max_by_key(|edge| edge.time);
        let Some(acquire) = acquire else { return Missing::Acquire };
        if !release.scope.includes(writer, reader.key) || !acquire.scope.includes(reader.key, writer) {
            return Missing::Scope;
        }
        Missing::Strong
    }

    /// The stale reads: those first that are between accesses which do not synchronise, the last first.
    pub(super) fn stale_reads(&self) -> Vec<StaleRead> {
        let mut all: Vec<StaleRead> = self.stale.kinds.values().copied().collect();
        all.sort_unstable_by_key(|kind| (kind.synchronising, std::cmp::Reverse(kind.last)));
        all
    }
}
