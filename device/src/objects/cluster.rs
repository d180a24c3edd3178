//! How many clusters of blocks the device holds at a time, by their extent.

use std::ffi::{c_int, c_uint};

use bugaroo_simulator::KernelInfo;

use crate::error::{CallResult, Status};

/// Blocks of a cluster that every device can do.
const PORTABLE: u32 = 8;
/// Blocks of a cluster that this device can do.
const MOST: u32 = 16;

/// What a program set of a kernel's clusters (`CU_FUNC_ATTRIBUTE_…`).
#[derive(Clone, Copy, Debug, Default)]
pub struct Clusters {
    /// The required width, height and depth; all 0: none.
    pub(crate) required: [u32; 3],
    non_portable: bool,
    /// The scheduling policy; changes nothing.
    policy: c_int,
}

impl Clusters {
    /// The value of attribute 10 to 15.
    pub fn attribute(&self, kernel: &KernelInfo, number: c_uint) -> c_int {
        let required = if kernel.explicit_cluster { kernel.cluster } else { self.required };
        match number {
            10 => c_int::from(kernel.explicit_cluster),
            11..=13 => c_int::try_from(required[number as usize - 11]).unwrap_or(c_int::MAX),
            14 => c_int::from(self.non_portable),
            _ => self.policy,
        }
    }

    /// Sets attribute 11 to 15.
    pub fn set(&mut self, number: c_uint, value: c_int) -> CallResult {
        let value = u32::try_from(value).map_err(|_| Status::InvalidValue)?;
        match number {
            11..=13 => self.required[number as usize - 11] = value,
            14 => self.non_portable = value != 0,
            _ if value <= 2 => self.policy = value as c_int,
            _ => return Err(Status::InvalidValue),
        }
        Ok(())
    }

    /// Blocks that a cluster may have.
    pub fn most(&self) -> u32 {
        if self.non_portable { MOST } else { PORTABLE }
    }
}
