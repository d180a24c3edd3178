//! The functions that do more than pass on. Each has the prototype of its name in `cuda.h`.

use std::ffi::{c_char, c_int, c_uint, c_ulonglong, c_void};
use std::fs;
use std::sync::OnceLock;

use bugaroo_cuda_abi::{
    CUcontext, CUdevice, CUdeviceptr, CUevent, CUfunction, CUlaunchConfig, CUlibrary, CUmodule, CUstream,
};

use super::modules::Owner;
use super::real;
use crate::api::entry::anytime;
use crate::api::procaddr;
use crate::forward::pending::Shape;
use crate::forward::state::{forward, hello};
use bugaroo_device::error::{CallResult, Status};
use bugaroo_device::images::image::Image;
use bugaroo_device::places::text;

/// Intercepted functions by name.
macro_rules! intercepts {
    ($($name:ident = $function:expr;)*) => {
        /// The address of the function that stands before the real driver's of this name, if one does.
        pub fn address(name: &str) -> Option<*mut c_void> {
            match name {
                $(stringify!($name) => Some($function as *mut c_void),)*
                _ => None,
            }
        }
    };
}

intercepts! {
    cuInit = initialise;
    cuGetProcAddress = look_up;
    cuGetProcAddress_v2 = look_up_and_tell;
    cuModuleLoad = module_load;
    cuModuleLoadData = module_load_data;
    cuModuleLoadDataEx = module_load_data_ex;
    cuModuleLoadFatBinary = module_load_data;
    cuModuleUnload = module_unload;
    cuLibraryLoadData = library_load_data;
    cuLibraryLoadFromFile = library_load_from_file;
    cuLibraryUnload = library_unload;
    cuLaunchKernel = cuLaunchKernel;
    cuLaunchKernel_ptsz = cuLaunchKernel_ptsz;
    cuLaunchKernelEx = cuLaunchKernelEx;
    cuLaunchKernelEx_ptsz = cuLaunchKernelEx_ptsz;
    cuLaunchCooperativeKernel = cuLaunchCooperativeKernel;
    cuLaunchCooperativeKernel_ptsz = cuLaunchCooperativeKernel_ptsz;
    cuCtxSynchronize = cuCtxSynchronize;
    cuStreamSynchronize = cuStreamSynchronize;
    cuStreamSynchronize_ptsz = cuStreamSynchronize_ptsz;
    cuEventSynchronize = cuEventSynchronize;
    cuMemcpyDtoH_v2 = cuMemcpyDtoH_v2;
    cuMemcpyDtoH_v2_ptds = cuMemcpyDtoH_v2_ptds;
    cuCtxDestroy_v2 = cuCtxDestroy_v2;
    cuDevicePrimaryCtxRelease_v2 = cuDevicePrimaryCtxRelease_v2;
    cuDevicePrimaryCtxReset_v2 = cuDevicePrimaryCtxReset_v2;
    cuStreamDestroy_v2 = cuStreamDestroy_v2;
}

extern "C" fn initialise(flags: c_uint) -> Status {
    anytime("cuInit", || {
        // SAFETY: no pointers.
        unsafe { real::cuInit(flags) }?;
        hello();
        Ok(())
    })
}

/// A name under which we stand before the real driver, whatever its version.
fn ours(name: &str) -> bool {
    ["", "_v2", "_ptsz", "_ptds", "_v2_ptds"].iter().any(|end| address(&format!("{name}{end}")).is_some())
}

/// Calls the real driver's function of this name.
macro_rules! really {
    ($name:expr, ($($type:ty),*), ($($argument:expr),*)) => {{
        static ADDRESS: OnceLock<usize> = OnceLock::new();
        match *ADDRESS.get_or_init(|| real::address($name).map_or(0, |address| address as usize)) {
            0 => Status::NotSupported,
            // SAFETY: the prototype is the one that cuda.h states for this name, and its caller vouches for the arguments.
            found => unsafe {
                let function: unsafe extern "C" fn($($type),*) -> c_uint = std::mem::transmute(found);
                status(function($($argument),*))
            },
        }
    }};
}

fn status(code: c_uint) -> Status {
    if code == 0 { Status::Success } else { Status::from_code(code).unwrap_or(Status::Unknown) }
}

unsafe extern "C" fn look_up_and_tell(
    name: *const c_char,
    place: *mut *mut c_void,
    version: c_int,
    flags: c_ulonglong,
    found: *mut c_uint,
) -> Status {
    // SAFETY: the caller's promise: null or a C string.
    if unsafe { text(name) }.is_ok_and(ours) {
        // SAFETY: the same contract.
        return unsafe { procaddr::cuGetProcAddress_v2(name, place, version, flags, found) };
    }
    really!(
        "cuGetProcAddress_v2",
        (*const c_char, *mut *mut c_void, c_int, c_ulonglong, *mut c_uint),
        (name, place, version, flags, found)
    )
}

