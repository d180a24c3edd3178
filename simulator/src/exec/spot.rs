//! Bytes of one lane: checked, and found again later. What touches memory lane by lane goes this way: asynchronous copies, matrices,
//! `mbarrier`; ordinary accesses go by rows ([`super::resolve`]).

use bugaroo_ptx::types::Space;

use super::Machine;
use crate::address::{SHARED_WINDOW, Window, window};
use crate::fault::{StopKind, TouchKind};
use crate::memory::Region;

/// Bytes that have been checked. Shared memory does not move while its block runs; global memory may be freed
/// between two turns, by the host, and is looked up again.
#[derive(Clone, Copy, Debug)]
pub(super) enum Spot {
    Shared(*mut u8),
    /// Global memory, to be read.
    Read(u64),
    /// Global memory, to be written. (With a flag beside the address instead, a spot would not move as two words, which takes longer.)
    Written(u64),
}

impl Spot {
    fn global(address: u64, write: bool) -> Spot {
        if write { Spot::Written(address) } else { Spot::Read(address) }
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
        match self.usual_spot(w, space, address, bytes, align, access) {
            Some(spot) => Ok(spot),
            None => self.checked_spot(w, space, address, bytes, align, access),
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
        align: u64,
        access: TouchKind,
    ) -> Option<Spot> {
        if align.is_power_of_two() && address & (align - 1) != 0 {
            return None;
        }
        if let Some(offset) = shared_offset(space, address) {
            let limit = u64::from(self.given.plan.shared_bytes);
            let inside = offset < limit && bytes <= limit - offset;
            let shared = self.residents.ctas[self.residents.warps[w].cta as usize].shared;
            return inside.then(|| Spot::Shared(shared.wrapping_add(offset as usize)));
        }
        let write = access != TouchKind::Read;
        let known = self.paths.spots[usize::from(write)].get();
        let within = address.wrapping_sub(known.base);
        (within < known.len && bytes <= known.len - within).then(|| Spot::global(address, write))
    }

    #[inline(never)]
    fn checked_spot(
        &self,
        w: usize,
        space: Space,
        address: u64,
        bytes: u64,
        align: u64,
        access: TouchKind,
    ) -> Result<Spot, StopKind> {
        let size = u32::try_from(bytes).unwrap_or(u32::MAX);
        if align.is_power_of_two() && address & (align - 1) != 0 {
            return Err(StopKind::Misaligned { address, size, access });
        }
        let outside = |near| StopKind::OutOfBounds { address, size, access, near };
        if let Some(offset) = shared_offset(space, address) {
            if let Some(pointer) = self.other_block(w, space, address, bytes)? {
                return Ok(Spot::Shared(pointer));
            }
            let limit = u64::from(self.given.plan.shared_bytes);
            if offset > limit || bytes > limit - offset {
                return Err(outside(None));
            }
            let shared = self.residents.ctas[self.residents.warps[w].cta as usize].shared;
            return Ok(Spot::Shared(shared.wrapping_add(offset as usize)));
        }
        let write = access != TouchKind::Read;
        match self.region_of_spot(address, write) {
            _ if space == Space::Generic && window(address) != Window::Global => Err(outside(None)),
            Some(region) if bytes <= region.len && address - region.base <= region.len - bytes => {
                Ok(Spot::global(address, write))
            }
            _ if self.memory.was_freed(address) => Err(StopKind::Freed { address, size, access }),
            _ => Err(self
                .memory
                .refused(address, size, access)
                .unwrap_or_else(|| outside(self.memory.nearest(address)))),
        }
    }

    /// The region of global memory that an address lies in: mostly the one where the last lane's lay.
    #[inline]
    fn region_of_spot(&self, address: u64, write: bool) -> Option<Region> {
        let last = &self.paths.spots[usize::from(write)];
        let known = last.get();
        if address.wrapping_sub(known.base) < known.len {
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
        (bytes <= region.len && address - region.base <= region.len - bytes)
            .then(|| address.wrapping_add(region.bias) as *mut u8)
    }
}

/// Where in shared memory an address lies that an instruction of this space has, if it does.
#[inline(always)]
fn shared_offset(space: Space, address: u64) -> Option<u64> {
    match (space, window(address)) {
        (Space::Shared, _) => Some(address),
        (Space::Generic, Window::Shared) => Some(address - SHARED_WINDOW),
        _ => None,
    }
}
