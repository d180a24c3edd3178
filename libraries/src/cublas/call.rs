//! What every function of a handle does first and last: finds the handle, and hands the work over.

use std::ffi::c_int;

use bugaroo_cuda_abi::CUstream;

pub use super::guard::{Handle, anytime};
use super::handle::{self, Settings};
use super::status::{Outcome, Status};
use crate::driver;
use crate::unsupported::unsupported;
use crate::work::{self, Memory, Plain};

/// A call that goes on.
pub struct Call<'a> {
    name: &'a str,
    settings: Settings,
}

/// Runs the body of a function that needs a handle and a device. `name` is what the program has called, without its version.
pub fn call(handle: Handle, name: &str, body: impl FnOnce(&Call<'_>) -> Outcome) -> c_int {
    anytime(name, || {
        let settings = handle::settings(handle)?;
        driver::ready()?;
        body(&Call { name, settings })
    })
}

/// A scalar, which a pointer names: its value, or where it will be found.
#[derive(Clone, Copy, Debug)]
pub enum Value<T> {
    /// It was read at the call.
    Known(T),
    /// It is in device memory.
    There(u64),
}

impl<T: Plain> Value<T> {
    /// Its value, when the work runs.
    ///
    /// # Errors
    /// As [`Memory::read`].
    pub fn get(self, memory: &Memory<'_>) -> driver::Outcome<T> {
        match self {
            Value::Known(value) => Ok(value),
            Value::There(address) => memory.one(address),
        }
    }
}

/// A scalar on the device, or one that is read now.
///
/// # Errors
/// `CUBLAS_STATUS_INVALID_VALUE` for null.
///
/// # Safety
/// If it is not on the device, `pointer` is null or points to a value.
pub unsafe fn value<T: Plain>(on_device: bool, pointer: *const T) -> Outcome<Value<T>> {
    if pointer.is_null() {
        Err(Status::INVALID_VALUE)
    } else if on_device {
        Ok(Value::There(pointer as u64))
    } else {
        // SAFETY: not null, and the caller vouches for the rest.
        Ok(Value::Known(unsafe { pointer.read_unaligned() }))
    }
}

impl Call<'_> {
    /// Whether pointers to scalars are the device's.
    pub fn on_device(&self) -> bool {
        self.settings.on_device
    }

    /// A scalar by the pointer mode.
    ///
    /// # Errors
    /// `CUBLAS_STATUS_INVALID_VALUE` for null.
    ///
    /// # Safety
    /// In the host's mode, `pointer` is null or points to a value.
    pub unsafe fn scalar<T: Plain>(&self, pointer: *const T) -> Outcome<Value<T>> {
        // SAFETY: the caller's promise.
        unsafe { value(self.settings.on_device, pointer) }
    }

    /// Hands work over to a stream that the call names.
    ///
    /// # Errors
    /// As the driver has it.
    pub fn submit_to(
        &self,
        stream: CUstream,
        work: impl Fn(&Memory<'_>) -> driver::Outcome + Send + 'static,
    ) -> Outcome {
        Ok(work::submit(self.name, stream, work)?)
    }

    /// Hands work over to the handle's stream.
    ///
    /// # Errors
    /// As the driver has it.
    pub fn submit(&self, work: impl Fn(&Memory<'_>) -> driver::Outcome + Send + 'static) -> Outcome {
        Ok(work::submit(self.name, self.settings.stream as CUstream, work)?)
    }

    /// Hands over work with a result, and waits for that if it is the host's.
    ///
    /// # Errors
    /// `CUBLAS_STATUS_INVALID_VALUE` for null; as the driver has it.
    ///
    /// # Safety
    /// In the host's mode, `place` is null or points to a place for a value.
    pub unsafe fn result<T: Plain>(
        &self,
        place: *mut T,
        work: impl Fn(&Memory<'_>) -> driver::Outcome<T> + Send + 'static,
    ) -> Outcome {
        if place.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        if self.settings.on_device {
            let address = place as u64;
            return self.submit(move |memory| memory.write(address, &[work(memory)?]));
        }
        let value = work::result(self.name, self.settings.stream as CUstream, work)?;
        // SAFETY: not null, and the caller vouches for the rest.
        unsafe { place.write_unaligned(value) };
        Ok(())
    }

    /// Says what this version does not do of the function.
    pub fn unsupported(&self, what: &str) -> Status {
        unsupported(&format!("{}: {what} is not supported", self.name));
        Status::NOT_SUPPORTED
    }
}
