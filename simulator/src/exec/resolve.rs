//! From a warp's addresses to host pointers, with every check.
//!
//! The lanes' addresses are computed as a row and compared as a row with three patterns: all the same,
//! consecutive elements, anything. One lookup finds the allocation of the first lane (the last one found is
//! kept per instruction); that all lanes lie inside is then one comparison of vectors, or of the two ends.
//! Only when that fails are lanes looked at one by one: they may lie in different allocations or windows, or
//! one of them is to blame.

use bugaroo_ptx::types::{Semantics, Space};
use bugaroo_semantics::event::{Range, WhoseBytes};

use super::data::{lanes, row};
use super::shape::{Shape, shape, shape32, steps};
use super::spot::{Spot, shared_offset};
use super::{Machine, Trouble};
use crate::address::{LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, Window, window};
use crate::decoded::{Address, Base};
use crate::fault::{StopKind, TouchKind};
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
    pub kind: TouchKind,
}

/// Where the lanes' data is.
#[derive(Clone, Copy)]
pub(crate) enum Pattern {
    /// Lane `i` at this pointer plus `i` times the size (lanes that are not active may lie outside).
    Consecutive(*mut u8),
    /// All lanes here.
    Same(*mut u8),
    /// Each lane where [`Machine::pointers`] says.
    Each,
}

/// Whose memory it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    /// Global memory, or the parameters.
    Global,
    /// Global memory that the launch does not write: [`Region::unwritten`].
    Unwritten,
    /// The CTA's own.
    Shared,
    /// It was not said: the lanes were looked at one by one.
    Unsaid,
}

/// The answer: a pattern, and whether it is the program's memory that other threads see.
#[derive(Clone, Copy)]
pub(crate) struct Resolved {
    pub pattern: Pattern,
    pub visible: bool,
    /// A load of it is no visible operation all the same: [`Region::quiet`].
    pub quiet: bool,
    /// Of all lanes.
    pub whose: Whose,
    /// Where that is said: the host's pointer to address 0 of global memory, or to the first byte of the CTA's shared memory.
    pub origin: u64,
    /// Where it is not 0: generic addresses with these bits from 24 on are those of the block's own shared memory, too.
    pub own_window: u64,
}

impl Resolved {
    /// The pointer of one lane.
    #[inline(always)]
    pub fn lane(&self, pointers: &[u64; 32], lane: usize, bytes: u32) -> *mut u8 {
        match self.pattern {
            Pattern::Consecutive(first) => first.wrapping_add(lane * bytes as usize),
            Pattern::Same(all) => all,
            Pattern::Each => pointers[lane] as *mut u8,
        }
    }
}

/// The window that an address of an instruction's space lies in; of local memory: anything.
#[inline(always)]
fn window_of(space: Space, address: u64) -> Window {
    match space {
        Space::Shared => Window::Shared,
        Space::Param => Window::Param,
        Space::Generic => window(address),
        _ => Window::Global,
    }
}

/// Whose memory a region is, in which an address of this space lies; and its origin: see [`Resolved`].
#[inline(always)]
pub(super) fn whose(space: Space, address: u64, region: &Region) -> (Whose, u64) {
    match window_of(space, address) {
        Window::Shared => (Whose::Shared, region.base.wrapping_add(region.bias)),
        _ if region.unwritten => (Whose::Unwritten, region.bias),
        _ => (Whose::Global, region.bias),
    }
}

/// A 32-bit address and an offset, as machines add them: nvcc counts on a negative base coming round to 0.
pub(crate) fn sum32(base: u32, offset: u64) -> u64 {
    u64::from(base.wrapping_add(offset as u32))
}

