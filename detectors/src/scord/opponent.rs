//! Whom an access races with, as far as the metadata tells.
//!
//! The conditions of table IV ask about the access that an entry tells of, the last one. A write races with that one. A load
//! races with a modification before it, which another access may have come behind: an ordered load leaves the modification as
//! what can be raced with. Its instruction is kept beside the last access's where the word has room for two
//! ([`Layout::keeps_both`]), and who it was as far as the flags say. What is not known is said to be forgotten; no access is told in
//! place of another.

use bugaroo_ptx::op::AtomOp;
use bugaroo_semantics::event::{AccessKind, WorkId};
use bugaroo_semantics::scope::{Scope, Strength};

use super::check::RaceCondition;
use super::metadata::{DEV_SHARED, DEVICE_SCOPE, IS_ATOM, STRONG, Written};
use super::raced::Race;
use crate::finding::{NO_SITE, NotKept, RacingParty, SOME_ATOMIC, Who};

/// The earlier access of a race.
pub(super) struct Opponent {
    pub first: RacingParty,
    /// See [`crate::Finding::forgotten`].
    pub forgotten: Option<NotKept>,
    /// See [`crate::Finding::latest`].
    pub latest: Option<RacingParty>,
}

/// Of a race in this grid.
pub(super) fn opponent(race: &Race<'_>, grid: WorkId) -> Opponent {
    if race.writes { of_write(race, grid) } else { of_load(race, grid) }
}

/// What an instruction does, if it is known: number, kind, strength and bytes of an element.
type Seen = Option<(u32, AccessKind, Strength, u32)>;

impl Race<'_> {
    fn seen(&self, instruction: Option<u32>) -> Seen {
        let number = instruction?;
        let (kind, strength, bytes) = self.sites.seen(number)?;
        Some((number, kind, strength, bytes))
    }

    /// The instruction of the access that the entry tells of; of a load behind its warp's own write, of that one, where there is
    /// room for one alone.
    fn last(&self) -> Seen {
        self.seen(self.layout.instruction(self.md.site))
    }

    /// The instruction of the last modification.
    fn writer(&self) -> Seen {
        self.seen(self.layout.writer(self.md.wrote))
    }

    /// The warp that the entry names, and the thread where it has that.
    fn accessor(&self, grid: WorkId) -> Who {
        let (block, warp) = (u64::from(self.md.block), self.md.warp);
        if self.layout.widths().thread > 0 {
            Who::Thread { grid, block, thread: warp * 32 + self.md.thread }
        } else {
            Who::Warp { grid, block, warp }
        }
    }

    fn party(&self, who: Who, seen: (u32, AccessKind, Strength, u32)) -> RacingParty {
        let (number, kind, strength, bytes) = seen;
        let site = self.sites.site(number);
        RacingParty { who, site, kind, strength, address: self.at, bytes, asynchronous: false }
    }

    /// Of an access whose instruction is not known.
    fn unnamed(&self, who: Who, kind: AccessKind) -> RacingParty {
        let md = &self.md;
        let strength = match (md.has(STRONG), md.has(IS_ATOM) && !md.has(DEVICE_SCOPE)) {
            (false, _) => Strength::Weak,
            (true, true) => Strength::Strong(Scope::Cta),
            (true, false) => Strength::Strong(Scope::Gpu),
        };
        RacingParty {
            who,
            site: NO_SITE,
            kind,
            strength,
            address: self.at,
            bytes: self.piece,
            asynchronous: false,
        }
    }

    /// The access that the entry tells of.
    fn last_party(&self, grid: WorkId) -> RacingParty {
        let who = self.accessor(grid);
        if let Some(seen) = self.last() {
            return self.party(who, seen);
        }
        // Of a write of the warp and a load behind it, the write: both are as little ordered.
        let kind = match (self.md.is_alone(), self.md.has(IS_ATOM)) {
            (false, _) => AccessKind::Load,
            (true, true) => SOME_ATOMIC,
            (true, false) => AccessKind::Store,
        };
        self.unnamed(who, kind)
    }

    fn forgotten(&self, grid: WorkId, who: Who, what: NotKept) -> Opponent {
        // Without instructions, of a write of the warp and a load behind it: which of these is the last one is not known.
        let known = !self.md.is_alone() || self.last().is_some();
        let latest = known.then(|| self.last_party(grid));
        Opponent { first: self.unnamed(who, what.kind()), forgotten: Some(what), latest }
    }
}

/// A write races with the last access; but for its own warp's, and for strong ones that were not what it needs.
fn of_write(race: &Race<'_>, grid: WorkId) -> Opponent {
    if race.own {
        // Others have loaded since the warp's own access.
        return race.forgotten(grid, Who::Grid(grid), NotKept::Load);
    }
    let is_strong = |seen: Seen| seen.is_some_and(|(_, _, strength, _)| strength != Strength::Weak);
    if race.condition == RaceCondition::NotStrong
        && race.strong
        && (race.last().is_none() || is_strong(race.last()))
    {
        let writer = race.writer().filter(|(_, _, strength, _)| *strength == Strength::Weak);
        return match (writer, race.md.written()) {
            (Some(writer), _) => named_writer(race, grid, writer),
            (None, Written::No) => race.forgotten(grid, Who::Grid(grid), NotKept::Load),
            (None, _) => race.forgotten(grid, Who::Grid(grid), NotKept::Access),
        };
    }
    Opponent { first: race.last_party(grid), forgotten: None, latest: None }
}

/// A load races with the last modification.
fn of_load(race: &Race<'_>, grid: WorkId) -> Opponent {
    // Of a compare-and-swap it is not known whether it has written.
    let is_write = |kind: AccessKind| kind.writes() && kind != AccessKind::Atomic(AtomOp::Cas);
    if race.last().is_some_and(|(_, kind, ..)| is_write(kind)) {
        return Opponent { first: race.last_party(grid), forgotten: None, latest: None };
    }
    // Where there is room for one instruction, it is the write's while the write is its warp's alone.
    let by_last =
        race.last().filter(|(_, kind, ..)| !race.layout.keeps_both() && race.md.is_alone() && kind.writes());
    match race.writer().or(by_last) {
        Some(writer) => named_writer(race, grid, writer),
        None => race.forgotten(grid, writing(race, grid), NotKept::Write),
    }
}

/// The modification by this instruction.
fn named_writer(race: &Race<'_>, grid: WorkId, writer: (u32, AccessKind, Strength, u32)) -> Opponent {
    let first = race.party(writing(race, grid), writer);
    Opponent { first, forgotten: None, latest: (!race.md.is_alone()).then(|| race.last_party(grid)) }
}

/// Who has modified, as far as the flags say.
fn writing(race: &Race<'_>, grid: WorkId) -> Who {
    let (block, warp) = (u64::from(race.md.block), race.md.warp);
    if race.md.is_alone() {
        // Lanes of a warp that are together are one.
        Who::Warp { grid, block, warp }
    } else if race.md.has(DEV_SHARED) {
        Who::Grid(grid)
    } else {
        Who::Block { grid, block }
    }
}
