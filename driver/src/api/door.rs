//! The door for Bugaroo's own libraries ([`bugaroo_cuda_abi::door`]): what they may ask of the driver beside the API.
//!
//! This is no function of CUDA's. Before a real GPU ([`crate::forward`]) it answers `CUDA_ERROR_NOT_SUPPORTED`.

use std::ffi::{CStr, c_char, c_uint, c_void};
use std::rc::Rc;

use bugaroo_cuda_abi::CUstream;
use bugaroo_cuda_abi::door::{Door, ReleaseFn, Run, VERSION};

use crate::api::entry::anytime;
use crate::api::submit::submit;
use bugaroo_device::error::{CallResult, Status};
use bugaroo_device::images::wanted;
use bugaroo_device::objects::library_work::LibraryWork;
use bugaroo_device::objects::work::Work;
use bugaroo_device::places::{not_null, write};

static DOOR: Door = Door { enqueue, wanted_kernel };

/// Hands a library's function over to a stream. It is released also where this fails.
///
/// # Safety
/// `name` is a C string; `run` and `release` may be called with `data`.
unsafe extern "C" fn enqueue(
    name: *const c_char,
    stream: CUstream,
    run: Run,
    data: *mut c_void,
    release: ReleaseFn,
) -> c_uint {
    // SAFETY: the caller's promise.
    let name = unsafe { CStr::from_ptr(name) }.to_owned();
    let text = name.to_string_lossy().into_owned();
    // SAFETY: the caller's promise.
    let mut work = unsafe { LibraryWork::new(name, run, data, release) };
    submit(&text, stream, move |_, stream| {
        work.belongs_to(stream.context);
        Ok(Some(Work::Library(Rc::new(work))))
    }) as c_uint
}

/// Notes what the calling thread loads modules for.
///
/// # Safety
/// `name` is null or a C string.
unsafe extern "C" fn wanted_kernel(name: *const c_char) -> c_uint {
    // SAFETY: the caller's promise.
    let name = (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned());
    wanted::kernel(name);
    Status::Success as c_uint
}

/// Gives the functions behind the door to a library of this version.
///
/// # Errors
/// `NotSupported` for another version.
fn open(version: c_uint, place: *mut *const Door) -> CallResult {
    not_null(place)?;
    if version != VERSION {
        return Err(Status::NotSupported);
    }
    // SAFETY: not null, and the caller vouches for the rest.
    unsafe { write(place, &raw const DOOR) }
}

/// The door: writes where its functions are.
///
/// # Safety
/// `place` is null or points to a place for a pointer.
pub unsafe extern "C" fn bugarooDoor(version: c_uint, place: *mut *const Door) -> Status {
    anytime("bugarooDoor", || open(version, place))
}
