//! One grid: its warps, blocks and memories, and what its events do to them.

use std::rc::Rc;

use bugaroo_ptx::op::AtomOp;
use bugaroo_semantics::event::{Access, AccessKind, Lanes, Shape, SiteNumber, WhoseBytes, WorkId};
use bugaroo_semantics::inferred::{Reach, Role};
use bugaroo_semantics::scope::{Scope, Strength};
use rustc_hash::FxHashMap;

use super::barrier::{Barrier, Gone};
use super::check::{Check, Place};
use super::clock::{ClockFormat, Group, Home};
use super::mark::{Mark, What};
use super::part::Part;
use super::parts::Parts;
use super::report::Reports;
use super::shadow::{Flat, Paged};
use super::sparse::{Sparse, join};
use super::sync::Locations;
use super::warp::Warp;

/// A slot for a block.
#[derive(Debug, Default)]
struct Cta {
    barriers: Vec<Barrier>,
    gone: Gone,
    parts: Parts,
    shared: Flat,
    sync: Locations,
    mbarriers: Locations,
}

/// A grid that is running.
#[derive(Debug)]
pub(super) struct Grid {
    pub given: Given,
    warps: Vec<Warp>,
    ctas: Vec<Cta>,
    global: Paged,
    sync: Locations,
    mbarriers: Locations,
    /// What threads have told the barrier of their cluster.
    clusters: FxHashMap<u64, Rc<Sparse>>,
    /// When warps have last released.
    released: FxHashMap<u32, u32>,
    /// It is too large, or has run for too long.
    pub given_up: bool,
}

/// What is launched.
#[derive(Debug)]
pub(super) struct Given {
    pub id: WorkId,
    shape: Shape,
    lockstep: bool,
    first_site: SiteNumber,
    roles: Rc<[Role]>,
}

/// The latest time: a warp that gets there is not looked at any more.
const LATEST: u32 = u32::MAX - 8;

/// Limits that the grids share.
#[derive(Debug)]
pub(super) struct Limits {
    /// Marks that there is still room for in lists.
    pub room: i64,
    /// Reads that were not kept.
    pub lost: u64,
}

impl Grid {
    /// A grid begins.
    pub fn new(id: WorkId, shape: Shape, lockstep: bool, first_site: SiteNumber, roles: Rc<[Role]>) -> Grid {
        let warps = shape.blocks.checked_mul(u64::from(shape.warps_per_cta));
        let given_up = warps.is_none_or(|warps| warps >= u64::from(u32::MAX)) || shape.warps_per_cta == 0;
        let (slots, ctas) = if given_up { (0, 0) } else { (shape.warps, shape.ctas) };
        Grid {
            given: Given { id, shape, lockstep, first_site, roles },
            warps: vec![Warp::default(); slots as usize],
            ctas: (0..ctas).map(|_| Cta::default()).collect(),
            global: Paged::default(),
            sync: Locations::default(),
            mbarriers: Locations::default(),
            clusters: FxHashMap::default(),
            released: FxHashMap::default(),
            given_up,
        }
    }

    /// A block begins in a slot.
    pub fn begin_block(&mut self, slot: u32, block: u64, limits: &mut Limits) {
        let Some(cta) = self.ctas.get_mut(slot as usize) else { return };
        limits.room += cta.shared.begin(self.given.shape.shared_bytes);
        cta.gone = Gone::default();
        cta.barriers.clear();
        cta.sync.clear();
        cta.mbarriers.clear();
        let count = self.given.shape.warps_per_cta;
        for index in 0..count {
            let threads = self.given.shape.threads_per_cta.saturating_sub(index * 32).min(32);
            let lanes = if threads == 0 { 0 } else { u32::MAX >> (32 - threads) };
            // All warps of the grid have 32-bit numbers: the grid was given up otherwise.
            let home = Home { warp: block as u32 * count + index, block: block as u32 };
            if let Some(warp) = self.warps.get_mut((slot * count + index) as usize) {
                warp.begin(home, lanes);
            }
        }
    }

    /// A block has ended.
    pub fn end_block(&mut self, slot: u32, reports: &mut Reports) {
        if let Some(cta) = self.ctas.get_mut(slot as usize) {
            cta.parts.tell(None, reports);
        }
        let first = (slot * self.given.shape.warps_per_cta) as usize;
        for warp in self.warps.iter_mut().skip(first).take(self.given.shape.warps_per_cta as usize) {
            warp.begin(warp.home, 0);
        }
    }

