//! Executions in the words of the paper, one warp instruction or branch after the other; the place in the list is the site.

use bugaroo_ptx::op::AtomOp;
use bugaroo_semantics::inferred::Role;

use crate::support::At;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Read,
    Write,
    Atomic(AtomOp),
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
        self.at.address(lane, self.size * self.elements)
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
