//! What is told of asynchronous copies, of mbarriers and of clusters.
//!
//! Copies are known by their numbers. A copy that was done at once is awaited, and counted, like one that is late: so those that
//! nobody has waited for yet are kept, by warp: all of those that only a wait can end. Of those that an mbarrier has counted as well,
//! the oldest are told as awaited when there are too many: who looks on then takes more for ordered than a later wait would order.

use std::ops::RangeInclusive;

use bugaroo_ptx::types::{Scope, Semantics};
use bugaroo_semantics::effect::strong_among;
use bugaroo_semantics::event::{CopyId, Event, Proxy, Range, WhoseBytes};

use super::{Lanes, Machine, Observed};
use crate::exec::asynchronous::{Transfer, What};
use crate::exec::spot::Spot;

/// Copies of a warp that an mbarrier has counted and that are kept for a wait to come.
const KEPT: usize = 4096;

/// A copy that belongs to a group of its lane.
#[derive(Clone, Copy, Debug)]
struct One {
    lane: u32,
    bulk: bool,
    group: u32,
    number: CopyId,
    counted: bool,
}

/// The copies that have been issued.
pub(super) struct Issued {
    last: CopyId,
    /// By warp slot: those that have not been awaited.
    waiting: Vec<Vec<One>>,
}

impl Issued {
    pub fn new(warps: usize) -> Issued {
        Issued { last: 0, waiting: vec![Vec::new(); warps] }
    }

    /// Takes the oldest half of a warp's counted copies out, if there are too many.
    fn too_many(&mut self, w: usize) -> Vec<One> {
        let counted = self.waiting[w].iter().filter(|one| one.counted).count();
        if counted <= KEPT {
            return Vec::new();
        }
        let mut left = counted / 2;
        let goes = |one: &mut One| {
            let goes = one.counted && left > 0;
            left -= usize::from(goes);
            goes
        };
        self.waiting[w].extract_if(.., goes).collect()
    }
}

impl Observed {
    /// Tells of a new copy; answers its number.
    fn issue(&mut self, by: Lanes, pc: u32, proxy: Proxy, from: Option<Range>, to: Range) -> CopyId {
        self.issued.last += 1;
        let copy = self.issued.last;
        let to = (to.bytes != 0).then_some(to);
        self.tell(&Event::CopyIssued { by, site: self.site(pc), copy, proxy, from, to });
        copy
    }
}

