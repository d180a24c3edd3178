//! The scalar clocks of blocks and warps: which barriers a thread has passed.
//!
//! The block clock of a warp is raised above that of all others of its block when it leaves a barrier of the block, and its warp clock
//! begins anew. `bar.warp.sync` raises the warp clock of the lanes that meet above that of all lanes of the warp. So the clock of an
//! access that a barrier orders behind another one is always greater. It may be greater though nothing orders the two, where not
//! all threads took part: such a race is missed, none is made up.

use bugaroo_semantics::event::{Lanes, Shape};
use rustc_hash::FxHashMap;

/// A warp's clocks.
#[derive(Clone, Debug, Default)]
pub(super) struct Warp {
    pub block: u32,
    /// Of all lanes; where they differ, the latest.
    pub warp: u32,
    /// By lane, where they differ.
    pub lanes: Option<Box<[u32; 32]>>,
    /// Lanes that have not exited.
    alive: u32,
}

impl Warp {
    /// The warp clock of a lane.
    #[inline]
    pub fn of(&self, lane: u32) -> u32 {
        self.lanes.as_ref().map_or(self.warp, |lanes| lanes[lane as usize])
    }
}

/// Those of a block.
#[derive(Clone, Debug, Default)]
struct Block {
    /// The latest block clock of its warps.
    latest: u32,
    barriers: Vec<Barrier>,
    /// mbarriers by address: what the clock was when their last phase completed.
    phases: FxHashMap<u64, u32>,
}

/// A barrier of a block.
#[derive(Clone, Copy, Debug)]
struct Barrier {
    number: u32,
    /// Somebody has come since it completed last.
    come: bool,
    /// Warps that wait, a bit each.
    waiting: u32,
    /// The block's clock when it completed last.
    clock: u32,
}

/// All clocks of a grid.
#[derive(Debug)]
pub(super) struct Clocks {
    warps: Vec<Warp>,
    blocks: Vec<Block>,
    warps_per_block: u32,
    threads_per_block: u32,
    /// The latest that there may be: of blocks, of warps.
    most: (u32, u32),
    /// One has become later.
    pub over: bool,
    /// Barriers of the block at which not all of its threads have waited.
    pub partial_blocks: u64,
    /// Barriers of a warp at which not all of its threads were.
    pub partial_warps: u64,
}

impl Clocks {
    pub fn new(shape: &Shape, most: (u32, u32)) -> Clocks {
        Clocks {
            warps: vec![Warp::default(); shape.warps as usize],
            blocks: vec![Block::default(); shape.ctas as usize],
            warps_per_block: shape.warps_per_cta,
            threads_per_block: shape.threads_per_cta,
            most,
            over: false,
            partial_blocks: 0,
            partial_warps: 0,
        }
    }

    #[inline]
    pub fn warp(&self, slot: u32) -> Option<&Warp> {
        self.warps.get(slot as usize)
    }

    pub fn begin_block(&mut self, cta: u32) {
        let Some(block) = self.blocks.get_mut(cta as usize) else { return };
        *block = Block::default();
        let first = (cta * self.warps_per_block) as usize;
        for (at, warp) in self.warps.iter_mut().skip(first).take(self.warps_per_block as usize).enumerate() {
            let threads = self.threads_per_block.saturating_sub(at as u32 * 32).min(32);
            let alive = u32::MAX.checked_shr(32 - threads).unwrap_or(0);
            *warp = Warp { alive, ..Warp::default() };
        }
    }

    pub fn exit(&mut self, by: &Lanes) {
        if let Some(warp) = self.warps.get_mut(by.warp as usize) {
            warp.alive &= !by.mask;
        }
    }

    /// Lanes come to a barrier of the block.
    pub fn arrive(&mut self, by: &Lanes, barrier: u32, waits: bool) {
        let warp = 1 << ((by.first / 32) & 31);
        let Some(block) = self.blocks.get_mut(by.cta as usize) else { return };
        let at = match block.barriers.iter().position(|known| known.number == barrier) {
            Some(at) => at,
            None => {
                block.barriers.push(Barrier { number: barrier, come: false, waiting: 0, clock: 0 });
                block.barriers.len() - 1
            }
        };
        let known = &mut block.barriers[at];
        known.come = true;
        known.waiting |= if waits { warp } else { 0 };
    }

    /// They go on behind it.
    pub fn leave(&mut self, by: &Lanes, barrier: u32) {
        let Some(block) = self.blocks.get_mut(by.cta as usize) else { return };
        let Some(known) = block.barriers.iter_mut().find(|known| known.number == barrier) else { return };
        let first = std::mem::take(&mut known.come);
        if first {
            block.latest += 1;
            known.clock = block.latest;
            self.over |= block.latest > self.most.0;
        }
        let (clock, waited) = (known.clock, known.waiting);
        if first {
            known.waiting = 0;
            self.partial_blocks += u64::from(self.alive(by.cta) & !waited != 0);
        }
        self.raise(by.warp, clock);
    }

    /// A barrier has completed at which nobody waited.
    pub fn completed(&mut self, cta: u32, barrier: u32) {
        let Some(block) = self.blocks.get_mut(cta as usize) else { return };
        if let Some(known) = block.barriers.iter_mut().find(|known| known.number == barrier) {
            (known.come, known.waiting) = (false, 0);
        }
    }

    /// Warps of a block that have not exited, a bit each.
    fn alive(&self, cta: u32) -> u32 {
        let first = (cta * self.warps_per_block) as usize;
        let warps = self.warps.iter().skip(first).take(self.warps_per_block.min(32) as usize);
        (0..).zip(warps).fold(0, |all, (at, warp)| all | u32::from(warp.alive != 0) << at)
    }

    /// Lanes meet at `bar.warp.sync`.
    pub fn meet(&mut self, by: &Lanes) {
        let Some(warp) = self.warps.get_mut(by.warp as usize) else { return };
        let all = by.mask & warp.alive == warp.alive;
        let before = warp.warp;
        warp.warp += 1;
        self.over |= warp.warp > self.most.1;
        if all {
            warp.lanes = None;
            return;
        }
        self.partial_warps += 1;
        let lanes = warp.lanes.get_or_insert_with(|| Box::new([before; 32]));
        by.each().for_each(|lane| lanes[lane as usize] = warp.warp);
    }

    /// A phase of an mbarrier has completed.
    pub fn phase(&mut self, cta: u32, address: u64) {
        let Some(block) = self.blocks.get_mut(cta as usize) else { return };
        block.latest += 1;
        self.over |= block.latest > self.most.0;
        block.phases.insert(address, block.latest);
    }

    /// A lane has waited for it. Counts as a barrier of its block.
    pub fn passed(&mut self, by: &Lanes, address: u64) {
        let clock = self.blocks.get(by.cta as usize).and_then(|block| block.phases.get(&address).copied());
        if let Some(clock) = clock {
            self.raise(by.warp, clock);
        }
    }

    fn raise(&mut self, warp: u32, clock: u32) {
        let Some(warp) = self.warps.get_mut(warp as usize) else { return };
        if clock > warp.block {
            (warp.block, warp.warp) = (clock, 0);
            warp.lanes = None;
        }
    }

    /// Bytes that they take, about.
    pub fn bytes(&self) -> u64 {
        let warps = self.warps.len() * size_of::<Warp>();
        let lanes = self.warps.iter().filter(|warp| warp.lanes.is_some()).count() * size_of::<[u32; 32]>();
        (warps + lanes + self.blocks.len() * size_of::<Block>()) as u64
    }
}
