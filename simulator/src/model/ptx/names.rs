//! What writes are called by whoever looks on. A message is called by its time, or by a number that its store was given while it waited.
//!
//! Of a granule it is kept, by byte, which write is the last in coherence order, and which one stands under its history: what
//! has been forgotten ([`super::chains`]) can be read still, and has its name. Nothing here matters to what happens.

use rustc_hash::FxHashMap;

use super::chains::NONE;
use super::kept::Kept;
use super::{PlainMemory, PtxMachine};
use crate::model::notes::Note;
use bugaroo_semantics::event::{Range, WhoseBytes, WriteId};
use bugaroo_semantics::location::{GranuleSpan, Location, MemorySpace};

/// Names of a granule that differ from the messages' times; of more, those that nobody can read any more are dropped.
const MANY: usize = 16;
/// Numbers of stores that wait begin here: no time is as large.
const WAITING: WriteId = 1 << 63;

#[derive(Debug, Default)]
struct Granule {
    last: [WriteId; 4],
    under: [WriteId; 4],
    /// Times and names.
    others: Vec<(u64, WriteId)>,
}

impl Granule {
    fn name(&self, time: u64) -> WriteId {
        self.others.iter().rev().find(|other| other.0 == time).map_or(time, |other| other.1)
    }
}

/// The names of a launch's writes.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Of global memory, by address, and of the shared memory of each CTA slot, by offset.
    global: FxHashMap<u64, Granule>,
    shared: Vec<FxHashMap<u64, Granule>>,
    waited: WriteId,
    /// What the store at hand is called, if it has a name already; 0 if not.
    pub current: WriteId,
}

/// The bytes of a mask of bits.
fn bytes(mask: u32) -> impl Iterator<Item = usize> {
    (0..4).filter(move |byte| mask >> (8 * byte) & 0xff != 0)
}

/// Bytes of a location, as an observer knows them.
fn range(location: Location, byte: u64, bytes: u64) -> Range {
    let memory = match location.space {
        MemorySpace::Global => WhoseBytes::Global,
        MemorySpace::Shared => WhoseBytes::Shared(location.block),
    };
    Range { memory, address: location.offset + byte, bytes }
}

/// The bytes of a granule in runs of which `of` says the same: where each begins, its length, and what `of` says.
fn runs<T: PartialEq + Copy>(mask: u32, of: impl Fn(usize) -> T) -> impl Iterator<Item = (u64, u64, T)> {
    let mut all: Vec<(u64, u64, T)> = Vec::new();
    for byte in bytes(mask) {
        match all.last_mut() {
            Some((first, count, what)) if *first + *count == byte as u64 && *what == of(byte) => *count += 1,
            _ => all.push((byte as u64, 1, of(byte))),
        }
    }
    all.into_iter()
}

impl Names {
    /// The name of a store that is about to wait.
    pub fn of_waiting(&mut self) -> WriteId {
        if self.current == 0 {
            self.waited += 1;
            self.current = WAITING | self.waited;
        }
        self.current
    }

    /// Somebody else has written a granule.
    pub fn lose(&mut self, location: Location) {
        if let Some(granules) = self.space_mut(location) {
            granules.remove(&location.offset);
        }
    }

    /// The shared memory of a CTA slot begins anew.
    pub fn begin_block(&mut self, block: u32) {
        if let Some(granules) = self.shared.get_mut(block as usize) {
            granules.clear();
        }
    }

    /// Histories have been forgotten: what stands under them is taken to be what was written last.
    pub fn forget(&mut self) {
        let all = self.global.values_mut().chain(self.shared.iter_mut().flat_map(|of| of.values_mut()));
        all.for_each(|granule| granule.under = granule.last);
    }

    fn space_mut(&mut self, location: Location) -> Option<&mut FxHashMap<u64, Granule>> {
        match location.space {
            MemorySpace::Global => Some(&mut self.global),
            MemorySpace::Shared => self.shared.get_mut(location.block as usize),
        }
    }

    fn get(&self, location: Location) -> Option<&Granule> {
        let granules = match location.space {
            MemorySpace::Global => &self.global,
            MemorySpace::Shared => self.shared.get(location.block as usize)?,
        };
        granules.get(&location.offset)
    }

