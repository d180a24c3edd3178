//! Global memory of the virtual GPU: ranges of host memory, tables of what is allocated in them, and the
//! checks that keep device code inside.
//!
//! There are three kinds. **Device memory** lies in one reserved range; its device addresses are offsets into
//! that plus [`crate::address::GLOBAL_BASE`], the same in every run, and no addresses of the host's. **Memory
//! that host and device share** (managed and page-locked) lies in a second range, reserved when first asked
//! for at an address of its own ([`crate::address::HOST_VISIBLE_BASE`]), where both use the same addresses.
//! **Host memory of the program** that it registered is reached by its own addresses, which depend on the
//! host. Chunks of device memory may also be mapped into a window of reserved addresses ([`MappingAccess`]).
//!
//! Pages are committed by the host as they are touched. Between two allocations lies a gap that belongs to
//! nobody; a range that was freed is not handed out again before 64 MiB of others were freed after it, or, if it is
//! large, before the end of its range has been reached once, so a stale pointer faults. What it misses: an overrun that jumps over the gap into another live
//! allocation, and what the host does to its own memory (a registered range that it unmaps takes the process
//! down when it is touched).

mod arena;
mod bytes;
mod exports;
mod granted;
mod hash;
mod heap;
mod host_range;
mod interprocess;
mod mapping;
mod owners;
mod peers;
mod segment;
mod shared;
mod table;
#[cfg(test)]
mod tests;
mod virtual_memory;

pub use bytes::Endpoint;
pub use exports::Exported;
pub use granted::{Granted, MappingAccess};
use hash::Hash;
use host_range::{HostRange, HostRanges};
pub use mapping::GRANULARITY;
use mapping::Mappings;
use owners::Peers;
pub use owners::{MemoryOwner, OwnerAccess};
use segment::{Held, Segment};
pub(crate) use shared::Shared;

use crate::address::{GLOBAL_BASE, VIRTUAL_BASE, VIRTUAL_END, Window, window};
use crate::console::Console;
use crate::fault::Near;
use crate::texture::TextureObjects;

/// Whose an allocation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AllocationKind {
    /// The program under test asked for it.
    Program,
    /// Variables of a loaded module.
    Module,
    /// Device code asked for it (`malloc`).
    Heap,
    /// Memory of the program at addresses that the host uses, too.
    Managed,
    /// Page-locked memory of the host, at addresses that the device uses, too: no part of a digest.
    Pinned,
    /// A chunk that is only reached where it is mapped.
    Chunk,
    /// Memory of another process of the program: no part of a digest.
    Imported,
    /// The tester's own (store buffers and the like): no part of a digest, and accesses to it are no
    /// scheduling points.
    Tool,
}

impl AllocationKind {
    /// Host and device reach it by the same address.
    pub fn host_visible(self) -> bool {
        matches!(self, AllocationKind::Managed | AllocationKind::Pinned)
    }
}

/// Why a request on memory failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MemoryError {
    /// The device has no such room left.
    #[error("out of device memory: {bytes} bytes asked for, {available} available")]
    OutOfMemory {
        /// Bytes asked for.
        bytes: u64,
        /// Bytes that could still be had, in all.
        available: u64,
    },
    /// Not the base of a live allocation.
    #[error("{0:#x} is not the base of an allocation")]
    NotAllocated(u64),
    /// The range is not inside one live allocation.
    #[error("{bytes} bytes at {address:#x} are not inside one allocation")]
    OutOfBounds {
        /// First address.
        address: u64,
        /// Bytes.
        bytes: u64,
    },
    /// The range is registered already, or its addresses mean something else to device code.
    #[error("{bytes} bytes of the host at {address:#x} cannot be registered")]
    NotRegistrable {
        /// First address.
        address: u64,
        /// Bytes.
        bytes: u64,
    },
    /// The host would not share memory between processes.
    #[error("the host cannot share memory between processes")]
    Sharing,
    /// The host would not reserve the address range.
    #[error("the host cannot reserve {0} bytes of address space")]
    Reserve(u64),
}

