//! Findings: which two accesses, how far apart, and what is missing between them.

use bugaroo_semantics::event::{WhoseBytes, WorkId, WorkKind};
use rustc_hash::FxHashSet;

use super::record::{COPY, HOST, Kinds, Record, STRONG};
use super::release::Reach;
use super::state::Grid;
use super::works::Works;
use crate::collected::Collected;
use crate::finding::{HowFar, MissingOrder, RaceFinding, RacingKind, RacingParty, Who};

/// What is warned of where grids talk to each other.
pub(super) const SIDE_BY_SIDE: &str =
    "kernels that run side by side synchronise through memory; races between them are not looked for";

/// What has been found and not been asked for yet.
#[derive(Debug)]
pub(super) struct Report {
    pub kinds: Kinds,
    /// Whose row is looked at, and its first address.
    pub here: (WhoseBytes, u64),
    /// By the kinds of both records, and how far apart.
    pub all: Collected<(u32, u32, HowFar)>,
    /// Works in which anything raced.
    pub raced: FxHashSet<WorkId>,
}

impl Default for Report {
    fn default() -> Report {
        Report {
            kinds: Kinds::default(),
            here: (WhoseBytes::Global, 0),
            all: Collected::default(),
            raced: FxHashSet::default(),
        }
    }
}

impl Report {
    /// Two accesses race at a byte of the row.
    #[cold]
    pub fn race(
        &mut self,
        works: &Works,
        grid: Option<&Grid>,
        (old, new): (&Record, &Record),
        places: (u32, u32),
        byte: u32,
        proxy: bool,
    ) {
        self.raced.extend([old.grid, new.grid]);
        let class = class(works, old, new, places);
        let key = (old.kind, new.kind, class);
        let (memory, row) = self.here;
        let party = |record, place| party(&self.kinds, row, record, place, byte);
        self.all.add(key, 1, || RaceFinding {
            kind: RacingKind::Race,
            class,
            memory,
            address: row + u64::from(byte),
            first: party(old, places.0),
            forgotten: None,
            latest: None,
            second: party(new, places.1),
            missing: if proxy { MissingOrder::ProxyFence } else { missing(works, grid, old, new, places) },
            count: 1,
        });
    }
}

/// One of the two, at a byte of a row that begins there.
fn party(kinds: &Kinds, row: u64, record: &Record, place: u32, byte: u32) -> RacingParty {
    let kind = kinds.of(record.kind);
    let host = record.is(HOST);
    let who = if host {
        Who::Host(record.grid)
    } else {
        Who::Thread { grid: record.grid, block: u64::from(record.cta), thread: place }
    };
    let start = if kind.size.is_power_of_two() && !host { byte & !(kind.size.min(128) - 1) } else { byte };
    RacingParty {
        who,
        site: kind.site,
        kind: kind.kind,
        strength: kind.strength,
        address: row + u64::from(start),
        bytes: kind.size,
        asynchronous: kind.asynchronous,
    }
}

fn class(works: &Works, old: &Record, new: &Record, places: (u32, u32)) -> HowFar {
    let is_host = |record: &Record| record.is(HOST) && works.kind(record.grid) == WorkKind::Host;
    if is_host(old) || is_host(new) {
        HowFar::Host
    } else if old.grid != new.grid || old.is(HOST) || new.is(HOST) {
        HowFar::InterGrid
    } else if old.cta != new.cta {
        HowFar::InterBlock
    } else if places.0 >> 5 != places.1 >> 5 {
        HowFar::IntraBlock
    } else {
        HowFar::IntraWarp
    }
}

fn missing(
    works: &Works,
    grid: Option<&Grid>,
    old: &Record,
    new: &Record,
    places: (u32, u32),
) -> MissingOrder {
    if old.grid != new.grid || old.is(HOST) || new.is(HOST) {
        let host = |record: &Record| works.kind(record.grid) == WorkKind::Host;
        if works.apart(old.grid, new.grid) {
            return MissingOrder::System;
        }
        if works.children.part(old.grid, new.grid).is_some() {
            return MissingOrder::Launch;
        }
        return if host(old) || host(new) { MissingOrder::HostSync } else { MissingOrder::Stream };
    }
    if old.is(COPY) {
        return MissingOrder::CopyWait;
    }
    let Some(grid) = grid else { return MissingOrder::Release };
    let apart = Reach::between(old.cta, new.cta, grid.cluster);
    if old.is(STRONG) && new.is(STRONG) {
        let reach = old.reach() < apart || new.reach() < apart;
        return if reach { MissingOrder::AtomicScope } else { MissingOrder::Overlap };
    }
    let released = released(grid, old.cta, places.0).filter(|released| released.0 >= old.time);
    let acquired = acquired(grid, new.cta, places.1);
    if released.is_none() && old.cta == new.cta {
        return if places.0 >> 5 == places.1 >> 5 {
            MissingOrder::WarpBarrier
        } else {
            MissingOrder::BlockBarrier
        };
    }
    let Some((_, when, how_far)) = released else { return MissingOrder::Release };
    match acquired {
        Some((since, reach)) if since >= when => {
            if how_far < apart || reach < apart {
                MissingOrder::Scope
            } else {
                MissingOrder::Strong
            }
        }
        _ => MissingOrder::Acquire,
    }
}

/// When and how far a thread has released last.
fn released(grid: &Grid, cta: u32, place: u32) -> Option<(u32, u64, Reach)> {
    let Some(slot) = grid.blocks.slot_of.get(&cta) else { return grid.blocks.released.get(&cta).copied() };
    let warp = grid.warps.get((slot * grid.shape.warps_per_cta + (place >> 5)) as usize)?;
    warp.sync.of(place & 31).released
}

fn acquired(grid: &Grid, cta: u32, place: u32) -> Option<(u64, Reach)> {
    let slot = grid.blocks.slot_of.get(&cta)?;
    let warp = grid.warps.get((slot * grid.shape.warps_per_cta + (place >> 5)) as usize)?;
    warp.sync.of(place & 31).acquired
}
