//! Executions in the words of the paper, one warp instruction or branch after the other; the place in the list is the site.

use bugaroo_ptx::op::AtomOp;
use bugaroo_semantics::inferred::Role;

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
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Read,
    Write,
    Atomic(AtomOp),
}

/// Where the lanes access, as the detector is told.
#[derive(Clone, Debug)]
pub enum At {
    Consecutive(u64),
    Same(u64),
    Each(Box<[u64; 32]>),
}

#[derive(Clone, Debug)]
pub struct Access {
    pub kind: Kind,
    pub lanes: u32,
    pub shared: bool,
    pub size: u32,
    pub elements: u32,
    pub at: At,
    pub values: Box<[u64; 32]>,
    /// What it is because of the fences beside it.
    pub role: Role,
}

impl Access {
    pub fn address(&self, lane: u32) -> u64 {
        match &self.at {
            At::Consecutive(first) => first + u64::from(lane * self.size * self.elements),
            At::Same(all) => *all,
            At::Each(each) => each[lane as usize],
        }
    }

    /// A byte of what a lane writes.
    pub fn byte(&self, lane: u32, byte: u32) -> u8 {
        (self.values[lane as usize] >> (byte % 8 * 8)) as u8
    }
}

/// A step of a warp, or of a block.
#[derive(Clone, Debug)]
pub enum Op {
    Access(u32, Access),
    /// `if`: lanes that take the branch, and whether they go first.
    If {
        warp: u32,
        lanes: u32,
        taken: u32,
        taken_first: bool,
    },
    Else {
        warp: u32,
        lanes: u32,
    },
    Fi {
        warp: u32,
        lanes: u32,
    },
    /// All threads of the block.
    Bar {
        block: u32,
    },
    Exit {
        warp: u32,
        lanes: u32,
    },
}
