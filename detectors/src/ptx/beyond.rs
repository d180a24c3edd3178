//! Grids of several devices that talk to each other.
//!
//! Source: scopes of the memory consistency model (PTX ISA, "Scope"). `.gpu` takes in threads of one device alone. So threads
//! of two devices are morally strong to each other at `.sys` only, and what one releases another acquires only where both do so
//! at `.sys` (`__threadfence_system()`).
//!
//! As for grids of one device, what exactly grids know of each other is not followed: two that have synchronised are not
//! compared from then on. Of two devices these are grids
//! - of which a thread has acquired at system scope from a message that a thread of the other has released at system scope,
//!   handed on by atomics or not;
//! - that have both done `fence.sc.sys`, in an order that what they have accessed forces: a granule has been accessed strongly
//!   by who comes behind the earlier fence, then by who comes before the later one, other grids between the two or not; or that
//!   have raced before, which communicates, too.
//!
//! Where there is one device, nobody is told of it, and all of this is empty.

use std::rc::Rc;

use bugaroo_semantics::clocks::{View, WriterSet, joined};
use bugaroo_semantics::event::{Lanes, WhoseBytes, WorkId, each};

use super::detector::ExactDetector;
use super::few::Few;
use super::record::key;
use super::report::SIDE_BY_SIDE;
use super::state::Grid;
use super::strong::{Element, granules};
use crate::shadow::ROW_SHIFT;

impl Grid {
    /// A thread has acquired from another grid. What that has acquired from threads of this one comes back with it: here all that each of
    /// these knew when it released last, and did before.
    pub(super) fn learn_back(&mut self, by: &Lanes, lane: u32) {
        let mut all = View::default();
        for (block, (time, ..)) in &self.blocks.released {
            all.advance(WriterSet::cta(key(*block, 0).cta()), u64::from(*time));
        }
        let mut all = Rc::new(all);
        let per = self.shape.warps_per_cta.max(1);
        for (slot, cta) in (0..).zip(&self.ctas).filter(|(_, cta)| cta.clock > 0) {
            for warp in 0..per {
                let Some(at) = self.warps.get((slot * per + warp) as usize) else { continue };
                for (lanes, sync) in at.sync.each(at.full) {
                    let Some((time, ..)) = sync.released else { continue };
                    for lane in each(lanes) {
                        let known = at.views.of(lane).own_view(cta.block, warp * 32 + lane, time);
                        all = joined(&all, &known);
                    }
                }
            }
        }
        if self.learn(by, lane, &all) {
            self.by_letter(by, 1 << lane);
        }
    }
}

impl ExactDetector {
    /// A piece of work runs on this device.
    pub(super) fn on_device(&mut self, work: WorkId, device: u32) {
        self.devices.several = true;
        self.works.set_device(work, device);
    }

    /// Two grids have synchronised.
    fn meet(&mut self, one: WorkId, other: WorkId) {
        if self.works.talk(one, other) {
            self.report.all.warn(SIDE_BY_SIDE, 1);
            self.talk_by_letter(one, other);
        }
    }

    /// A thread has read messages of grids of other devices, which they have released for the system, and acquires from them
    /// at once, or may later.
    pub(super) fn hear(&mut self, by: &Lanes, lane: u32, grids: &Few<WorkId>, acquires: bool) {
        if !grids.is_empty() {
            let me = key(by.block as u32, by.first + lane);
            self.devices.heard.entry((by.grid, me)).or_default().add_all(grids.iter().copied());
        }
        if acquires {
            self.acquire_heard(by, lane);
        }
    }

    fn acquire_heard(&mut self, by: &Lanes, lane: u32) {
        if self.devices.heard.is_empty() {
            return;
        }
        let me = key(by.block as u32, by.first + lane);
        let Some(heard) = self.devices.heard.remove(&(by.grid, me)) else { return };
        heard.iter().for_each(|other| self.meet(*other, by.grid));
        if let Some(grid) = self.grids.get_mut(&by.grid) {
            grid.learn_back(by, lane);
        }
    }

    /// Lanes do a fence of system scope.
    pub(super) fn fence_of_system(&mut self, by: &Lanes, (sc, acquires): (bool, bool)) {
        if acquires {
            each(by.mask).for_each(|lane| self.acquire_heard(by, lane));
        }
        if !sc {
            return;
        }
        let mut before = self.devices.met.get(&by.grid).cloned().unwrap_or_default();
        let raced = |grid: &WorkId| self.report.raced.contains(grid);
        if raced(&by.grid) {
            let mut others: Vec<WorkId> = self.devices.fenced.iter().copied().filter(raced).collect();
            others.sort_unstable();
            before.add_all(others);
        }
        self.devices.fenced.insert(by.grid);
        for other in
            before.iter().filter(|other| self.works.apart(**other, by.grid)).copied().collect::<Vec<_>>()
        {
            self.meet(other, by.grid);
        }
    }

    /// A strong access of a thread touches granules.
    pub(super) fn touch(&mut self, by: &Lanes, memory: WhoseBytes, at: Element) {
        let devices = &mut self.devices;
        if devices.fenced.is_empty() || memory != WhoseBytes::Global {
            return;
        }
        let first = at.row << (ROW_SHIFT - 2);
        for granule in granules(at.mask).map(|index| first + index as u64) {
            let behind = devices.behind.entry(granule).or_default();
            if behind.iter().any(|grid| *grid != by.grid) {
                let met = devices.met.entry(by.grid).or_default();
                met.add_all(behind.iter().copied().filter(|grid| *grid != by.grid));
            }
            if devices.fenced.contains(&by.grid) {
                behind.add(by.grid);
            }
            if let Some(met) = devices.met.get(&by.grid) {
                behind.add_all(met.iter().copied());
            }
            if behind.is_empty() {
                devices.behind.remove(&granule);
            }
        }
    }
}
