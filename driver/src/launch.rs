//! Launches (CUDA Driver API, "Execution Control"): what is checked before one runs.
//!
//! As with the real driver, shapes and sizes out of the kernel's or the device's limits are
//! `CUDA_ERROR_INVALID_VALUE` at the call. Cooperative launches and clusters are not supported.

use std::ffi::{c_uint, c_void};

use bugaroo_simulator::KernelInfo;

use crate::entry::not_null;
use crate::error::{Outcome, Status};
use crate::execute::Request;
use crate::state::Driver;
use crate::stream::with_stream;
use crate::types::{CUfunction, CUlaunchAttribute, CUlaunchConfig, CUstream};

/// End of the `extra` list.
const EXTRA_END: usize = 0;
/// The next item of the `extra` list points to the parameter buffer.
const EXTRA_BUFFER: usize = 1;
/// The next item of the `extra` list points to the parameter buffer's size.
const EXTRA_BUFFER_SIZE: usize = 2;
/// More items than any list that ends has.
const EXTRA_ITEMS: usize = 8;

/// The two ways to pass parameters.
#[derive(Clone, Copy)]
struct Parameters {
    /// A pointer to each one's value.
    each: *const *const c_void,
    /// A list that names a buffer of all of them.
    extra: *const *mut c_void,
}

/// Refuses shapes and sizes that the device or the kernel do not allow.
fn check_shape(
    driver: &Driver,
    function: CUfunction,
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
) -> Outcome {
    let (function, kernel) = driver.kernel(function)?;
    let device = &driver.config;
    let within = |shape: [u32; 3], limits: [u32; 3]| {
        shape.iter().zip(limits).all(|(extent, limit)| (1..=limit).contains(extent))
    };
    let threads: u64 = block.iter().map(|extent| u64::from(*extent)).product();
    let most = u64::from(kernel.max_threads.min(device.threads_per_block));
    let fits = within(grid, device.max_grid)
        && within(block, device.max_block)
        && threads <= most
        && shared <= function.dynamic_shared_limit(kernel, device);
    if fits { Ok(()) } else { Err(Status::InvalidValue) }
}

/// The kernel's parameter buffer, put together from what the program passes.
///
/// # Safety
/// As [`cuLaunchKernel`] asks of its two parameter lists.
unsafe fn collect(kernel: &KernelInfo, parameters: Parameters) -> Outcome<Vec<u8>> {
    let mut buffer = vec![0; kernel.param_bytes as usize];
    match (parameters.each.is_null(), parameters.extra.is_null()) {
        (false, false) => return Err(Status::InvalidValue),
        (false, true) => {
            for (index, parameter) in kernel.params.iter().enumerate() {
                // SAFETY: the caller's promise: the list has an item for every parameter.
                let value = unsafe { *parameters.each.add(index) };
                not_null(value)?;
                let (start, size) = (parameter.offset as usize, parameter.size as usize);
                // SAFETY: the caller's promise: the value has the parameter's size.
                let value = unsafe { std::slice::from_raw_parts(value.cast::<u8>(), size) };
                buffer[start..start + size].copy_from_slice(value);
            }
        }
        (true, false) => {
            // SAFETY: the caller's promise.
            let given = unsafe { extra_buffer(parameters.extra) }?;
            if given.len() < buffer.len() {
                return Err(Status::InvalidValue);
            }
            let used = buffer.len();
            buffer.copy_from_slice(&given[..used]);
        }
        (true, true) if kernel.params.is_empty() => {}
        (true, true) => return Err(Status::InvalidValue),
    }
    Ok(buffer)
}

/// The parameter buffer that an `extra` list names.
///
/// # Safety
/// `extra` is such a list, with an end, and names a buffer of the size that it names.
unsafe fn extra_buffer<'a>(extra: *const *mut c_void) -> Outcome<&'a [u8]> {
    let (mut buffer, mut size) = (None, None);
    let mut at = 0;
    while at < EXTRA_ITEMS {
        // SAFETY: the caller's promise: the end was not reached yet, and each key has its value.
        let (key, value) = unsafe {
            match *extra.add(at) as usize {
                EXTRA_END => break,
                key => (key, *extra.add(at + 1)),
            }
        };
        at += 2;
        match key {
            EXTRA_BUFFER => buffer = Some(value.cast::<u8>()),
            EXTRA_BUFFER_SIZE => {
                not_null(value)?;
                // SAFETY: the caller's promise.
                size = Some(unsafe { value.cast::<usize>().read_unaligned() });
            }
            _ => return Err(Status::InvalidValue),
        }
    }
    match (buffer, size) {
        (_, Some(0)) => Ok(&[]),
        (Some(buffer), Some(size)) => {
            not_null(buffer)?;
            // SAFETY: the caller's promise.
            Ok(unsafe { std::slice::from_raw_parts(buffer, size) })
        }
        _ => Err(Status::InvalidValue),
    }
}

