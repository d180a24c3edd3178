//! Races as findings: each pair of places once, with a count.

use bugaroo_semantics::event::{Access, AccessKind, Memory, Site};
use bugaroo_semantics::history::table::Machine;
use bugaroo_semantics::history::{Action, Apart};
use bugaroo_semantics::scope::{Scope, Strength};

use super::word::{Last, Layout, state};
use crate::collected::{Collected, SOME_ATOMIC};
use crate::finding::{Class, Finding, Kind, Missing, NO_SITE, Party, Who};

/// What comes to a race.
pub(super) struct Conflict<'a> {
    pub access: &'a Access<'a>,
    pub layout: Layout,
    pub machine: &'static Machine,
    pub first_site: Site,
    pub lockstep: bool,
    /// How often.
    pub count: u64,
}

/// What makes two findings one: how far apart, where both stand and whether they write, which memory, and whether the first is certain.
pub(super) type Key = (Class, [(Site, bool); 2], bool, bool);

/// What has been found.
pub(super) type Reports = Collected<Key>;

/// Nothing has been found. So many different races are kept; None: all.
pub(super) fn reports(most: Option<u64>) -> Reports {
    let mut reports = Reports::default();
    if let Some(most) = most {
        let warning =
            "hirace: races that are not told, as there are more different ones than the settings keep";
        reports.limit(most, warning);
    }
    reports
}

/// The access of the word `new` races at `address`, where `old` was.
pub(super) fn race(reports: &mut Reports, conflict: &Conflict<'_>, old: u64, new: u64, address: u64) {
    let Conflict { access, layout, machine, first_site, lockstep, count } = *conflict;
    let (apart, since) = layout.relation(old, new);
    let (first, second) = (layout.last(old), layout.last(new));
    let history = machine.histories.get(usize::from(state(old))).copied().flatten();
    let ordered = since.orders(apart) || lockstep && apart == Apart::Warp;
    // Of several races the one of threads furthest apart is told: its cure cures the others.
    let among = history.map_or(apart, |history| history.unordered(apart, since));
    let certain = !ordered && among == apart && first.action.conflicts(second.action, apart == Apart::Grid);
    let (class, missing) = match among {
        Apart::Thread | Apart::Warp => (Class::IntraWarp, Missing::WarpBarrier),
        Apart::Block => (Class::IntraBlock, Missing::BlockBarrier),
        Apart::Grid if apart == Apart::Grid && is_scope(first, second) => {
            (Class::InterBlock, Missing::AtomicScope)
        }
        Apart::Grid => (Class::InterBlock, Missing::GridEnd),
    };
    let site = |last: &Last| last.site.map_or(NO_SITE, |site| site.wrapping_add(first_site));
    let key = (
        class,
        [(site(&first), first.writes), (access.site, second.writes)],
        access.memory == Memory::Global,
        certain,
    );
    let party = |last: &Last, site: Site| Party {
        who: Who::Thread { grid: access.by.grid, block: last.block, thread: last.thread },
        site,
        kind: kind(last),
        strength: strength(last),
        address,
        bytes: access.size,
        asynchronous: false,
    };
    reports.add(key, count, || Finding {
        kind: Kind::Race,
        class,
        memory: access.memory,
        address,
        first: party(&first, site(&first)),
        certain,
        second: Party { kind: access.kind, strength: access.strength, ..party(&second, access.site) },
        missing,
        count: 1,
    });
}

/// Both are atomic: it is the scope of one that leaves the other out.
fn is_scope(first: Last, second: Last) -> bool {
    let atomic = |last: Last| matches!(last.action, Action::BlockAtomic | Action::GridAtomic);
    atomic(first) && atomic(second)
}

/// What the word tells of the earlier access: not which operation it was.
fn kind(last: &Last) -> AccessKind {
    match last.action {
        _ if !last.writes => AccessKind::Load,
        Action::Read => AccessKind::Load,
        Action::Write => AccessKind::Store,
        Action::BlockAtomic | Action::GridAtomic => SOME_ATOMIC,
    }
}

fn strength(last: &Last) -> Strength {
    match last.action {
        Action::Read | Action::Write => Strength::Weak,
        Action::BlockAtomic => Strength::Strong(Scope::Cta),
        Action::GridAtomic => Strength::Strong(Scope::Gpu),
    }
}
