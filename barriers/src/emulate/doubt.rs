//! What a machine keeps while arms of branches on unknown values are run.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

/// Arms that are being run.
#[derive(Debug, Default)]
pub(super) struct Doubt {
    /// Nothing is written down.
    pub silent: bool,
    /// The condition of the arm.
    pub condition: Option<u32>,
    /// Open branches inside each other.
    pub depth: u32,
    /// The step at which the arms of the open branch that is being run take too long.
    pub until: u64,
    /// Times that something known of shared memory was forgotten.
    pub forgotten: u64,
    /// Arms that a warp runs together may hold exchanges.
    pub joins: bool,
    /// The lanes of the arm that is being run go the same way at it and at all open branches around it.
    pub together: bool,
    /// There was an exchange in such an arm.
    pub joined: bool,
    /// Exchanges among lanes of which it is not known who takes part: instructions.
    pub met: BTreeSet<u32>,
    /// By branch and where its arms are stopped, beside where they meet.
    pub shapes: FxHashMap<u32, Vec<(Vec<u32>, Shape)>>,
}

/// What a branch's arms look like.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// The branch can be reached again before they meet or are stopped.
    pub cyclic: bool,
    /// They hold what is refused there.
    pub waits: bool,
    /// What is refused in one of them, whatever way its lanes go: an instruction.
    pub refused: Option<u32>,
}
