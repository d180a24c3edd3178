//! Looking functions up (CUDA Driver API, "Driver Entry Point Access").
//!
//! The library asks the loader for its own symbols, so that whatever it exports is found, and nothing
//! else. A name without a version stands for the newest variant that the asked-for CUDA version knew.

use std::ffi::{CString, c_char, c_int, c_uint, c_ulonglong, c_void};
use std::sync::OnceLock;

use crate::api::entry::anytime;
use crate::api::init::DRIVER_VERSION;
use bugaroo_device::error::{CallResult, Status};
use bugaroo_device::places::{not_null, text, write, write_if_wanted};

/// Flags of `cuGetProcAddress`: legacy default stream, per-thread default stream.
const FLAGS_MASK: c_ulonglong = 3;
const PER_THREAD: c_ulonglong = 2;
/// Answers about a symbol.
const FOUND: c_uint = 0;
const NOT_FOUND: c_uint = 1;
const VERSION_NOT_SUFFICIENT: c_uint = 2;

/// Variants that came after CUDA 10.1, with the version that brought them. Older ones were there for
/// every program that can still run.
const SINCE: [(&str, c_int); 36] = [
    ("cuCtxCreate_v3", 11040),
    ("cuCtxCreate_v4", 12050),
    ("cuCtxGetDevice_v2", 13000),
    ("cuCtxSynchronize_v2", 13000),
    ("cuDeviceGetUuid_v2", 11040),
    ("cuDevicePrimaryCtxRelease_v2", 11000),
    ("cuDevicePrimaryCtxReset_v2", 11000),
    ("cuDevicePrimaryCtxSetFlags_v2", 11000),
    ("cuEventElapsedTime_v2", 12080),
    ("cuGetProcAddress_v2", 12000),
    ("cuGraphAddDependencies_v2", 12030),
    ("cuGraphAddKernelNode_v2", 12000),
    ("cuGraphAddNode_v2", 12030),
    ("cuGraphExecKernelNodeSetParams_v2", 12000),
    ("cuGraphExecUpdate_v2", 12000),
    ("cuGraphGetEdges_v2", 12030),
    ("cuGraphInstantiate_v2", 11000),
    ("cuGraphKernelNodeGetParams_v2", 12000),
    ("cuGraphKernelNodeSetParams_v2", 12000),
    ("cuGraphNodeGetDependencies_v2", 12030),
    ("cuGraphNodeGetDependentNodes_v2", 12030),
    ("cuGraphRemoveDependencies_v2", 12030),
    ("cuIpcOpenMemHandle_v2", 11000),
    ("cuMemAdvise_v2", 12020),
    ("cuMemPrefetchAsync_v2", 12020),
    ("cuMemcpy3DBatchAsync_v2", 13000),
    ("cuMemcpyBatchAsync_v2", 13000),
    ("cuStreamBatchMemOp_v2", 11070),
    ("cuStreamGetCaptureInfo_v2", 11030),
    ("cuStreamGetCaptureInfo_v3", 12030),
    ("cuStreamGetCtx_v2", 12050),
    ("cuStreamUpdateCaptureDependencies_v2", 12030),
    ("cuStreamWaitValue32_v2", 11070),
    ("cuStreamWaitValue64_v2", 11070),
    ("cuStreamWriteValue32_v2", 11070),
    ("cuStreamWriteValue64_v2", 11070),
];

/// This very library, as the loader knows it; null where it does not. Asked once: to find a library by an address of its code, the loader looks
/// at all that the library exports.
fn own_library() -> *mut c_void {
    static OWN: OnceLock<usize> = OnceLock::new();
    // SAFETY: the loader fills the description in when it answers other than 0; it is plain data, and its name a C string. The
    // handle keeps this library, which is loaded anyway, loaded once more: it is never closed, so that the answers stay valid.
    let open = || unsafe {
        let mut here: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(cuGetProcAddress_v2 as *const c_void, &mut here) == 0 {
            return 0;
        }
        libc::dlopen(here.dli_fname, libc::RTLD_LAZY | libc::RTLD_NOLOAD).expose_provenance()
    };
    std::ptr::with_exposed_provenance_mut(*OWN.get_or_init(open))
}

/// Address of a symbol of this very library.
fn symbol(name: &str) -> Option<*mut c_void> {
    let (name, library) = (CString::new(name).ok()?, own_library());
    if library.is_null() {
        return None;
    }
    // SAFETY: an open library, a C string.
    let address = unsafe { libc::dlsym(library, name.as_ptr()) };
    (!address.is_null()).then_some(address)
}

/// The newest variant of a function that a version knew; failing that, whether there is a later one.
fn newest(name: &str, version: c_int, per_thread: bool) -> Result<*mut c_void, c_uint> {
    let mut later = false;
    for variant in ["_v4", "_v3", "_v2", ""] {
        let name = format!("{name}{variant}");
        let since = SINCE.iter().find(|(known, _)| *known == name).map_or(0, |(_, since)| *since);
        let streams: &[&str] = if per_thread { &["_ptsz", "_ptds", ""] } else { &[""] };
        let Some(address) = streams.iter().find_map(|stream| symbol(&format!("{name}{stream}"))) else {
            continue;
        };
        if since <= version {
            return Ok(address);
        }
        later = true;
    }
    Err(if later { VERSION_NOT_SUFFICIENT } else { NOT_FOUND })
}

/// Writes the address of a function, and whether it was found.
///
/// # Safety
/// `name` is null or a C string; `place` and `found` are null or point to places for their results.
unsafe fn look_up(
    name: *const c_char,
    place: *mut *mut c_void,
    version: c_int,
    flags: c_ulonglong,
    found: *mut c_uint,
) -> CallResult {
    not_null(place)?;
    if flags & !FLAGS_MASK != 0 || version > DRIVER_VERSION + 999 {
        return Err(Status::InvalidValue);
    }
    // SAFETY: the caller's promise.
    let name = unsafe { text(name) }?;
    let answer = newest(name, version, flags & PER_THREAD != 0);
    // SAFETY: the caller's promise, for both.
    unsafe {
        write_if_wanted(found, answer.err().unwrap_or(FOUND));
        write(place, answer.unwrap_or(std::ptr::null_mut()))?;
    }
    if answer.is_err() && found.is_null() { Err(Status::NotFound) } else { Ok(()) }
}

/// The address of a function of the API, as a CUDA version knew it.
///
/// # Safety
/// `name` is null or a C string; `place` and `found` are null or point to places for their results.
pub unsafe extern "C" fn cuGetProcAddress_v2(
    name: *const c_char,
    place: *mut *mut c_void,
    version: c_int,
    flags: c_ulonglong,
    found: *mut c_uint,
) -> Status {
    // SAFETY: the caller's promise.
    anytime("cuGetProcAddress_v2", || unsafe { look_up(name, place, version, flags, found) })
}

/// The address of a function of the API, as a CUDA version knew it.
///
/// # Safety
/// As [`cuGetProcAddress_v2`].
pub unsafe extern "C" fn cuGetProcAddress(
    name: *const c_char,
    place: *mut *mut c_void,
    version: c_int,
    flags: c_ulonglong,
) -> Status {
    // SAFETY: the caller's promise.
    anytime("cuGetProcAddress", || unsafe { look_up(name, place, version, flags, std::ptr::null_mut()) })
}
