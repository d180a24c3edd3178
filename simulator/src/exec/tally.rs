//! Counts the program's fences, and its stores by the memory that they go to.
//!
//! Not inlined, on purpose: within the interpreter's loop these few additions cost the arithmetic, which has
//! nothing to do with them, a register and a tenth of its speed.

use super::Machine;
use super::atomic::combine;
use super::data::{lanes, read_lane, row};
use super::resolve::{Pattern, Resolved};
use crate::decoded::{Atomic, Counted, DecodedAccess};

impl Machine<'_> {
    /// Counts a fence of the lanes in `mask`: once (`times` is 1), or not at all (0).
    #[inline(never)]
    pub(super) fn count_fences(&mut self, times: u32, mask: u32) {
        self.progress.counts.fences += u64::from(times * mask.count_ones());
    }

    /// Counts a store of the lanes in `mask` (not empty), of so many bytes each, that is about to be done.
    #[inline(never)]
    pub(super) fn count_stores(
        &mut self,
        w: usize,
        (counted, site): (Counted, u32),
        found: &Resolved,
        mask: u32,
        bytes: u32,
    ) {
        // What is not visible is the tester's memory, or local.
        if !found.visible {
            return;
        }
        self.note_write(w, site as usize, found, mask, bytes);
        match counted {
            Counted::Nowhere => {}
            Counted::Shared => self.progress.counts.shared_stores += u64::from(mask.count_ones()),
            Counted::Global => self.progress.counts.global_stores += u64::from(mask.count_ones()),
            Counted::ByAddress => self.count_generic(w, found, mask, bytes),
        }
    }

    /// Counts a store of a whole row of consecutive words to global memory, which is about to be done; `theirs` if it is the program's.
    #[inline(never)]
    pub(super) fn count_row(
        &mut self,
        w: usize,
        (access, index): (&DecodedAccess, u32),
        to: *mut u8,
        theirs: bool,
    ) {
        if theirs {
            self.note_place(w, index as usize, Pattern::Consecutive(to), !0, 4);
            let counts = access.counted != Counted::Nowhere;
            self.progress.counts.global_stores += if counts { 32 } else { 0 };
        }
    }

    /// Notes who wrote: the lanes in `mask` (not empty), by the access of this number, or the atomic behind those.
    #[inline(always)]
    pub(super) fn note_write(&mut self, w: usize, site: usize, found: &Resolved, mask: u32, bytes: u32) {
        self.note_place(w, site, found.pattern, mask, bytes);
    }

    #[inline(always)]
    fn note_place(&mut self, w: usize, site: usize, pattern: Pattern, mask: u32, bytes: u32) {
        let warp = &self.residents.warps[w];
        let block = self.residents.ctas[warp.cta as usize].block;
        let number = block * u64::from(self.given.plan.warps_per_block) + u64::from(warp.index);
        self.hang.written.note(number, site as u32, pattern, &self.paths.pointers, mask, bytes);
    }

    /// Notes who wrote, of the lanes for which a memory model has done an atomic.
    ///
    /// # Safety
    /// The atomic is one of the frame's function.
    pub(super) unsafe fn note_taken(
        &mut self,
        w: usize,
        (frame, consts): (*const u8, *const u8),
        (atomic, site): (&Atomic, usize),
        found: &Resolved,
        taken: u32,
    ) {
        let changed = |lane: usize| {
            let Some(dst) =
                atomic.dst.filter(|dst| atomic.high.is_none() && !atomic.src.contains(&(*dst as i32)))
            else {
                return true;
            };
            // SAFETY: the loader's rows, of this width.
            let read = |slot| unsafe { read_lane(row(frame, consts, slot), atomic.width, lane) };
            let (old, [first, second]) = (read(dst as i32), atomic.src.map(read));
            combine(atomic, old, first, || second, false) != old
        };
        let wrote = lanes(taken).filter(|lane| changed(*lane)).fold(0, |wrote, lane| wrote | 1 << lane);
        if wrote != 0 {
            self.note_write(w, site, found, wrote, atomic.ty.bytes());
        }
    }

    /// A generic store: lanes may go to different memories.
    fn count_generic(&mut self, w: usize, found: &Resolved, mask: u32, bytes: u32) {
        let warp = &self.residents.warps[w];
        let shared = self.residents.ctas[warp.cta as usize].shared as u64;
        let shared_bytes = u64::from(self.given.plan.shared_bytes);
        let (local, local_bytes) = (warp.local as u64, 32 * self.given.layout.local_stride as u64);
        // The checked host addresses say where a lane goes: the three memories are apart on the host, too.
        let mut count = |address: u64, threads: u32| {
            if address.wrapping_sub(shared) < shared_bytes {
                self.progress.counts.shared_stores += u64::from(threads);
            } else if address.wrapping_sub(local) >= local_bytes {
                self.progress.counts.global_stores += u64::from(threads);
            }
        };
        match found.pattern {
            // All lanes are in one region. Lane 0 itself may be before it, if it is not active.
            Pattern::Same(_) | Pattern::Consecutive(_) => {
                let first = mask.trailing_zeros() as usize;
                count(found.lane(&self.paths.pointers, first, bytes) as u64, mask.count_ones());
            }
            Pattern::Each => lanes(mask).for_each(|lane| count(self.paths.pointers[lane], 1)),
        }
    }
}
