//! What was set for launches of the old kind, function by function.

/// What was set for a kernel.
#[derive(Clone, Debug)]
pub struct LegacyLaunch {
    /// Threads of a block.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u32,
    /// Parameters as they lie in memory.
    pub parameters: Vec<u8>,
}

impl Default for LegacyLaunch {
    fn default() -> Self {
        LegacyLaunch { block: [1; 3], dynamic_shared: 0, parameters: Vec::new() }
    }
}
