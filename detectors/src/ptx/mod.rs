//! Data races by the PTX memory model, exactly as the execution at hand has them.
//!
//! Source: PTX ISA 8.x, "Memory Consistency Model". Two accesses that overlap, one of them a write, race where neither precedes
//! the other in causality order and they are not morally strong. Causality order is program order, what synchronises (release and
//! acquire patterns that are morally strong at their ends, `fence.sc` pairs whose order is forced, barriers), and observation: a write that a
//! morally strong read has observed, through atomics, too, precedes what that read precedes. The clocks are those of
//! [`bugaroo_semantics::clocks`]; the shadow keeps, for every byte, the accesses that a later one may race with and
//! that no newer one stands for ([`rows`]).
//!
//! Fence-SC order, that of `fence.sc`, is one of many that the axioms allow with what was read. Two accesses are reported that race
//! in one of those, which need not be the order in which the fences were executed ([`fences`]): the program does not keep
//! that from happening. All that races with the order as executed is reported, too.
//!
//! What it does not report though the letter may have it so, in doubt always in favour of the program:
//! - A pair with a write between the two at the same bytes, behind the first and before the second in causality order: coherence
//!   decides what is read there. (Causality order does not compose with observation; so the letter has such pairs.) Nor one with
//!   several such writes, each behind the one before.
//! - Threads that have ended count as arrived at barriers of their whole CTA or cluster, and at one with a thread count that all others are at.
//! - An atomic that writes nothing (a compare that failed) is a read to those it may race with, and a write to those
//!   that synchronise with it.
//! - mbarrier operations synchronise at any scope, and race with nothing but the initialisation of the object before them
//!   ([`mbarriers`]).
//! - Of races that need another Fence-SC order than as executed, only some: a thread that has acquired from others, or a grid
//!   in which anything raced before, takes all earlier fences as ordered; more in [`fences`].
//! - Asynchronous copies of a grid count as done before the grids that its threads launch ([`children`]).
//! - A proxy fence is missed only between a plain write and a later asynchronous read by a copy of the same CTA, where no
//!   thread of that CTA has done one since the write.
//! - Grids side by side that have read each other's strong writes, or both done `fence.sc`, are not compared from then on (a warning says so), nor
//!   what comes behind the one with what comes before the other; nor system-scope accesses with the host's own. Of two devices it takes more to have them
//!   not compared: system scope, on both sides ([`beyond`]).
//! - A read of a write that is older than the last 80 of its granule takes what all of those have released (a warning).
//! - Of more than 8 compares that failed at one place with one source, a read of that source has observed all.
//! - Of a long list of accesses to one place that all race with a new one, the newest is reported.

mod behind;
mod beyond;
mod by_lane;
mod cell;
mod check;
mod children;
mod copies;
mod detector;
mod devices;
mod fences;
mod few;
mod grids;
mod host;
mod host_log;
mod known;
mod links;
mod lists;
mod mbarriers;
mod messages;
mod objects;
mod places;
mod plain;
mod quick;
mod record;
mod release;
mod report;
mod rows;
mod sc;
mod short;
mod state;
mod strong;
mod sync;
mod told_later;
mod works;

pub use detector::ExactDetector;

use bugaroo_ptx::types::Scope;
use bugaroo_semantics::clocks::shared_map;
use bugaroo_semantics::event::{Access, AccessKind, Event, WorkId};
use bugaroo_semantics::scope::Strength;
use bugaroo_semantics::{Observer, Wants};

use crate::finding::{RaceDetector, RaceFinding, Warning};
use release::Reach;
use report::SIDE_BY_SIDE;
use state::Grid;

impl Observer for ExactDetector {
    fn wants(&self) -> Wants {
        Wants { branches: false, sources: true, before: false }
    }

    fn access(&mut self, access: &Access<'_>) {
        let Some(grid) = self.grids.get_mut(&access.by.grid) else { return };
        grid.ensure(&access.by);
        grid.total.letter |= access.numbers.is_some() || access.sourced != 0;
        if access.strength == Strength::Weak && !matches!(access.kind, AccessKind::Atomic(_)) {
            self.plain(access);
        } else {
            self.strong(access);
        }
    }

