//! What is remembered of each granule of memory: who wrote its bytes last, and who has read them since.

use rustc_hash::FxHashMap;

use super::AccessWhat;

/// Bytes of a granule.
pub(super) const GRANULE: u64 = 4;
/// Threads that have read a granule since it was written that are remembered.
pub(super) const READERS: usize = 8;
/// Granules of a page.
const PAGE: usize = 128;
/// Pages, at most: about a gibibyte of host memory, for 64 MiB of the device's.
pub(super) const MOST_PAGES: usize = 1 << 17;

/// Pages that are found without a look into the table.
const LAST: usize = 1 << 10;

/// Flags of an access.
pub(super) mod flag {
    /// It is a load.
    pub const LOAD: u8 = 1;
    /// It is an atomic.
    pub const ATOMIC: u8 = 2;
    /// It is strong.
    pub const STRONG: u8 = 4;
    /// It is strong, and its scope is its own CTA.
    pub const NARROW: u8 = 8;
    /// From this bit on: the bytes that it has changed, of a write.
    pub const CHANGED: u32 = 4;
}

/// An access.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    /// The number of its instruction among all that were executed; 0 for no access.
    pub time: u64,
    /// Linear index of the block; blocks that are 2^32 apart are taken for one.
    pub block: u32,
    pub pc: u32,
    /// Of its warp and lane, see [`super::order`].
    pub epoch: u32,
    pub lane_epoch: u32,
    /// What it read or wrote.
    pub value: u32,
    /// Linear index in the block.
    pub thread: u16,
    /// Bytes of the granule.
    pub mask: u8,
    pub flags: u8,
}

impl Seen {
    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// Whether it is a write that has changed bytes in the mask.
    pub fn changed(&self, mask: u8) -> bool {
        self.flags >> flag::CHANGED & mask != 0
    }

    pub fn is_by(&self, other: &Seen) -> bool {
        self.thread == other.thread && self.block == other.block
    }

    pub fn what(&self) -> AccessWhat {
        match (self.has(flag::LOAD), self.has(flag::ATOMIC)) {
            (true, _) => AccessWhat::Load,
            (_, true) => AccessWhat::Atomic,
            _ => AccessWhat::Store,
        }
    }
}

/// What few granules need.
#[derive(Clone, Debug, Default)]
pub(super) struct More {
    /// Last writers of other bytes.
    pub writes: Vec<Seen>,
    /// Readers besides the first.
    pub reads: Vec<Seen>,
    /// The last strong access, and the last one of another block than that one's.
    pub strong: [Seen; 2],
    /// Everything before this moment lies behind who reads what the last strong write left; 0: nothing does.
    pub released: u64,
}

/// A granule.
#[derive(Clone, Debug, Default)]
pub(super) struct Granule {
    pub write: Seen,
    pub read: Seen,
    pub more: Option<Box<More>>,
    /// The instruction that read it last, and how many of its lanes did.
    last_read: (u64, u8),
}

impl Granule {
    /// Whether there is nothing to know of it but who has read it.
    pub fn is_only_read(&self) -> bool {
        self.write.mask == 0 && self.more.as_ref().is_none_or(|more| more.released == 0)
    }

    /// Last writers of the bytes in the mask.
    pub fn writers(&self, mask: u8) -> impl Iterator<Item = &Seen> {
        let more = self.more.iter().flat_map(|more| &more.writes);
        std::iter::once(&self.write).chain(more).filter(move |seen| seen.mask & mask != 0)
    }

    /// Who has read bytes in the mask since they were written.
    pub fn readers(&self, mask: u8) -> impl Iterator<Item = &Seen> {
        let more = self.more.iter().flat_map(|more| &more.reads);
        std::iter::once(&self.read).chain(more).filter(move |seen| seen.mask & mask != 0)
    }

    pub fn more(&mut self) -> &mut More {
        self.more.get_or_insert_default()
    }

