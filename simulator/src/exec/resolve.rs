//! From a warp's addresses to host pointers, with every check.
//!
//! The lanes' addresses are computed as a row and compared as a row with three patterns: all the same,
//! consecutive elements, anything. One lookup finds the allocation of the first lane (the last one found is
//! kept per instruction); that all lanes lie inside is then one comparison of vectors, or of the two ends.
//! Only when that fails are lanes looked at one by one: they may lie in different allocations or windows, or
//! one of them is to blame.

use bugaroo_ptx::types::Space;

use super::data::{lanes, row};
use super::{Machine, Trouble};
use crate::address::{LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, Window, window};
use crate::decoded::{Address, Base};
use crate::fault::{AccessKind, FaultKind};
use crate::memory::Region;

/// Instructions per warp whose last address is kept for prefetching (by index, modulo this).
pub(super) const STRIDES: usize = 8;

/// What an access asks for.
#[derive(Clone, Copy)]
pub(super) struct Request {
    pub address: Address,
    /// Bytes per lane, a power of two.
    pub bytes: u32,
    /// Where its last region is kept.
    pub site: usize,
    pub kind: AccessKind,
}

/// Where the lanes' data is.
pub(super) enum Pattern {
    /// Lane `i` at this pointer plus `i` times the size (lanes that are not active may lie outside).
    Consecutive(*mut u8),
    /// All lanes here.
    Same(*mut u8),
    /// Each lane where the row of pointers says.
    Each,
}

/// The answer: a pattern, the pointers of [`Pattern::Each`], and whether it is the program's memory that
/// other threads see.
pub(super) struct Resolved {
    pub pattern: Pattern,
    pub pointers: [u64; 32],
    pub visible: bool,
}

impl Resolved {
    /// The pointer of one lane.
    #[inline(always)]
    pub fn lane(&self, lane: usize, bytes: u32) -> *mut u8 {
        match self.pattern {
            Pattern::Consecutive(first) => first.wrapping_add(lane * bytes as usize),
            Pattern::Same(all) => all,
            Pattern::Each => self.pointers[lane] as *mut u8,
        }
    }
}

/// All ones where the lane is active.
#[inline(always)]
fn live(mask: u32, lane: usize) -> u64 {
    u64::from(mask >> lane & 1).wrapping_neg()
}

