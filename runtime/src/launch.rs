//! Launches (CUDA Runtime API, "Execution Control").
//!
//! The driver calls all that is wrong with a launch's shape an invalid value; this API has names for what
//! is out of the device's limits (`cudaErrorInvalidConfiguration`) and for more threads than the kernel's
//! registers or its `__launch_bounds__` allow (`cudaErrorLaunchOutOfResources`): see [`explain`].

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::ptr::null_mut;

use crate::configuration::{CUstream, Dim3};
use crate::driver::{CUdevice, CUdeviceptr, driver};
use crate::entry::with_device;
use crate::error::{Error, Outcome};
use crate::registration::{self, CUfunction, CUkernel, Kernel};

driver! {
    cuLaunchKernel(
        function: CUfunction, grid_x: c_uint, grid_y: c_uint, grid_z: c_uint, block_x: c_uint, block_y: c_uint,
        block_z: c_uint, shared: c_uint, stream: CUstream, parameters: *mut *mut c_void, extra: *mut *mut c_void,
    );
    cuLaunchCooperativeKernel(
        function: CUfunction, grid_x: c_uint, grid_y: c_uint, grid_z: c_uint, block_x: c_uint, block_y: c_uint,
        block_z: c_uint, shared: c_uint, stream: CUstream, parameters: *mut *mut c_void,
    );
    cuLaunchKernelEx(
        configuration: *const DriverConfiguration, function: CUfunction, parameters: *mut *mut c_void,
        extra: *mut *mut c_void,
    );
    cuCtxGetDevice(place: *mut CUdevice);
    cuDeviceGetAttribute(place: *mut c_int, attribute: c_int, device: CUdevice);
    cuFuncGetAttribute(place: *mut c_int, attribute: c_int, function: CUfunction);
    cuFuncGetName(place: *mut *const c_char, function: CUfunction);
}

/// `cudaStreamPerThread`, which is `CU_STREAM_PER_THREAD`.
const STREAM_PER_THREAD: usize = 2;

/// The driver's numbers of the largest block, from x to z, and of the largest grid.
const MAX_BLOCK: [c_int; 3] = [2, 3, 4];
const MAX_GRID: [c_int; 3] = [5, 6, 7];
/// The driver's number of the most threads in a block: the device's, and the kernel's.
const MAX_THREADS: c_int = 1;
const KERNEL_MAX_THREADS: c_int = 0;

/// `cudaLaunchConfig_t`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Configuration {
    grid: Dim3,
    block: Dim3,
    shared: usize,
    stream: CUstream,
    attributes: *mut c_void,
    attribute_count: c_uint,
}

/// `CUlaunchConfig`; the attributes are the same in both APIs.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct DriverConfiguration {
    grid: Dim3,
    block: Dim3,
    shared: c_uint,
    stream: CUstream,
    attributes: *mut c_void,
    attribute_count: c_uint,
}

/// What there is to a launch but the kernel and its arguments.
#[derive(Clone, Copy)]
struct Shape {
    grid: Dim3,
    block: Dim3,
    shared: usize,
    stream: CUstream,
}

impl Shape {
    /// Of the functions whose names end in `_ptsz`, the default stream is the calling thread's own.
    fn per_thread(self) -> Self {
        Shape { stream: per_thread(self.stream), ..self }
    }

    fn shared(&self) -> Outcome<c_uint> {
        c_uint::try_from(self.shared).map_err(|_| Error::INVALID_VALUE)
    }
}

fn per_thread(stream: CUstream) -> CUstream {
    if stream.is_null() { STREAM_PER_THREAD as CUstream } else { stream }
}

/// What this API calls a launch that the driver refused.
fn explain(error: Error, function: CUfunction, grid: Dim3, block: Dim3) -> Error {
    match error {
        Error::INVALID_VALUE => {}
        // CUDA_ERROR_INVALID_HANDLE
        Error(400) if !is_function(function) => return Error::INVALID_DEVICE_FUNCTION,
        _ => return error,
    }
    let within = |extents: Dim3, limits: [c_int; 3]| {
        [extents.x, extents.y, extents.z].iter().zip(limits).all(|(extent, number)| {
            *extent > 0 && device_attribute(number).is_none_or(|limit| *extent <= limit)
        })
    };
    let threads = [block.x, block.y, block.z].iter().fold(1, |all: u32, extent| all.saturating_mul(*extent));
    let allowed = within(grid, MAX_GRID)
        && within(block, MAX_BLOCK)
        && device_attribute(MAX_THREADS).is_none_or(|most| threads <= most);
    if !allowed {
        return Error::INVALID_CONFIGURATION;
    }
    let mut most = 0;
    // SAFETY: a place for the answer.
    match unsafe { cuFuncGetAttribute(&raw mut most, KERNEL_MAX_THREADS, function) } {
        Ok(()) if u32::try_from(most).is_ok_and(|most| threads > most) => Error::LAUNCH_OUT_OF_RESOURCES,
        _ => error,
    }
}