    /// A write: of its bytes, nobody else is the last writer any more; of those that it has changed, nobody has read what they
    /// hold.
    pub fn written(&mut self, by: Seen) {
        let changed = by.flags >> flag::CHANGED;
        if let Some(more) = &mut self.more {
            for (list, mask) in [(&mut more.writes, by.mask), (&mut more.reads, changed)] {
                list.iter_mut().for_each(|seen| seen.mask &= !mask);
                list.retain(|seen| seen.mask != 0);
            }
        }
        self.read.mask &= !changed;
        self.last_read = (0, 0);
        let left = self.write.mask & !by.mask;
        if left != 0 {
            let seen = Seen { mask: left, ..self.write };
            self.more().writes.push(seen);
        }
        self.write = by;
    }

    /// A read. Of one instruction, two lanes are enough: one of them is not the thread that writes.
    pub fn was_read(&mut self, by: Seen) {
        let (time, lanes) = &mut self.last_read;
        if *time == by.time {
            *lanes += 1;
            if *lanes > 2 {
                *lanes = 2;
                return;
            }
        } else {
            self.last_read = (by.time, 1);
        }
        let replaces = |seen: &Seen| seen.is_by(&by) && seen.pc == by.pc;
        if self.read.mask == 0 || replaces(&self.read) {
            self.read = by;
            return;
        }
        let reads = &mut self.more().reads;
        if let Some(seen) = reads.iter_mut().find(|seen| replaces(seen)) {
            *seen = by;
        } else if reads.len() + 1 < READERS {
            reads.push(by);
        } else if let Some(oldest) = reads.iter_mut().min_by_key(|seen| seen.time) {
            *oldest = by;
        }
    }
}

type Page = Box<[Granule; PAGE]>;

fn page() -> Page {
    Box::new(std::array::from_fn(|_| Granule::default()))
}

/// The granules of a launch's memory.
#[derive(Debug, Default)]
pub(super) struct Shadow {
    global: FxHashMap<u64, u32>,
    pages: Vec<Page>,
    /// Pages that were found last, by their lowest bits: the number plus one, and where.
    last: Vec<(u64, u32)>,
    /// By slot of the CTA and number of the page.
    shared: Vec<Vec<Option<Page>>>,
    taken: usize,
}

impl Shadow {
    /// Shared memory of a slot is another block's from now on.
    pub fn start_block(&mut self, cta: u32) {
        if let Some(pages) = self.shared.get_mut(cta as usize) {
            self.taken -= pages.iter().flatten().count();
            pages.clear();
        }
    }

    /// The granule of this number, of the shared memory of a CTA's slot or of global memory; None if there is no room.
    pub fn granule(&mut self, shared: Option<u32>, number: u64) -> Option<&mut Granule> {
        let (of, within) = (number / PAGE as u64, number as usize % PAGE);
        let Some(cta) = shared else { return self.in_global(of).map(|page| &mut page[within]) };
        let (cta, of) = (cta as usize, of as usize);
        if self.shared.len() <= cta {
            self.shared.resize_with(cta + 1, Vec::new);
        }
        let pages = &mut self.shared[cta];
        if pages.len() <= of {
            pages.resize_with(of + 1, || None);
        }
        let place = &mut pages[of];
        if place.is_none() {
            if self.taken == MOST_PAGES {
                return None;
            }
            self.taken += 1;
        }
        Some(&mut place.get_or_insert_with(page)[within])
    }

    fn in_global(&mut self, of: u64) -> Option<&mut Page> {
        if self.last.is_empty() {
            self.last.resize(LAST, (0, 0));
        }
        let (known, at) = self.last[of as usize % LAST];
        if known == of + 1 {
            return Some(&mut self.pages[at as usize]);
        }
        let at = match self.global.get(&of) {
            Some(at) => *at,
            None if self.taken == MOST_PAGES => return None,
            None => {
                let at = self.pages.len() as u32;
                self.pages.push(page());
                self.taken += 1;
                self.global.insert(of, at);
                at
            }
        };
        self.last[of as usize % LAST] = (of + 1, at);
        Some(&mut self.pages[at as usize])
    }
}
