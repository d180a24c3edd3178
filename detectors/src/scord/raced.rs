//! A race as it was found, and what is known of the instructions of its program.

use bugaroo_semantics::event::{Access, AccessKind, SiteNumber};
use bugaroo_semantics::scope::Strength;

use super::check::RaceCondition;
use super::layout::EntryLayout;
use super::metadata::ScordEntry;

/// Instructions that are kept, where it is not known how many the program has.
const MOST_SITES: usize = 1 << 16;

/// What the instructions of a program have been seen to do.
#[derive(Debug, Default)]
pub(super) struct Sites {
    first: SiteNumber,
    seen: Vec<Option<(AccessKind, Strength, u32)>>,
}

impl Sites {
    /// Of a program that begins there.
    pub fn new(first: SiteNumber) -> Sites {
        Sites { first, seen: Vec::new() }
    }

    /// The number of an instruction in its program.
    #[inline]
    pub fn number(&self, site: SiteNumber) -> u32 {
        site.wrapping_sub(self.first)
    }

    /// Of a program whose accesses are known beforehand: number, kind, strength and bytes of an element.
    pub fn known(first: SiteNumber, accesses: &[(u32, AccessKind, Strength, u32)]) -> Sites {
        let mut sites = Sites::new(first);
        for (number, kind, strength, size) in accesses {
            sites.keep(*number as usize, (*kind, *strength, *size));
        }
        sites
    }

    /// One has accessed memory.
    #[inline]
    pub fn see(&mut self, number: u32, access: &Access<'_>) {
        if self.seen.get(number as usize).is_none_or(|seen| seen.is_none()) {
            self.keep(number as usize, (access.kind, access.strength, access.size));
        }
    }

    #[cold]
    fn keep(&mut self, number: usize, seen: (AccessKind, Strength, u32)) {
        if number < MOST_SITES {
            if self.seen.len() <= number {
                self.seen.resize(number + 1, None);
            }
            self.seen[number] = Some(seen);
        }
    }

    /// What an instruction has been seen to do, by its number in the program.
    pub fn seen(&self, number: u32) -> Option<(AccessKind, Strength, u32)> {
        self.seen.get(number as usize).copied().flatten()
    }

    /// What observers know an instruction by.
    pub fn site(&self, number: u32) -> SiteNumber {
        self.first.wrapping_add(number)
    }

    /// Bytes that it holds.
    pub fn bytes(&self) -> u64 {
        (self.seen.capacity() * size_of::<Option<(AccessKind, Strength, u32)>>()) as u64
    }
}

/// A race that was found.
pub(super) struct Race<'a> {
    pub condition: RaceCondition,
    pub layout: &'a EntryLayout,
    pub sites: &'a Sites,
    /// What the metadata said.
    pub md: ScordEntry,
    /// The access that it tells of and this one are in program order.
    pub own: bool,
    /// Where its piece of memory begins.
    pub at: u64,
    /// Bytes of it.
    pub piece: u32,
    /// The lane that accesses.
    pub lane: u32,
    /// Whether the access counts as a write.
    pub writes: bool,
    /// Whether it is strong.
    pub strong: bool,
    pub count: u64,
}
