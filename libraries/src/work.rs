//! Work of this library's in a stream: a closure that reads device memory, computes, and writes.

use std::ffi::{CString, c_uint, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use bugaroo_cuda_abi::CUstream;
use bugaroo_cuda_abi::door::DoorAccess;
use half::{bf16, f16};
use num_complex::Complex;

use crate::driver::{self, Outcome};

/// `CUDA_ERROR_INVALID_VALUE`
const INVALID_VALUE: c_uint = 1;
/// `CUDA_ERROR_UNKNOWN`
const UNKNOWN: c_uint = 999;

/// A type whose values are all their bytes, whatever these are.
///
/// # Safety
/// No padding, and every pattern of bits is a value.
pub unsafe trait Plain: Copy + Default + Send + Sync + 'static {}

macro_rules! plain {
    ($($type:ty)*) => {
        // SAFETY: numbers, or two of them.
        $(unsafe impl Plain for $type {})*
    };
}
plain! { u8 i8 i32 u32 i64 u64 f32 f64 f16 bf16 Complex<f32> Complex<f64> }

/// Device memory, while work runs.
pub struct Memory<'a>(&'a DoorAccess);

impl Memory<'_> {
    /// Reads `rows` rows of `width` values, which are `pitch` values apart.
    ///
    /// # Errors
    /// As a kernel's fault: what is not in an allocation.
    pub fn rows<T: Plain>(&self, address: u64, width: usize, rows: usize, pitch: usize) -> Outcome<Vec<T>> {
        let count = width.checked_mul(rows).ok_or(INVALID_VALUE)?;
        let pitch = pitch.checked_mul(size_of::<T>()).ok_or(INVALID_VALUE)?;
        // What is as large as no allocation is shall not be asked of the host.
        let mut values = Vec::new();
        values.try_reserve_exact(count).map_err(|_| INVALID_VALUE)?;
        values.resize(count, T::default());
        let (access, into) = (self.0, values.as_mut_ptr().cast());
        // SAFETY: the driver's function, with room for what is read; any bytes are values.
        let code = unsafe { (access.read)(access.state, address, into, width * size_of::<T>(), rows, pitch) };
        if code == 0 { Ok(values) } else { Err(code) }
    }

    /// Reads values that stand one behind the other.
    ///
    /// # Errors
    /// As [`Self::rows`].
    pub fn read<T: Plain>(&self, address: u64, count: usize) -> Outcome<Vec<T>> {
        self.rows(address, count, 1, count)
    }

    /// Reads one value.
    ///
    /// # Errors
    /// As [`Self::rows`].
    pub fn one<T: Plain>(&self, address: u64) -> Outcome<T> {
        self.read(address, 1).map(|values| values[0])
    }

    /// Writes rows of `width` values, which are to be `pitch` values apart.
    ///
    /// # Errors
    /// As [`Self::rows`].
    pub fn write_rows<T: Plain>(&self, address: u64, values: &[T], width: usize, pitch: usize) -> Outcome {
        if width == 0 {
            return Ok(());
        }
        let pitch = pitch.checked_mul(size_of::<T>()).ok_or(INVALID_VALUE)?;
        let (access, from, rows) = (self.0, values.as_ptr().cast(), values.len() / width);
        // SAFETY: the driver's function, with as many values.
        let code =
            unsafe { (access.write)(access.state, address, from, width * size_of::<T>(), rows, pitch) };
        if code == 0 { Ok(()) } else { Err(code) }
    }

    /// Writes values one behind the other.
    ///
    /// # Errors
    /// As [`Self::rows`].
    pub fn write<T: Plain>(&self, address: u64, values: &[T]) -> Outcome {
        self.write_rows(address, values, values.len(), values.len())
    }
}

type Work = Box<dyn Fn(&Memory<'_>) -> Outcome + Send>;

unsafe extern "C" fn run(data: *mut c_void, access: *const DoorAccess) -> c_uint {
    // SAFETY: what `submit` handed over, and what the driver vouches for.
    let (work, access) = unsafe { (&*data.cast::<Work>(), &*access) };
    // No panic crosses the boundary; its own message was printed.
    let done = catch_unwind(AssertUnwindSafe(|| work(&Memory(access))));
    done.unwrap_or(Err(UNKNOWN)).err().unwrap_or(0)
}

unsafe extern "C" fn release(data: *mut c_void) {
    // SAFETY: what `submit` handed over; nobody uses it any more.
    drop(unsafe { Box::from_raw(data.cast::<Work>()) });
}

/// Makes work the next of a stream's. `name` is the function that the program has called. In a graph the work is done at each
/// launch.
///
/// # Errors
/// As the driver has it.
pub fn submit(
    name: &str,
    stream: CUstream,
    work: impl Fn(&Memory<'_>) -> Outcome + Send + 'static,
) -> Outcome {
    let door = driver::door()?;
    // No name of a function holds a NUL.
    let name = CString::new(name).unwrap_or_default();
    let work: Work = Box::new(work);
    let data = Box::into_raw(Box::new(work)).cast();
    // SAFETY: the driver's function; it releases the data in any case.
    let code = unsafe { (door.enqueue)(name.as_ptr(), stream, run, data, release) };
    if code == 0 { Ok(()) } else { Err(code) }
}

/// The same for work that has a result for the host: waits for the stream.
///
/// # Errors
/// As the driver has it; a fault that broke the context among it.
pub fn result<T: Send + 'static>(
    name: &str,
    stream: CUstream,
    work: impl Fn(&Memory<'_>) -> Outcome<T> + Send + 'static,
) -> Outcome<T> {
    let found = Arc::new(Mutex::new(None));
    let place = Arc::clone(&found);
    submit(name, stream, move |memory| {
        let value = work(memory)?;
        *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
        Ok(())
    })?;
    // SAFETY: a handle, whichever it is.
    unsafe { driver::cuStreamSynchronize(stream) }?;
    let value = found.lock().unwrap_or_else(PoisonError::into_inner).take();
    // A context that is broken drops work.
    value.ok_or(UNKNOWN)
}
