//! Executions: one step of a warp or block after the other; the place in the list is the site.

use bugaroo_semantics::event::each;
use bugaroo_semantics::history::Action;

/// The size of the grid: all blocks are resident.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    pub blocks: u32,
    pub threads: u32,
}

impl Size {
    pub fn warps(self) -> u32 {
        self.threads.div_ceil(32)
    }

    /// Lanes of a warp, by its number in the grid.
    pub fn lanes(self, warp: u32) -> u32 {
        let threads = (self.threads - warp % self.warps() * 32).min(32);
        u32::MAX >> (32 - threads)
    }

    /// A thread's number in the grid.
    pub fn thread(self, warp: u32, lane: u32) -> usize {
        let (block, index) = (warp / self.warps(), warp % self.warps());
        (block * self.threads + index * 32 + lane) as usize
    }
}

/// Where lanes access.
#[derive(Clone, Debug)]
pub enum At {
    Consecutive(u64),
    Same(u64),
    Each(Box<[u64; 32]>),
}

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
        match &self.at {
            At::Consecutive(first) => first + u64::from(lane * self.size * self.elements),
            At::Same(all) => *all,
            At::Each(each) => each[lane as usize],
        }
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