    fn event(&mut self, event: &Event<'_>) {
        match *event {
            Event::Work { id, kind, chain, after, asked, .. } => {
                self.works.add((id, kind), chain, after, asked);
            }
            Event::OnDevice { work, device } => self.on_device(work, device),
            Event::Asked { by, number } => self.asked(&by, number),
            Event::Retired { before } => self.retire(before),
            Event::HostAccess { work, range, writes, site } => self.host_access(work, range, writes, site),
            Event::Allocated(range) | Event::Freed(range) => self.forget(&range),
            Event::GridBegin { grid, shape, .. } => {
                self.grids.insert(grid, Grid::new(shape));
            }
            Event::GridEnd { grid } => self.end_grid(grid),
            Event::BlockBegin { grid, cta, block } => {
                self.end_shared(grid, cta);
                if let Some(grid) = self.grids.get_mut(&grid) {
                    grid.begin_block(cta, block);
                }
            }
            Event::BlockEnd { grid, cta } => {
                self.end_shared(grid, cta);
                if let Some(grid) = self.grids.get_mut(&grid) {
                    grid.end_block(cta);
                }
            }
            Event::Landed { by, range, write, last } => self.landed(&by, &range, write, last),
            Event::ReadFrom { by, range, write } => self.read_from(&by, &range, write),
            Event::CopyDone { grid, copy } => self.copy_done(grid, copy),
            _ => self.synchronise(event),
        }
    }
}

impl ExactDetector {
    fn synchronise(&mut self, event: &Event<'_>) {
        let grid = match event {
            Event::Exit(by) | Event::ClusterLeave(by) => by.grid,
            Event::Fence { by, .. }
            | Event::ProxyFence { by, .. }
            | Event::Arrive { by, .. }
            | Event::Leave { by, .. }
            | Event::WarpBarrier { by, .. }
            | Event::ClusterArrive { by, .. }
            | Event::MbarrierInit { by, .. }
            | Event::MbarrierArrive { by, .. }
            | Event::MbarrierPassed { by, .. }
            | Event::CopyIssued { by, .. }
            | Event::CopyAwaited { by, .. } => by.grid,
            Event::Completed { grid, .. }
            | Event::CopyCounted { grid, .. }
            | Event::MbarrierPhase { grid, .. } => *grid,
            _ => return,
        };
        self.on_mbarriers(event);
        if self.devices.several
            && let Event::Fence { by, fence, .. } = event
            && fence.scope == Scope::Sys
        {
            self.fence_of_system(by, (fence.is_sc(), fence.kind.acquires()));
        }
        let Some(grid) = self.grids.get_mut(&grid) else { return };
        match *event {
            Event::Exit(by) => grid.exit(&by),
            Event::Fence { by, fence, .. } => {
                grid.ensure(&by);
                grid.total.letter |= fence.is_sc() && self.report.raced.contains(&by.grid);
                grid.fence(&by, fence);
                grid.release_beyond(&by, fence.scope, fence.kind.releases());
                if fence.is_sc()
                    && Reach::of(fence.scope, grid.cluster) == Reach::Device
                    && !grid.total.fenced
                {
                    grid.total.fenced = true;
                    self.first_fence(by.grid);
                }
            }
            Event::ProxyFence { by, .. } => {
                grid.ensure(&by);
                grid.proxy_fence(&by);
            }
            Event::Arrive { by, barrier, waits, .. } => {
                grid.ensure(&by);
                grid.arrive(&by, barrier, waits);
            }
            Event::Leave { by, barrier } => grid.leave(&by, barrier),
            Event::Completed { cta, barrier, .. } => grid.completed(cta, barrier),
            Event::WarpBarrier { by, .. } => {
                grid.ensure(&by);
                grid.warp_barrier(&by);
            }
            Event::ClusterArrive { by, relaxed } => {
                grid.ensure(&by);
                grid.cluster_arrive(&by, relaxed);
            }
            Event::ClusterLeave(by) => grid.cluster_leave(&by),
            Event::MbarrierArrive { by, at, relaxed, .. } => {
                grid.mbarrier_arrive(&by, &at, relaxed);
            }
            Event::MbarrierPassed { by, at, relaxed, .. } => {
                grid.mbarrier_passed(&by, &at, relaxed);
            }
            Event::CopyIssued { by, site, copy, proxy, from, to } => {
                grid.ensure(&by);
                grid.copy_issued(&by, site, copy, proxy, from, to);
            }
            Event::CopyAwaited { by, copy, read_only } => grid.copy_awaited(&by, copy, read_only),
            Event::MbarrierPhase { at, .. } => {
                grid.copies.complete(places::place_of(at.memory, at.address, 8));
            }
            Event::CopyCounted { copy, at, .. } => grid.copy_counted(copy, &at),
            _ => {}
        }
    }

