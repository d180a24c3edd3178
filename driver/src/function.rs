//! Kernels (CUDA Driver API, "Execution Control"): what is known of them, and what can be set.

use std::ffi::{CString, c_char, c_int, c_uint};

use bugaroo_cuda_abi::{CUfunction, CUmodule};
use bugaroo_simulator::{DeviceConfig, KernelInfo};

use crate::cluster::Clusters;
use crate::context::check_cache_config;
use crate::entry::{not_null, with_context, with_driver, write, write_if_wanted};
use crate::error::{Outcome, Status};
use crate::state::Driver;

/// A kernel of a loaded module.
#[derive(Debug)]
pub struct Function {
    /// The module.
    pub module: CUmodule,
    /// Name as in the PTX.
    pub name: CString,
    /// The PTX's target architecture, as 75 for `sm_75`.
    target: c_int,
    /// Constant memory of its module, in bytes.
    constants: u32,
    /// Dynamic shared memory that a launch may ask for, in bytes, where the program set it.
    dynamic_shared: Option<u32>,
    /// Percentage of shared memory that the program prefers; changes nothing.
    carveout: c_int,
    clusters: Clusters,
}

impl Function {
    /// A kernel with nothing set.
    pub fn new(module: CUmodule, name: CString, target: c_int, constants: u32) -> Self {
        Function {
            module,
            name,
            target,
            constants,
            dynamic_shared: None,
            carveout: -1,
            clusters: Clusters::default(),
        }
    }

    /// Dynamic shared memory that a launch may ask for, in bytes.
    pub fn dynamic_shared_limit(&self, kernel: &KernelInfo, device: &DeviceConfig) -> u32 {
        self.dynamic_shared.unwrap_or(device.shared_per_block.saturating_sub(kernel.static_shared))
    }

    /// What the program set of its clusters.
    pub fn clusters(&self) -> &Clusters {
        &self.clusters
    }

    /// The name, as the simulator wants it.
    pub fn name(&self) -> &str {
        // It came from a PTX text, which is UTF-8.
        self.name.to_str().unwrap_or_default()
    }
}

impl Driver {
    /// What the simulator knows of a kernel.
    ///
    /// # Errors
    /// `InvalidHandle`
    pub fn kernel(&self, function: CUfunction) -> Outcome<(&Function, &KernelInfo)> {
        let (function, module) = self.function(function)?;
        let kernel = module.program.kernel(function.name()).ok_or(Status::InvalidHandle)?;
        Ok((function, kernel))
    }
}

/// One of a kernel's attributes.
pub fn attribute(driver: &Driver, function: CUfunction, number: c_uint) -> Outcome<c_int> {
    let (function, kernel) = driver.kernel(function)?;
    let device = &driver.config;
    let int = |value: u32| c_int::try_from(value).unwrap_or(c_int::MAX);
    Ok(match number {
        0 => int(kernel.max_threads.min(device.threads_per_block)),
        1 => int(kernel.static_shared),
        2 => int(function.constants),
        3 => int(kernel.local_bytes),
        4 => int(kernel.registers),
        5 => function.target,
        6 => int(device.compute_capability.0 * 10 + device.compute_capability.1),
        7 => 0,
        8 => int(function.dynamic_shared_limit(kernel, device)),
        9 => function.carveout,
        10..=15 => function.clusters.attribute(kernel, number),
        _ => return Err(Status::InvalidValue),
    })
}

/// Sets one of a kernel's attributes.
pub fn set_attribute(driver: &mut Driver, handle: CUfunction, number: c_uint, value: c_int) -> Outcome {
    let optin = driver.config.shared_per_block_optin;
    let (_, kernel) = driver.kernel(handle)?;
    let (static_shared, stated) = (kernel.static_shared, kernel.explicit_cluster);
    let function = driver.functions.get_mut(handle)?;
    match number {
        8 => {
            let bytes = u32::try_from(value).map_err(|_| Status::InvalidValue)?;
            if bytes.saturating_add(static_shared) > optin {
                return Err(Status::InvalidValue);
            }
            function.dynamic_shared = Some(bytes);
        }
        9 if (-1..=100).contains(&value) => function.carveout = value,
        11..=13 if stated => return Err(Status::InvalidValue),
        11..=15 => function.clusters.set(number, value)?,
        _ => return Err(Status::InvalidValue),
    }
    Ok(())
}