/// Checks a launch and runs it, unless an earlier one broke the context.
///
/// # Safety
/// As [`cuLaunchKernel`].
unsafe fn start(
    name: &str,
    function: CUfunction,
    (grid, block, dynamic_shared): ([u32; 3], [u32; 3], u32),
    stream: CUstream,
    parameters: Parameters,
) -> Status {
    with_stream(name, stream, |driver, stream| {
        check_shape(driver, function, grid, block, dynamic_shared)?;
        // SAFETY: the caller's promise.
        let parameters = unsafe { collect(driver.kernel(function)?.1, parameters) }?;
        if driver.is_broken(stream.context) {
            return Ok(());
        }
        driver.execute(stream.context, &Request { function, grid, block, dynamic_shared, parameters })
    })
}

/// Launches a kernel. It has ended when the call returns; what went wrong in it is told by the next
/// call that waits for the device.
///
/// # Safety
/// Either `each` is null or has a pointer for each of the kernel's parameters, to a value of its size,
/// or `extra` is a list that ends with `CU_LAUNCH_PARAM_END` and names a parameter buffer and its size.
#[allow(clippy::too_many_arguments, reason = "the API's own signature")]
pub unsafe extern "C" fn cuLaunchKernel(
    function: CUfunction,
    grid_x: c_uint,
    grid_y: c_uint,
    grid_z: c_uint,
    block_x: c_uint,
    block_y: c_uint,
    block_z: c_uint,
    dynamic_shared: c_uint,
    stream: CUstream,
    each: *const *const c_void,
    extra: *const *mut c_void,
) -> Status {
    let shape = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z], dynamic_shared);
    // SAFETY: the caller's promise.
    unsafe { start("cuLaunchKernel", function, shape, stream, Parameters { each, extra }) }
}

/// Refuses launch attributes that would change what a launch means.
fn check_attribute(driver: &Driver, attribute: &CUlaunchAttribute) -> Outcome {
    // SAFETY: the forms read are those that `cuda.h` states for these attributes; any bits are
    // numbers.
    let (cooperative, cluster) = unsafe { (attribute.value.cooperative, attribute.value.cluster_dimension) };
    let what = match attribute.id {
        2 if cooperative != 0 => "cooperative launches are",
        4 | 11 if cluster.iter().any(|extent| *extent > 1) => "thread block clusters are",
        7 => "programmatic events are",
        12 => "launch completion events are",
        13 => "device-updatable kernel nodes are",
        0..=16 => return Ok(()),
        _ => return Err(Status::InvalidValue),
    };
    Err(driver.report.unsupported(&format!("cuLaunchKernelEx: {what} not supported")))
}

/// Launches a kernel with attributes: those that only advise the hardware are accepted, others are
/// not supported.
///
/// # Safety
/// `config` is null or points to a configuration whose attributes are there; the parameters are as
/// for [`cuLaunchKernel`].
pub unsafe extern "C" fn cuLaunchKernelEx(
    config: *const CUlaunchConfig,
    function: CUfunction,
    each: *const *const c_void,
    extra: *const *mut c_void,
) -> Status {
    let name = "cuLaunchKernelEx";
    if config.is_null() {
        return with_stream(name, std::ptr::null_mut(), |_, _| Err(Status::InvalidValue));
    }
    // SAFETY: not null, and the caller vouches for the rest.
    let config = unsafe { config.read_unaligned() };
    let checked = with_stream(name, config.stream, |driver, _| {
        if config.attribute_count == 0 {
            return Ok(());
        }
        not_null(config.attributes)?;
        for index in 0..config.attribute_count as usize {
            // SAFETY: the caller's promise.
            check_attribute(driver, unsafe { &*config.attributes.add(index) })?;
        }
        Ok(())
    });
    if checked != Status::Success {
        return checked;
    }
    let shape = (config.grid, config.block, config.shared_mem_bytes);
    // SAFETY: the caller's promise.
    unsafe { start(name, function, shape, config.stream, Parameters { each, extra }) }
}

/// Launches a kernel whose blocks may wait for each other: not supported.
///
/// # Safety
/// `each` is not used.
#[allow(clippy::too_many_arguments, reason = "the API's own signature")]
pub unsafe extern "C" fn cuLaunchCooperativeKernel(
    _function: CUfunction,
    _grid_x: c_uint,
    _grid_y: c_uint,
    _grid_z: c_uint,
    _block_x: c_uint,
    _block_y: c_uint,
    _block_z: c_uint,
    _dynamic_shared: c_uint,
    stream: CUstream,
    _each: *const *const c_void,
) -> Status {
    with_stream("cuLaunchCooperativeKernel", stream, |driver, _| {
        Err(driver.report.unsupported("cuLaunchCooperativeKernel: cooperative launches are not supported"))
    })
}
