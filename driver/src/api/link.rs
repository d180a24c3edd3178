//! Linking (CUDA Driver API, "Module Management", `cuLink*`): PTX and fat binaries in, an image out
//! that the module and library functions take. Machine code, host objects and libraries are refused.
//!
//! The image is a fat binary with the linked PTX in it ([`bugaroo_device::images::fatbin`]); programs that copy it by its
//! size, as they do with a cubin, lose nothing.

use std::ffi::{c_char, c_uint, c_void};
use std::{fs, slice};

use bugaroo_cuda_abi::CUlinkState;

use crate::api::entry::with_gpu;
use bugaroo_device::error::{CallResult, Status};
use bugaroo_device::images::jit::JitOptions;
use bugaroo_device::images::link::Link;
use bugaroo_device::images::linker::Linker;
use bugaroo_device::images::refusal::ImageRefusal;
use bugaroo_device::places::{not_null, text, write, write_if_wanted};
use bugaroo_device::state::Gpu;

/// Runs a step of a link; a refusal goes into the log, and to whoever else wants to know.
fn step<T>(
    gpu: &mut Gpu,
    state: CUlinkState,
    step: impl FnOnce(&mut Link, (u32, u32)) -> Result<T, ImageRefusal>,
) -> CallResult<T> {
    let capability = gpu.config.compute_capability;
    let link = gpu.code.links.get_mut(state)?;
    match step(link, capability) {
        Ok(result) => {
            link.options.tell(None);
            Ok(result)
        }
        Err(refusal) => {
            link.options.tell(Some(&refusal.text));
            Err(gpu.refuse(&refusal))
        }
    }
}

/// Starts a link. Of the options the logs are honoured.
///
/// # Safety
/// `options` and `values` hold `count` items each; buffers for logs, and `values`, stay valid until the link
/// is destroyed; `place` is null or points to a place for a handle.
pub unsafe extern "C" fn cuLinkCreate_v2(
    count: c_uint,
    options: *const c_uint,
    values: *mut *mut c_void,
    place: *mut CUlinkState,
) -> Status {
    with_gpu("cuLinkCreate_v2", |gpu| {
        not_null(place)?;
        // SAFETY: the caller's promise.
        let options = unsafe { JitOptions::read(count, options, values) }?;
        let state = gpu.code.links.insert(Link { linker: Linker::default(), options, image: None });
        // SAFETY: the caller's promise.
        unsafe { write(place, state) }
    })
}

/// Adds an input from memory.
///
/// # Safety
/// `data` is null or points to `size` bytes; `name` is null or a C string; the options are as for
/// [`cuLinkCreate_v2`].
#[allow(clippy::too_many_arguments, reason = "the API's own signature")]
pub unsafe extern "C" fn cuLinkAddData_v2(
    state: CUlinkState,
    kind: c_uint,
    data: *mut c_void,
    size: usize,
    name: *const c_char,
    count: c_uint,
    options: *const c_uint,
    values: *mut *mut c_void,
) -> Status {
    with_gpu("cuLinkAddData_v2", |gpu| {
        not_null(data)?;
        // SAFETY: the caller's promise. The options of one input change nothing.
        unsafe { JitOptions::read(count, options, values) }?;
        // SAFETY: the caller's promise.
        let name = if name.is_null() { "an input" } else { unsafe { text(name) }? };
        // SAFETY: the caller's promise.
        let bytes = unsafe { slice::from_raw_parts(data.cast::<u8>(), size) };
        step(gpu, state, |link, capability| link.add(kind, name, bytes, capability))
    })
}

/// Adds an input from a file.
///
/// # Safety
/// `path` is null or a C string; the options are as for [`cuLinkCreate_v2`].
pub unsafe extern "C" fn cuLinkAddFile_v2(
    state: CUlinkState,
    kind: c_uint,
    path: *const c_char,
    count: c_uint,
    options: *const c_uint,
    values: *mut *mut c_void,
) -> Status {
    with_gpu("cuLinkAddFile_v2", |gpu| {
        // SAFETY: the caller's promise. The options of one input change nothing.
        let path = unsafe {
            JitOptions::read(count, options, values)?;
            text(path)?
        };
        let bytes = fs::read(path).map_err(|_| Status::FileNotFound)?;
        step(gpu, state, |link, capability| link.add(kind, path, &bytes, capability))
    })
}

/// Links the inputs. The image belongs to the link and lives as long as it.
///
/// # Safety
/// `image` and `size` are null or point to places for a pointer and a number.
pub unsafe extern "C" fn cuLinkComplete(
    state: CUlinkState,
    image: *mut *mut c_void,
    size: *mut usize,
) -> Status {
    with_gpu("cuLinkComplete", |gpu| {
        not_null(image)?;
        let (address, bytes) =
            step(gpu, state, |link, _| link.complete().map(|image| (image.as_ptr(), image.len())))?;
        // SAFETY: the caller's promise, for both.
        unsafe {
            write_if_wanted(size, bytes);
            write(image, address.cast_mut().cast())
        }
    })
}

/// Ends a link; its image goes with it.
pub extern "C" fn cuLinkDestroy(state: CUlinkState) -> Status {
    with_gpu("cuLinkDestroy", |gpu| gpu.code.links.remove(state).map(drop))
}