impl Machine<'_> {
    /// Bytes of shared memory, as an observer knows them.
    fn observed_shared(&self, pointer: *const u8, bytes: u64) -> Range {
        let offset = pointer as u64 - self.given.layout.shared.base() as u64;
        let stride = (self.given.layout.shared_stride as u64).max(1);
        Range { memory: WhoseBytes::Shared((offset / stride) as u32), address: offset % stride, bytes }
    }

    pub(super) fn observed_spot(&self, spot: Spot, bytes: u64) -> Range {
        match spot {
            Spot::Shared(pointer) => self.observed_shared(pointer, bytes),
            Spot::Read(address) | Spot::Written(address) => {
                Range { memory: WhoseBytes::Global, address, bytes }
            }
        }
    }

    fn observed_transfer(
        &mut self,
        (w, lane, pc): (usize, u32, u32),
        proxy: Proxy,
        transfer: &Transfer,
    ) -> CopyId {
        let by = self.observed_lanes(w, 1 << lane);
        let to = self.observed_spot(transfer.to, transfer.bytes);
        let from = transfer.from.map(|from| self.observed_spot(from, transfer.copied));
        let Some(watch) = &mut self.hooks.watch else { return 0 };
        watch.issue(by, pc, proxy, from, to)
    }

    /// A copy of a group is issued; answers its number.
    pub(in crate::exec) fn observed_issue(
        &mut self,
        by: (usize, u32, u32),
        (bulk, group): (bool, u32),
        transfer: &Transfer,
    ) -> CopyId {
        if self.hooks.watch.is_none() {
            return 0;
        }
        let number = self.observed_transfer(by, if bulk { Proxy::Async } else { Proxy::Generic }, transfer);
        let (w, lane, _) = by;
        if let Some(watch) = &mut self.hooks.watch {
            watch.issued.waiting[w].push(One { lane, bulk, group, number, counted: false });
        }
        number
    }

    /// Something is issued that an mbarrier counts; answers its number, the first where there are several. Of an arrival, the
    /// last one so far.
    pub(in crate::exec) fn observed_happen(&mut self, by: (usize, u32, u32), what: &What) -> CopyId {
        if self.hooks.watch.is_none() {
            return 0;
        }
        match what {
            What::Arrive { .. } => self.hooks.watch.as_ref().map_or(0, |watch| watch.issued.last),
            What::Transfer { transfer, .. } => self.observed_transfer(by, Proxy::Async, transfer),
            What::Tile { tile, .. } => {
                let transfers = self.asynchrony.transfers_of(*tile);
                let mut first = 0;
                for transfer in &transfers {
                    let number = self.observed_transfer(by, Proxy::Async, transfer);
                    first = if first == 0 { number } else { first };
                }
                first
            }
            What::Store { to, bytes, .. } => {
                let (w, lane, pc) = by;
                let (by, to) = (self.observed_lanes(w, 1 << lane), self.observed_spot(*to, *bytes));
                self.hooks.watch.as_mut().map_or(0, |watch| watch.issue(by, pc, Proxy::Async, None, to))
            }
        }
    }

    /// A copy has been done.
    pub(in crate::exec) fn observed_done(&self, copy: CopyId) {
        if copy != 0 {
            self.tell(|_, watch| Event::CopyDone { grid: watch.watch.grid, copy });
        }
    }

    /// Copies have been done, and an mbarrier counts that.
    pub(in crate::exec) fn observed_counted(&self, copies: RangeInclusive<CopyId>, mbarrier: *const u8) {
        if *copies.start() == 0 || self.hooks.watch.is_none() {
            return;
        }
        let at = self.observed_shared(mbarrier, 8);
        for copy in copies.clone() {
            self.observed_done(copy);
        }
        for copy in copies {
            self.tell(|_, watch| Event::CopyCounted { grid: watch.watch.grid, copy, at });
        }
    }

    /// `cp.async.mbarrier.arrive` takes effect: it counts its lane's copies up to this number.
    pub(in crate::exec) fn observed_arrival(
        &mut self,
        (w, lane): (usize, u32),
        up_to: CopyId,
        mbarrier: *const u8,
    ) {
        if self.hooks.watch.is_none() {
            return;
        }
        let (at, whole) = (self.observed_shared(mbarrier, 8), self.observed_lanes(w, u32::MAX));
        let Some(watch) = &mut self.hooks.watch else { return };
        let grid = watch.watch.grid;
        for index in 0..watch.issued.waiting[w].len() {
            let one = &mut watch.issued.waiting[w][index];
            if one.lane == lane && !one.bulk && one.number <= up_to {
                one.counted = true;
                let copy = one.number;
                watch.tell(&Event::CopyCounted { grid, copy, at });
            }
        }
        for One { lane, number: copy, .. } in watch.issued.too_many(w) {
            let by = Lanes { mask: 1 << lane, ..whole };
            watch.tell(&Event::CopyAwaited { by, copy, read_only: false });
        }
    }

    /// A lane has waited for its groups below `limit`.
    pub(in crate::exec) fn observed_awaited(
        &mut self,
        (w, lane): (usize, u32),
        bulk: bool,
        limit: u32,
        read_only: bool,
    ) {
        if self.hooks.watch.is_none() {
            return;
        }
        let by = self.observed_lanes(w, 1 << lane);
        let Some(watch) = &mut self.hooks.watch else { return };
        let mut waiting = std::mem::take(&mut watch.issued.waiting[w]);
        waiting.retain(|one| {
            let awaited = one.lane == lane && one.bulk == bulk && one.group < limit;
            if awaited {
                watch.tell(&Event::CopyAwaited { by, copy: one.number, read_only });
            }
            !awaited || read_only
        });
        watch.issued.waiting[w] = waiting;
    }

    /// The block of a warp has ended.
    pub(in crate::exec) fn observed_forget_copies(&mut self, w: usize) {
        if let Some(watch) = &mut self.hooks.watch {
            watch.issued.waiting[w].clear();
        }
    }

    pub(in crate::exec) fn observed_mbarrier(&self, (w, lane, pc): (usize, u32, u32), mbarrier: *const u8) {
        self.tell(|machine, watch| Event::MbarrierInit {
            by: machine.observed_lanes(w, 1 << lane),
            at: machine.observed_shared(mbarrier, 8),
            site: watch.site(pc),
        });
    }

    pub(in crate::exec) fn observed_mbarrier_arrive(
        &self,
        (w, mask, pc): (usize, u32, u32),
        mbarrier: *const u8,
        order: Semantics,
    ) {
        let (relaxed, scope) = relaxed(order);
        self.tell(|machine, watch| Event::MbarrierArrive {
            by: machine.observed_lanes(w, mask),
            at: machine.observed_shared(mbarrier, 8),
            site: watch.site(pc),
            relaxed,
            scope,
        });
    }

    pub(in crate::exec) fn observed_phase(&self, mbarrier: *const u8) {
        self.tell(|machine, watch| Event::MbarrierPhase {
            grid: watch.watch.grid,
            at: machine.observed_shared(mbarrier, 8),
        });
    }

    /// Lanes have found a phase completed.
    pub(in crate::exec) fn observed_passed(
        &self,
        (w, mask, pc): (usize, u32, u32),
        mbarrier: *const u8,
        order: Semantics,
    ) {
        if self.hooks.watch.is_none() {
            return;
        }
        let (relaxed, scope) = relaxed(order);
        let at = self.observed_shared(mbarrier, 8);
        for lane in crate::exec::lanes(mask) {
            let by = self.observed_lanes(w, 1 << lane);
            self.tell(|_, watch| Event::MbarrierPassed { by, at, site: watch.site(pc), relaxed, scope });
        }
    }

    pub(in crate::exec) fn observed_cluster_arrive(&self, w: usize, mask: u32, relaxed: bool) {
        self.tell(|machine, _| Event::ClusterArrive { by: machine.observed_lanes(w, mask), relaxed });
    }

    pub(in crate::exec) fn observed_cluster_leave(&self, w: usize, mask: u32) {
        if mask != 0 {
            self.tell(|machine, _| Event::ClusterLeave(machine.observed_lanes(w, mask)));
        }
    }
}

/// Whether an operation on an mbarrier orders nothing, and its scope.
fn relaxed(order: Semantics) -> (bool, Scope) {
    (matches!(order, Semantics::Relaxed(_)), strong_among(order).unwrap_or(Scope::Sys))
}