/// Offset and size in bytes of a kernel's parameter.
pub fn parameter(driver: &Driver, function: CUfunction, index: usize) -> Outcome<(usize, usize)> {
    let (_, kernel) = driver.kernel(function)?;
    let parameter = kernel.params.get(index).ok_or(Status::InvalidValue)?;
    Ok((parameter.offset as usize, parameter.size as usize))
}

/// An attribute of a kernel.
///
/// # Safety
/// `place` is null or points to a place for the number.
pub unsafe extern "C" fn cuFuncGetAttribute(
    place: *mut c_int,
    number: c_uint,
    function: CUfunction,
) -> Status {
    with_context("cuFuncGetAttribute", |driver, _| {
        not_null(place)?;
        let value = attribute(driver, function, number)?;
        // SAFETY: the caller's promise.
        unsafe { write(place, value) }
    })
}

/// Sets an attribute of a kernel: the dynamic shared memory that its launches may ask for, or the
/// preferred share of shared memory.
pub extern "C" fn cuFuncSetAttribute(function: CUfunction, number: c_uint, value: c_int) -> Status {
    with_context("cuFuncSetAttribute", |driver, _| set_attribute(driver, function, number, value))
}

/// Sets a kernel's preference between L1 cache and shared memory; it changes nothing.
pub extern "C" fn cuFuncSetCacheConfig(function: CUfunction, config: c_uint) -> Status {
    with_context("cuFuncSetCacheConfig", |driver, _| {
        driver.functions.get(function)?;
        check_cache_config(config)
    })
}

/// Asks for a width of shared memory's banks; it changes nothing.
pub extern "C" fn cuFuncSetSharedMemConfig(function: CUfunction, config: c_uint) -> Status {
    with_context("cuFuncSetSharedMemConfig", |driver, _| {
        driver.functions.get(function)?;
        if config <= 2 { Ok(()) } else { Err(Status::InvalidValue) }
    })
}

/// The module of a kernel.
///
/// # Safety
/// `place` is null or points to a place for a handle.
pub unsafe extern "C" fn cuFuncGetModule(place: *mut CUmodule, function: CUfunction) -> Status {
    with_context("cuFuncGetModule", |driver, _| {
        // SAFETY: the caller's promise.
        unsafe { write(place, driver.functions.get(function)?.module) }
    })
}

/// The name of a kernel, valid until its module is unloaded.
///
/// # Safety
/// `place` is null or points to a place for a pointer.
pub unsafe extern "C" fn cuFuncGetName(place: *mut *const c_char, function: CUfunction) -> Status {
    with_driver("cuFuncGetName", |driver| {
        // SAFETY: the caller's promise. The text stays where it is while the function lives.
        unsafe { write(place, driver.functions.get(function)?.name.as_ptr()) }
    })
}

/// Offset and size in bytes of a kernel's parameter. `CUDA_ERROR_INVALID_VALUE` past the last one.
///
/// # Safety
/// `offset` is null, which is refused, or points to a place for a number; `size` likewise, but null
/// means not wanted.
pub unsafe extern "C" fn cuFuncGetParamInfo(
    function: CUfunction,
    index: usize,
    offset: *mut usize,
    size: *mut usize,
) -> Status {
    with_driver("cuFuncGetParamInfo", |driver| {
        not_null(offset)?;
        let (at, bytes) = parameter(driver, function, index)?;
        // SAFETY: the caller's promise, for both.
        unsafe {
            write_if_wanted(size, bytes);
            write(offset, at)
        }
    })
}

/// Whether a kernel is loaded: it is, as modules are loaded eagerly.
///
/// # Safety
/// `place` is null or points to a place for the state.
pub unsafe extern "C" fn cuFuncIsLoaded(place: *mut c_uint, function: CUfunction) -> Status {
    with_context("cuFuncIsLoaded", |driver, _| {
        driver.functions.get(function)?;
        // SAFETY: the caller's promise.
        unsafe { write(place, 1) }
    })
}

/// Loads a kernel, which it is already.
pub extern "C" fn cuFuncLoad(function: CUfunction) -> Status {
    with_context("cuFuncLoad", |driver, _| driver.functions.get(function).map(|_| ()))
}
