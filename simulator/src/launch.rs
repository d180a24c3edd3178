//! Launching a kernel: what is checked before anything runs, and what comes back.

use crate::config::DeviceConfig;
use crate::exec::Machine;
use crate::fault::{LaunchDiagnosis, LaunchFault};
use crate::load::{KernelInfo, LoadError, Program};
use crate::memory::Memory;
use crate::model::{MemoryModel, ModelCounts};
use crate::schedule::SchedulerStrategy;

/// What to launch.
#[derive(Clone, Copy, Debug)]
pub struct LaunchSpec<'a> {
    /// Name of the kernel (mangled).
    pub kernel: &'a str,
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads per block in x, y, z.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u32,
    /// Extent of a cluster in blocks, where the launch says it; None: what the kernel says.
    pub cluster: Option<[u32; 3]>,
    /// The parameter buffer; [`KernelInfo::params`] says what lies where.
    pub params: &'a [u8],
    /// Warp instructions after which the launch is given up; None for no limit.
    pub step_budget: Option<u64>,
}

/// A launch that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LaunchError {
    /// No such kernel in the program.
    #[error("no kernel `{0}`")]
    NoKernel(String),
    /// The kernel, or a function that it can reach, is nothing that the simulator can run.
    #[error("{0}")]
    Refused(Box<LoadError>),
    /// A grid that is empty or larger than the device's limit.
    #[error("grid {0:?} is empty or too large")]
    Grid([u32; 3]),
    /// A block that is empty, larger than the device's limit, or larger than the kernel allows.
    #[error("block {block:?} is empty or has more than {limit} threads or too large an extent")]
    Block {
        /// The block.
        block: [u32; 3],
        /// Threads that it may have.
        limit: u32,
    },
    /// Static and dynamic shared memory together pass the device's limit.
    #[error("{bytes} bytes of shared memory, of {limit}")]
    SharedMemory {
        /// Bytes asked for.
        bytes: u64,
        /// Bytes that a block may have.
        limit: u32,
    },
    /// The parameter buffer is shorter than the kernel's parameters.
    #[error("{given} bytes of parameters, of {needed}")]
    Params {
        /// Bytes given.
        given: usize,
        /// Bytes that the kernel reads.
        needed: u32,
    },
    /// Threads need more local memory than they can have.
    #[error("{bytes} bytes of local memory per thread, of {limit}")]
    LocalMemory {
        /// Bytes that the kernel declares.
        bytes: u32,
        /// Bytes that a thread may have.
        limit: u32,
    },
    /// A grid that is no multiple of the kernel's cluster, a cluster that is empty or too large, or one that is
    /// not the one that the kernel says.
    #[error("grid {grid:?} in clusters of {cluster:?} blocks, of which {limit} fit at most{}", said(*.kernel))]
    Cluster {
        /// The grid.
        grid: [u32; 3],
        /// Extent of a cluster.
        cluster: [u32; 3],
        /// Blocks that a cluster may have.
        limit: u32,
        /// Extent that the kernel says.
        kernel: Option<[u32; 3]>,
    },
    /// More blocks than can be resident at once, in a cooperative launch.
    #[error("{blocks} blocks, of which {resident} can be resident at once, in a cooperative launch")]
    Cooperative {
        /// Blocks asked for.
        blocks: u64,
        /// Blocks that fit.
        resident: u32,
    },
    /// The host has no room for the resident blocks' registers, shared and local memory.
    #[error("the host has no room for the state of {0} warps")]
    Host(u64),
}

fn said(kernel: Option<[u32; 3]>) -> String {
    kernel.map_or_else(String::new, |extent| format!("; the kernel asks for {extent:?}"))
}

/// How much a launch executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Counts {
    /// Instructions, each counted once per group of lanes that executed it together.
    pub warp_instructions: u64,
    /// Instructions times lanes of the group, whether or not a guard held for the lane.
    pub thread_instructions: u64,
    /// Turns that the scheduler gave.
    pub turns: u64,
    /// Blocks that have ended.
    pub blocks: u64,
    /// Visible operations that warps did in them.
    pub operations: u64,
    /// Executions of `membar` and `fence`, whatever the scope, by threads. This count and those that follow
    /// leave out what the tester's own code does (functions whose names begin with `__bugaroo_`, and its
    /// allocations), and threads whose guard did not hold.
    pub fences: u64,
    /// Executions of CTA barriers (`bar`, `barrier`) by threads.
    pub barriers: u64,
    /// Executions of `st` to shared memory by threads, by the address at run time; a vector is one store.
    pub shared_stores: u64,
    /// The same for global memory.
    pub global_stores: u64,
}

