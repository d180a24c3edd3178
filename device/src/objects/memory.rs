//! What is known of the program's memory, on the device and page-locked.

use bugaroo_cuda_abi::{CUcontext, CUmemoryPool};
use bugaroo_simulator::AllocationKind;

/// Memory that the program allocated on the device.
#[derive(Clone, Copy, Debug)]
pub struct Allocation {
    /// Whose it is.
    pub context: CUcontext,
    /// As asked for, in bytes.
    pub size: u64,
    /// Of the device's own, or shared with the host.
    pub kind: AllocationKind,
    /// The pool that it came from.
    pub pool: Option<CUmemoryPool>,
    /// As set by `cuPointerSetAttribute`; every operation waits for its end anyway.
    pub synchronous: bool,
}

/// Memory of the host that the driver allocated for the program, or that the program registered.
#[derive(Clone, Copy, Debug)]
pub struct HostBlock {
    /// Whose it is.
    pub context: CUcontext,
    /// In bytes.
    pub size: usize,
    /// As passed to `cuMemHostAlloc` or `cuMemHostRegister`.
    pub flags: u32,
    /// It is the program's own.
    pub registered: bool,
}
