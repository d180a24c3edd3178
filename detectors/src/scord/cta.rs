//! A slot for a block: who waits at which of its barriers.

/// A slot for a block.
#[derive(Debug, Default)]
pub(super) struct Cta {
    /// The block, and its threads that have not ended.
    pub(super) here: Option<u32>,
    pub(super) live: u32,
    /// Threads that wait, barrier by barrier.
    pub(super) barriers: Vec<u32>,
    /// Phases of mbarriers that were counted for it.
    pub(super) phases: u32,
    /// Accesses of the grid when the barrier of its cluster was last counted for it.
    pub(super) cluster_at: u64,
}

impl Cta {
    /// A block begins.
    pub fn new(block: u32, threads: u32, phases: u32) -> Cta {
        Cta { here: Some(block), live: threads, phases, ..Cta::default() }
    }

    /// Whether it is the slot of this block.
    pub fn is(&self, block: u32) -> bool {
        self.here == Some(block)
    }

    /// Threads end.
    pub fn exit(&mut self, lanes: u32) {
        self.live = self.live.saturating_sub(lanes.count_ones());
    }

    /// The block ends.
    pub fn end(&mut self) {
        *self = Cta::default();
    }
}