/// How a launch ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// All threads have exited.
    Complete,
    /// Nobody can go on.
    Deadlock(LaunchDiagnosis),
    /// The step budget is used up.
    StepBudget(LaunchDiagnosis),
    /// Something illegal was done.
    Fault(Box<LaunchFault>),
}

/// What a launch did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchResult {
    /// How much was executed.
    pub counts: Counts,
    /// How it ended.
    pub end: End,
}

/// Blocks that a cluster may have: what a device of compute capability 9.0 can do. That every such device can do
/// eight only is for the driver to know.
const CLUSTER_LIMIT: u32 = 16;

/// Bytes of shared memory that are reserved for the system in each block (PTX ISA, `%reserved_smem_offset_begin`), as on
/// hardware since compute capability 8.0. Groups of several warps in cooperative groups meet there.
pub(crate) const RESERVED_SHARED: u32 = 1024;

/// What the checks found out.
pub(crate) struct Plan<'a> {
    pub kernel: &'a KernelInfo,
    pub spec: LaunchSpec<'a>,
    pub blocks: u64,
    pub threads_per_block: u32,
    pub warps_per_block: u32,
    /// Address in shared space at which dynamic shared memory begins.
    pub dynamic_base: u32,
    /// Bytes of shared memory per block, with what is reserved.
    pub shared_bytes: u32,
    /// Those that are the kernel's own.
    pub own_shared: u32,
    /// Address in shared space at which reserved shared memory begins, in kernels that ask for it.
    pub reserved_base: u32,
    /// Bytes of local memory per thread.
    pub local_bytes: u32,
    /// Extent of a cluster in blocks, and whether the kernel or the launch says it.
    pub cluster: [u32; 3],
    pub explicit_cluster: bool,
    /// Blocks that are resident at once.
    pub resident: u32,
    /// Address of the grid's workspace, for a cooperative launch; 0 without.
    pub workspace: u64,
}

/// Runs a kernel to its end.
///
/// # Errors
/// [`LaunchError`] when the launch is not legal; then nothing has run.
pub fn launch(
    program: &Program,
    memory: &mut Memory,
    config: &DeviceConfig,
    spec: &LaunchSpec<'_>,
    scheduler: &mut dyn SchedulerStrategy,
) -> Result<LaunchResult, LaunchError> {
    launch_with(program, memory, config, spec, scheduler, None).map(|(result, _)| result)
}

/// As [`launch`], under a memory model; tells what that has counted, too.
///
/// # Errors
/// As [`launch`].
pub fn launch_with(
    program: &Program,
    memory: &mut Memory,
    config: &DeviceConfig,
    spec: &LaunchSpec<'_>,
    scheduler: &mut dyn SchedulerStrategy,
    model: Option<Box<dyn MemoryModel + '_>>,
) -> Result<(LaunchResult, ModelCounts), LaunchError> {
    let plan = plan(program, config, spec, None)?;
    let mut machine = Machine::new(program, config, plan, model, None)?;
    machine.begin(scheduler);
    loop {
        if let Some(end) = machine.advance(memory, scheduler, u64::MAX) {
            let counts = machine.model().map(MemoryModel::counts).unwrap_or_default();
            return Ok((LaunchResult { counts: machine.counts(), end }, counts));
        }
    }
}

/// Checks a launch without starting it. The blocks of a cooperative one must all be resident at once.
///
/// # Errors
/// As [`launch`], but for what the host has no room for.
pub fn check(
    program: &Program,
    config: &DeviceConfig,
    spec: &LaunchSpec<'_>,
    cooperative: bool,
) -> Result<(), LaunchError> {
    plan(program, config, spec, cooperative.then_some(0)).map(|_| ())
}

/// Threads of a block, blocks of a cluster: where 64 bits do not hold the number, the largest that they do.
fn product(extent: [u32; 3]) -> u64 {
    extent.iter().fold(1, |product: u64, along| product.saturating_mul(u64::from(*along)))
}