    /// Lanes of a warp access memory.
    pub fn access(&mut self, access: &Access<'_>, reports: &mut Reports, limits: &mut Limits) {
        let at = access.by.warp as usize;
        let Some(warp) = self.warps.get(at) else { return };
        let lanes = access.by.mask;
        let index = access.site.wrapping_sub(self.given.first_site) as usize;
        let mut role = self.given.roles.get(index).copied().unwrap_or_default();
        if access.acquire || access.release {
            let reach = match access.strength {
                Strength::Strong(Scope::Cta) => Reach::Block,
                _ => Reach::Grid,
            };
            // As with fences on one side: what changes a value hands on what those before it have released.
            let both =
                matches!(access.kind, AccessKind::Atomic(op) if !matches!(op, AtomOp::Cas | AtomOp::Exch));
            role.acquire = role.acquire.max((access.acquire || both).then_some(reach));
            role.release = role.release.max((access.release || both).then_some(reach));
        }
        if role.covered && !role.synchronises() && !may_meet(access) {
            return;
        }
        let one = match warp.whole(lanes) {
            Some(one) => one,
            None => {
                if self.given.lockstep {
                    self.warps[at].join(lanes);
                }
                self.warps[at].whole(lanes).unwrap_or(usize::MAX)
            }
        };
        if role.synchronises() {
            self.synchronise(access, role);
        } else {
            self.check(access, role, one, reports, limits);
        }
        // `endi`.
        let warp = &mut self.warps[at];
        let mut end = |group: &mut Group| {
            group.local += 1;
            self.given_up |= group.local >= LATEST;
        };
        match warp.groups.get_mut(one) {
            Some(group) => end(group),
            None => warp.groups.iter_mut().filter(|group| group.mask & lanes != 0).for_each(end),
        }
    }

    /// `rd`, `wr`, `atm`, of lanes that are in one group, or in several.
    fn check(
        &mut self,
        access: &Access<'_>,
        role: Role,
        one: usize,
        reports: &mut Reports,
        limits: &mut Limits,
    ) {
        let warp = &self.warps[access.by.warp as usize];
        let strong = access.strength != Strength::Weak && !role.volatile;
        let atomic = matches!(access.kind, AccessKind::Atomic(_)) || strong;
        let what = What::new(access.kind, access.size, access.strength, atomic);
        let mut place = match access.memory {
            WhoseBytes::Global => Place::Global(&mut self.global),
            WhoseBytes::Shared(slot) => match self.ctas.get_mut(slot as usize) {
                Some(cta) => Place::Shared(&mut cta.shared),
                None => return,
            },
        };
        reports.lockstep = self.given.lockstep;
        let mut check = |group: &Group, current: &[(u32, u32)]| {
            let mut check = Check {
                access,
                group,
                home: warp.home,
                warps_per_cta: self.given.shape.warps_per_cta,
                first_warp: warp.home.block * self.given.shape.warps_per_cta,
                current,
                reports,
                released: &self.released,
                room: &mut limits.room,
                lost: &mut limits.lost,
            };
            let mark = Mark::new(warp.home.warp, group.local, access.site, what);
            check.run(group.mask & access.by.mask, mark, &mut place);
        };
        if let Some(group) = warp.groups.get(one) {
            check(group, &[(group.mask, group.local)]);
            return;
        }
        let several: Vec<&Group> =
            warp.groups.iter().filter(|group| group.mask & access.by.mask != 0).collect();
        let current: Vec<(u32, u32)> = several.iter().map(|group| (group.mask, group.local)).collect();
        several.into_iter().for_each(|group| check(group, &current));
    }

