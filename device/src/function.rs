//! Attributes and parameters of kernels.

use std::ffi::{c_int, c_uint};

use bugaroo_cuda_abi::CUfunction;
use bugaroo_simulator::KernelInfo;

use crate::error::{CallResult, Status};
use crate::objects::function::LoadedKernel;
use crate::state::Gpu;

impl Gpu {
    /// What the simulator knows of a kernel.
    ///
    /// # Errors
    /// `InvalidHandle`
    pub fn kernel(&self, function: CUfunction) -> CallResult<(&LoadedKernel, &KernelInfo)> {
        let (function, module) = self.function(function)?;
        let kernel = module.program.kernel(function.name()).ok_or(Status::InvalidHandle)?;
        Ok((function, kernel))
    }
}

/// One of a kernel's attributes.
pub fn attribute(gpu: &Gpu, function: CUfunction, number: c_uint) -> CallResult<c_int> {
    let (function, kernel) = gpu.kernel(function)?;
    let device = &gpu.config;
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
pub fn set_attribute(gpu: &mut Gpu, handle: CUfunction, number: c_uint, value: c_int) -> CallResult {
    let optin = gpu.config.shared_per_block_optin;
    let (_, kernel) = gpu.kernel(handle)?;
    let (static_shared, stated) = (kernel.static_shared, kernel.explicit_cluster);
    let function = gpu.code.functions.get_mut(handle)?;
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
pub fn parameter(gpu: &Gpu, function: CUfunction, index: usize) -> CallResult<(usize, usize)> {
    let (_, kernel) = gpu.kernel(function)?;
    let parameter = kernel.params.get(index).ok_or(Status::InvalidValue)?;
    Ok((parameter.offset as usize, parameter.size as usize))
}
