//! Kernels of loaded modules: their attributes and parameters.

use std::ffi::{CString, c_int, c_uint};

use bugaroo_cuda_abi::{CUfunction, CUmodule};
use bugaroo_simulator::{DeviceConfig, KernelInfo};

use crate::device::cluster::Clusters;
use crate::device::state::Driver;
use crate::error::{Outcome, Status};

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
