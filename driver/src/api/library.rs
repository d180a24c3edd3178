//! Libraries (CUDA Driver API, "Library Management"): modules that belong to no context. Each device has one of its own, with
//! variables of its own. A kernel's handle is its function's on the first device, as the API allows one to be used for the other.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::fs;

use bugaroo_cuda_abi::{CUdevice, CUdeviceptr, CUfunction, CUkernel, CUlibrary, CUmodule};

use crate::api::current;
use crate::api::entry::with_gpu;
use bugaroo_device::error::{CallResult, Status};
use bugaroo_device::function::{attribute, parameter, set_attribute};
use bugaroo_device::images::image::Image;
use bugaroo_device::images::jit::JitOptions;
use bugaroo_device::images::wanted;
use bugaroo_device::objects::primary::check_device;
use bugaroo_device::places::{not_null, text, write, write_if_wanted};
use bugaroo_device::state::Gpu;

/// The device of the current context; the first one where there is none.
fn current_device(gpu: &Gpu) -> CUdevice {
    current::top().map_or(0, |context| gpu.device_of(context))
}

fn load(gpu: &mut Gpu, place: *mut CUlibrary, image: &Image<'_>, options: &JitOptions) -> CallResult {
    let library = gpu.load_library(image, options)?;
    // SAFETY: not null, as the callers saw; theirs vouch for the rest.
    unsafe { write(place, library) }
}

/// Loads a library from memory. A fat binary is kept, and loaded when something of it is asked for first ("Lazy Loading", CUDA
/// Programming Guide), unless the program wants the compiler's log. Options of the library's own are accepted and change nothing.
///
/// # Safety
/// `place` is null or points to a place for a handle; `image` is as for
/// [`crate::api::module::cuModuleLoadData`]; the options of the just-in-time compiler are `jit_count` items each.
#[allow(clippy::too_many_arguments, reason = "the API's own signature")]
pub unsafe extern "C" fn cuLibraryLoadData(
    place: *mut CUlibrary,
    image: *const c_void,
    jit_options: *const c_uint,
    jit_values: *mut *mut c_void,
    jit_count: c_uint,
    _options: *const c_uint,
    _values: *const *mut c_void,
    _count: c_uint,
) -> Status {
    with_gpu("cuLibraryLoadData", |gpu| {
        not_null(place)?;
        // SAFETY: the caller's promise.
        let (image, options) =
            unsafe { (Image::at(image)?, JitOptions::read(jit_count, jit_options, jit_values)?) };
        match image {
            Image::Fat(binary) if !options.wants_a_log() => {
                let library = gpu.load_library_later(Image::Fat(binary));
                // SAFETY: not null; the caller's promise.
                unsafe { write(place, library) }
            }
            image => load(gpu, place, &image, &options),
        }
    })
}

/// Loads a library from a file.
///
/// # Safety
/// `place` is null or points to a place for a handle; `path` is null or a C string; the options are as
/// for [`cuLibraryLoadData`].
#[allow(clippy::too_many_arguments, reason = "the API's own signature")]
pub unsafe extern "C" fn cuLibraryLoadFromFile(
    place: *mut CUlibrary,
    path: *const c_char,
    jit_options: *const c_uint,
    jit_values: *mut *mut c_void,
    jit_count: c_uint,
    _options: *const c_uint,
    _values: *const *mut c_void,
    _count: c_uint,
) -> Status {
    with_gpu("cuLibraryLoadFromFile", |gpu| {
        not_null(place)?;
        // SAFETY: the caller's promise.
        let (path, options) = unsafe { (text(path)?, JitOptions::read(jit_count, jit_options, jit_values)?) };
        let bytes = fs::read(path).map_err(|_| Status::FileNotFound)?;
        load(gpu, place, &Image::of(&bytes), &options)
    })
}

