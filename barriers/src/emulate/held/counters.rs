//! Counters in shared memory ([`crate::emulate::counter`]).

use rustc_hash::{FxHashMap, FxHashSet};

/// Counters, and what is to be known of mbarriers for them.
#[derive(Debug, Default)]
pub(in crate::emulate) struct Counters {
    /// Sums that do not show yet, by CTA and offset, and the last addition.
    pub sums: FxHashMap<(u32, u32), (u32, u32)>,
    /// By CTA and offset: by warp, who has taken its share away, and the step up to which all its lanes had met.
    pub shares: FxHashMap<(u32, u32), FxHashMap<usize, (u32, u64)>>,
    /// By mbarrier, the last step at which each warp has used it.
    pub uses: FxHashMap<(u32, u32), FxHashMap<usize, u64>>,
    /// A comparison that is decided: the instruction, the frame, lanes, and which of them are the last.
    pub decided: Option<Decided>,
    /// The last one of a counter, on its way: warp, first instruction, and the counter.
    pub last: Option<(usize, FxHashSet<u32>, (u32, u32))>,
}

#[derive(Clone, Copy, Debug)]
pub(in crate::emulate) struct Decided {
    pub pc: u32,
    pub frame: u32,
    pub lanes: u32,
    pub last: u32,
    pub negate: bool,
}

impl Counters {
    /// Nothing is kept of any counter.
    pub fn is_idle(&self) -> bool {
        self.sums.is_empty() && self.shares.is_empty() && self.decided.is_none() && self.last.is_none()
    }

    /// The instruction whose predicate is decided; none is `u32::MAX`.
    #[inline(always)]
    pub fn decided_at(&self) -> u32 {
        self.decided.map_or(u32::MAX, |decided| decided.pc)
    }
}
