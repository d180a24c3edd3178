//! Thread block clusters (CUDA Driver API, "Execution Control", "Occupancy"): what a program sets for a kernel and
//! for a launch, and how many clusters the device holds.
//!
//! A kernel states its cluster itself (`__cluster_dims__`), a launch does (`CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION`), or
//! an attribute of the function; of these, the ones that are there must agree. Clusters of more than eight blocks, which not
//! every device can do, have to be allowed first.

use std::ffi::{c_int, c_uint};

use bugaroo_cuda_abi::{CUfunction, CUlaunchConfig};

use crate::api::entry::with_context;
use bugaroo_device::error::{CallResult, Status};
use bugaroo_device::objects::occupancy::Limits;
use bugaroo_device::objects::work::BlocksTogether;
use bugaroo_device::places::{not_null, write};

/// `CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION`
const DIMENSION: c_uint = 4;

/// A launch's configuration, and the cluster that it asks for.
///
/// # Safety
/// `config` is null or points to a configuration whose attributes are there.
unsafe fn read(config: *const CUlaunchConfig) -> CallResult<(CUlaunchConfig, BlocksTogether)> {
    not_null(config)?;
    // SAFETY: not null, and the caller vouches for the rest.
    let config = unsafe { config.read_unaligned() };
    let mut together = BlocksTogether::default();
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

fn threads(config: &CUlaunchConfig) -> CallResult<u32> {
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
    with_context("cuOccupancyMaxActiveClusters", |gpu, _| {
        // SAFETY: the caller's promise.
        let (config, together) = unsafe { read(config) }?;
        let extent = match gpu.with_cluster(function, together)?.cluster {
            Some(extent) => extent,
            None => gpu.kernel(function)?.1.cluster,
        };
        let size = extent.iter().product::<u32>();
        let resident =
            Limits::of(gpu, function)?.resident(threads(&config)?, u64::from(config.shared_mem_bytes));
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
    with_context("cuOccupancyMaxPotentialClusterSize", |gpu, _| {
        // SAFETY: the caller's promise.
        let (config, _) = unsafe { read(config) }?;
        let resident =
            Limits::of(gpu, function)?.resident(threads(&config)?, u64::from(config.shared_mem_bytes));
        let most = gpu.kernel(function)?.0.clusters().most().min(resident);
        // SAFETY: the caller's promise.
        unsafe { write(place, c_int::try_from(most).unwrap_or(c_int::MAX)) }
    })
}
