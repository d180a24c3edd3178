//! The blocks of a launch that have begun and not ended, and the small numbers that observers know them by.

use std::collections::{BTreeMap, BTreeSet};

use bugaroo_semantics::parts::Parts;

use super::waiting::Waiting;

/// What is known of a warp.
#[derive(Clone, Debug)]
pub(super) struct Warp {
    /// Lanes that have not ended.
    pub alive: u32,
    /// Which are together, in lockstep.
    pub parts: Parts,
}

/// A block in progress.
#[derive(Debug)]
pub(super) struct Block {
    /// Its slot.
    pub slot: u32,
    /// Threads that have not ended.
    pub threads: u32,
    /// Who waits at its barriers.
    pub waiting: Waiting,
    /// Its warps.
    pub warps: Vec<Warp>,
}

/// All blocks in progress, by linear index.
#[derive(Debug, Default)]
pub(super) struct Slots {
    blocks: BTreeMap<u64, Block>,
    /// Slots that were used and are free again.
    free: BTreeSet<u32>,
    /// Slots that were ever used.
    used: u32,
}

impl Slots {
    pub fn get(&mut self, block: u64) -> Option<&mut Block> {
        self.blocks.get_mut(&block)
    }

    /// A block begins; answers its slot.
    pub fn begin(&mut self, block: u64, threads: u32) -> u32 {
        let slot = self.free.pop_first().unwrap_or_else(|| {
            self.used += 1;
            self.used - 1
        });
        let lanes = |first: u32| u32::MAX >> (32 - (threads - first).min(32));
        let warp = |first| Warp { alive: lanes(first), parts: Parts::default() };
        let warps = (0..threads).step_by(32).map(warp).collect();
        self.blocks.insert(block, Block { slot, threads, waiting: Waiting::default(), warps });
        slot
    }

    /// A block has ended.
    pub fn end(&mut self, block: u64) {
        if let Some(block) = self.blocks.remove(&block) {
            self.free.insert(block.slot);
        }
    }
}
