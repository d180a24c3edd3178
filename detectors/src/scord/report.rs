//! Races as findings: each pair of sites once, with a count.

use bugaroo_semantics::event::{Access, AccessKind, Site};
use bugaroo_semantics::scope::{Scope, Strength};

use super::check::Condition;
use super::layout::Layout;
use super::metadata::{BLK_SHARED, DEV_SHARED, DEVICE_SCOPE, DIVERGED, Entry, IS_ATOM, STRONG, Written};
use crate::collected::{Collected, SOME_ATOMIC};
use crate::finding::{Class, Finding, Kind, Missing, NO_SITE, Party, Who};

/// Instructions that are kept, where it is not known how many the program has.
const MOST_SITES: usize = 1 << 16;

/// What it warns of, natively and on the device.
pub(super) const TOO_MANY_BLOCKS: &str =
    "scord: a grid has more blocks than its metadata has numbers for: races may be missed or misnamed";
pub(super) const TOO_MANY_LOCKS: &str = "scord: a warp holds more than four locks: the oldest is forgotten";
pub(super) const WRAPPED: &str =
    "scord: a count of fences or barriers has wrapped: a race may be missed or made up";
pub(super) const SOME_THREADS: &str =
    "scord: barriers of some threads of a block count as barriers of all of them: races may be missed";

/// What the instructions of a program have been seen to do.
#[derive(Debug, Default)]
pub(super) struct Sites {
    first: Site,
    seen: Vec<Option<(AccessKind, Strength, u32)>>,
}

impl Sites {
    /// Of a program that begins there.
    pub fn new(first: Site) -> Sites {
        Sites { first, seen: Vec::new() }
    }

    /// The number of an instruction in its program.
    #[inline]
    pub fn number(&self, site: Site) -> u32 {
        site.wrapping_sub(self.first)
    }

    /// Of a program whose accesses are known beforehand: number, kind, strength and bytes of an element.
    pub fn known(first: Site, accesses: &[(u32, AccessKind, Strength, u32)]) -> Sites {
        let mut sites = Sites::new(first);
        for (number, kind, strength, size) in accesses {
            sites.keep(*number as usize, (*kind, *strength, *size));
        }
        sites
    }

    /// One has accessed memory.
    #[inline]
    pub fn see(&mut self, number: u32, access: &Access<'_>) {
        if self.seen.get(number as usize).is_none_or(|seen| seen.is_none()) {
            self.keep(number as usize, (access.kind, access.strength, access.size));
        }
    }

    #[cold]
    fn keep(&mut self, number: usize, seen: (AccessKind, Strength, u32)) {
        if number < MOST_SITES {
            if self.seen.len() <= number {
                self.seen.resize(number + 1, None);
            }
            self.seen[number] = Some(seen);
        }
    }

    /// Bytes that it holds.
    pub fn bytes(&self) -> u64 {
        (self.seen.capacity() * size_of::<Option<(AccessKind, Strength, u32)>>()) as u64
    }
}

/// A race that was found.
pub(super) struct Race<'a> {
    pub condition: Condition,
    pub layout: &'a Layout,
    pub sites: &'a Sites,
    /// What the metadata said.
    pub md: Entry,
    /// Where its piece of memory begins.
    pub at: u64,
    /// Bytes of it.
    pub piece: u32,
    /// The lane that accesses.
    pub lane: u32,
    /// Whether the access counts as a write.
    pub writes: bool,
    pub count: u64,
}

/// What makes two findings one.
pub(super) type Key = (Class, Site, Site, Missing);

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
        Condition::BlockFence => Missing::BlockFence,
        Condition::DeviceFence => Missing::DeviceFence,
        Condition::NotStrong => Missing::StrongAccess,
        Condition::AtomicScope => Missing::AtomicScope,
        Condition::LockOnLoad => Missing::LockOnLoad,
        Condition::LockOnStore => Missing::LockOnStore,
    };
    let first = first_party(access, race);
    let key = (class, first.site, access.site, missing);
    // Of several readers the last one is told; of a write that others have read since, the last of them.
    let alone = !md.has(BLK_SHARED | DEV_SHARED);
    let certain = alone && (race.writes || md.written() != Written::InBlock);
    let own = access.address(race.lane);
    let second = Party {
        who: Who::Thread { grid: by.grid, block: by.block, thread: by.first + race.lane },
        site: access.site,
        kind: access.kind,
        strength: access.strength,
        address: own,
        bytes: access.size,
        asynchronous: false,
    };
    reports.add(key, race.count, || Finding {
        kind: Kind::Race,
        class,
        memory: access.memory,
        address: race.at.max(own),
        first,
        certain,
        second,
        missing,
        count: race.count,
    });
}

/// How far apart the two threads are. An entry may tell of the accessing warp itself: the other thread has come in between, and
/// the flags are all that is left of it.
fn class(md: &Entry, block: u32, warp: u32, lane: u32) -> Class {
    let together = md.thread == lane || !md.has(DIVERGED);
    if md.block != block {
        Class::InterBlock
    } else if md.warp != warp {
        Class::IntraBlock
    } else if together && md.has(DEV_SHARED) {
        Class::InterBlock
    } else if together && md.has(BLK_SHARED) {
        Class::IntraBlock
    } else {
        Class::IntraWarp
    }
}

/// Who accessed before, as far as the metadata tells.
fn first_party(access: &Access<'_>, race: &Race<'_>) -> Party {
    let md = &race.md;
    let instruction = race.layout.instruction(md.site);
    let seen = instruction.and_then(|number| race.sites.seen.get(number as usize).copied().flatten());
    let strength = match (md.has(STRONG), md.has(IS_ATOM) && !md.has(DEVICE_SCOPE)) {
        (false, _) => Strength::Weak,
        (true, true) => Strength::Strong(Scope::Cta),
        (true, false) => Strength::Strong(Scope::Gpu),
    };
    let kind = match (md.written(), md.has(IS_ATOM)) {
        (Written::No, _) => AccessKind::Load,
        (_, true) => SOME_ATOMIC,
        (_, false) => AccessKind::Store,
    };
    let (kind, strength, bytes) = seen.unwrap_or((kind, strength, race.piece));
    Party {
        who: Who::Thread {
            grid: access.by.grid,
            block: u64::from(md.block),
            thread: md.warp * 32 + md.thread,
        },
        site: instruction.map_or(NO_SITE, |number| race.sites.first.wrapping_add(number)),
        kind,
        strength,
        address: race.at,
        bytes,
        asynchronous: false,
    }
}