unsafe extern "C" fn look_up(
    name: *const c_char,
    place: *mut *mut c_void,
    version: c_int,
    flags: c_ulonglong,
) -> Status {
    // SAFETY: the caller's promise: null or a C string.
    if unsafe { text(name) }.is_ok_and(ours) {
        // SAFETY: the same contract.
        return unsafe { procaddr::cuGetProcAddress(name, place, version, flags) };
    }
    really!(
        "cuGetProcAddress",
        (*const c_char, *mut *mut c_void, c_int, c_ulonglong),
        (name, place, version, flags)
    )
}

/// Loads an image by `load`, instrumented where that is possible.
fn load(
    image: &Image<'_>,
    own: *const c_void,
    load: impl Fn(*const c_void) -> CallResult<Owner>,
) -> CallResult {
    let rewritten = {
        let mut forward = forward();
        let forward = &mut *forward;
        forward.modules.rewrite(image, &forward.orders, &forward.report)
    };
    let Some(rewritten) = rewritten else { return load(own).map(|_| ()) };
    let loaded = rewritten.images().find_map(|image| load(image).ok());
    match loaded {
        Some(owner) => forward().modules.keep(owner, rewritten),
        None => {
            // If this works, it was our doing.
            load(own)?;
            let _: Option<()> = forward().modules.warn("a module's instrumented form does not compile");
        }
    }
    Ok(())
}

fn load_module(place: *mut CUmodule, image: &Image<'_>, own: *const c_void) -> CallResult {
    load(image, own, |image| {
        // SAFETY: the exported functions' callers vouch for the place and the image.
        unsafe {
            real::cuModuleLoadData(place, image)?;
            Ok(Owner::Module(*place as usize))
        }
    })
}

unsafe extern "C" fn module_load_data(place: *mut CUmodule, image: *const c_void) -> Status {
    // SAFETY: the caller's promise.
    anytime("cuModuleLoadData", || load_module(place, &unsafe { Image::at(image) }?, image))
}

unsafe extern "C" fn module_load_data_ex(
    place: *mut CUmodule,
    image: *const c_void,
    count: c_uint,
    options: *const c_uint,
    values: *mut *mut c_void,
) -> Status {
    anytime("cuModuleLoadDataEx", || {
        // SAFETY: the caller's promise.
        load(&unsafe { Image::at(image) }?, image, |image| unsafe {
            real::cuModuleLoadDataEx(place, image, count, options, values)?;
            Ok(Owner::Module(*place as usize))
        })
    })
}

unsafe extern "C" fn module_load(place: *mut CUmodule, path: *const c_char) -> Status {
    anytime("cuModuleLoad", || {
        // SAFETY: the caller's promise.
        let mut bytes = fs::read(unsafe { text(path) }?).map_err(|_| Status::FileNotFound)?;
        // Text in memory ends with a NUL.
        bytes.push(0);
        load_module(place, &Image::of(&bytes), bytes.as_ptr().cast())
    })
}

extern "C" fn module_unload(module: CUmodule) -> Status {
    anytime("cuModuleUnload", || {
        let mut forward = forward();
        forward.settle(|_| true);
        forward.modules.forget(Owner::Module(module as usize));
        // SAFETY: whatever handle it is.
        unsafe { real::cuModuleUnload(module) }
    })
}

/// Options of a library's load, passed on as they are.
type Options = (*const c_uint, *const *mut c_void, c_uint, *const c_uint, *const *mut c_void, c_uint);

fn load_library(
    place: *mut CUlibrary,
    image: &Image<'_>,
    own: *const c_void,
    (jit, jit_values, jit_count, options, values, count): Options,
) -> CallResult {
    load(image, own, |image| {
        // SAFETY: the exported functions' callers vouch for the place, the image and the options.
        unsafe {
            real::cuLibraryLoadData(place, image, jit, jit_values, jit_count, options, values, count)?;
            Ok(Owner::Library(*place as usize))
        }
    })
}

#[allow(clippy::too_many_arguments, reason = "the API's own signature")]
unsafe extern "C" fn library_load_data(
    place: *mut CUlibrary,
    image: *const c_void,
    jit: *const c_uint,
    jit_values: *const *mut c_void,
    jit_count: c_uint,
    options: *const c_uint,
    values: *const *mut c_void,
    count: c_uint,
) -> Status {
    let given = (jit, jit_values, jit_count, options, values, count);
    // SAFETY: the caller's promise.
    anytime("cuLibraryLoadData", || load_library(place, &unsafe { Image::at(image) }?, image, given))
}

#[allow(clippy::too_many_arguments, reason = "the API's own signature")]
unsafe extern "C" fn library_load_from_file(
    place: *mut CUlibrary,
    path: *const c_char,
    jit: *const c_uint,
    jit_values: *const *mut c_void,
    jit_count: c_uint,
    options: *const c_uint,
    values: *const *mut c_void,
    count: c_uint,
) -> Status {
    let given = (jit, jit_values, jit_count, options, values, count);
    anytime("cuLibraryLoadFromFile", || {
        // SAFETY: the caller's promise.
        let mut bytes = fs::read(unsafe { text(path) }?).map_err(|_| Status::FileNotFound)?;
        bytes.push(0);
        load_library(place, &Image::of(&bytes), bytes.as_ptr().cast(), given)
    })
}

