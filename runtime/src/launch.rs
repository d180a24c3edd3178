//! Launches (CUDA Runtime API, "Execution Control").
//!
//! The driver calls all that is wrong with a launch's shape an invalid value; this API has names for what
//! is out of the device's limits (`cudaErrorInvalidConfiguration`) and for more threads than the kernel's
//! registers or its `__launch_bounds__` allow (`cudaErrorLaunchOutOfResources`): see [`explain`].

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::ptr::null_mut;

use bugaroo_cuda_abi::{CUdevice, CUdeviceptr, CUfunction, CUkernel, CUlaunchConfig, CUstream};

use crate::api::{api, per_thread};
use crate::driver::driver;
use crate::error::{RuntimeError, RuntimeResult};
use crate::registration::{RegisteredKernel, function, kernel, variable};
use crate::types::{Dim3, LaunchConfig, not_null, write};

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
        configuration: *const CUlaunchConfig, function: CUfunction, parameters: *mut *mut c_void,
        extra: *mut *mut c_void,
    );
    cuCtxGetDevice(place: *mut CUdevice);
    cuDeviceGetAttribute(place: *mut c_int, attribute: c_int, device: CUdevice);
    cuFuncGetAttribute(place: *mut c_int, attribute: c_int, function: CUfunction);
    cuFuncGetName(place: *mut *const c_char, function: CUfunction);
}

/// The driver's numbers of the largest block, from x to z, and of the largest grid.
const MAX_BLOCK: [c_int; 3] = [2, 3, 4];
const MAX_GRID: [c_int; 3] = [5, 6, 7];
/// The driver's number of the most threads in a block: the device's, and the kernel's.
const MAX_THREADS: c_int = 1;
const KERNEL_MAX_THREADS: c_int = 0;

/// What this API calls a launch that the driver refused.
fn explain(error: RuntimeError, function: CUfunction, grid: Dim3, block: Dim3) -> RuntimeError {
    match error {
        RuntimeError::INVALID_VALUE => {}
        // CUDA_ERROR_INVALID_HANDLE
        RuntimeError(400) if !is_function(function) => return RuntimeError::INVALID_DEVICE_FUNCTION,
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
        return RuntimeError::INVALID_CONFIGURATION;
    }
    let mut most = 0;
    // SAFETY: a place for the answer.
    match unsafe { cuFuncGetAttribute(&raw mut most, KERNEL_MAX_THREADS, function) } {
        Ok(()) if u32::try_from(most).is_ok_and(|most| threads > most) => {
            RuntimeError::LAUNCH_OUT_OF_RESOURCES
        }
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
unsafe fn launch(
    kernel: CUkernel,
    grid: Dim3,
    block: Dim3,
    arguments: *mut *mut c_void,
    shared: usize,
    stream: CUstream,
) -> RuntimeResult {
    let shared = c_uint::try_from(shared).map_err(|_| RuntimeError::INVALID_VALUE)?;
    let none = null_mut();
    // SAFETY: the caller's promise.
    let launched = unsafe {
        cuLaunchKernel(
            kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared, stream, arguments, none,
        )
    };
    launched.map_err(|error| explain(error, kernel, grid, block))
}

/// Launches a kernel all of whose blocks run at the same time.
///
/// # Safety
/// As [`launch`].
unsafe fn launch_cooperative(
    kernel: CUkernel,
    grid: Dim3,
    block: Dim3,
    arguments: *mut *mut c_void,
    shared: usize,
    stream: CUstream,
) -> RuntimeResult {
    let shared = c_uint::try_from(shared).map_err(|_| RuntimeError::INVALID_VALUE)?;
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
/// As [`launch`].
unsafe fn launch_configured(
    config: &LaunchConfig,
    host: *const c_void,
    arguments: *mut *mut c_void,
) -> RuntimeResult {
    c_uint::try_from(config.dynamic_shared).map_err(|_| RuntimeError::INVALID_VALUE)?;
    let kernel = kernel(host)?;
    let given = config.for_driver();
    // SAFETY: the caller's promise.
    let launched = unsafe { cuLaunchKernelEx(&raw const given, kernel, arguments, null_mut()) };
    launched.map_err(|error| explain(error, kernel, config.grid, config.block))
}

api! {
    with_device cudaLaunchKernel(
        host: *const c_void, grid: Dim3, block: Dim3, arguments: *mut *mut c_void, shared: usize,
        stream: CUstream,
    ) on stream as cudaLaunchKernel_ptsz {
        launch(kernel(host)?, grid, block, arguments, shared, stream)
    }
    /// What it launches is what `__cudaGetKernel` gave, which stands for the host function.
    with_device __cudaLaunchKernel(
        handle: *const RegisteredKernel, grid: Dim3, block: Dim3, arguments: *mut *mut c_void, shared: usize,
        stream: CUstream,
    ) on stream as __cudaLaunchKernel_ptsz {
        launch(kernel(handle.cast())?, grid, block, arguments, shared, stream)
    }
    with_device cudaLaunchCooperativeKernel(
        host: *const c_void, grid: Dim3, block: Dim3, arguments: *mut *mut c_void, shared: usize,
        stream: CUstream,
    ) on stream as cudaLaunchCooperativeKernel_ptsz {
        launch_cooperative(kernel(host)?, grid, block, arguments, shared, stream)
    }
    with_device cudaLaunchKernelExC(
        config: *const LaunchConfig, host: *const c_void, arguments: *mut *mut c_void,
    ) {
        not_null(config)?;
        launch_configured(&*config, host, arguments)
    }
    with_device cudaLaunchKernelExC_ptsz(
        config: *const LaunchConfig, host: *const c_void, arguments: *mut *mut c_void,
    ) {
        not_null(config)?;
        let config = LaunchConfig { stream: per_thread((*config).stream), ..*config };
        launch_configured(&config, host, arguments)
    }
    /// The name of a host function's kernel, as the PTX has it.
    with_device cudaFuncGetName(place: *mut *const c_char, host: *const c_void) {
        let mut name = std::ptr::null();
        cuFuncGetName(&raw mut name, function(host)?)?;
        write(place, name)
    }
    /// The function of a host function's kernel, in the current context.
    with_device cudaGetFuncBySymbol(place: *mut CUfunction, host: *const c_void) {
        write(place, function(host)?)
    }
    /// The kernel of a host function, in no context.
    with_device cudaGetKernel(place: *mut CUkernel, host: *const c_void) {
        write(place, kernel(host)?)
    }
    with_device cudaGetSymbolAddress(place: *mut CUdeviceptr, symbol: *const c_void) {
        write(place, variable(symbol)?.0)
    }
    with_device cudaGetSymbolSize(place: *mut usize, symbol: *const c_void) {
        write(place, variable(symbol)?.1)
    }
}
