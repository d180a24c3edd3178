//! Copies (CUDA Driver API, "Memory Management").
//!
//! A copy from or to the host waits for the device in all its forms, so that it is one of the calls
//! that report a fault; one from device to device does not. A range that is not inside one allocation
//! is `CUDA_ERROR_INVALID_VALUE`. The host's memory is read or written as far as the program says,
//! never further.

use std::ffi::c_void;

use crate::entry::not_null;
use crate::error::{Outcome, Status};
use crate::state::Driver;
use crate::stream::{waiting_for_stream, with_stream};
use crate::types::{CUcontext, CUdeviceptr, CUstream};

/// The default stream.
const DEFAULT: CUstream = std::ptr::null_mut();
/// Bytes that a copy within the device moves at a time.
const CHUNK: usize = 64 << 10;

/// One end of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Address in the program's own memory.
    Host(*mut c_void),
    /// Address in device memory.
    Device(CUdeviceptr),
}

impl Place {
    /// Sorts an address of the unified address space out. Device memory lies where no host memory is.
    pub fn unified(address: u64) -> Place {
        let device = bugaroo_simulator::GLOBAL_BASE;
        if (device..device << 1).contains(&address) {
            Place::Device(address)
        } else {
            Place::Host(address as *mut c_void)
        }
    }

    /// The place some bytes further.
    pub fn offset(self, bytes: usize) -> Place {
        match self {
            Place::Host(address) => Place::Host(address.cast::<u8>().wrapping_add(bytes).cast()),
            Place::Device(address) => Place::Device(address.wrapping_add(bytes as u64)),
        }
    }
}

impl Driver {
    /// Copies `bytes` bytes. Counts device time; the caller has looked for faults.
    ///
    /// # Errors
    /// `InvalidValue` for a host pointer that is null, or a device range that is not inside one
    /// allocation.
    ///
    /// # Safety
    /// Host places point to `bytes` bytes that may be read or written.
    pub unsafe fn copy(&mut self, to: Place, from: Place, bytes: usize) -> Outcome {
        if bytes == 0 {
            return Ok(());
        }
        self.clock.moved(bytes as u64);
        match (to, from) {
            (Place::Device(to), Place::Host(from)) => {
                not_null(from)?;
                // SAFETY: not null, and the caller vouches for the rest.
                let from = unsafe { std::slice::from_raw_parts(from.cast_const().cast::<u8>(), bytes) };
                self.memory.write(to, from).map_err(|_| Status::InvalidValue)
            }
            (Place::Host(to), Place::Device(from)) => {
                not_null(to)?;
                // Before a slice is made: the program may rely on a refused copy to change nothing.
                self.check_range(from, bytes)?;
                // SAFETY: not null, and the caller vouches for the rest; bytes may be written whatever
                // they held, since `read` looks at none of them.
                let to = unsafe { std::slice::from_raw_parts_mut(to.cast::<u8>(), bytes) };
                self.memory.read(from, to).map_err(|_| Status::InvalidValue)
            }
            (Place::Host(to), Place::Host(from)) => {
                not_null(to)?;
                not_null(from)?;
                // SAFETY: not null, and the caller vouches for the rest.
                unsafe { std::ptr::copy(from.cast::<u8>(), to.cast::<u8>(), bytes) };
                Ok(())
            }
            (Place::Device(to), Place::Device(from)) => self.copy_inside(to, from, bytes),
        }
    }

    /// Copies from device to device. Where the ranges overlap the result is undefined in CUDA; here the
    /// copy goes forwards in chunks.
    fn copy_inside(&mut self, to: CUdeviceptr, from: CUdeviceptr, bytes: usize) -> Outcome {
        self.check_range(to, bytes)?;
        self.check_range(from, bytes)?;
        let mut chunk = vec![0; bytes.min(CHUNK)];
        for start in (0..bytes).step_by(CHUNK) {
            let chunk = &mut chunk[..CHUNK.min(bytes - start)];
            self.memory.read(from + start as u64, chunk).map_err(|_| Status::InvalidValue)?;
            self.memory.write(to + start as u64, chunk).map_err(|_| Status::InvalidValue)?;
        }
        Ok(())
    }

    /// Refuses a device range that is not inside one allocation.
    ///
    /// # Errors
    /// `InvalidValue`
    pub fn check_range(&self, address: CUdeviceptr, bytes: usize) -> Outcome {
        let (base, size) = self.memory.allocation(address).ok_or(Status::InvalidValue)?;
        let end = address.checked_add(bytes as u64).ok_or(Status::InvalidValue)?;
        if end <= base + size { Ok(()) } else { Err(Status::InvalidValue) }
    }
}