/// A live allocation as device code's accesses see it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Region {
    /// First device address.
    pub base: u64,
    /// Bytes.
    pub len: u64,
    /// Add to a device address to get the host's.
    pub bias: u64,
    /// Belongs to the tester.
    pub tool: bool,
    /// It is one whole allocation.
    pub whole: bool,
    /// It is the device's own, which others reach by calls of the API only.
    pub own: bool,
    /// The launch does not write to it, and who looks on need not be told who reads it.
    pub unwritten: bool,
    /// A weak load of it is no visible operation: nobody writes to it while the launch runs.
    pub quiet: bool,
}

impl Region {
    /// Whether so many bytes from this address on lie in it.
    #[inline(always)]
    pub fn holds(&self, address: u64, bytes: u64) -> bool {
        let offset = address.wrapping_sub(self.base);
        offset < self.len && bytes <= self.len - offset
    }

    /// The region that holds nothing.
    pub const NONE: Region = Region {
        base: 0,
        len: 0,
        bias: 0,
        tool: false,
        whole: false,
        own: false,
        unwritten: false,
        quiet: false,
    };
}

impl From<Held> for Region {
    fn from(held: Held) -> Region {
        let bias = (held.host as u64).wrapping_sub(held.base);
        let (tool, whole) = (held.kind == AllocationKind::Tool, true);
        let own = matches!(held.kind, AllocationKind::Program | AllocationKind::Module);
        Region { base: held.base, len: held.bytes, bias, tool, whole, own, ..Region::NONE }
    }
}

/// Global memory.
#[derive(Debug)]
pub struct Memory {
    device: Segment,
    /// Made when first asked for.
    host_visible: Option<Segment>,
    registered: HostRanges,
    mappings: Mappings,
    /// Whose what is, where there are several devices.
    peers: Peers,
    taken: Taken,
    /// How often what is allocated has changed.
    changes: u64,
    heap: HeapUse,
    console: Console,
    objects: TextureObjects,
}

/// How much of the device's memory is in use. Bytes.
#[derive(Debug)]
struct Taken {
    capacity: u64,
    used: u64,
}

/// What device code may take by `malloc`, and has taken.
#[derive(Debug)]
struct HeapUse {
    limit: u64,
    used: u64,
}

impl Memory {
    /// Memory of `capacity` bytes. Reserves address space (twice as much, for the gaps and for ranges in
    /// quarantine), commits nothing.
    ///
    /// # Errors
    /// [`MemoryError::Reserve`] when the host refuses the range.
    pub fn new(capacity: u64) -> Result<Memory, MemoryError> {
        let span = capacity.saturating_mul(2).clamp(1 << 24, VIRTUAL_BASE - GLOBAL_BASE);
        let device = Segment::device(span).ok_or(MemoryError::Reserve(span))?;
        Ok(Memory {
            device,
            host_visible: None,
            registered: HostRanges::default(),
            mappings: Mappings::new(),
            peers: Peers::default(),
            taken: Taken { capacity, used: 0 },
            changes: 0,
            heap: HeapUse { limit: heap::DEFAULT_LIMIT, used: 0 },
            console: Console::default(),
            objects: TextureObjects::default(),
        })
    }

    /// Allocates `bytes` (at least 1) at a multiple of `align` (a power of two; 256 at least), filled with
    /// zero, and answers the device address, which is also the host's for the kinds that both reach. What
    /// the host has to hold anyway does not count against the capacity.
    ///
    /// # Errors
    /// [`MemoryError::OutOfMemory`]
    pub fn alloc(&mut self, bytes: u64, align: u64, kind: AllocationKind) -> Result<u64, MemoryError> {
        let bytes = bytes.max(1);
        self.changes += 1;
        let full = MemoryError::OutOfMemory { bytes, available: self.available() };
        if kind.host_visible() {
            if self.host_visible.is_none() {
                self.host_visible = Segment::host_visible();
            }
            let heap = self.host_visible.as_mut().ok_or(full)?;
            return heap.alloc(bytes, align, kind).ok_or(full);
        }
        if bytes > self.available() {
            return Err(full);
        }
        let address = self.device.alloc(bytes, align, kind).ok_or(full)?;
        if kind == AllocationKind::Heap {
            self.peers.allocated_by_code(address);
        }
        self.taken.used += bytes;
        Ok(address)
    }