    /// Operations on mbarriers, before they order anything.
    fn on_mbarriers(&mut self, event: &Event<'_>) {
        let (Event::MbarrierInit { by, .. }
        | Event::MbarrierArrive { by, .. }
        | Event::MbarrierPassed { by, .. }) = event
        else {
            return;
        };
        let Some(grid) = self.grids.get_mut(&by.grid) else { return };
        grid.ensure(by);
        grid.total.letter = true;
        match *event {
            Event::MbarrierInit { by, at, site } => self.mbarrier_made(&by, &at, site),
            Event::MbarrierArrive { by, at, site, scope, .. } => {
                self.mbarrier_used(&by, &at, site, scope, false);
            }
            Event::MbarrierPassed { by, at, site, scope, .. } => {
                self.mbarrier_used(&by, &at, site, scope, true);
            }
            _ => {}
        }
    }

    /// A grid does its first `fence.sc` that reaches others: it synchronises with those of grids beside it.
    fn first_fence(&mut self, grid: WorkId) {
        let Some((chain, place)) = self.works.place(grid) else { return };
        let mut beside: Vec<WorkId> = Vec::new();
        for (chain, fenced) in &self.fenced {
            let known = self.works.known_of(*chain, grid);
            beside
                .extend(fenced.iter().rev().take_while(|(place, _)| *place > known).map(|(_, other)| *other));
        }
        // Of what is behind a part of them alone, nobody knows which of the fences of these come first.
        let partly = |other: &WorkId| self.fenced.values().flatten().any(|(_, fenced)| fenced == other);
        beside.extend(self.works.children.parents(grid).filter(partly));
        beside.sort_unstable();
        for other in beside {
            // Of two devices these fences may be of too narrow a scope: see there.
            if !self.works.apart(other, grid) && self.works.talk(other, grid) {
                self.report.all.warn(SIDE_BY_SIDE, 1);
                self.talk_by_letter(other, grid);
            }
        }
        let fenced = self.fenced.entry(chain).or_default();
        let at = fenced.partition_point(|(before, _)| *before < place);
        fenced.insert(at, (place, grid));
    }

    /// Nothing can race any more with work before this one.
    fn retire(&mut self, before: WorkId) {
        self.works.retire(before);
        self.host.retire(before);
        self.devices.retire(before);
        self.report.raced.retain(|work| *work >= before);
        for fenced in self.fenced.values_mut() {
            fenced.retain(|(_, grid)| *grid >= before);
        }
        self.fenced.retain(|_, fenced| !fenced.is_empty());
    }

    fn end_shared(&mut self, grid: WorkId, cta: u32) {
        let (links, spare) = (&mut self.links, &mut self.spare);
        self.shadow.end_shared(grid, cta, |row| {
            row.end(links, spare);
        });
        if let Some(grid) = self.grids.get_mut(&grid) {
            grid.objects.forget(cta);
        }
    }

    fn end_grid(&mut self, id: WorkId) {
        let Some(grid) = self.grids.remove(&id) else { return };
        self.report.raced.remove(&id);
        for slot in 0..grid.ctas.len() as u32 {
            self.end_shared(id, slot);
        }
        let pending: usize = grid.later.pending.values().map(Vec::len).sum();
        self.links.thaw(pending as u32);
    }
}

impl RaceDetector for ExactDetector {
    fn name(&self) -> &'static str {
        "ptx"
    }

    fn take_findings(&mut self) -> Vec<RaceFinding> {
        self.report.all.take_findings()
    }

    fn take_warnings(&mut self) -> Vec<Warning> {
        self.report.all.take_warnings()
    }

    fn held(&self) -> u64 {
        let mut rows = 0;
        self.shadow.each(|row| rows += row.held());
        let grids: u64 = self.grids.values().map(Grid::held).sum();
        let rest = self.works.held()
            + self.links.held()
            + self.host.held()
            + self.devices.held()
            + shared_map::held() as u64;
        self.shadow.held() + rows + grids + rest
    }
}
