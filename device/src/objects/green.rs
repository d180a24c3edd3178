//! Green contexts: names with numbers of SMs.

use std::collections::BTreeMap;

use crate::handles::{HandleKind, Handles};

/// What there is of this kind.
#[derive(Debug)]
pub struct Greens {
    /// SMs of each context.
    pub contexts: Handles<u32>,
    /// SMs of each description.
    pub descriptions: Handles<u32>,
    /// Streams, with the contexts that they belong to.
    pub streams: BTreeMap<usize, usize>,
}

impl Greens {
    /// None.
    pub fn new() -> Self {
        Greens {
            contexts: Handles::new(HandleKind::Green),
            descriptions: Handles::new(HandleKind::ResourceDescription),
            streams: BTreeMap::new(),
        }
    }
}

impl Default for Greens {
    fn default() -> Self {
        Self::new()
    }
}