    /// `acq`, `rel`, `ar` of each lane (figure 3), and what `endi` makes of it: the group knows what its lanes have learnt.
    fn synchronise(&mut self, access: &Access<'_>, role: Role) {
        let warp = &mut self.warps[access.by.warp as usize];
        let sync = match access.memory {
            WhoseBytes::Global => &mut self.sync,
            WhoseBytes::Shared(slot) => match self.ctas.get_mut(slot as usize) {
                Some(cta) => &mut cta.sync,
                None => return,
            },
        };
        let (home, lanes, blocks) = (warp.home, warp.lanes, self.given.shape.blocks);
        for group in warp.groups.iter_mut().filter(|group| group.mask & access.by.mask != 0) {
            let mut learnt = None;
            for lane in bugaroo_semantics::event::each(group.mask & access.by.mask) {
                let address = access.address(lane);
                let acquired =
                    role.acquire.and_then(|reach| sync.acquired(address, home.block, reach, blocks));
                if let Some(reach) = role.release {
                    let mut clock = group.knowledge(home, 1 << lane);
                    if let Some(acquired) = &acquired {
                        clock = Sparse::joined(&clock, acquired);
                    }
                    sync.release(address, home.block, reach, clock);
                    self.released.insert(home.warp, group.local);
                }
                if let Some(acquired) = acquired {
                    join(&mut learnt, &acquired);
                }
            }
            if let Some(learnt) = learnt {
                group.learn(home, &learnt, lanes);
            }
        }
    }

    /// Lanes come to a barrier of their block.
    pub fn arrive(&mut self, by: &Lanes, site: SiteNumber, barrier: u32, waits: bool, reports: &mut Reports) {
        let per_cta = self.given.shape.warps_per_cta;
        let (Some(warp), Some(cta)) =
            (self.warps.get_mut(by.warp as usize), self.ctas.get_mut(by.cta as usize))
        else {
            return;
        };
        let absent = warp.alive & !by.mask;
        if self.given.lockstep && absent != 0 {
            let here = warp.groups.iter().find(|group| group.mask & by.mask != 0);
            let parted = here.filter(|group| group.mask & absent == 0).and_then(|group| group.parted_at);
            cta.parts.come(Part { by: *by, site, barrier, absent, parted_at: parted }, reports);
        }
        let index = barrier as usize;
        if cta.barriers.len() <= index {
            cta.barriers.resize_with(index + 1, Barrier::default);
        }
        if waits {
            cta.barriers[index].wait(by.warp % per_cta, by.mask);
        } else {
            cta.barriers[index].pass(warp, by.mask);
        }
    }

    /// A barrier has completed, as the first of those who waited, or nobody, tells.
    pub fn complete(&mut self, slot: u32, barrier: u32, reports: &mut Reports) {
        let Some(cta) = self.ctas.get_mut(slot as usize) else { return };
        cta.parts.tell(Some(barrier), reports);
        let count = self.given.shape.warps_per_cta as usize;
        let first = slot as usize * count;
        if let (Some(barrier), Some(warps)) =
            (cta.barriers.get_mut(barrier as usize), self.warps.get_mut(first..first + count))
        {
            barrier.complete(warps, &cta.gone, self.given.lockstep);
        }
    }

    /// It has ended, or is given up.
    pub fn end(&mut self, reports: &mut Reports, limits: &mut Limits) {
        for cta in &mut self.ctas {
            cta.parts.tell(None, reports);
            limits.room += cta.shared.listed();
        }
        limits.room += self.global.listed();
    }

    /// Lanes have met at `bar.warp.sync`.
    pub fn warp_barrier(&mut self, by: &Lanes) {
        let Some(warp) = self.warps.get_mut(by.warp as usize) else { return };
        if !self.given.lockstep {
            warp.join(by.mask);
            return;
        }
        if warp.whole(by.mask).is_some() {
            return;
        }
        let (home, lanes, mut known) = (warp.home, warp.lanes, None);
        let mut latest = 0;
        for group in warp.groups.iter().filter(|group| group.mask & by.mask != 0) {
            join(&mut known, &group.knowledge(home, group.mask & by.mask));
            latest = latest.max(group.local);
        }
        let Some(known) = known else { return };
        for group in warp.groups.iter_mut().filter(|group| group.mask & by.mask != 0) {
            group.learn(home, &known, lanes);
            group.local = latest + 1;
        }
    }

    /// Lanes part at a branch.
    pub fn split(&mut self, by: &Lanes, taken: u32, site: SiteNumber) {
        if let Some(warp) = self.warps.get_mut(by.warp as usize) {
            warp.split(by.mask, taken, site);
        }
    }

    /// Lanes are together again.
    pub fn join(&mut self, by: &Lanes) {
        if let Some(warp) = self.warps.get_mut(by.warp as usize) {
            warp.join(by.mask);
        }
    }

