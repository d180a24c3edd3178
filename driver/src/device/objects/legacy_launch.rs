//! What was set for launches of the old kind, function by function.

/// What was set for a kernel.
#[derive(Clone, Debug)]
pub struct Settings {
    pub(crate) block: [u32; 3],
    pub(crate) dynamic_shared: u32,
    pub(crate) parameters: Vec<u8>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { block: [1; 3], dynamic_shared: 0, parameters: Vec::new() }
    }
}
