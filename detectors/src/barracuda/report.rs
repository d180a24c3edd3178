//! Races as findings: each pair of sites once, with a count.

use bugaroo_semantics::event::{Access, AccessKind, SiteNumber, WhoseBytes, WorkId};
use bugaroo_semantics::scope::Strength;

use super::clock::Home;
use super::mark::{Mark, ROW};
use super::part::Part;
use crate::collected::Collected;
use crate::finding::{HowFar, MissingOrder, RaceFinding, RacingKind, RacingParty, Who};

/// Two accesses that race.
pub(super) struct Pair {
    pub old: Mark,
    pub new: Mark,
    /// The byte.
    pub at: u64,
    pub old_lane: u32,
    pub new_lane: u32,
    /// Both are of one instruction.
    pub same_instruction: bool,
    pub count: u64,
}

pub(super) type Key = (RacingKind, HowFar, SiteNumber, SiteNumber, bool);

/// What has been found, until somebody takes it.
#[derive(Debug, Default)]
pub(super) struct Reports {
    pub all: Collected<Key>,
    /// Of the grid at hand: warps run in lockstep.
    pub lockstep: bool,
}

impl Reports {
    /// `has_released`: the first one's warp has released since.
    pub fn race(
        &mut self,
        access: &Access<'_>,
        home: Home,
        warps_per_cta: u32,
        has_released: bool,
        pair: &Pair,
    ) {
        let (old, new) = (&pair.old, &pair.new);
        let old_home = Home { warp: old.warp, block: old.warp / warps_per_cta };
        let (kind, class, missing) = if pair.same_instruction {
            (RacingKind::Race, HowFar::IntraWarp, MissingOrder::WarpBarrier)
        } else if old.warp == home.warp {
            let kind = if self.lockstep { RacingKind::BranchOrder } else { RacingKind::Race };
            (kind, HowFar::Divergence, MissingOrder::WarpBarrier)
        } else if old_home.block == home.block {
            (RacingKind::Race, HowFar::IntraBlock, MissingOrder::BlockBarrier)
        } else if has_released {
            (RacingKind::Race, HowFar::InterBlock, MissingOrder::Acquire)
        } else {
            (RacingKind::Race, HowFar::InterBlock, MissingOrder::Release)
        };
        let key = (kind, class, old.site, new.site, access.memory == WhoseBytes::Global);
        let row = pair.at / ROW * ROW;
        let byte = (pair.at % ROW) as u32;
        let party = |mark: &Mark, home: Home, lane: u32| RacingParty {
            who: thread(access.by.grid, home, warps_per_cta, lane),
            site: mark.site,
            kind: mark.what.kind(),
            strength: mark.what.strength(),
            address: row.wrapping_add_signed(i64::from(mark.element(byte))),
            bytes: mark.what.size(),
            asynchronous: false,
        };
        self.all.add(key, pair.count, || RaceFinding {
            kind,
            class,
            memory: access.memory,
            address: pair.at,
            first: party(old, old_home, pair.old_lane),
            forgotten: None,
            latest: None,
            second: party(new, home, pair.new_lane),
            missing,
            count: pair.count,
        });
    }

    /// Lanes came to a barrier without others of their warp, who were elsewhere.
    pub fn divergence(&mut self, part: &Part, others: u32, elsewhere: SiteNumber) {
        let Part { by, site, barrier, .. } = *part;
        let party = |lane: u32, site: SiteNumber| RacingParty {
            who: Who::Thread { grid: by.grid, block: by.block, thread: by.first + lane },
            site,
            kind: AccessKind::Load,
            strength: Strength::Weak,
            address: u64::from(barrier),
            bytes: 0,
            asynchronous: false,
        };
        let (first, second) =
            (party(others.trailing_zeros() & 31, elsewhere), party(by.mask.trailing_zeros(), site));
        let (kind, class) = (RacingKind::BarrierDivergence, HowFar::Divergence);
        let key = (kind, class, elsewhere, site, false);
        let (memory, address, missing) =
            (WhoseBytes::Shared(by.cta), u64::from(barrier), MissingOrder::BlockBarrier);
        let finding = RaceFinding {
            kind,
            class,
            memory,
            address,
            first,
            forgotten: None,
            latest: None,
            second,
            missing,
            count: 1,
        };
        self.all.add(key, 1, || finding);
    }
}

fn thread(grid: WorkId, home: Home, warps_per_cta: u32, lane: u32) -> Who {
    let thread = (home.warp - home.block * warps_per_cta) * 32 + lane;
    Who::Thread { grid, block: u64::from(home.block), thread }
}