fn is_function(function: CUfunction) -> bool {
    let mut name = std::ptr::null();
    // SAFETY: a place for the answer; the driver refuses handles that are none.
    unsafe { cuFuncGetName(&raw mut name, function) }.is_ok()
}

fn device_attribute(number: c_int) -> Option<u32> {
    let (mut device, mut value) = (0, 0);
    // SAFETY: places for the answers.
    unsafe {
        cuCtxGetDevice(&raw mut device).ok()?;
        cuDeviceGetAttribute(&raw mut value, number, device).ok()?;
    }
    u32::try_from(value).ok()
}

/// Launches a kernel.
///
/// # Safety
/// `arguments` points to as many pointers as the kernel has parameters, each to a value of its size.
unsafe fn launch(kernel: CUkernel, shape: Shape, arguments: *mut *mut c_void) -> Outcome {
    let Shape { grid, block, stream, .. } = shape;
    let shared = shape.shared()?;
    // SAFETY: the caller's promise.
    let launched = unsafe {
        cuLaunchKernel(
            kernel,
            grid.x,
            grid.y,
            grid.z,
            block.x,
            block.y,
            block.z,
            shared,
            stream,
            arguments,
            null_mut(),
        )
    };
    launched.map_err(|error| explain(error, kernel, grid, block))
}

/// Launches a kernel all of whose blocks run at the same time.
///
/// # Safety
/// As [`launch`].
unsafe fn launch_cooperative(kernel: CUkernel, shape: Shape, arguments: *mut *mut c_void) -> Outcome {
    let Shape { grid, block, stream, .. } = shape;
    let shared = shape.shared()?;
    // SAFETY: the caller's promise.
    let launched = unsafe {
        cuLaunchCooperativeKernel(
            kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared, stream, arguments,
        )
    };
    launched.map_err(|error| explain(error, kernel, grid, block))
}

/// Launches a kernel with attributes.
///
/// # Safety
/// As [`launch`]; `configuration` is null or points to one, with its attributes.
unsafe fn launch_with_attributes(
    configuration: *const Configuration,
    host: *const c_void,
    arguments: *mut *mut c_void,
    stream: impl Fn(CUstream) -> CUstream,
) -> Outcome {
    if configuration.is_null() {
        return Err(Error::INVALID_VALUE);
    }
    // SAFETY: not null, and the caller vouches for the rest.
    let given = unsafe { configuration.read() };
    let configuration = DriverConfiguration {
        grid: given.grid,
        block: given.block,
        shared: c_uint::try_from(given.shared).map_err(|_| Error::INVALID_VALUE)?,
        stream: stream(given.stream),
        attributes: given.attributes,
        attribute_count: given.attribute_count,
    };
    let kernel = registration::kernel(host)?;
    // SAFETY: the caller's promise.
    let launched = unsafe { cuLaunchKernelEx(&raw const configuration, kernel, arguments, null_mut()) };
    launched.map_err(|error| explain(error, kernel, given.grid, given.block))
}

/// Launches the kernel of a host function.
///
/// # Safety
/// `arguments` points to as many pointers as the kernel has parameters, each to a value of its size.
pub unsafe extern "C" fn cudaLaunchKernel(
    host: *const c_void,
    grid: Dim3,
    block: Dim3,
    arguments: *mut *mut c_void,
    shared: usize,
    stream: CUstream,
) -> c_int {
    with_device("cudaLaunchKernel", || {
        // SAFETY: the caller's promise.
        unsafe { launch(registration::kernel(host)?, Shape { grid, block, shared, stream }, arguments) }
    })
}

/// The same, the default stream being the calling thread's own.
///
/// # Safety
/// As [`cudaLaunchKernel`].
pub unsafe extern "C" fn cudaLaunchKernel_ptsz(
    host: *const c_void,
    grid: Dim3,
    block: Dim3,
    arguments: *mut *mut c_void,
    shared: usize,
    stream: CUstream,
) -> c_int {
    // SAFETY: the same contract.
    unsafe { cudaLaunchKernel(host, grid, block, arguments, shared, per_thread(stream)) }
}

/// Launches the kernel that `__cudaGetKernel` gave.
///
/// # Safety
/// As [`cudaLaunchKernel`].
pub unsafe extern "C" fn __cudaLaunchKernel(
    kernel: *const Kernel,
    grid: Dim3,
    block: Dim3,
    arguments: *mut *mut c_void,
    shared: usize,
    stream: CUstream,
) -> c_int {
    // SAFETY: the same contract; a kernel's handle stands for its host function.
    unsafe { cudaLaunchKernel(kernel.cast(), grid, block, arguments, shared, stream) }
}

/// The same, the default stream being the calling thread's own.
///
/// # Safety
/// As [`cudaLaunchKernel`].
pub unsafe extern "C" fn __cudaLaunchKernel_ptsz(
    kernel: *const Kernel,
    grid: Dim3,
    block: Dim3,
    arguments: *mut *mut c_void,
    shared: usize,
    stream: CUstream,
) -> c_int {
    // SAFETY: the same contract.
    unsafe { cudaLaunchKernel(kernel.cast(), grid, block, arguments, shared, per_thread(stream)) }
}

