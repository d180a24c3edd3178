//! What is fixed for a launch: its constants, and the indices of a block's threads.

use crate::config::DeviceConfig;
use crate::decoded::LaunchValue;
use crate::launch::Plan;
use crate::load::{Constants, Program};

/// The constants, with the launch's own filled in.
pub(crate) fn launch_constants(program: &Program, config: &DeviceConfig, plan: &Plan<'_>) -> Constants {
    let mut constants = program.constants.clone();
    constants.fill(|value| match value {
        LaunchValue::Ntid(d) => u64::from(plan.spec.block[usize::from(d)]),
        LaunchValue::Nctaid(d) => u64::from(plan.spec.grid[usize::from(d)]),
        LaunchValue::Nwarpid => u64::from(config.threads_per_sm / 32),
        LaunchValue::Nsmid => u64::from(config.sm_count),
        LaunchValue::Gridid => 0,
        LaunchValue::WorkspaceHigh => plan.workspace >> 32,
        LaunchValue::WorkspaceLow => plan.workspace & 0xffff_ffff,
        LaunchValue::DynamicSharedSize => u64::from(plan.spec.dynamic_shared),
        LaunchValue::TotalSharedSize => u64::from(plan.own_shared),
        LaunchValue::ReservedShared(offset) => u64::from(plan.reserved_base + offset),
        LaunchValue::Nclusterid(d) => {
            let d = usize::from(d);
            u64::from(plan.spec.grid[d] / plan.cluster[d])
        }
        LaunchValue::ClusterNctaid(d) => u64::from(plan.cluster[usize::from(d)]),
        LaunchValue::ClusterNctarank => u64::from(plan.cluster.iter().product::<u32>()),
        LaunchValue::IsExplicitCluster => u64::from(plan.explicit_cluster),
        LaunchValue::DynamicShared(offset, generic) => {
            let window = if generic { crate::address::SHARED_WINDOW } else { 0 };
            (window + u64::from(plan.dynamic_base)).wrapping_add(offset)
        }
    });
    constants
}

/// `%tid` of each warp of a block, by dimension and lane.
pub(super) fn thread_indices(plan: &Plan<'_>) -> Vec<[[u32; 32]; 3]> {
    let [x, y, _] = plan.spec.block;
    (0..plan.warps_per_block)
        .map(|warp| {
            let lane = |f: &dyn Fn(u32) -> u32| std::array::from_fn(|lane| f(warp * 32 + lane as u32));
            [lane(&|t| t % x), lane(&|t| t / x % y), lane(&|t| t / x / y)]
        })
        .collect()
}
