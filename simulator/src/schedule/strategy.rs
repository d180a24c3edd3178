//! What the engine asks of a scheduler, and what it is answered.

/// A warp that could run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Number of the warp in the launch: linear block index × warps per block + warp in the block. Stable, so
    /// that a scheduler may keep priorities by it.
    pub warp: u64,
    pub(crate) slot: u32,
}

/// A turn: who, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Index into the candidates.
    pub candidate: usize,
    /// Visible operations until the scheduler is asked again; at least 1 (0 counts as 1).
    pub operations: u32,
}

/// A strategy. It must answer the same to the same questions, or runs do not replay.
pub trait SchedulerStrategy {
    /// A launch of `warps` warps begins.
    fn begin(&mut self, warps: u64);

    /// Picks the next turn. `candidates` is never empty; its order is arbitrary but deterministic.
    fn next(&mut self, candidates: &[Candidate]) -> Turn;

    /// Uniform random bits for the engine's own choices (which diverged lanes go first).
    fn random(&mut self) -> u64;
}
