//! Thread block clusters (CUDA Driver API, "Execution Control", "Occupancy"): what a program sets for a kernel and
//! for a launch, and how many clusters the device holds.
//!
//! A kernel states its cluster itself (`__cluster_dims__`), a launch does (`CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION`), or
//! an attribute of the function; of these, the ones that are there must agree. Clusters of more than eight blocks, which not
//! every device can do, have to be allowed first.

use std::ffi::{c_int, c_uint};

use bugaroo_cuda_abi::{CUfunction, CUlaunchConfig};
use bugaroo_simulator::KernelInfo;

use crate::entry::{not_null, with_context, write};
use crate::error::{Outcome, Status};
use crate::execute::Together;
use crate::occupancy::Limits;
use crate::state::Driver;

/// Blocks of a cluster that every device can do.
const PORTABLE: u32 = 8;
/// Blocks of a cluster that this device can do.
const MOST: u32 = 16;
/// `CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION`
const DIMENSION: c_uint = 4;

/// What a program set of a kernel's clusters (`CU_FUNC_ATTRIBUTE_…`).
#[derive(Clone, Copy, Debug, Default)]
pub struct Clusters {
    /// The required width, height and depth; all 0: none.
    required: [u32; 3],
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
    pub fn set(&mut self, number: c_uint, value: c_int) -> Outcome {
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
    fn most(&self) -> u32 {
        if self.non_portable { MOST } else { PORTABLE }
    }
}

impl Driver {
    /// How a launch's blocks belong together, with what the function says of clusters where the launch says nothing.
    ///
    /// # Errors
    /// `InvalidClusterSize` for a cluster that must not be.
    pub fn with_cluster(&self, function: CUfunction, together: Together) -> Outcome<Together> {
        let (function, kernel) = self.kernel(function)?;
        let clusters = function.clusters();
        let required =
            Some(clusters.required.map(|extent| extent.max(1))).filter(|_| clusters.required != [0; 3]);
        let cluster = match (together.cluster, required) {
            (Some(asked), Some(required)) if asked != required => return Err(Status::InvalidClusterSize),
            (asked, required) => asked.or(required),
        };
        let extent = cluster.unwrap_or(kernel.cluster);
        let blocks = extent.iter().fold(1, |blocks: u32, extent| blocks.saturating_mul(*extent));
        if blocks > clusters.most() {
            return Err(Status::InvalidClusterSize);
        }
        Ok(Together { cluster, ..together })
    }
}

/// A launch's configuration, and the cluster that it asks for.
///
/// # Safety
/// `config` is null or points to a configuration whose attributes are there.
unsafe fn read(config: *const CUlaunchConfig) -> Outcome<(CUlaunchConfig, Together)> {
    not_null(config)?;
    // SAFETY: not null, and the caller vouches for the rest.
    let config = unsafe { config.read_unaligned() };
    let mut together = Together::default();
    if config.attribute_count > 0 {
        not_null(config.attributes)?;
    }
    for index in 0..config.attribute_count as usize {
        // SAFETY: the caller's promise; any bits are numbers.
        unsafe {
            let attribute = &*config.attributes.add(index);
            if attribute.id == DIMENSION {
                together.cluster = Some(attribute.value.cluster_dimension);
            }
        }
    }
    Ok((config, together))
}

fn threads(config: &CUlaunchConfig) -> Outcome<u32> {
    let threads = config.block.iter().fold(1, |threads: u32, extent| threads.saturating_mul(*extent));
    if threads == 0 { Err(Status::InvalidValue) } else { Ok(threads) }
}

/// Clusters of a launch that the device holds at once.
///
/// # Safety
/// `place` is null or points to a place for the number; `config` is null or points to a configuration whose attributes
/// are there.
pub unsafe extern "C" fn cuOccupancyMaxActiveClusters(
    place: *mut c_int,
    function: CUfunction,
    config: *const CUlaunchConfig,
) -> Status {
    with_context("cuOccupancyMaxActiveClusters", |driver, _| {
        // SAFETY: the caller's promise.
        let (config, together) = unsafe { read(config) }?;
        let extent = match driver.with_cluster(function, together)?.cluster {
            Some(extent) => extent,
            None => driver.kernel(function)?.1.cluster,
        };
        let size = extent.iter().product::<u32>();
        let resident =
            Limits::of(driver, function)?.resident(threads(&config)?, u64::from(config.shared_mem_bytes));
        let clusters = resident.checked_div(size).ok_or(Status::InvalidClusterSize)?;
        // SAFETY: the caller's promise.
        unsafe { write(place, c_int::try_from(clusters).unwrap_or(c_int::MAX)) }
    })
}

/// Blocks that a cluster of a launch may have.
///
/// # Safety
/// As [`cuOccupancyMaxActiveClusters`].
pub unsafe extern "C" fn cuOccupancyMaxPotentialClusterSize(
    place: *mut c_int,
    function: CUfunction,
    config: *const CUlaunchConfig,
) -> Status {
    with_context("cuOccupancyMaxPotentialClusterSize", |driver, _| {
        // SAFETY: the caller's promise.
        let (config, _) = unsafe { read(config) }?;
        let resident =
            Limits::of(driver, function)?.resident(threads(&config)?, u64::from(config.shared_mem_bytes));
        let most = driver.kernel(function)?.0.clusters().most().min(resident);
        // SAFETY: the caller's promise.
        unsafe { write(place, c_int::try_from(most).unwrap_or(c_int::MAX)) }
    })
}