extern "C" fn library_unload(library: CUlibrary) -> Status {
    anytime("cuLibraryUnload", || {
        let mut forward = forward();
        forward.settle(|_| true);
        forward.modules.forget(Owner::Library(library as usize));
        // SAFETY: whatever handle it is.
        unsafe { real::cuLibraryUnload(library) }
    })
}

/// Prepares a launch, starts it, and keeps an eye on it.
fn launched(name: &str, shape: &Shape, start: impl FnOnce() -> Status) -> Status {
    anytime(name, || {
        let pending = forward().prepare(shape)?;
        let started = start();
        let outcome = if started == Status::Success { Ok(()) } else { Err(started) };
        forward().started(pending, &outcome);
        outcome
    })
}

/// A function that launches: its prototype, and what of it is the launch's shape.
macro_rules! launches {
    ($name:ident($($argument:ident: $type:ty),*), $shape:expr) => {
        #[allow(non_snake_case, reason = "cuda.h's own name")]
        #[allow(clippy::too_many_arguments, reason = "the API's own signature")]
        unsafe extern "C" fn $name($($argument: $type),*) -> Status {
            let shape = $shape;
            launched(stringify!($name), &shape, || really!(stringify!($name), ($($type),*), ($($argument),*)))
        }
    };
}

// Of each two names one takes null for the calling thread's default stream.
macro_rules! plain {
    ($($name:ident)*) => {$(
        launches! {
            $name(function: CUfunction, grid_x: c_uint, grid_y: c_uint, grid_z: c_uint, block_x: c_uint,
                block_y: c_uint, block_z: c_uint, shared: c_uint, stream: CUstream, each: *const *const c_void,
                extra: *const *mut c_void),
            Shape { function, grid: [grid_x, grid_y, grid_z], block: [block_x, block_y, block_z], stream }
        }
    )*};
}
plain! { cuLaunchKernel cuLaunchKernel_ptsz }

macro_rules! cooperative {
    ($($name:ident)*) => {$(
        launches! {
            $name(function: CUfunction, grid_x: c_uint, grid_y: c_uint, grid_z: c_uint, block_x: c_uint,
                block_y: c_uint, block_z: c_uint, shared: c_uint, stream: CUstream, each: *const *const c_void),
            Shape { function, grid: [grid_x, grid_y, grid_z], block: [block_x, block_y, block_z], stream }
        }
    )*};
}
cooperative! { cuLaunchCooperativeKernel cuLaunchCooperativeKernel_ptsz }

macro_rules! configured {
    ($($name:ident)*) => {$(
        launches! {
            $name(config: *const CUlaunchConfig, function: CUfunction, each: *const *const c_void,
                extra: *const *mut c_void),
            {
                if config.is_null() {
                    return Status::InvalidValue;
                }
                // SAFETY: not null, and the caller vouches for the rest.
                let CUlaunchConfig { grid, block, stream, .. } = unsafe { config.read_unaligned() };
                Shape { function, grid, block, stream }
            }
        }
    )*};
}
configured! { cuLaunchKernelEx cuLaunchKernelEx_ptsz }

fn nothing() {}

fn look() {
    forward().look();
}

fn settle() {
    forward().settle(|_| true);
}

/// Functions around which launches are looked after: afterwards, or all of them before.
macro_rules! around {
    ($before:ident, $after:ident, $($name:ident($($argument:ident: $type:ty),*);)*) => {$(
        #[allow(non_snake_case, reason = "cuda.h's own name")]
        unsafe extern "C" fn $name($($argument: $type),*) -> Status {
            anytime(stringify!($name), || {
                $before();
                let done = really!(stringify!($name), ($($type),*), ($($argument),*));
                $after();
                if done == Status::Success { Ok(()) } else { Err(done) }
            })
        }
    )*};
}

around! { nothing, look,
    cuCtxSynchronize();
    cuStreamSynchronize(stream: CUstream);
    cuStreamSynchronize_ptsz(stream: CUstream);
    cuEventSynchronize(event: CUevent);
    cuMemcpyDtoH_v2(to: *mut c_void, from: CUdeviceptr, bytes: usize);
    cuMemcpyDtoH_v2_ptds(to: *mut c_void, from: CUdeviceptr, bytes: usize);
}

around! { settle, nothing,
    cuCtxDestroy_v2(context: CUcontext);
    cuDevicePrimaryCtxRelease_v2(device: CUdevice);
    cuDevicePrimaryCtxReset_v2(device: CUdevice);
    cuStreamDestroy_v2(stream: CUstream);
}

/// What is still running when the program ends.
#[used]
#[unsafe(link_section = ".fini_array")]
static AT_EXIT: extern "C" fn() = at_exit;

extern "C" fn at_exit() {
    if crate::forward::state::FORWARD.get().is_some() {
        let _ = anytime("at exit", || {
            forward().settle(|_| true);
            Ok(())
        });
    }
}
