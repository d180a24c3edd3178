//! Rows of addresses that need not be looked at one by one: consecutive ones where the access went last, and any in one region.
//!
//! These are the ways that most accesses of a program take. What they do not answer, [`super::resolve`] does.

use bugaroo_ptx::types::Space;

use super::data::{lanes, row};
use super::resolve::{Pattern, Request, Resolved, STRIDES, Whose, whose};
use super::shape::{Place, consecutive, steps};
use super::{Machine, Trouble};
use crate::decoded::{Address, Base};

/// How many accesses ahead of one that strides is prefetched: the next one often comes in the same turn, too soon.
const AHEAD: u64 = 2;

impl Machine<'_> {
    /// Where a whole row of elements goes that are consecutive, if it is where this access went last; and whether it is a visible
    /// operation. None says nothing: [`Machine::resolve`] does.
    ///
    /// # Safety
    /// The address is a row of the frame or the constants.
    #[inline(always)]
    pub(super) unsafe fn whole_row(
        &mut self,
        w: usize,
        (frame, consts): (*const u8, *const u8),
        address: &Address,
        site: usize,
        bytes: u32,
    ) -> Option<(*mut u8, bool)> {
        let Base::Row64(slot) = address.base else { return None };
        // SAFETY: the caller's promise.
        let base = unsafe { &*row(frame, consts, slot).cast::<[u64; 32]>() };
        // Only of global memory something is kept here.
        let region = &self.paths.regions[site];
        let start = base[0].wrapping_add(address.offset);
        let offset = start.wrapping_sub(region.base);
        let fits = offset < region.len && region.len - offset >= 32 * u64::from(bytes);
        if !fits || start & u64::from(bytes - 1) != 0 || !consecutive(base, bytes) {
            return None;
        }
        let (bias, seen) = (region.bias, !(region.tool | region.quiet));
        self.anticipate(w, site, start, bias);
        Some((start.wrapping_add(bias) as *mut u8, seen))
    }

    /// The block's shared memory, if a whole row of 32-bit addresses lies in it.
    #[inline(always)]
    pub(super) fn shared_row(&self, w: usize, base: &[u32; 32], offset: u32, bytes: u32) -> Option<*mut u8> {
        let room = self.given.plan.shared_bytes.checked_sub(bytes)?;
        let mut bad = 0;
        for base in base {
            let address = base.wrapping_add(offset);
            bad |= u32::from(address > room).wrapping_neg() | address & (bytes - 1);
        }
        (bad == 0).then(|| self.residents.ctas[self.residents.warps[w].cta as usize].shared)
    }

    /// Addresses of no pattern: inside one region, or to be looked at one by one.
    ///
    /// # Safety
    /// As for [`Machine::resolve`].
    #[inline(always)]
    pub(super) unsafe fn scattered(
        &mut self,
        w: usize,
        frame: *const u8,
        consts: *const u8,
        request: &Request,
        mask: u32,
    ) -> Result<Resolved, Trouble> {
        let Address { base, space, .. } = request.address;
        // SAFETY: slots are the loader's.
        let found = unsafe {
            match base {
                Base::Row64(slot) if space != Space::Local => {
                    self.spread(w, request, &*row(frame, consts, slot).cast::<[u64; 32]>(), mask)
                }
                Base::Row32(slot) if space == Space::Shared => {
                    self.spread_shared(w, request, &*row(frame, consts, slot).cast::<[u32; 32]>(), mask)
                }
                _ => None,
            }
        };
        if let Some(found) = found {
            return Ok(found);
        }
        // SAFETY: the caller's promise.
        unsafe { self.addresses(w, frame, consts, &request.address) };
        match self.spread_pointers(w, request, mask) {
            Some(found) => Ok(found),
            None => self.resolve_each(w, request, mask),
        }
    }

    /// Lanes anywhere in one region, by the row of pointers. For what is rare: that the lanes were looked at one by one shows
    /// in the answer.
    #[inline(never)]
    fn spread_pointers(&mut self, w: usize, request: &Request, mask: u32) -> Option<Resolved> {
        if matches!(request.address.space, Space::Local) || matches!(request.address.base, Base::Row64(_)) {
            return None;
        }
        let bytes = u64::from(request.bytes);
        let start = self.paths.pointers[mask.trailing_zeros() as usize];
        let region = self.region(w, request, start)?;
        let room = region.len.checked_sub(bytes)?;
        let bad = |address: u64| address.wrapping_sub(region.base) > room || address & (bytes - 1) != 0;
        if lanes(mask).any(|lane| bad(self.paths.pointers[lane])) {
            return None;
        }
        for address in &mut self.paths.pointers {
            *address = address.wrapping_add(region.bias);
        }
        let (whose, origin) = whose(request.address.space, start, &region);
        let (visible, quiet) = (!region.tool, region.quiet);
        Some(Resolved { pattern: Pattern::Each, visible, quiet, whose, origin, own_window: 0 })
    }

    /// Lanes anywhere in one region.
    #[inline(always)]
    fn spread(&mut self, w: usize, request: &Request, base: &[u64; 32], mask: u32) -> Option<Resolved> {
        let (bytes, offset) = (u64::from(request.bytes), request.address.offset);
        let start = base[mask.trailing_zeros() as usize].wrapping_add(offset);
        let region = self.region(w, request, start)?;
        let room = region.len.checked_sub(bytes)?;
        let steps: &[u64; 32] = steps(request.bytes);
        let (mut bad, mut front) = (0, 0);
        for lane in 0..32 {
            let address = base[lane].wrapping_add(offset);
            let live = u64::live(mask, lane);
            let outside = u64::from(address.wrapping_sub(region.base) > room).wrapping_neg();
            bad |= (outside | address & (bytes - 1)) & live;
            front = (address.wrapping_sub(steps[lane]) & live).cast_signed().max(front);
            self.paths.pointers[lane] = address.wrapping_add(region.bias);
        }
        if bad != 0 {
            return None;
        }
        let (whose, origin) = whose(request.address.space, start, &region);
        if whose != Whose::Shared {
            // Often these are lanes of a few rounds of a loop, each of which strides: what the foremost reads
            // next the others will find there.
            self.anticipate(w, request.site, front.cast_unsigned(), region.bias);
        }
        let (visible, quiet) = (!region.tool, region.quiet);
        Some(Resolved { pattern: Pattern::Each, visible, quiet, whose, origin, own_window: 0 })
    }

    /// Lanes anywhere in the block's shared memory, by 32-bit addresses.
    #[inline(always)]
    fn spread_shared(
        &mut self,
        w: usize,
        request: &Request,
        base: &[u32; 32],
        mask: u32,
    ) -> Option<Resolved> {
        let (bytes, offset) = (request.bytes, request.address.offset as u32);
        let room = self.given.plan.shared_bytes.checked_sub(bytes)?;
        let shared = self.residents.ctas[self.residents.warps[w].cta as usize].shared as u64;
        let mut bad = 0;
        for (lane, base) in base.iter().enumerate() {
            let address = base.wrapping_add(offset);
            let outside = u32::from(address > room).wrapping_neg();
            bad |= (outside | address & (bytes - 1)) & u32::live(mask, lane);
            self.paths.pointers[lane] = shared.wrapping_add(u64::from(address));
        }
        (bad == 0).then_some(Resolved {
            pattern: Pattern::Each,
            visible: true,
            quiet: false,
            whose: Whose::Shared,
            origin: shared,
            own_window: 0,
        })
    }

    /// Prefetches where this warp's next access here will be, or, where it has gone as far twice, the one after that: with hundreds of
    /// warps taking turns at random the processor sees no pattern, but each warp has one.
    #[inline(always)]
    pub(super) fn anticipate(&mut self, w: usize, site: usize, address: u64, bias: u64) {
        let [last, step] = &mut self.paths.strides[w * STRIDES + site % STRIDES];
        let now = address.wrapping_sub(*last);
        let ahead = if now == *step { AHEAD } else { 1 };
        (*last, *step) = (address, now);
        let next = address.wrapping_add(now.wrapping_mul(ahead)).wrapping_add(bias);
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
            // SAFETY: prefetching is a hint; it never faults, whatever the address.
            unsafe {
                _mm_prefetch(next as *const i8, _MM_HINT_T1);
                _mm_prefetch(next.wrapping_add(64) as *const i8, _MM_HINT_T1);
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = next;
    }
}
