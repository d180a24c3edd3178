//! Races as findings: each pair of places once, with a count.

use bugaroo_semantics::event::{Access, AccessKind, SiteNumber, WhoseBytes, WorkId};
use bugaroo_semantics::history::table::HistoryMachine;
use bugaroo_semantics::history::word::LANE_BITS;
use bugaroo_semantics::history::{Action, Apart, Kinds, Summary};
use bugaroo_semantics::scope::{Scope, Strength};

use super::word::{Last, WordLayout, state};
use crate::collected::Collected;
use crate::finding::{
    HowFar, MissingOrder, NO_SITE, NotKept, RaceFinding, RacingKind, RacingParty, SOME_ATOMIC, Who,
};

/// What comes to a race.
pub(super) struct Conflict<'a> {
    pub access: &'a Access<'a>,
    pub layout: WordLayout,
    pub machine: &'static HistoryMachine,
    pub first_site: SiteNumber,
    pub lockstep: bool,
    /// How often.
    pub count: u64,
}

/// What makes two findings one: how far apart, where both stand and whether they write, which memory, and what of the first is forgotten.
pub(super) type Key = (HowFar, [(SiteNumber, bool); 2], bool, Option<NotKept>);

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
    let apart = if lockstep && apart == Apart::Warp { Apart::Thread } else { apart };
    let (first, second) = (layout.last(old), layout.last(new));
    let history = machine.histories.get(usize::from(state(old))).copied().flatten();
    // Of several races the one of threads furthest apart is told: its cure cures the others.
    let among = history.map_or(apart, |history| history.unordered(apart, since));
    let is_last =
        among == apart && !since.orders(apart) && first.action.conflicts(second.action, apart == Apart::Grid);
    let forgotten = history.filter(|_| !is_last).map(|history| forgotten(history, among, second.action));
    let (class, missing) = match among {
        Apart::Thread | Apart::Warp => (HowFar::IntraWarp, MissingOrder::WarpBarrier),
        Apart::Block => (HowFar::IntraBlock, MissingOrder::BlockBarrier),
        Apart::Grid if is_scope(&first, forgotten) && is_atomic(&second) => {
            (HowFar::InterBlock, MissingOrder::AtomicScope)
        }
        Apart::Grid => (HowFar::InterBlock, MissingOrder::GridEnd),
    };
    let site = |last: &Last| last.site.map_or(NO_SITE, |site| site.wrapping_add(first_site));
    let first_place = if forgotten.is_some() { NO_SITE } else { site(&first) };
    let key = (
        class,
        [(first_place, first.writes), (access.site, second.writes)],
        access.memory == WhoseBytes::Global,
        forgotten,
    );
    let grid = access.by.grid;
    let party = |last: &Last, site: SiteNumber| RacingParty {
        who: Who::Thread { grid, block: last.block, thread: last.thread },
        site,
        kind: kind(last),
        strength: strength(last),
        address,
        bytes: access.size,
        asynchronous: false,
    };
    let latest = party(&first, site(&first));
    reports.add(key, count, || RaceFinding {
        kind: RacingKind::Race,
        class,
        memory: access.memory,
        address,
        first: match forgotten {
            None => latest,
            Some(what) => RacingParty {
                who: whose(what, among, &first, grid),
                kind: what.kind(),
                site: NO_SITE,
                ..latest
            },
        },
        forgotten,
        latest: forgotten.map(|_| latest),
        second: RacingParty { kind: access.kind, strength: access.strength, ..party(&second, access.site) },
        missing,
        count: 1,
    });
}

/// What an access was that races with `action`, and is not the last one. `among`: how far apart the two threads are.
fn forgotten(history: Summary, among: Apart, action: Action) -> NotKept {
    let kinds = match among {
        Apart::Thread | Apart::Warp => history.warp,
        Apart::Block => history.block,
        Apart::Grid => history.all,
    };
    match (kinds, among, action) {
        (Kinds::Reads, ..) => NotKept::Load,
        (Kinds::GridAtomics, ..) | (Kinds::Atomics, Apart::Thread | Apart::Warp | Apart::Block, _) => {
            NotKept::Atomic
        }
        // To threads of other blocks atomics of block scope are as anything else, and the machine does not tell them apart.
        (Kinds::Atomics | Kinds::Mixed, _, Action::Read) => NotKept::Write,
        (Kinds::Atomics | Kinds::Mixed, ..) => NotKept::Access,
    }
}

/// Whose access that was. Accesses that nothing orders all load, or are all atomic: any of their threads may be the one. Else no
/// two of them were of threads that the last barrier of `among` has not ordered, so that it was of those of the last access.
fn whose(what: NotKept, among: Apart, last: &Last, grid: WorkId) -> Who {
    let (block, thread) = (last.block, last.thread);
    match (what, among) {
        (NotKept::Load | NotKept::Atomic, _) => Who::Grid(grid),
        (_, Apart::Grid) => Who::Block { grid, block },
        (_, Apart::Block) => Who::Warp { grid, block, warp: thread >> LANE_BITS },
        (_, Apart::Thread | Apart::Warp) => Who::Thread { grid, block, thread },
    }
}

fn is_atomic(last: &Last) -> bool {
    matches!(last.action, Action::BlockAtomic | Action::GridAtomic)
}

/// Whether the earlier access is atomic: between two of these it is the scope of one that leaves the other out.
fn is_scope(last: &Last, forgotten: Option<NotKept>) -> bool {
    forgotten.map_or(is_atomic(last), |what| what == NotKept::Atomic)
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