/// Checks a launch; a cooperative one comes with the address of its workspace.
pub(crate) fn plan<'a>(
    program: &'a Program,
    config: &DeviceConfig,
    spec: &LaunchSpec<'a>,
    workspace: Option<u64>,
) -> Result<Plan<'a>, LaunchError> {
    let kernel = program.kernel(spec.kernel).ok_or_else(|| LaunchError::NoKernel(spec.kernel.to_string()))?;
    if let Some(reason) = &kernel.refused {
        return Err(LaunchError::Refused(Box::new(reason.clone())));
    }
    let inside = |extent: [u32; 3], max: [u32; 3]| (0..3).all(|d| extent[d] >= 1 && extent[d] <= max[d]);
    if !inside(spec.grid, config.max_grid) {
        return Err(LaunchError::Grid(spec.grid));
    }
    let limit = config.threads_per_block.min(kernel.max_threads).min(config.threads_per_sm).min(1024);
    let threads = product(spec.block);
    if !inside(spec.block, config.max_block) || threads > u64::from(limit) {
        return Err(LaunchError::Block { block: spec.block, limit });
    }
    let dynamic_base = kernel.static_shared.checked_next_multiple_of(kernel.dynamic_align.max(1));
    // One that 32 bits do not hold is beyond every limit.
    let dynamic_base = dynamic_base.unwrap_or(u32::MAX);
    let shared = u64::from(dynamic_base) + u64::from(spec.dynamic_shared);
    let shared = if spec.dynamic_shared == 0 { u64::from(kernel.static_shared) } else { shared };
    let limit = config.shared_per_block_optin.min(config.shared_per_sm);
    if kernel.static_shared > config.shared_per_block || shared > u64::from(limit) {
        return Err(LaunchError::SharedMemory { bytes: shared, limit });
    }
    if spec.params.len() < kernel.param_bytes as usize {
        return Err(LaunchError::Params { given: spec.params.len(), needed: kernel.param_bytes });
    }
    if kernel.local_bytes > config.local_per_thread {
        let limit = config.local_per_thread;
        return Err(LaunchError::LocalMemory { bytes: kernel.local_bytes, limit });
    }
    let local_bytes = if kernel.open_stack { config.local_per_thread } else { kernel.local_bytes };

    let threads_per_block = threads as u32;
    let warps_per_block = threads_per_block.div_ceil(32);
    let own_shared = shared as u32;
    // Behind all else, where hardware has it before: so that it costs other kernels nothing. It counts for no limit:
    // an SM has as much more than its blocks may ask for.
    let reserved_base = own_shared.next_multiple_of(16);
    let shared_bytes = if kernel.reserved_shared { reserved_base + RESERVED_SHARED } else { own_shared };
    let by_threads = config.threads_per_sm / (warps_per_block * 32);
    let by_shared = config.shared_per_sm.checked_div(own_shared).unwrap_or(u32::MAX);
    let per_sm = by_threads.min(config.blocks_per_sm).min(by_shared).max(1);
    // The product of three 31-, 16- and 16-bit extents fits into 64 bits.
    let blocks = spec.grid.iter().map(|n| u64::from(*n)).product::<u64>();
    let resident = blocks.min(u64::from(per_sm) * u64::from(config.sm_count.max(1))) as u32;
    let stated = kernel.explicit_cluster.then_some(kernel.cluster);
    let cluster = spec.cluster.unwrap_or(kernel.cluster);
    let size = product(cluster);
    let limit = CLUSTER_LIMIT.min(per_sm.saturating_mul(config.sm_count.max(1)));
    let other = stated.is_some_and(|stated| stated != cluster);
    let even = (0..3).all(|d| cluster[d] > 0 && spec.grid[d].is_multiple_of(cluster[d]));
    if other || !even || size > u64::from(limit) {
        return Err(LaunchError::Cluster { grid: spec.grid, cluster, limit, kernel: stated });
    }
    // Blocks of a cluster are resident together.
    let resident = resident - resident % size as u32;
    if workspace.is_some() && blocks > u64::from(resident) {
        return Err(LaunchError::Cooperative { blocks, resident });
    }
    let workspace = workspace.unwrap_or(0);
    Ok(Plan {
        kernel,
        spec: *spec,
        blocks,
        threads_per_block,
        warps_per_block,
        dynamic_base,
        shared_bytes,
        own_shared,
        reserved_base,
        local_bytes,
        cluster,
        explicit_cluster: stated.is_some() || spec.cluster.is_some(),
        resident,
        workspace,
    })
}
