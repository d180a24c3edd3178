//! What the virtual GPU looks like: how much of everything it has.

/// Limits and shape of the device. The defaults are those of a small part of compute capability 9.0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceConfig {
    /// Streaming multiprocessors. With occupancy, this decides how many blocks are resident at once.
    pub sm_count: u32,
    /// Threads that one SM holds at a time.
    pub threads_per_sm: u32,
    /// Blocks that one SM holds at a time.
    pub blocks_per_sm: u32,
    /// Threads that a block may have.
    pub threads_per_block: u32,
    /// Extent of a block in x, y, z.
    pub max_block: [u32; 3],
    /// Extent of a grid in x, y, z.
    pub max_grid: [u32; 3],
    /// Shared memory that a block may declare, in bytes.
    pub shared_per_block: u32,
    /// Shared memory that a block may have with its dynamic part, in bytes.
    pub shared_per_block_optin: u32,
    /// Shared memory of an SM, in bytes; divided among its resident blocks.
    pub shared_per_sm: u32,
    /// Local memory (variables and call stack) that a thread may have, in bytes.
    pub local_per_thread: u32,
    /// Call depth at which a thread's stack counts as overflown.
    pub call_depth: u32,
    /// What `cuDeviceGetAttribute` and the like report.
    pub compute_capability: (u32, u32),
    /// Asynchronous copies may complete late, as far as the ISA allows: when they are waited for. Off: at once.
    pub late_copies: bool,
    /// Warps run in lockstep, as before Volta: diverged lanes regroup strictly, and lanes that spin on a
    /// sibling lane never end. Off: every lane gets its turn.
    pub lockstep: bool,
    /// Warp instructions for which a launch may go on while its threads do nothing but read the same places again and again,
    /// though nobody can say that they always will; None: for ever.
    pub patience: Option<u64>,
    /// Registers whose values are never needed at the same time share their place. What a program sees is the
    /// same without, but for registers that it reads before it has written them.
    pub share_rows: bool,
    /// The program is read by others and never launched: instructions that the engine does not execute are decoded, too.
    pub only_read: bool,
}

impl Default for DeviceConfig {
    fn default() -> DeviceConfig {
        DeviceConfig {
            sm_count: 16,
            threads_per_sm: 2048,
            blocks_per_sm: 32,
            threads_per_block: 1024,
            max_block: [1024, 1024, 64],
            max_grid: [0x7fff_ffff, 65535, 65535],
            shared_per_block: 49152,
            shared_per_block_optin: 232_448,
            shared_per_sm: 233_472,
            local_per_thread: 64 << 10,
            call_depth: 512,
            compute_capability: (9, 0),
            late_copies: false,
            lockstep: false,
            patience: None,
            share_rows: true,
            only_read: false,
        }
    }
}