/// Unloads a library, once the device's work is done.
pub extern "C" fn cuLibraryUnload(library: CUlibrary) -> Status {
    // What went wrong is told by a call that waits.
    let name = "cuLibraryUnload";
    let waited = crate::api::wait::until(name, |gpu| gpu.running.queue.is_empty());
    crate::api::wait::waited(name, waited, |gpu| gpu.running.queue.all_ends());
    with_gpu(name, |gpu| {
        let library = gpu.code.libraries.remove(library)?;
        library.modules.into_iter().try_for_each(|module| gpu.unload(module))
    })
}

/// The module of a library.
///
/// # Safety
/// `place` is null or points to a place for a handle.
pub unsafe extern "C" fn cuLibraryGetModule(place: *mut CUmodule, library: CUlibrary) -> Status {
    with_gpu("cuLibraryGetModule", |gpu| {
        let module = gpu.library_module(library, current_device(gpu))?;
        // SAFETY: the caller's promise.
        unsafe { write(place, module) }
    })
}

/// A kernel of a library.
///
/// # Safety
/// `place` is null or points to a place for a handle; `name` is null or a C string.
pub unsafe extern "C" fn cuLibraryGetKernel(
    place: *mut CUkernel,
    library: CUlibrary,
    name: *const c_char,
) -> Status {
    with_gpu("cuLibraryGetKernel", |gpu| {
        not_null(place)?;
        // SAFETY: the caller's promise.
        let name = unsafe { text(name) }?;
        let module = wanted::for_kernel(name, || gpu.library_module(library, 0))?;
        let kernel = gpu.find_function(module, name)?;
        // SAFETY: the caller's promise.
        unsafe { write(place, kernel) }
    })
}

/// How many kernels a library has.
///
/// # Safety
/// `place` is null or points to a place for the number.
pub unsafe extern "C" fn cuLibraryGetKernelCount(place: *mut c_uint, library: CUlibrary) -> Status {
    with_gpu("cuLibraryGetKernelCount", |gpu| {
        let module = gpu.library_module(library, 0)?;
        let count = gpu.code.modules.get(module)?.functions.len();
        // SAFETY: the caller's promise.
        unsafe { write(place, c_uint::try_from(count).unwrap_or(c_uint::MAX)) }
    })
}

/// The first `count` kernels of a library.
///
/// # Safety
/// `places` is null or points to places for `count` handles.
pub unsafe extern "C" fn cuLibraryEnumerateKernels(
    places: *mut CUkernel,
    count: c_uint,
    library: CUlibrary,
) -> Status {
    with_gpu("cuLibraryEnumerateKernels", |gpu| {
        not_null(places)?;
        let module = gpu.library_module(library, 0)?;
        let functions = &gpu.code.modules.get(module)?.functions;
        for (index, function) in functions.iter().take(count as usize).enumerate() {
            // SAFETY: the caller's promise.
            unsafe { write(places.add(index), *function) }?;
        }
        Ok(())
    })
}

/// Address and size in bytes of a library's variable.
///
/// # Safety
/// Each place is null (not wanted) or points to a place for its result; `name` is null or a C string.
pub unsafe extern "C" fn cuLibraryGetGlobal(
    address: *mut CUdeviceptr,
    bytes: *mut usize,
    library: CUlibrary,
    name: *const c_char,
) -> Status {
    with_gpu("cuLibraryGetGlobal", |gpu| {
        let module = gpu.library_module(library, current_device(gpu))?;
        // SAFETY: the caller's promise.
        let (found, size) = gpu.find_variable(module, unsafe { text(name) }?)?;
        // SAFETY: the caller's promise, for both.
        unsafe {
            write_if_wanted(address, found);
            write_if_wanted(bytes, size as usize);
        }
        Ok(())
    })
}

