//! Who wrote what last: the latest stores and atomics of a launch, for the report of a hang.
//!
//! A ring of a fixed size: spinning writes nothing, so what the threads of a hung launch wrote last stands in it. Stores that
//! scatter over many addresses are only counted.

use crate::exec::data::lanes;
use crate::exec::resolve::Pattern;

/// Entries; a power of two.
const ENTRIES: usize = 1 << 12;
/// Lanes of a scattered store that are noted one by one.
const FEW: u32 = 4;

/// A store of a warp.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    /// Where lane 0 stores, or would, on the host.
    first: u64,
    mask: u32,
    /// Number of the access, or of the atomic behind those.
    site: u32,
    warp: u64,
    /// Bytes of a lane, and from lane to lane.
    bytes: u32,
    step: u32,
}

/// Who wrote something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::exec) enum Writer {
    /// The lane of the warp (its number in the launch), by this access.
    Lane { warp: u64, lane: u32, site: u32 },
    /// No thread of the launch.
    Nobody,
    /// It cannot be told any more.
    Unknown,
}

/// The ring.
#[derive(Debug)]
pub(in crate::exec) struct Written {
    /// As many as there were; no more than [`ENTRIES`].
    ring: Vec<Entry>,
    next: usize,
    /// Some were not noted, or their entry is gone.
    lost: bool,
}

impl Written {
    pub fn new() -> Written {
        Written { ring: Vec::new(), next: 0, lost: false }
    }

    #[inline(always)]
    fn push(&mut self, entry: Entry) {
        if self.ring.len() < ENTRIES {
            self.ring.push(entry);
        } else {
            self.ring[self.next & (ENTRIES - 1)] = entry;
        }
        self.next += 1;
    }

    /// The lanes in `mask` (not empty) of a warp write so many bytes each.
    #[inline(always)]
    pub fn note(
        &mut self,
        warp: u64,
        site: u32,
        pattern: Pattern,
        pointers: &[u64; 32],
        mask: u32,
        bytes: u32,
    ) {
        let (first, step) = match pattern {
            Pattern::Consecutive(first) => (first as u64, bytes),
            Pattern::Same(all) => (all as u64, 0),
            Pattern::Each => return self.note_each(warp, site, pointers, mask, bytes),
        };
        self.push(Entry { first, mask, site, warp, bytes, step });
    }

    #[inline(never)]
    fn note_each(&mut self, warp: u64, site: u32, pointers: &[u64; 32], mask: u32, bytes: u32) {
        if mask.count_ones() > FEW {
            self.lost = true;
            return;
        }
        for lane in lanes(mask) {
            self.push(Entry { first: pointers[lane], mask: 1 << lane, site, warp, bytes, step: 0 });
        }
    }

    /// Who wrote one of these bytes of the host's memory last.
    pub fn last(&self, address: u64, bytes: u32) -> Writer {
        let kept = self.next.min(ENTRIES);
        for back in 1..=kept {
            let entry = self.ring[(self.next - back) & (ENTRIES - 1)];
            let touches = |lane: &u32| {
                let at = entry.first.wrapping_add(u64::from(lane * entry.step));
                at < address + u64::from(bytes) && address < at + u64::from(entry.bytes)
            };
            // Of lanes that store to one place the highest comes last.
            if let Some(lane) = lanes(entry.mask).map(|lane| lane as u32).filter(touches).last() {
                return Writer::Lane { warp: entry.warp, lane, site: entry.site };
            }
        }
        if self.lost || self.next > ENTRIES { Writer::Unknown } else { Writer::Nobody }
    }
}
