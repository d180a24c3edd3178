//! Races as findings: each pair of sites once, with a count.

use bugaroo_semantics::event::{Access, SiteNumber};

use super::check::RaceCondition;
use super::metadata::{BLK_SHARED, DEV_SHARED, DIVERGED, ScordEntry};
use super::opponent::opponent;
use super::raced::Race;
use crate::collected::Collected;
use crate::finding::{HowFar, MissingOrder, NotKept, RaceFinding, RacingKind, RacingParty, Who};

/// What it warns of, natively and on the device.
pub(super) const TOO_MANY_BLOCKS: &str =
    "scord: a grid has more blocks than its metadata has numbers for: races may be missed or misnamed";
pub(super) const TOO_MANY_LOCKS: &str = "scord: a warp holds more than four locks: the oldest is forgotten";
pub(super) const WRAPPED: &str =
    "scord: a count of fences or barriers has wrapped: a race may be missed or made up";
pub(super) const SOME_THREADS: &str =
    "scord: barriers of some threads of a block count as barriers of all of them: races may be missed";

/// What makes two findings one.
pub(super) type Key = (HowFar, SiteNumber, SiteNumber, MissingOrder, Option<NotKept>);

/// What has been found.
pub(super) type Reports = Collected<Key>;

/// Nothing has been found. So many different races are kept; None: all.
pub(super) fn reports(most: Option<u64>) -> Reports {
    let mut reports = Reports::default();
    if let Some(most) = most {
        let warning =
            "scord: races that are not told, as there are more different ones than the settings keep";
        reports.limit(most, warning);
    }
    reports
}

/// So many accesses of rows were not looked at.
pub(super) fn refused(reports: &mut Reports, count: u64) {
    if count > 0 {
        reports.warn(
            "scord: accesses were not looked at for want of room for metadata, so races may be missed",
            count,
        );
    }
}

/// An access races with what the metadata says.
#[cold]
pub(super) fn race(reports: &mut Reports, access: &Access<'_>, block: u32, race: &Race<'_>) {
    let md = &race.md;
    let by = access.by;
    let class = class(md, block, by.first / 32, race.lane);
    let missing = match race.condition {
        RaceCondition::BlockFence => MissingOrder::BlockFence,
        RaceCondition::DeviceFence => MissingOrder::DeviceFence,
        RaceCondition::NotStrong => MissingOrder::StrongAccess,
        RaceCondition::AtomicScope => MissingOrder::AtomicScope,
        RaceCondition::LockOnLoad => MissingOrder::LockOnLoad,
        RaceCondition::LockOnStore => MissingOrder::LockOnStore,
    };
    let opponent = opponent(race, access.by.grid);
    let key = (class, opponent.first.site, access.site, missing, opponent.forgotten);
    let own = access.address(race.lane);
    let second = RacingParty {
        who: Who::Thread { grid: by.grid, block: by.block, thread: by.first + race.lane },
        site: access.site,
        kind: access.kind,
        strength: access.strength,
        address: own,
        bytes: access.size,
        asynchronous: false,
    };
    reports.add(key, race.count, || RaceFinding {
        kind: RacingKind::Race,
        class,
        memory: access.memory,
        address: race.at.max(own),
        first: opponent.first,
        forgotten: opponent.forgotten,
        latest: opponent.latest,
        second,
        missing,
        count: race.count,
    });
}

/// How far apart the two threads are. An entry may tell of the accessing warp itself: the other thread has come in between, and
/// the flags are all that is left of it.
fn class(md: &ScordEntry, block: u32, warp: u32, lane: u32) -> HowFar {
    let together = md.thread == lane || !md.has(DIVERGED);
    if md.block != block {
        HowFar::InterBlock
    } else if md.warp != warp {
        HowFar::IntraBlock
    } else if together && md.has(DEV_SHARED) {
        HowFar::InterBlock
    } else if together && md.has(BLK_SHARED) {
        HowFar::IntraBlock
    } else {
        HowFar::IntraWarp
    }
}