/// Address, the host's and the device's, and size in bytes of a library's managed variable.
///
/// # Safety
/// As [`cuLibraryGetGlobal`].
pub unsafe extern "C" fn cuLibraryGetManaged(
    address: *mut CUdeviceptr,
    bytes: *mut usize,
    library: CUlibrary,
    name: *const c_char,
) -> Status {
    with_gpu("cuLibraryGetManaged", |gpu| {
        let module = gpu.library_module(library, current_device(gpu))?;
        // SAFETY: the caller's promise.
        let (found, size) = gpu.find_variable(module, unsafe { text(name) }?)?;
        if !bugaroo_device::advice::is_managed(gpu, found) {
            return Err(Status::NotFound);
        }
        // SAFETY: the caller's promise, for both.
        unsafe {
            write_if_wanted(address, found);
            write_if_wanted(bytes, size as usize);
        }
        Ok(())
    })
}

/// The function of a kernel, in the current context.
///
/// # Safety
/// `place` is null or points to a place for a handle.
pub unsafe extern "C" fn cuKernelGetFunction(place: *mut CUfunction, kernel: CUkernel) -> Status {
    crate::api::entry::with_context("cuKernelGetFunction", |gpu, context| {
        let function = gpu.function_on(context, kernel)?;
        // SAFETY: the caller's promise.
        unsafe { write(place, function) }
    })
}

/// The library of a kernel.
///
/// # Safety
/// `place` is null or points to a place for a handle.
pub unsafe extern "C" fn cuKernelGetLibrary(place: *mut CUlibrary, kernel: CUkernel) -> Status {
    with_gpu("cuKernelGetLibrary", |gpu| {
        let module = gpu.code.functions.get(kernel)?.module;
        let libraries = gpu.code.libraries.find(|library| library.modules.contains(&module));
        // SAFETY: the caller's promise.
        unsafe { write(place, *libraries.first().ok_or(Status::InvalidHandle)?) }
    })
}

/// The name of a kernel, valid until its library is unloaded.
///
/// # Safety
/// `place` is null or points to a place for a pointer.
pub unsafe extern "C" fn cuKernelGetName(place: *mut *const c_char, kernel: CUkernel) -> Status {
    // SAFETY: the same contract.
    unsafe { crate::api::function::cuFuncGetName(place, kernel) }
}

/// An attribute of a kernel.
///
/// # Safety
/// `place` is null or points to a place for the number.
pub unsafe extern "C" fn cuKernelGetAttribute(
    place: *mut c_int,
    number: c_uint,
    kernel: CUkernel,
    device: CUdevice,
) -> Status {
    with_gpu("cuKernelGetAttribute", |gpu| {
        not_null(place)?;
        check_device(device)?;
        let value = attribute(gpu, kernel, number)?;
        // SAFETY: the caller's promise.
        unsafe { write(place, value) }
    })
}

/// Sets an attribute of a kernel.
pub extern "C" fn cuKernelSetAttribute(
    number: c_uint,
    value: c_int,
    kernel: CUkernel,
    device: CUdevice,
) -> Status {
    with_gpu("cuKernelSetAttribute", |gpu| {
        check_device(device)?;
        set_attribute(gpu, kernel, number, value)
    })
}

/// Sets a kernel's preference between L1 cache and shared memory; it changes nothing.
pub extern "C" fn cuKernelSetCacheConfig(kernel: CUkernel, config: c_uint, device: CUdevice) -> Status {
    with_gpu("cuKernelSetCacheConfig", |gpu| {
        check_device(device)?;
        gpu.code.functions.get(kernel)?;
        bugaroo_device::objects::context::check_cache_config(config)
    })
}

/// Offset and size in bytes of a kernel's parameter.
///
/// # Safety
/// As [`crate::api::function::cuFuncGetParamInfo`].
pub unsafe extern "C" fn cuKernelGetParamInfo(
    kernel: CUkernel,
    index: usize,
    offset: *mut usize,
    size: *mut usize,
) -> Status {
    with_gpu("cuKernelGetParamInfo", |gpu| {
        not_null(offset)?;
        let (at, bytes) = parameter(gpu, kernel, index)?;
        // SAFETY: the caller's promise, for both.
        unsafe {
            write_if_wanted(size, bytes);
            write(offset, at)
        }
    })
}
