//! What comes out of an emulation.

use crate::program::WarpPrograms;
use crate::verdict::Misuse;

/// Threads that wait for ever in the order of execution that was emulated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// Warp, lanes, and the instruction that they wait at.
    pub groups: Vec<(u32, u32, u32)>,
}

/// What a kernel does.
#[derive(Clone, Debug)]
pub struct Emulation {
    /// The thread programs. The origin of a command is the number of its instruction: [`super::Text::place`].
    pub program: WarpPrograms,
    /// Not all threads came to their end.
    pub stuck: Option<Stuck>,
    /// A barrier was asked what it cannot do; the programs end there.
    pub misuse: Option<Misuse>,
    /// If so: the programs as they might go on behind where threads wait for ever. Good for explanations only.
    pub beyond: Option<WarpPrograms>,
    /// Threads of a CTA.
    pub block: [u32; 3],
    /// Warp instructions, and instructions of threads.
    pub steps: [u64; 2],
    /// Times that the block comes to the grid's barrier.
    pub grid_barriers: u32,
    /// Tables in global memory whose initial values were taken for what they hold.
    pub tables: Vec<String>,
    /// Exchanges among lanes of which it is not known who takes part, and which were taken to come to it all: instructions.
    pub taken_to_meet: Vec<u32>,
}