    /// Says that most of the pages of a range of the device's memory will be used: the host may commit it in large
    /// pieces. Changes nothing else.
    pub fn expect_dense(&self, address: u64, bytes: u64) {
        self.device.expect_dense(address, bytes);
    }

    /// Frees the allocation that starts at `address`.
    ///
    /// # Errors
    /// [`MemoryError::NotAllocated`] when none does.
    pub fn free(&mut self, address: u64) -> Result<(), MemoryError> {
        let missing = MemoryError::NotAllocated(address);
        self.changes += 1;
        if let Some(heap) = self.host_visible.as_mut().filter(|heap| heap.covers(address)) {
            return heap.free(address).map(|_| ()).ok_or(missing);
        }
        let bytes = self.device.free(address).ok_or(missing)?;
        self.peers.freed(address);
        self.taken.used -= bytes;
        Ok(())
    }

    /// Lets device code reach memory of the host, by the host's addresses.
    ///
    /// # Errors
    /// [`MemoryError::NotRegistrable`] when a part of it is registered or allocated here already, or when
    /// its addresses are those of a window of the device's.
    ///
    /// # Safety
    /// The range stays mapped and may be read, and written if `writable`, until it is unregistered.
    pub unsafe fn register(&mut self, address: u64, bytes: u64, writable: bool) -> Result<(), MemoryError> {
        let refused = MemoryError::NotRegistrable { address, bytes };
        let end = address.checked_add(bytes).ok_or(refused)?;
        let overlaps = |start: u64, stop: u64| address < stop && start < end;
        // The windows of 4 GiB below count by their upper half.
        let windowed = bytes == 0
            || window(address) != Window::Global
            || window(end - 1) != Window::Global
            || overlaps(1 << 32, 4 << 32)
            || overlaps(GLOBAL_BASE, VIRTUAL_END);
        let ours = self.host_visible.as_ref().is_some_and(|heap| heap.overlaps(address, end));
        let range = HostRange { start: address, bytes, writable };
        if windowed || ours || !self.registered.insert(range) { Err(refused) } else { Ok(()) }
    }

    /// Takes the range that was registered at `address` out of device code's reach.
    ///
    /// # Errors
    /// [`MemoryError::NotAllocated`] when none was.
    pub fn unregister(&mut self, address: u64) -> Result<(), MemoryError> {
        self.changes += 1;
        if self.registered.remove(address) { Ok(()) } else { Err(MemoryError::NotAllocated(address)) }
    }

    /// Base address and size of the live allocation, mapping or registered range that holds `address`.
    pub fn allocation(&self, address: u64) -> Option<(u64, u64)> {
        self.region_for(address, None).map(|region| (region.base, region.len))
    }

    /// Whether an address is one that only the device's memory can have, allocated or not.
    pub fn covers(&self, address: u64) -> bool {
        (GLOBAL_BASE..VIRTUAL_END).contains(&address)
    }

    /// Whether an address is one that host and device share, allocated or not.
    pub fn covers_host_visible(&self, address: u64) -> bool {
        self.host_visible.as_ref().is_some_and(|heap| heap.covers(address))
    }

    /// Whether there is any, or ever was.
    pub fn has_host_visible(&self) -> bool {
        self.host_visible.is_some()
    }

    /// What device code prints: on hardware, too, it lies in a piece of device memory until the host takes it.
    pub fn console(&mut self) -> &mut Console {
        &mut self.console
    }

    /// The texture and surface objects that kernels can name.
    pub fn objects(&self) -> &TextureObjects {
        &self.objects
    }

    /// The same, to make and to destroy some.
    pub fn objects_mut(&mut self) -> &mut TextureObjects {
        &mut self.objects
    }

    /// Bytes that can still be allocated.
    pub fn available(&self) -> u64 {
        self.taken.capacity - self.taken.used
    }