/// Launches a kernel all of whose blocks run at the same time, so that they may wait for each other.
///
/// # Safety
/// As [`cudaLaunchKernel`].
pub unsafe extern "C" fn cudaLaunchCooperativeKernel(
    host: *const c_void,
    grid: Dim3,
    block: Dim3,
    arguments: *mut *mut c_void,
    shared: usize,
    stream: CUstream,
) -> c_int {
    with_device("cudaLaunchCooperativeKernel", || {
        let shape = Shape { grid, block, shared, stream };
        // SAFETY: the caller's promise.
        unsafe { launch_cooperative(registration::kernel(host)?, shape, arguments) }
    })
}

/// The same, the default stream being the calling thread's own.
///
/// # Safety
/// As [`cudaLaunchKernel`].
pub unsafe extern "C" fn cudaLaunchCooperativeKernel_ptsz(
    host: *const c_void,
    grid: Dim3,
    block: Dim3,
    arguments: *mut *mut c_void,
    shared: usize,
    stream: CUstream,
) -> c_int {
    with_device("cudaLaunchCooperativeKernel", || {
        let shape = Shape { grid, block, shared, stream }.per_thread();
        // SAFETY: the caller's promise.
        unsafe { launch_cooperative(registration::kernel(host)?, shape, arguments) }
    })
}

/// Launches a kernel with attributes.
///
/// # Safety
/// As [`cudaLaunchKernel`]; `configuration` is null or points to one, with its attributes.
pub unsafe extern "C" fn cudaLaunchKernelExC(
    configuration: *const Configuration,
    host: *const c_void,
    arguments: *mut *mut c_void,
) -> c_int {
    with_device("cudaLaunchKernelExC", || {
        // SAFETY: the caller's promise.
        unsafe { launch_with_attributes(configuration, host, arguments, |stream| stream) }
    })
}

/// The same, the default stream being the calling thread's own.
///
/// # Safety
/// As [`cudaLaunchKernelExC`].
pub unsafe extern "C" fn cudaLaunchKernelExC_ptsz(
    configuration: *const Configuration,
    host: *const c_void,
    arguments: *mut *mut c_void,
) -> c_int {
    with_device("cudaLaunchKernelExC", || {
        // SAFETY: the caller's promise.
        unsafe { launch_with_attributes(configuration, host, arguments, per_thread) }
    })
}

/// The name of a host function's kernel, as the PTX has it.
///
/// # Safety
/// `place` is null or a place for a pointer.
pub unsafe extern "C" fn cudaFuncGetName(place: *mut *const c_char, host: *const c_void) -> c_int {
    with_device("cudaFuncGetName", || {
        let mut name = std::ptr::null();
        // SAFETY: a place for the answer.
        unsafe { cuFuncGetName(&raw mut name, registration::function(host)?) }?;
        // SAFETY: the caller's promise.
        unsafe { answer(place, name) }
    })
}

/// The function of a host function's kernel, in the current context.
///
/// # Safety
/// `place` is null or a place for a handle.
pub unsafe extern "C" fn cudaGetFuncBySymbol(place: *mut CUfunction, host: *const c_void) -> c_int {
    // SAFETY: the caller's promise.
    with_device("cudaGetFuncBySymbol", || unsafe { answer(place, registration::function(host)?) })
}

/// The kernel of a host function, in no context.
///
/// # Safety
/// `place` is null or a place for a handle.
pub unsafe extern "C" fn cudaGetKernel(place: *mut CUkernel, host: *const c_void) -> c_int {
    // SAFETY: the caller's promise.
    with_device("cudaGetKernel", || unsafe { answer(place, registration::kernel(host)?) })
}

/// The address of a variable.
///
/// # Safety
/// `place` is null or a place for an address.
pub unsafe extern "C" fn cudaGetSymbolAddress(place: *mut CUdeviceptr, symbol: *const c_void) -> c_int {
    // SAFETY: the caller's promise.
    with_device("cudaGetSymbolAddress", || unsafe { answer(place, registration::variable(symbol)?.0) })
}

/// The size of a variable in bytes.
///
/// # Safety
/// `place` is null or a place for a size.
pub unsafe extern "C" fn cudaGetSymbolSize(place: *mut usize, symbol: *const c_void) -> c_int {
    // SAFETY: the caller's promise.
    with_device("cudaGetSymbolSize", || unsafe { answer(place, registration::variable(symbol)?.1) })
}

/// Stores an answer where the program wants it.
///
/// # Safety
/// `place` is null or a place for it.
unsafe fn answer<T>(place: *mut T, value: T) -> Outcome {
    if place.is_null() {
        return Err(Error::INVALID_VALUE);
    }
    // SAFETY: not null, and the caller vouches for the rest.
    unsafe { place.write(value) };
    Ok(())
}