impl Machine<'_> {
    /// The addresses of all lanes, in the space of the instruction, into the row of pointers.
    #[inline(always)]
    pub(super) unsafe fn addresses(
        &mut self,
        w: usize,
        frame: *const u8,
        consts: *const u8,
        address: &Address,
    ) {
        let offset = address.offset;
        // SAFETY: slots are the loader's.
        unsafe {
            match address.base {
                Base::Row64(slot) => {
                    let base = &*row(frame, consts, slot).cast::<[u64; 32]>();
                    for (pointer, base) in self.paths.pointers.iter_mut().zip(base) {
                        *pointer = base.wrapping_add(offset);
                    }
                }
                Base::Row32(slot) => {
                    let base = &*row(frame, consts, slot).cast::<[u32; 32]>();
                    for (pointer, base) in self.paths.pointers.iter_mut().zip(base) {
                        *pointer = sum32(*base, offset);
                    }
                }
                Base::Fixed => self.paths.pointers = [offset; 32],
                Base::FrameLocal => {
                    self.paths.pointers = [offset.wrapping_add(self.local_base(w, frame)); 32];
                }
            }
        }
    }

    /// An access has found its region: says whether the launch only reads there ([`super::unwritten`]).
    #[cold]
    fn mark_unwritten(&mut self, region: &mut Region, request: &Request) {
        if !self.paths.unwritten.has(region) {
            return;
        }
        let spares = self.hooks.watch.as_ref().is_some_and(|watch| watch.spares_unwritten());
        if request.kind == TouchKind::Read {
            region.unwritten = spares;
            region.quiet = region.own && self.has_been_alone() && self.is_weak_load(request.site);
            return;
        }
        self.paths.unwritten.written(region);
        if let Some(watch) = self.hooks.watch.as_ref().filter(|_| spares) {
            watch.tell_unforeseen(Range {
                memory: WhoseBytes::Global,
                address: region.base,
                bytes: region.len,
            });
        }
        self.forget_regions();
    }

    fn is_weak_load(&self, site: usize) -> bool {
        self.given.program.accesses.get(site).is_some_and(|access| access.semantics == Semantics::Weak)
    }

    /// Where the local variables of the running frame begin.
    #[inline(never)]
    pub(super) fn local_base(&self, w: usize, rows: *const u8) -> u64 {
        let fragments = &self.residents.warps[w].fragments;
        let mut frames = fragments.iter().map(|f| self.residents.frames.get(f.frame));
        let found = frames.find(|f| std::ptr::eq(f.rows, rows));
        u64::from(found.expect("the running frame is some fragment's").local_base)
    }

    /// The region of an address in global memory, shared memory or the parameters.
    #[inline(always)]
    pub(super) fn region(&mut self, w: usize, request: &Request, address: u64) -> Option<Region> {
        let (space, site) = (request.address.space, request.site);
        let generic = space == Space::Generic;
        match window_of(space, address) {
            Window::Global => {
                let known = self.paths.regions[site];
                if address.wrapping_sub(known.base) < known.len {
                    return Some(known);
                }
                let writes = request.kind != TouchKind::Read;
                let mut found = self.memory.region(address, writes)?;
                self.mark_unwritten(&mut found, request);
                self.paths.regions[site] = found;
                Some(found)
            }
            Window::Shared => {
                let base = if generic { SHARED_WINDOW } else { 0 };
                let shared = self.residents.ctas[self.residents.warps[w].cta as usize].shared as u64;
                let len = u64::from(self.given.plan.shared_bytes);
                Some(Region { base, len, bias: shared.wrapping_sub(base), ..Region::NONE })
            }
            // Nobody writes to a kernel's parameters.
            Window::Param if request.kind != TouchKind::Read => None,
            Window::Param => {
                let base = if generic { PARAM_WINDOW } else { 0 };
                let len = u64::from(self.given.plan.kernel.param_bytes);
                let params = self.given.params.as_mut_ptr() as u64;
                Some(Region { base, len, bias: params.wrapping_sub(base), tool: true, ..Region::NONE })
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
        let bytes = request.bytes;
        // SAFETY: slots are the loader's.
        let (shape, base) = unsafe {
            match request.address.base {
                Base::Row64(slot) => {
                    let base = &*row(frame, consts, slot).cast::<[u64; 32]>();
                    shape(base, mask, bytes)
                }
                Base::Row32(slot) => {
                    let base = &*row(frame, consts, slot).cast::<[u32; 32]>();
                    shape32(base, mask, bytes)
                }
                Base::Fixed => (Shape::Same, 0),
                Base::FrameLocal => (Shape::Scattered, 0),
            }
        };
        let start = match request.address.base {
            Base::Row32(_) => sum32(base as u32, request.address.offset),
            _ => base.wrapping_add(request.address.offset),
        };
        if shape != Shape::Scattered
            && start & u64::from(bytes - 1) == 0
            && request.address.space != Space::Local
            && let Some(region) = self.region(w, request, start)
        {
            let steps: &[u64; 32] = steps(bytes);
            let (first, last) = (mask.trailing_zeros() as usize, 31 - mask.leading_zeros() as usize);
            let reach = if shape == Shape::Same { 0 } else { steps[last] - steps[first] };
            let offset = start.wrapping_sub(region.base);
            // No sum here overflows: the offset is less than the length whenever the first test holds.
            if offset < region.len && region.len - offset >= reach + u64::from(bytes) {
                let (visible, quiet) = (!region.tool, region.quiet);
                let (whose, origin) = whose(request.address.space, start, &region);
                let host = |address: u64| address.wrapping_add(region.bias) as *mut u8;
                let found = |pattern| Resolved { pattern, visible, quiet, whose, origin, own_window: 0 };
                if shape == Shape::Same {
                    return Ok(found(Pattern::Same(host(start))));
                }
                let lane0 = start.wrapping_sub(steps[first]);
                self.anticipate(w, request.site, lane0, region.bias);
                return Ok(found(Pattern::Consecutive(host(lane0))));
            }
        }
        // SAFETY: the caller's promise.
        unsafe { self.scattered(w, frame, consts, request, mask) }
    }

    /// Lane by lane: local memory, lanes in different allocations or windows, and faults.
    #[inline(never)]
    pub(super) fn resolve_each(
        &mut self,
        w: usize,
        request: &Request,
        mask: u32,
    ) -> Result<Resolved, Trouble> {
        let mut visible = false;
        for lane in lanes(mask) {
            let address = self.paths.pointers[lane];
            match self.resolve_lane(w, request, lane, address) {
                Ok((pointer, seen)) => {
                    self.paths.pointers[lane] = pointer;
                    visible |= seen;
                }
                Err(kind) => return Err(Box::new((kind, lane as u32))),
            }
        }
        let (whose, own_window) = (Whose::Unsaid, self.own_window(w));
        Ok(Resolved { pattern: Pattern::Each, visible, quiet: false, whose, origin: 0, own_window })
    }

    pub(super) fn resolve_lane(
        &mut self,
        w: usize,
        request: &Request,
        lane: usize,
        address: u64,
    ) -> Result<(u64, bool), StopKind> {
        let (size, access) = (request.bytes, request.kind);
        let bytes = u64::from(size);
        if address & (bytes - 1) != 0 {
            return Err(StopKind::Misaligned { address, size, access });
        }
        let space = request.address.space;
        let local = match space {
            Space::Local => Some(address),
            Space::Generic if window(address) == Window::Local => Some(address - LOCAL_WINDOW),
            _ => None,
        };
        if let Some(offset) = local {
            // The window is per thread and as large as the thread's local memory.
            let limit = u64::from(self.given.plan.local_bytes);
            if offset.checked_add(bytes).is_some_and(|end| end <= limit) {
                let lane_base =
                    self.residents.warps[w].local as u64 + (lane * self.given.layout.local_stride) as u64;
                return Ok((lane_base + offset, false));
            }
            return Err(StopKind::OutOfBounds { address, size, access, near: None });
        }
        if let Some(found) = self.other_block(w, space, address, bytes)? {
            return Ok((found as u64, true));
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
            return Err(StopKind::Freed { address, size, access });
        }
        if global && let Some(refused) = self.memory.refused(address, size, access) {
            return Err(refused);
        }
        let near = if global { self.memory.nearest(address) } else { None };
        Err(StopKind::OutOfBounds { address, size, access, near })
    }
}

impl Machine<'_> {
    /// Checks bytes of global memory, or of a block's shared memory, and finds them.
    #[inline(always)]
    pub(super) fn spot(
        &self,
        w: usize,
        space: Space,
        address: u64,
        bytes: u64,
        align: u64,
        access: TouchKind,
    ) -> Result<Spot, StopKind> {
        let misaligned = align.is_power_of_two() && address & (align - 1) != 0;
        match self.usual_spot(w, space, address, bytes, access) {
            Some(spot) if !misaligned => Ok(spot),
            _ => self.unusual_spot(w, space, address, bytes, misaligned, access),
        }
    }

    /// As [`Self::spot`], for bytes of the block's own shared memory, and of the region where the last lane's lay.
    #[inline(always)]
    fn usual_spot(
        &self,
        w: usize,
        space: Space,
        address: u64,
        bytes: u64,
        access: TouchKind,
    ) -> Option<Spot> {
        if let Some(offset) = shared_offset(space, address) {
            let limit = u64::from(self.given.plan.shared_bytes);
            let shared = self.residents.ctas[self.residents.warps[w].cta as usize].shared;
            let inside = offset <= limit && bytes <= limit - offset;
            return inside.then(|| Spot::Shared(shared.wrapping_add(offset as usize)));
        }
        let write = access != TouchKind::Read;
        let known = self.paths.spots[usize::from(write)].get();
        known.holds(address, bytes).then(|| Spot::global(address, write))
    }

    /// The same for all others, and what is wrong with those that are nowhere.
    #[inline(never)]
    fn unusual_spot(
        &self,
        w: usize,
        space: Space,
        address: u64,
        bytes: u64,
        misaligned: bool,
        access: TouchKind,
    ) -> Result<Spot, StopKind> {
        let size = u32::try_from(bytes).unwrap_or(u32::MAX);
        if misaligned {
            return Err(StopKind::Misaligned { address, size, access });
        }
        let outside = |near| StopKind::OutOfBounds { address, size, access, near };
        if shared_offset(space, address).is_some() {
            let other = self.other_block(w, space, address, bytes)?;
            return other.map(Spot::Shared).ok_or_else(|| outside(None));
        }
        if space == Space::Generic && window(address) != Window::Global {
            return Err(outside(None));
        }
        let write = access != TouchKind::Read;
        if self.region_of_spot(address, write).is_some_and(|region| region.holds(address, bytes)) {
            return Ok(Spot::global(address, write));
        }
        if self.memory.was_freed(address) {
            return Err(StopKind::Freed { address, size, access });
        }
        let refused = self.memory.refused(address, size, access);
        Err(refused.unwrap_or_else(|| outside(self.memory.nearest(address))))
    }

    /// The region of global memory that an address lies in: mostly the one where the last lane's lay.
    #[inline]
    fn region_of_spot(&self, address: u64, write: bool) -> Option<Region> {
        let last = &self.paths.spots[usize::from(write)];
        let known = last.get();
        if known.holds(address, 1) {
            return Some(known);
        }
        let found = self.memory.region(address, write)?;
        last.set(found);
        Some(found)
    }

    /// The host's address of checked bytes; None when their memory has been freed meanwhile.
    #[inline]
    pub(super) fn pointer(&self, spot: Spot, bytes: u64) -> Option<*mut u8> {
        let (address, write) = match spot {
            Spot::Shared(pointer) => return Some(pointer),
            Spot::Read(address) => (address, false),
            Spot::Written(address) => (address, true),
        };
        let region = self.region_of_spot(address, write)?;
        region.holds(address, bytes).then(|| address.wrapping_add(region.bias) as *mut u8)
    }
}