    /// Bytes that there are in all.
    pub fn capacity(&self) -> u64 {
        self.taken.capacity
    }

    /// Live allocations: address, size and owner, by ascending address; those that the host reaches come
    /// last.
    pub fn allocations(&self) -> impl Iterator<Item = (u64, u64, AllocationKind)> + '_ {
        self.live().map(|(_, held)| (held.base, held.bytes, held.kind))
    }

    fn live(&self) -> impl Iterator<Item = (&Segment, Held)> + '_ {
        let heaps = [Some(&self.device), self.host_visible.as_ref()];
        heaps.into_iter().flatten().flat_map(|heap| heap.live().map(move |held| (heap, held)))
    }

    /// A hash of what the program and its modules hold, in order of address: contents, sizes and order of
    /// the allocations, not where the host put them. Two runs of one seed have the same. The host's own
    /// memory is no part of it.
    pub fn digest(&self) -> u64 {
        let mut hash = Hash::default();
        for (heap, held) in self.live() {
            if !matches!(held.kind, AllocationKind::Tool | AllocationKind::Pinned | AllocationKind::Imported)
            {
                hash.step([held.bytes; 4]);
                heap.words(&held, &mut |words| hash.step(words));
            }
        }
        hash.finish()
    }

    /// The same of one allocation, by its first address, with its size in bytes; none where there is none, or where it is
    /// the tester's own.
    pub fn digest_of(&self, address: u64) -> Option<(u64, u64)> {
        let heaps = [Some(&self.device), self.host_visible.as_ref()];
        let found = |heap: &Segment| {
            heap.find(address).filter(|held| held.base == address && held.kind != AllocationKind::Tool)
        };
        let (heap, held) =
            heaps.into_iter().flatten().find_map(|heap| found(heap).map(|held| (heap, held)))?;
        let mut hash = Hash::default();
        heap.words(&held, &mut |words| hash.step(words));
        Some((held.bytes, hash.finish()))
    }

    /// The region that holds `address`, if device code may read it, or write to it.
    pub(crate) fn region(&self, address: u64, write: bool) -> Option<Region> {
        self.region_for(address, Some(if write { MappingAccess::ReadWrite } else { MappingAccess::Read }))
    }

    /// The region that holds `address`, if it can be accessed so; without an access, if it is there.
    fn region_for(&self, address: u64, access: Option<MappingAccess>) -> Option<Region> {
        if let Some(held) = self.device.find(address) {
            let lets = |access| self.peers.lets(held.base, access == MappingAccess::ReadWrite);
            let open = access.is_none_or(lets);
            return (open && held.kind != AllocationKind::Chunk).then(|| held.into());
        }
        if let Some(held) = self.host_visible.as_ref().and_then(|heap| heap.find(address)) {
            return Some(held.into());
        }
        if let Some(mapping) = self.mappings.find(address) {
            let chunk = self.device.find(mapping.chunk)?;
            let host = (chunk.host as u64).wrapping_add(mapping.offset);
            let bias = host.wrapping_sub(mapping.start);
            let region = Region { base: mapping.start, len: mapping.bytes, bias, ..Region::NONE };
            let device = self.peers.running;
            return access.is_none_or(|access| mapping.access.lets(device, access)).then_some(region);
        }
        let range = self.registered.find(address)?;
        let region = Region { base: range.start, len: range.bytes, ..Region::NONE };
        (range.writable || access != Some(MappingAccess::ReadWrite)).then_some(region)
    }

    /// Was `address` part of an allocation that has been freed and not been handed out again?
    pub(crate) fn was_freed(&self, address: u64) -> bool {
        let shared = self.host_visible.as_ref();
        self.device.was_freed(address) || shared.is_some_and(|heap| heap.was_freed(address))
    }

    /// The allocation that `address` misses by least, if by less than a megabyte.
    pub(crate) fn nearest(&self, address: u64) -> Option<Near> {
        let shared = || self.host_visible.as_ref()?.nearest(address);
        self.device.nearest(address).or_else(shared)
    }
}
