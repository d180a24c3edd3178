//! A warp: how entries will name it, whether its lanes are together, and the locks it holds.

use bugaroo_ptx::op::AtomOp;
use bugaroo_semantics::event::{Access, AccessKind};

use super::fences::WarpFences;
use super::held::Held;
use super::layout::EntryLayout;
use super::metadata::ScordEntry;

/// Since its last fence of the block or the device.
const SINCE_BLK: u8 = 1;
/// Since its last fence of the device.
const SINCE_DEV: u8 = 2;

/// A warp in its slot.
#[derive(Debug, Default)]
pub(super) struct Warp {
    /// How entries name it, with its counts as they are now; no thread, no site, no flags.
    pub who: ScordEntry,
    /// Lanes that have not ended.
    pub live: u32,
    pub held: Held,
    /// Lanes whose access at hand has opened a lock.
    pub opened: u32,
    /// Whether it has accessed memory since it has fenced.
    touched: u8,
    /// How often lanes have come together, and whether they are apart.
    epoch: u32,
    diverged: bool,
}

impl Warp {
    /// It begins, with so many threads.
    pub fn new(block: u32, index: u32, threads: u32) -> Warp {
        let live = if threads == 0 { 0 } else { u32::MAX >> (32 - threads.min(32)) };
        Warp { who: ScordEntry { block, warp: index, ..ScordEntry::default() }, live, ..Warp::default() }
    }

    /// What it and its block count.
    pub fn tell(&mut self, layout: &EntryLayout, fences: WarpFences, barriers: u32) {
        self.who.dev_fence = layout.dev_fence(fences.dev);
        self.who.blk_fence = layout.blk_fence(fences.blk);
        self.who.barrier = layout.barrier(barriers);
        self.who.epoch = layout.epoch(self.epoch);
    }

    /// It accesses memory.
    #[inline]
    pub fn touched(&mut self) {
        self.touched = SINCE_BLK | SINCE_DEV;
    }

    /// It fences. Says whether there was anything to fence: if not, no entry has its present number, which need not change.
    pub fn fenced(&mut self, device: bool) -> bool {
        let (asks, clears) = if device { (SINCE_DEV, SINCE_BLK | SINCE_DEV) } else { (SINCE_BLK, SINCE_BLK) };
        let counts = self.touched & asks != 0;
        self.touched &= !clears;
        counts
    }

    /// Lanes do something together. Says whether others are not there.
    #[inline]
    pub fn meet(&mut self, lanes: u32, layout: &EntryLayout) -> bool {
        if lanes != self.live {
            self.diverged = true;
        } else if self.diverged {
            self.together(layout);
        }
        lanes != self.live
    }

    /// Lanes that were apart have come together.
    pub fn together(&mut self, layout: &EntryLayout) {
        self.diverged = false;
        self.epoch = self.epoch.wrapping_add(1);
        self.who.epoch = layout.epoch(self.epoch);
    }

    /// Whether its lanes have come together more often than an entry can tell.
    #[inline]
    pub fn epoch_wrapped(&self, layout: &EntryLayout) -> bool {
        self.epoch != self.who.epoch && layout.widths().thread > 0
    }

    /// Opens the locks that an access opens, before it is looked at: an exchange or a strong store, or a compare-and-swap of who holds the
    /// lock. Gives the lanes that did.
    pub fn unlock(&mut self, access: &Access<'_>, strong: bool, device: bool, layout: &EntryLayout) -> u32 {
        let lanes = match access.kind {
            AccessKind::Atomic(AtomOp::Exch) => access.by.mask,
            AccessKind::Atomic(AtomOp::Cas) => access.by.mask & access.wrote,
            AccessKind::Store if strong => access.by.mask,
            _ => 0,
        };
        if lanes != 0 {
            self.opened = self.held.release(lanes, device, |lane| access.address(lane));
            self.summarise(layout);
        }
        self.opened
    }

    /// The locks that it holds have changed.
    pub fn summarise(&mut self, layout: &EntryLayout) {
        let bits = layout.widths().bloom;
        self.who.bloom = if self.held.by_lane() { 0 } else { self.held.bloom(0, bits, self.who.block) };
    }
}