    fn entry(&mut self, location: Location) -> &mut Granule {
        if location.space == MemorySpace::Global {
            return self.global.entry(location.offset).or_default();
        }
        let block = location.block as usize;
        if self.shared.len() <= block {
            self.shared.resize_with(block + 1, FxHashMap::default);
        }
        self.shared[block].entry(location.offset).or_default()
    }
}

impl PtxMachine {
    /// A store begins, which has no name yet.
    pub(super) fn begin_naming(&mut self) {
        self.told.names.current = 0;
    }

    /// The shared memory of a CTA slot begins anew.
    pub(super) fn name_nothing_of(&mut self, block: u32) {
        self.told.names.begin_block(block);
    }

    /// A message has been made: its name, and which bits of it memory holds. `fresh`: there was no history. `absorbed`: the message
    /// that has become part of the base, by its time and its bits.
    pub(super) fn name_message(
        &mut self,
        location: Location,
        (time, name): (u64, WriteId),
        (mask, visible): (u32, u32),
        fresh: bool,
        absorbed: Option<(u64, u32)>,
    ) {
        let granule = self.told.names.entry(location);
        if fresh {
            granule.under = granule.last;
            granule.others.clear();
        }
        if name != time {
            if granule.others.len() >= MANY
                && let Some(chain) = self.histories.chain_as_is(location)
            {
                let mut kept = vec![time];
                let mut index = chain.last;
                while index != NONE {
                    kept.push(self.histories.chains.message(index).time);
                    index = self.histories.chains.message(index).links.older;
                }
                kept.extend(absorbed.map(|absorbed| absorbed.0));
                granule.others.retain(|other| kept.contains(&other.0));
            }
            granule.others.push((time, name));
        }
        if let Some((time, mask)) = absorbed {
            let name = granule.name(time);
            bytes(mask).for_each(|byte| granule.under[byte] = name);
        }
        bytes(mask & visible).for_each(|byte| granule.last[byte] = name);
    }

    /// The bits of a new message that memory holds: those that no later one has written.
    pub(super) fn visible(&self, location: Location, time: u64, mask: u32) -> u32 {
        let Some(chain) = self.histories.chain_as_is(location) else { return mask };
        let (mut index, mut left) = (chain.last, mask);
        while index != NONE && self.histories.chains.message(index).time != time {
            let message = self.histories.chains.message(index);
            left &= !message.bits.mask;
            index = message.links.older;
        }
        left
    }

    /// Notes that a store has become messages; `visible` are the bits that memory holds, if it is one granule.
    pub(super) fn note_landed(
        memory: &mut impl PlainMemory,
        slot: usize,
        span: GranuleSpan,
        write: WriteId,
        visible: u32,
        own: bool,
    ) {
        let Some(notes) = memory.notes() else { return };
        let thread = slot as u32;
        if span.count > 1 {
            let range = range(span.first, 0, u64::from(span.count) * 4);
            return notes.push(Note::Landed { thread, range, write, last: true, own });
        }
        for (first, count, last) in runs(span.mask, |byte| visible >> (8 * byte) & 1 != 0) {
            let range = range(span.first, first, count);
            notes.push(Note::Landed { thread, range, write, last, own });
        }
    }

    /// Notes what a thread reads: the bits of a mask at a message, or, with `NONE`, what memory holds.
    pub(super) fn note_read(
        &self,
        memory: &mut impl PlainMemory,
        slot: usize,
        (location, mask): (Location, u32),
        index: u32,
        own: bool,
    ) {
        let Some(notes) = memory.notes() else { return };
        let nothing = Granule::default();
        let granule = self.told.names.get(location).unwrap_or(&nothing);
        let single = match self.histories.kept(location) {
            Some(Kept::Single(single)) => Some(granule.name(single.time.get())),
            _ => None,
        };
        let of = |byte: usize| {
            if let (NONE, single) = (index, single) {
                return single.unwrap_or(granule.last[byte]);
            }
            let mut index = index;
            loop {
                let message = self.histories.chains.message(index);
                if message.state.base {
                    return granule.under[byte];
                }
                if message.bits.mask >> (8 * byte) & 1 != 0 {
                    return granule.name(message.time);
                }
                index = message.links.older;
            }
        };
        for (first, count, write) in runs(mask, of) {
            let range = range(location, first, count);
            notes.push(Note::Read { thread: slot as u32, range, write, own });
        }
    }
}
