//! Memory as a model reads and writes it, apart from the instruction at hand.

use std::cell::Cell;

use super::held::Held;
use super::notes::Notes;
use super::targets::Targets;
use crate::address::{SHARED_WINDOW, Window, window};
use crate::alu::words;
use crate::memory::{Memory, Region};

/// Bits of a shared address that are zero for the block's own memory (see [`crate::exec`]'s clusters).
const OTHER_BLOCK: u64 = 0xff00_0000;

/// Whether a generic address is one of another block's shared memory: the same bytes have another address there.
pub fn is_elsewhere(address: u64) -> bool {
    window(address) == Window::Shared && address & OTHER_BLOCK != 0
}

/// Global memory, and the shared memory of resident blocks.
pub struct World<'m> {
    pub(crate) memory: &'m Memory,
    /// First byte of the shared memory of the CTA slots, which lie that many bytes apart.
    pub(crate) shared: *mut u8,
    pub(crate) shared_stride: usize,
    pub(crate) shared_bytes: u32,
    /// Where something was to be written that is there no more.
    pub(crate) lost: Option<(u64, u32)>,
    /// Something was written that memory did not hold before.
    pub(crate) changed: bool,
    /// Where the last write went.
    pub(crate) known: Option<Region>,
    /// Where the last read came from.
    pub(crate) known_read: Cell<Option<Region>>,
    /// What whoever looks on is to be told, if somebody asks.
    pub(crate) notes: Option<&'m mut Notes>,
    /// What threads beyond the device do not see yet, where there may be such threads: see [`super::beyond`].
    pub(crate) held: Option<Box<Held>>,
}

impl std::fmt::Debug for World<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("World").finish_non_exhaustive()
    }
}

