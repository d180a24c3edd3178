//! Copies between any two places, as boxes of bytes.

use std::ffi::c_void;

use bugaroo_cuda_abi::CUdeviceptr;
use bugaroo_simulator::Endpoint;

/// An address that a copy reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyPlace {
    /// Address in the program's own memory.
    Host(*mut c_void),
    /// Address in device memory.
    Device(CUdeviceptr),
}

impl CopyPlace {
    /// The place some bytes further.
    pub fn offset(self, bytes: usize) -> CopyPlace {
        match self {
            CopyPlace::Host(address) => CopyPlace::Host(address.cast::<u8>().wrapping_add(bytes).cast()),
            CopyPlace::Device(address) => CopyPlace::Device(address.wrapping_add(bytes as u64)),
        }
    }

    pub(crate) fn end(self) -> Endpoint {
        match self {
            CopyPlace::Host(address) => Endpoint::Host(address.cast()),
            CopyPlace::Device(address) => Endpoint::Device(address),
        }
    }
}

/// One side of a copy: the first byte, and the distances from row to row and from slice to slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopySide {
    /// The first byte of the first row.
    pub start: CopyPlace,
    /// Bytes from row to row.
    pub pitch: usize,
    /// Bytes from slice to slice.
    pub slice: usize,
}

impl CopySide {
    /// A side without rows.
    pub fn line(start: CopyPlace) -> CopySide {
        CopySide { start, pitch: 0, slice: 0 }
    }

    pub(crate) fn row(&self, y: usize, z: usize) -> CopyPlace {
        self.start.offset(z.wrapping_mul(self.slice).wrapping_add(y.wrapping_mul(self.pitch)))
    }
}

/// A copy of `depth` slices of `height` rows of `width` bytes. Plain data: what it says does not change
/// when it is kept for later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Where it writes.
    pub to: CopySide,
    /// Where it reads.
    pub from: CopySide,
    /// Bytes of a row.
    pub width: usize,
    /// Rows of a slice.
    pub height: usize,
    /// Slices.
    pub depth: usize,
}
