//! What the recorder is told of a launch.

use bugaroo_ptx::types::Semantics;

use super::What;

/// Lanes of one warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// Slot of their warp.
    pub warp: u32,
    /// Slot of their CTA.
    pub cta: u32,
    /// Linear index of the CTA in the grid.
    pub block: u64,
    /// The lanes.
    pub lanes: u32,
}

/// What one lane does to one element of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touch {
    /// Slot of its warp.
    pub warp: u32,
    /// Slot of its CTA.
    pub cta: u32,
    /// Linear index of the CTA in the grid.
    pub block: u64,
    /// The lane.
    pub lane: u32,
    /// Number of the instruction.
    pub pc: u32,
    /// What it does.
    pub what: What,
    /// Order, strength and scope.
    pub semantics: Semantics,
    /// Whether `address` counts from the beginning of the CTA's shared memory.
    pub shared: bool,
    /// Where.
    pub address: u64,
    /// Bytes, at most 16.
    pub bytes: u32,
    /// What is there, low bytes first.
    pub old: u128,
    /// What a store or an atomic leaves there; None for a compare that fails.
    pub new: Option<u128>,
}

/// Something that a launch does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// It begins, with so many slots for warps, warps of a CTA, and threads of a CTA.
    Launch {
        /// Slots for warps.
        warps: u32,
        /// Warps of a CTA.
        warps_per_cta: u32,
        /// Threads of a CTA.
        threads_per_cta: u32,
        /// Warps run in lockstep.
        lockstep: bool,
    },
    /// A block begins in a slot.
    Block {
        /// The slot.
        cta: u32,
    },
    /// A warp executes an instruction that touches memory; what each lane does comes next, in order of lanes.
    Instruction,
    /// A lane touches an element.
    Touch(Touch),
    /// A fence of memory.
    Fence(Group),
    /// A warp arrives at a CTA barrier.
    Arrive(Group, u32),
    /// Lanes go on behind a CTA barrier; all that do so are told one after another. None where nobody has waited.
    Leave(Group, u32),
    /// Lanes have met at a warp barrier.
    Meet(Group),
    /// Lanes wait for something that orders what came before with what they do next.
    Wait(Group),
    /// Lanes end.
    Exit(Group),
}