impl World<'_> {
    /// Reads up to eight bytes (1, 2, 4 or 8) at a generic address, as a thread of the CTA in this slot would; None
    /// when nothing is there, or no longer.
    pub fn read(&self, cta: u32, address: u64, bytes: u32) -> Option<u64> {
        let mut value = [0; 8];
        let from = self.host(cta, address, bytes, false)?;
        // SAFETY: `host` found so many bytes there, and a value has eight.
        unsafe { std::ptr::copy_nonoverlapping(from, value.as_mut_ptr(), bytes as usize) };
        if let Some(held) = &self.held {
            held.patch(address, &mut value[..bytes as usize]);
        }
        Some(u64::from_le_bytes(value))
    }

    /// Writes up to sixteen bytes (1, 2, 4, 8 or 16, low ones first) at once, as a thread of the CTA in this slot would.
    /// When nothing is there any more (the memory was freed meanwhile), nothing is written, and the launch
    /// ends with a fault at the instruction at hand.
    pub fn write(&mut self, cta: u32, address: u64, bytes: u32, value: u128) {
        if self.held.is_some() && window(address) == Window::Global {
            return self.write_or_hold(cta, address, bytes, value);
        }
        self.put(cta, address, bytes, value);
    }

    /// Writes to global memory, or holds the store back from beyond the device. What is held of the same bytes is older.
    #[cold]
    fn write_or_hold(&mut self, cta: u32, address: u64, bytes: u32, value: u128) {
        let Some(mut held) = self.held.take() else { return };
        while let Some(older) = held.take_overlapping(address, bytes) {
            self.put(cta, older.address, older.bytes, older.value);
        }
        // Where there is no memory any more, the launch is to end here.
        if held.wants(bytes) && self.target(cta, address, bytes).is_some() {
            self.changed = true;
            if let Some(left) = held.hold(address, bytes, value) {
                self.put(cta, left.address, left.bytes, left.value);
            }
        } else {
            self.put(cta, address, bytes, value);
        }
        self.held = Some(held);
    }

    /// Writes to memory itself.
    fn put(&mut self, cta: u32, address: u64, bytes: u32, value: u128) {
        let Some(to) = self.target(cta, address, bytes) else {
            self.lost = self.lost.or(Some((address, bytes)));
            return;
        };
        // SAFETY: so many bytes were found there, and a value has sixteen.
        unsafe {
            match bytes {
                // The usual widths as single moves.
                4 => self.changed |= put(to, value as u32),
                8 => self.changed |= put(to, value as u64),
                16 => self.changed |= put(to, value),
                bytes => {
                    let value = value.to_le_bytes();
                    let before = std::slice::from_raw_parts(to, bytes as usize);
                    self.changed |= before != &value[..bytes as usize];
                    std::ptr::copy_nonoverlapping(value.as_ptr(), to, bytes as usize);
                }
            }
        }
    }

    /// Reads four bytes for each of these lanes, if all of them are in one piece of memory that can be written; answers whether they are.
    pub(crate) fn read_each(
        &mut self,
        cta: u32,
        lanes: u32,
        targets: &Targets,
        values: &mut [u32; 32],
    ) -> bool {
        let hull = targets.hull(lanes, 4);
        let Some(host) = self.span(cta, hull) else { return false };
        if lanes == u32::MAX && targets.step == Some(4) {
            // SAFETY: as many bytes were found.
            *values = unsafe { host.cast::<[u32; 32]>().read_unaligned() };
            return true;
        }
        for (lane, from) in places(lanes, targets, (hull.0, host)) {
            // SAFETY: the lanes' bytes are within those that were found.
            values[lane] = unsafe { from.cast::<u32>().read_unaligned() };
        }
        true
    }

    /// Writes four bytes for each of these lanes, if all of them are in one piece of memory that can be written; answers whether they
    /// are.
    pub(crate) fn write_each(&mut self, cta: u32, lanes: u32, targets: &Targets, values: &[u32; 32]) -> bool {
        let hull = targets.hull(lanes, 4);
        let Some(host) = self.span(cta, hull) else { return false };
        if targets.step == Some(4) {
            let first = host.wrapping_sub(4 * (lanes.trailing_zeros() & 31) as usize);
            // SAFETY: the lanes' bytes were found.
            self.changed |= unsafe { words::write(lanes, values, first.cast()) };
            return true;
        }
        for (lane, to) in places(lanes, targets, (hull.0, host)) {
            // SAFETY: the lanes' bytes are within those that were found.
            self.changed |= unsafe { put(to, values[lane]) };
        }
        true
    }

    /// Where a write goes. The region of the last one is kept: nothing is freed while a model has the world.
    #[inline(always)]
    fn target(&mut self, cta: u32, address: u64, bytes: u32) -> Option<*mut u8> {
        if window(address) == Window::Shared {
            return self.host(cta, address, bytes, true);
        }
        let fits = |region: &Region| region.holds(address, bytes.into());
        if !self.known.as_ref().is_some_and(fits) {
            self.known = self.memory.region(address, true);
        }
        let region = self.known.as_ref().filter(|region| fits(region))?;
        Some(address.wrapping_add(region.bias) as *mut u8)
    }

    /// Where bytes are, from the first to the last, that are all in one piece of memory that can be written. None says nothing.
    pub(crate) fn span(&mut self, cta: u32, (first, last): (u64, u64)) -> Option<*mut u8> {
        let bytes = last.checked_sub(first)?.checked_add(1)?;
        if window(first) == Window::Shared {
            return self.own_shared(cta, first, bytes);
        }
        let start = self.target(cta, first, 1)?;
        let region = self.known.as_ref()?;
        region.holds(first, bytes).then_some(start)
    }

    /// Where bytes of the shared memory of a CTA's slot are.
    fn own_shared(&self, cta: u32, address: u64, bytes: u64) -> Option<*mut u8> {
        let offset = address - SHARED_WINDOW;
        // SAFETY: the slots' memory is one block, and the offset lies in that of this slot.
        fits(offset, bytes, self.shared_bytes.into())
            .then(|| unsafe { self.shared.add(self.shared_stride * cta as usize + offset as usize) })
    }

    fn host(&self, cta: u32, address: u64, bytes: u32, write: bool) -> Option<*mut u8> {
        assert!(bytes <= 16);
        if window(address) == Window::Shared {
            return self.own_shared(cta, address, bytes.into());
        }
        // Nothing is freed while a model has the world.
        let known =
            self.known_read.get().filter(|known| !write && address.wrapping_sub(known.base) < known.len);
        let region = match known {
            Some(known) => known,
            None => self.memory.region(address, write)?,
        };
        if !write {
            self.known_read.set(Some(region));
        }
        region.holds(address, bytes.into()).then(|| address.wrapping_add(region.bias) as *mut u8)
    }
}

/// Where these lanes' bytes are, as an address is there in the host's memory.
#[inline(always)]
fn places(
    mut lanes: u32,
    targets: &Targets,
    (address, host): (u64, *mut u8),
) -> impl Iterator<Item = (usize, *mut u8)> {
    std::iter::from_fn(move || {
        let lane = lanes.trailing_zeros() as usize;
        (lanes != 0).then(|| {
            lanes &= lanes - 1;
            (lane, host.wrapping_add((targets.address(lane) - address) as usize))
        })
    })
}

/// Whether so many bytes from this offset on lie in a memory of that length.
#[inline(always)]
fn fits(offset: u64, bytes: u64, len: u64) -> bool {
    offset < len && bytes <= len - offset
}

/// Writes a value; answers whether there was another.
///
/// # Safety
/// `to` is valid for as many bytes.
#[inline(always)]
unsafe fn put<T: PartialEq>(to: *mut u8, value: T) -> bool {
    let to = to.cast::<T>();
    // SAFETY: the caller's promise; memory is accessed unaligned, as host alignment is not the device's.
    unsafe {
        let changed = to.read_unaligned() != value;
        to.write_unaligned(value);
        changed
    }
}
