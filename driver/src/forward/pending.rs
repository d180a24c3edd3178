//! Launches so far, and those whose end was not seen yet.

use bugaroo_cuda_abi::{CUdeviceptr, CUfunction, CUstream};
use bugaroo_device_handlers::Layout;

use super::real;
use bugaroo_device::error::CallResult;

/// Launches of the process so far, and those whose end was not seen yet.
#[derive(Debug, Default)]
pub struct Launches {
    pub(crate) ordinal: u64,
    pub(crate) pending: Vec<Pending>,
    buffers: Vec<Buffers>,
    pub(crate) told_of_capture: bool,
}

/// Device memory for the store buffers of one launch at a time.
#[derive(Debug)]
struct Buffers {
    context: usize,
    address: CUdeviceptr,
    bytes: u64,
    taken: bool,
}

/// A launch that was started.
#[derive(Debug)]
pub struct Pending {
    pub(crate) ordinal: u64,
    pub(crate) kernel: String,
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) stream: usize,
    pub(crate) context: usize,
    pub(crate) armed: Option<(CUdeviceptr, Layout, CUdeviceptr)>,
}

/// What is to be launched.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub function: CUfunction,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub stream: CUstream,
}

impl Launches {
    pub(crate) fn take(&mut self, chosen: impl Fn(&Pending) -> bool) -> Vec<Pending> {
        let (taken, kept) = std::mem::take(&mut self.pending).into_iter().partition(chosen);
        self.pending = kept;
        taken
    }

    /// Device memory of the current context for a launch's buffers.
    pub(crate) fn buffers(&mut self, context: usize, bytes: u64) -> CallResult<CUdeviceptr> {
        let fits =
            |buffers: &&mut Buffers| !buffers.taken && buffers.context == context && buffers.bytes >= bytes;
        if let Some(buffers) = self.buffers.iter_mut().find(fits) {
            buffers.taken = true;
            return Ok(buffers.address);
        }
        let mut address = 0;
        // SAFETY: a place for the address.
        unsafe { real::cuMemAlloc_v2(&raw mut address, bytes as usize) }?;
        self.buffers.push(Buffers { context, address, bytes, taken: true });
        Ok(address)
    }

    pub(crate) fn release(&mut self, pending: &Pending) {
        if let Some((_, _, base)) = &pending.armed {
            self.buffers
                .iter_mut()
                .filter(|buffers| buffers.address == *base)
                .for_each(|buffers| buffers.taken = false);
        }
    }
}
