//! Kernels of loaded modules.

use std::ffi::{CString, c_int};

use bugaroo_cuda_abi::CUmodule;
use bugaroo_simulator::{DeviceConfig, KernelInfo};

use crate::objects::cluster::Clusters;

/// A kernel of a loaded module.
#[derive(Debug)]
pub struct LoadedKernel {
    /// The module.
    pub module: CUmodule,
    /// Name as in the PTX.
    pub name: CString,
    /// The PTX's target architecture, as 75 for `sm_75`.
    pub(crate) target: c_int,
    /// Constant memory of its module, in bytes.
    pub(crate) constants: u32,
    /// Dynamic shared memory that a launch may ask for, in bytes, where the program set it.
    pub(crate) dynamic_shared: Option<u32>,
    /// Percentage of shared memory that the program prefers; changes nothing.
    pub(crate) carveout: c_int,
    pub(crate) clusters: Clusters,
}

impl LoadedKernel {
    /// A kernel with nothing set.
    pub fn new(module: CUmodule, name: CString, target: c_int, constants: u32) -> Self {
        LoadedKernel {
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