    /// Lanes end.
    pub fn exit(&mut self, by: &Lanes) {
        let (Some(warp), Some(cta)) =
            (self.warps.get_mut(by.warp as usize), self.ctas.get_mut(by.cta as usize))
        else {
            return;
        };
        for group in warp.groups.iter().filter(|group| group.mask & by.mask != 0) {
            cta.gone.latest = cta.gone.latest.max(group.local);
            if let Some(foreign) = &group.foreign {
                join(&mut cta.gone.foreign, foreign);
            }
        }
        warp.alive &= !by.mask;
        let alive = warp.alive;
        warp.groups.retain(|group| group.mask & alive != 0);
    }

    /// Lanes tell something that outlives it: an mbarrier or the cluster's barrier.
    pub fn tell(&mut self, by: &Lanes, to: Meeting) {
        let Some(warp) = self.warps.get_mut(by.warp as usize) else { return };
        let home = warp.home;
        for group in warp.groups.iter_mut().filter(|group| group.mask & by.mask != 0) {
            let known = group.knowledge(home, group.mask & by.mask);
            group.local += 1;
            match to {
                Meeting::Mbarrier(WhoseBytes::Global, address) => self.mbarriers.add(address, &known),
                Meeting::Mbarrier(WhoseBytes::Shared(slot), address) => {
                    if let Some(cta) = self.ctas.get_mut(slot as usize) {
                        cta.mbarriers.add(address, &known);
                    }
                }
                Meeting::Cluster => {
                    let cluster = by.block / u64::from(self.given.shape.cluster.max(1));
                    let mut all = self.clusters.remove(&cluster);
                    join(&mut all, &known);
                    self.clusters.extend(all.map(|all| (cluster, all)));
                }
            }
        }
    }

    /// Lanes learn what has been told there.
    pub fn hear(&mut self, by: &Lanes, from: Meeting) {
        let Some(warp) = self.warps.get_mut(by.warp as usize) else { return };
        let home = warp.home;
        let all =
            |locations: &Locations, address| locations.acquired(address, home.block, Reach::Grid, u64::MAX);
        let known = match from {
            Meeting::Mbarrier(WhoseBytes::Global, address) => all(&self.mbarriers, address),
            Meeting::Mbarrier(WhoseBytes::Shared(slot), address) => {
                self.ctas.get(slot as usize).and_then(|cta| all(&cta.mbarriers, address))
            }
            Meeting::Cluster => {
                self.clusters.get(&(by.block / u64::from(self.given.shape.cluster.max(1)))).cloned()
            }
        };
        let Some(known) = known else { return };
        let lanes = warp.lanes;
        for group in warp.groups.iter_mut().filter(|group| group.mask & by.mask != 0) {
            group.learn(home, &known, lanes);
        }
    }

    /// Bytes that mean something else from here on.
    pub fn forget(&mut self, memory: WhoseBytes, address: u64, bytes: u64) {
        match memory {
            WhoseBytes::Global => self.global.forget(address, bytes),
            WhoseBytes::Shared(slot) => {
                if let Some(cta) = self.ctas.get_mut(slot as usize) {
                    cta.shared.forget(address, bytes);
                }
            }
        }
    }

    /// Formats of the stack's entries: how many there are of each, and the bytes and threads of all.
    pub fn formats(&self, count: &mut impl FnMut(ClockFormat, u64, u32)) {
        for group in self.warps.iter().flat_map(|warp| &warp.groups) {
            count(group.format(), group.bytes(), group.mask.count_ones());
        }
    }

    /// Bytes that it takes, about.
    pub fn bytes(&self) -> u64 {
        let mut clocks = 0;
        self.formats(&mut |_, bytes, _| clocks += bytes);
        let warps = (self.warps.len() * size_of::<Warp>()) as u64;
        let cta = |cta: &Cta| cta.shared.bytes() + cta.sync.bytes() + size_of::<Cta>() as u64;
        clocks + warps + self.global.bytes() + self.sync.bytes() + self.ctas.iter().map(cta).sum::<u64>()
    }

    /// Whether its warps run in lockstep.
    pub fn in_lockstep(&self) -> bool {
        self.given.lockstep
    }
}

/// Where threads tell each other what they know, besides synchronisation locations and barriers of the block.
#[derive(Clone, Copy, Debug)]
pub(super) enum Meeting {
    Mbarrier(WhoseBytes, u64),
    Cluster,
}

/// Whether lanes may write one place.
fn may_meet(access: &Access<'_>) -> bool {
    let apart = matches!(access.at, bugaroo_semantics::event::Addresses::Consecutive(_));
    access.kind.writes() && !apart && !access.by.mask.is_power_of_two()
}