/// Copies in a stream, with the checks and waits that the two places call for.
///
/// # Safety
/// As [`Driver::copy`].
pub unsafe fn copy(name: &str, to: Place, from: Place, bytes: usize, stream: CUstream) -> Status {
    // SAFETY: the caller's promise.
    let copy = |driver: &mut Driver| unsafe { driver.copy(to, from, bytes) };
    match (to, from) {
        (Place::Device(to), Place::Device(from)) => with_stream(name, stream, |driver, stream| {
            if driver.is_broken(stream.context) {
                // Never reached by the device; but what the host can see to be wrong, it says.
                driver.check_range(to, bytes)?;
                return driver.check_range(from, bytes);
            }
            copy(driver)
        }),
        _ => waiting_for_stream(name, stream, |driver, _| copy(driver)),
    }
}

/// [`copy`] with both places on the device.
fn copy_on_device(name: &str, to: CUdeviceptr, from: CUdeviceptr, bytes: usize, stream: CUstream) -> Status {
    // SAFETY: no host places.
    unsafe { copy(name, Place::Device(to), Place::Device(from), bytes, stream) }
}

/// Copies from the host to the device.
///
/// # Safety
/// `from` points to `bytes` bytes.
pub unsafe extern "C" fn cuMemcpyHtoD_v2(to: CUdeviceptr, from: *const c_void, bytes: usize) -> Status {
    // SAFETY: the caller's promise.
    unsafe { copy("cuMemcpyHtoD_v2", Place::Device(to), Place::Host(from.cast_mut()), bytes, DEFAULT) }
}

/// Copies from the host to the device, in a stream.
///
/// # Safety
/// As [`cuMemcpyHtoD_v2`].
pub unsafe extern "C" fn cuMemcpyHtoDAsync_v2(
    to: CUdeviceptr,
    from: *const c_void,
    bytes: usize,
    stream: CUstream,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe { copy("cuMemcpyHtoDAsync_v2", Place::Device(to), Place::Host(from.cast_mut()), bytes, stream) }
}

/// Copies from the device to the host.
///
/// # Safety
/// `to` points to `bytes` bytes.
pub unsafe extern "C" fn cuMemcpyDtoH_v2(to: *mut c_void, from: CUdeviceptr, bytes: usize) -> Status {
    // SAFETY: the caller's promise.
    unsafe { copy("cuMemcpyDtoH_v2", Place::Host(to), Place::Device(from), bytes, DEFAULT) }
}

/// Copies from the device to the host, in a stream.
///
/// # Safety
/// As [`cuMemcpyDtoH_v2`].
pub unsafe extern "C" fn cuMemcpyDtoHAsync_v2(
    to: *mut c_void,
    from: CUdeviceptr,
    bytes: usize,
    stream: CUstream,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe { copy("cuMemcpyDtoHAsync_v2", Place::Host(to), Place::Device(from), bytes, stream) }
}

/// Copies within the device.
pub extern "C" fn cuMemcpyDtoD_v2(to: CUdeviceptr, from: CUdeviceptr, bytes: usize) -> Status {
    copy_on_device("cuMemcpyDtoD_v2", to, from, bytes, DEFAULT)
}

/// Copies within the device, in a stream.
pub extern "C" fn cuMemcpyDtoDAsync_v2(
    to: CUdeviceptr,
    from: CUdeviceptr,
    bytes: usize,
    stream: CUstream,
) -> Status {
    copy_on_device("cuMemcpyDtoDAsync_v2", to, from, bytes, stream)
}

/// Copies between any two addresses.
///
/// # Safety
/// Those that are the host's point to `bytes` bytes.
pub unsafe extern "C" fn cuMemcpy(to: CUdeviceptr, from: CUdeviceptr, bytes: usize) -> Status {
    // SAFETY: the caller's promise.
    unsafe { copy("cuMemcpy", Place::unified(to), Place::unified(from), bytes, DEFAULT) }
}

/// Copies between any two addresses, in a stream.
///
/// # Safety
/// As [`cuMemcpy`].
pub unsafe extern "C" fn cuMemcpyAsync(
    to: CUdeviceptr,
    from: CUdeviceptr,
    bytes: usize,
    stream: CUstream,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe { copy("cuMemcpyAsync", Place::unified(to), Place::unified(from), bytes, stream) }
}

/// Copies between two contexts, which share the device's memory here.
pub extern "C" fn cuMemcpyPeer(
    to: CUdeviceptr,
    to_context: CUcontext,
    from: CUdeviceptr,
    from_context: CUcontext,
    bytes: usize,
) -> Status {
    cuMemcpyPeerAsync(to, to_context, from, from_context, bytes, DEFAULT)
}

/// Copies between two contexts, which share the device's memory here, in a stream.
pub extern "C" fn cuMemcpyPeerAsync(
    to: CUdeviceptr,
    to_context: CUcontext,
    from: CUdeviceptr,
    from_context: CUcontext,
    bytes: usize,
    stream: CUstream,
) -> Status {
    with_stream("cuMemcpyPeerAsync", stream, |driver, stream| {
        driver.context(to_context)?;
        driver.context(from_context)?;
        if driver.is_broken(stream.context) {
            return Ok(());
        }
        // SAFETY: no host places.
        unsafe { driver.copy(Place::Device(to), Place::Device(from), bytes) }
    })
}
