//! What limits how many blocks an SM holds.

/// Shared memory of each block that the driver keeps for itself: none here.
pub const RESERVED_SHARED: u32 = 0;

/// What limits a kernel's blocks.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Shared memory that the kernel itself declares, in bytes.
    pub static_shared: u64,
    pub(crate) threads_per_block: u32,
    pub(crate) threads_per_sm: u32,
    pub(crate) blocks_per_sm: u32,
    /// Shared memory of an SM, in bytes.
    pub shared_per_sm: u64,
    pub(crate) sm_count: u32,
}
