//! `cudaDeviceProp`, which CUDA 12 and 13 lay out differently.
//!
//! A table names the fields in order, with the driver's attributes that fill them; the layout is that
//! of the C structure with these fields. An attribute that the driver does not know is 0.

use std::ffi::{c_char, c_int, c_void};

use Fields::{Dropped, Int, New, Size, TotalMemory};
use bugaroo_cuda_abi::CUdevice;

use crate::api::api;
use crate::device::{cuDeviceGetAttribute, handle};
use crate::driver::driver;
use crate::error::{RuntimeError, RuntimeResult};

driver! {
    cuDeviceGetName(place: *mut c_char, length: c_int, device: CUdevice);
    cuDeviceGetUuid_v2(place: *mut [u8; 16], device: CUdevice);
    cuDeviceTotalMem_v2(place: *mut usize, device: CUdevice);
}

/// Whose structure: CUDA 11's and 12's first one, 12's, 13's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    V11,
    V12,
    V13,
}

impl Layout {
    /// `sizeof(cudaDeviceProp)`
    const fn size(self) -> usize {
        match self {
            Layout::V11 => 728,
            Layout::V12 => 1032,
            Layout::V13 => 1008,
        }
    }
}

/// Some fields of one kind in a row, by the attributes behind them.
enum Fields {
    /// `int`, in all layouts.
    Int(&'static [c_int]),
    /// `int` that CUDA 13 dropped.
    Dropped(&'static [c_int]),
    /// `int` that CUDA 13 brought.
    New(&'static [c_int]),
    /// `size_t`
    Size(&'static [c_int]),
    /// The global memory's size, which no attribute tells.
    TotalMemory,
}

/// What follows `luidDeviceNodeMask`.
const FIELDS: &[Fields] = &[
    TotalMemory,
    Size(&[8]),                                                             // sharedMemPerBlock
    Int(&[12, 10]),                                                         // regsPerBlock, warpSize
    Size(&[11]),                                                            // memPitch
    Int(&[1, 2, 3, 4, 5, 6, 7]), // maxThreadsPerBlock, maxThreadsDim, maxGridSize
    Dropped(&[13]),              // clockRate
    Size(&[9]),                  // totalConstMem
    Int(&[75, 76]),              // major, minor
    Size(&[14, 51]),             // textureAlignment, texturePitchAlignment
    Dropped(&[15]),              // deviceOverlap
    Int(&[16]),                  // multiProcessorCount
    Dropped(&[17]),              // kernelExecTimeoutEnabled
    Int(&[18, 19]),              // integrated, canMapHostMemory
    Dropped(&[20]),              // computeMode
    Int(&[21, 77]),              // maxTexture1D, its mipmap
    Dropped(&[69]),              // maxTexture1DLinear
    Int(&[22, 23, 73, 74, 70, 71, 72, 45, 46]), // maxTexture2D, its mipmap, linear, gather
    Int(&[24, 25, 26, 47, 48, 49]), // maxTexture3D, its alternative
    Int(&[52, 42, 43, 27, 28, 29, 53, 54]), // cubemaps and layered textures
    Int(&[55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68]), // surfaces
    Size(&[30]),                 // surfaceAlignment
    Int(&[31, 32, 33, 34, 50]),  // concurrentKernels, ECCEnabled, the PCI address
    Int(&[35, 40, 41]),          // tccDriver, asyncEngineCount, unifiedAddressing
    Dropped(&[36]),              // memoryClockRate
    Int(&[37, 38, 108]),         // memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize
    Int(&[39, 78, 79, 80]),      // maxThreadsPerMultiProcessor, priorities, L1 caches
    Size(&[81]),                 // sharedMemPerMultiprocessor
    Int(&[82, 83, 84, 85, 86]),  // regsPerMultiprocessor, managedMemory, boards, hostNativeAtomicSupported
    Dropped(&[87]),              // singleToDoublePrecisionPerfRatio
    Int(&[88, 89, 90, 91, 95]),  // pageable and managed access, preemption, cooperativeLaunch
    Dropped(&[96]),              // cooperativeMultiDeviceLaunch
    Size(&[97]),                 // sharedMemPerBlockOptin
    Int(&[100, 101, 106, 109]),  // host page tables, maxBlocksPerMultiProcessor, accessPolicyMaxWindowSize
    Size(&[111]),                // reservedSharedMemPerBlock: the last of CUDA 11's
    Int(&[99, 112, 113, 114, 115, 116, 117, 118, 119, 121, 125, 120, 129]), // from hostRegisterSupported on
    New(&[130, 131, 133, 134, 139, 140, 143]), // from deviceNumaConfig on
];

/// Puts a C structure together in memory that was cleared.
struct Writer<'a> {
    bytes: &'a mut [u8],
    at: usize,
}

impl Writer<'_> {
    /// Appends a field, aligned to its size; what a layout has no more room for is left out.
    fn put(&mut self, field: &[u8]) {
        let start = self.at.next_multiple_of(field.len());
        self.at = start + field.len();
        if let Some(place) = self.bytes.get_mut(start..self.at) {
            place.copy_from_slice(field);
        }
    }
}

/// Appends what the table says to a structure that begins with name and UUID.
fn fill(layout: Layout, bytes: &mut [u8], total: usize, attribute: impl Fn(c_int) -> c_int) {
    // The LUID and its mask, which stand before, stay 0: they are Windows'.
    let mut writer = Writer { bytes, at: 284 };
    for fields in FIELDS {
        match fields {
            TotalMemory => writer.put(&total.to_ne_bytes()),
            Dropped(_) if layout == Layout::V13 => {}
            New(_) if layout != Layout::V13 => {}
            Int(which) | Dropped(which) | New(which) => {
                which.iter().for_each(|which| writer.put(&attribute(*which).to_ne_bytes()));
            }
            Size(which) => which.iter().for_each(|which| {
                // Sizes are not negative.
                writer.put(&usize::try_from(attribute(*which)).unwrap_or(0).to_ne_bytes());
            }),
        }
    }
}

/// The structure for a device.
fn properties(layout: Layout, device: CUdevice) -> RuntimeResult<Vec<u8>> {
    let mut bytes = vec![0_u8; layout.size()];
    let (mut uuid, mut total) = ([0; 16], 0_usize);
    // SAFETY: places for the answers.
    unsafe {
        cuDeviceGetName(bytes.as_mut_ptr().cast(), 256, device)?;
        cuDeviceGetUuid_v2(&raw mut uuid, device)?;
        cuDeviceTotalMem_v2(&raw mut total, device)?;
    }
    bytes[256..272].copy_from_slice(&uuid);
    fill(layout, &mut bytes, total, |which| {
        let mut value = 0;
        // SAFETY: a place for the answer.
        match unsafe { cuDeviceGetAttribute(&raw mut value, which, device) } {
            Ok(()) => value,
            Err(_) => 0,
        }
    });
    Ok(bytes)
}

/// Writes the structure where the program wants it.
///
/// # Safety
/// `place` is null or has room for the layout's structure.
unsafe fn tell(layout: Layout, place: *mut c_void, ordinal: c_int) -> RuntimeResult {
    if place.is_null() {
        return Err(RuntimeError::INVALID_VALUE);
    }
    let properties = properties(layout, handle(ordinal)?)?;
    // SAFETY: not null, and the caller's promise.
    unsafe { std::ptr::copy_nonoverlapping(properties.as_ptr(), place.cast(), properties.len()) };
    Ok(())
}

api! {
    anytime cudaGetDeviceProperties(place: *mut c_void, ordinal: c_int) { tell(Layout::V13, place, ordinal) }
    /// CUDA 12's name for the structure that 13 shortened.
    anytime cudaGetDeviceProperties_v2(place: *mut c_void, ordinal: c_int) { tell(Layout::V12, place, ordinal) }
    /// CUDA 12's library keeps CUDA 11's structure under the old name.
    anytime cudaGetDeviceProperties_v12(place: *mut c_void, ordinal: c_int) {
        tell(Layout::V11, place, ordinal)
    }
}

#[cfg(test)]
mod tests;
