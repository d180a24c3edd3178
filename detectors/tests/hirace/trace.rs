//! Executions: one step of a warp or block after the other; the place in the list is the site.

use bugaroo_semantics::event::each;
use bugaroo_semantics::history::Action;

use crate::support::At;

#[derive(Clone, Debug)]
pub struct Access {
    pub action: Action,
    /// An atomic action that is a strong load.
    pub is_load: bool,
    pub lanes: u32,
    pub shared: bool,
    pub size: u32,
    pub elements: u32,
    pub at: At,
}

impl Access {
    pub fn address(&self, lane: u32) -> u64 {
        self.at.address(lane, self.size * self.elements)
    }

    /// Lane and byte, in the order in which they are accessed.
    pub fn bytes(&self) -> impl Iterator<Item = (u32, u64)> {
        let bytes = u64::from(self.size * self.elements);
        each(self.lanes)
            .flat_map(move |lane| (0..bytes).map(move |byte| (lane, byte)))
            .map(|(lane, byte)| (lane, self.address(lane) + byte))
    }
}

#[derive(Clone, Debug)]
pub enum Op {
    Access(u32, Access),
    /// All threads of the block that are left.
    BlockBarrier(u32),
    /// These lanes of a warp.
    WarpBarrier(u32, u32),
    Exit(u32, u32),
}
