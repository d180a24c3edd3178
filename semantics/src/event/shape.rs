//! How large a launch is.

/// The size of a launch, for the tables of who models or observes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Slots for resident warps; numbers of warps are less.
    pub warps: u32,
    /// Slots for resident CTAs; numbers of CTAs are less.
    pub ctas: u32,
    /// Warps of a CTA: CTA slot `c` has warp slots `c * warps_per_cta` and on.
    pub warps_per_cta: u32,
    /// Threads of a CTA.
    pub threads_per_cta: u32,
    /// CTAs of the grid.
    pub blocks: u64,
    /// CTAs of a cluster, 1 where there are none; those of cluster `c` are `c * cluster` and on.
    pub cluster: u32,
    /// Bytes of shared memory of a CTA.
    pub shared_bytes: u32,
}