impl Machine<'_> {
    /// The addresses of all lanes, in the space of the instruction.
    #[inline(always)]
    unsafe fn addresses(
        &self,
        w: usize,
        frame: *const u8,
        consts: *const u8,
        address: &Address,
    ) -> [u64; 32] {
        let offset = address.offset;
        let mut out = [0; 32];
        // SAFETY: slots are the loader's.
        unsafe {
            match address.base {
                Base::Row64(slot) => {
                    let base = &*row(frame, consts, slot).cast::<[u64; 32]>();
                    for i in 0..32 {
                        out[i] = base[i].wrapping_add(offset);
                    }
                }
                Base::Row32(slot) => {
                    let base = &*row(frame, consts, slot).cast::<[u32; 32]>();
                    for i in 0..32 {
                        out[i] = u64::from(base[i]).wrapping_add(offset);
                    }
                }
                Base::Fixed => out = [offset; 32],
                Base::FrameLocal => out = [offset.wrapping_add(self.local_base(w, frame)); 32],
            }
        }
        out
    }

    /// Where the local variables of the running frame begin.
    #[inline(never)]
    fn local_base(&self, w: usize, rows: *const u8) -> u64 {
        let fragments = &self.warps[w].fragments;
        let mut frames = fragments.iter().map(|f| self.frames.get(f.frame));
        let found = frames.find(|f| std::ptr::eq(f.rows, rows));
        u64::from(found.expect("the running frame is some fragment's").local_base)
    }

    /// The region of an address in global memory, shared memory or the parameters, with its window.
    #[inline(always)]
    fn region(&mut self, w: usize, request: &Request, address: u64) -> Option<Region> {
        let (space, site) = (request.address.space, request.site);
        let at = match space {
            Space::Shared => Window::Shared,
            Space::Param => Window::Param,
            Space::Generic => window(address),
            _ => Window::Global,
        };
        let generic = space == Space::Generic;
        match at {
            Window::Global => {
                let known = self.regions[site];
                if address.wrapping_sub(known.base) < known.len {
                    return Some(known);
                }
                let found = self.memory.region(address)?;
                self.regions[site] = found;
                Some(found)
            }
            Window::Shared => {
                let base = if generic { SHARED_WINDOW } else { 0 };
                let shared = self.ctas[self.warps[w].cta as usize].shared as u64;
                let len = u64::from(self.plan.shared_bytes);
                Some(Region { base, len, bias: shared.wrapping_sub(base), tool: false })
            }
            // Nobody writes to a kernel's parameters.
            Window::Param if request.kind != AccessKind::Read => None,
            Window::Param => {
                let base = if generic { PARAM_WINDOW } else { 0 };
                let len = u64::from(self.plan.kernel.param_bytes);
                let params = self.params.as_mut_ptr() as u64;
                Some(Region { base, len, bias: params.wrapping_sub(base), tool: true })
            }
            Window::Local => None,
        }
    }

    /// Checks an access of the lanes in `mask` (not empty) and finds its memory.
    ///
    /// # Safety
    /// The request's slots are rows of the frame or the constants.
    #[inline(always)]
    pub(super) unsafe fn resolve(
        &mut self,
        w: usize,
        frame: *const u8,
        consts: *const u8,
        request: &Request,
        mask: u32,
    ) -> Result<Resolved, Trouble> {
        // SAFETY: the caller's promise.
        let mut pointers = unsafe { self.addresses(w, frame, consts, &request.address) };
        let bytes = u64::from(request.bytes);
        let first = mask.trailing_zeros() as usize;
        let last = 31 - mask.leading_zeros() as usize;
        let start = pointers[first];
        let lane0 = start.wrapping_sub(first as u64 * bytes);

        let (mut same, mut consecutive, mut low) = (0, 0, 0);
        if mask == !0 {
            for (i, address) in pointers.iter().enumerate() {
                same |= address ^ start;
                consecutive |= address ^ lane0.wrapping_add(i as u64 * bytes);
                low |= address;
            }
        } else {
            for (i, address) in pointers.iter().enumerate() {
                same |= (address ^ start) & live(mask, i);
                consecutive |= (address ^ lane0.wrapping_add(i as u64 * bytes)) & live(mask, i);
                low |= address & live(mask, i);
            }
        }
        let space = request.address.space;
        if low & (bytes - 1) == 0
            && space != Space::Local
            && let Some(region) = self.region(w, request, start)
        {
            let visible = !region.tool;
            let room = region.len.wrapping_sub(bytes);
            let offset = start.wrapping_sub(region.base);
            if region.len >= bytes && offset <= room {
                let host = |address: u64| address.wrapping_add(region.bias) as *mut u8;
                if consecutive == 0 && offset + (last - first) as u64 * bytes <= room {
                    self.anticipate(w, request.site, lane0, region.bias);
                    return Ok(Resolved { pattern: Pattern::Consecutive(host(lane0)), pointers, visible });
                }
                if same == 0 {
                    return Ok(Resolved { pattern: Pattern::Same(host(start)), pointers, visible });
                }
                let mut outside = 0;
                for (i, address) in pointers.iter().enumerate() {
                    let bad = address.wrapping_sub(region.base) > room;
                    outside |= u32::from(bad) << i;
                }
                if outside & mask == 0 {
                    for address in &mut pointers {
                        *address = address.wrapping_add(region.bias);
                    }
                    return Ok(Resolved { pattern: Pattern::Each, pointers, visible });
                }
            }
        }
        self.resolve_each(w, request, mask, pointers)
    }

    /// Prefetches where this warp's next access here will be, if it strides: with hundreds of warps taking
    /// turns at random the processor sees no pattern, but each warp has one.
    #[inline(always)]
    fn anticipate(&mut self, w: usize, site: usize, address: u64, bias: u64) {
        let last = &mut self.strides[w * STRIDES + site % STRIDES];
        let next = address.wrapping_add(address.wrapping_sub(*last)).wrapping_add(bias);
        *last = address;
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

    /// Lane by lane: local memory, lanes in different allocations or windows, and faults.
    #[inline(never)]
    fn resolve_each(
        &mut self,
        w: usize,
        request: &Request,
        mask: u32,
        mut pointers: [u64; 32],
    ) -> Result<Resolved, Trouble> {
        let mut visible = false;
        for lane in lanes(mask) {
            let address = pointers[lane];
            match self.resolve_lane(w, request, lane, address) {
                Ok((pointer, seen)) => {
                    pointers[lane] = pointer;
                    visible |= seen;
                }
                Err(kind) => return Err(Box::new((kind, lane as u32))),
            }
        }
        Ok(Resolved { pattern: Pattern::Each, pointers, visible })
    }

    fn resolve_lane(
        &mut self,
        w: usize,
        request: &Request,
        lane: usize,
        address: u64,
    ) -> Result<(u64, bool), FaultKind> {
        let (size, access) = (request.bytes, request.kind);
        let bytes = u64::from(size);
        if address & (bytes - 1) != 0 {
            return Err(FaultKind::Misaligned { address, size, access });
        }
        let space = request.address.space;
        let local = match space {
            Space::Local => Some(address),
            Space::Generic if window(address) == Window::Local => Some(address - LOCAL_WINDOW),
            _ => None,
        };
        if let Some(offset) = local {
            // The window is per thread and as large as the thread's local memory.
            let limit = u64::from(self.plan.local_bytes);
            if offset.checked_add(bytes).is_some_and(|end| end <= limit) {
                let lane_base = self.warps[w].local as u64 + (lane * self.local_stride) as u64;
                return Ok((lane_base + offset, false));
            }
            return Err(FaultKind::OutOfBounds { address, size, access, near: None });
        }
        let region = self.region(w, request, address);
        if let Some(region) = region
            && region.len >= bytes
            && address.wrapping_sub(region.base) <= region.len - bytes
        {
            return Ok((address.wrapping_add(region.bias), !region.tool));
        }
        let global = matches!(space, Space::Global) || window(address) == Window::Global;
        if global && self.memory.was_freed(address) {
            return Err(FaultKind::Freed { address, size, access });
        }
        let near = if global { self.memory.nearest(address) } else { None };
        Err(FaultKind::OutOfBounds { address, size, access, near })
    }
}
