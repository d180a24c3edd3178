//! By which rule of its own a detector differs from the PTX memory model, which [`Detector::Ptx`] follows to the letter.
//!
//! A rule is taken from what the reports say: the class of the race, the edge that is missing, what the two accesses are. Each has a small
//! program that shows it, in `detectors/README.md`.

use bugaroo_protocol::{Detector, FaultAccess, Race, RaceClass, RaceKind, RaceMissing, RaceParty};
use serde::Serialize;

/// A rule of a detector that the memory model has not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// One pair is told of several that share an access; HiRace tells one race of an element.
    OnePair,
    /// HiRace: barriers of blocks and warps are all that orders.
    BarriersOnly,
    /// HiRace, BARRACUDA: volatile accesses are plain ones.
    VolatileIsPlain,
    /// HiRace, ScoRD: atomics of too narrow a scope race, whatever orders them.
    ScopeWhateverOrders,
    /// BARRACUDA: a fence counts where it stands beside a strong access or an atomic, and nowhere else.
    FencesBesideAccesses,
    /// BARRACUDA, ScoRD: lanes of a warp are in lockstep.
    Lockstep,
    /// BARRACUDA: threads of a block that are at different barriers are an error, whatever they access.
    Divergence,
    /// BARRACUDA: atomics do not race with each other, whatever their scope and their bytes.
    AtomicsNeverRace,
    /// ScoRD: who has accessed has to fence before others access the same bytes, strong or not, and a fence of its own warp alone counts.
    OwnFence,
    /// ScoRD: fences order strong accesses alone.
    FencesOrderStrong,
    /// ScoRD: what was accessed under a lock has to be accessed under it for ever.
    Lockset,
    /// ScoRD: global memory alone.
    GlobalOnly,
    /// HiRace, ScoRD: a barrier of some threads counts as one of all.
    BarrierOfAll,
    /// HiRace, ScoRD: strong accesses that overlap in part do not race for it.
    Overlap,
    /// HiRace, BARRACUDA, ScoRD: each grid is looked at by itself, without the host.
    OneGrid,
    /// HiRace, BARRACUDA, ScoRD: accesses of asynchronous copies and other proxies are not looked at.
    NoCopies,
}

impl Rule {
    /// As it is written in JSON and in the documentation.
    pub fn name(self) -> &'static str {
        match self {
            Rule::OnePair => "one-pair",
            Rule::BarriersOnly => "barriers-only",
            Rule::VolatileIsPlain => "volatile-is-plain",
            Rule::ScopeWhateverOrders => "scope-whatever-orders",
            Rule::FencesBesideAccesses => "fences-beside-accesses",
            Rule::Lockstep => "lockstep",
            Rule::Divergence => "divergence",
            Rule::AtomicsNeverRace => "atomics-never-race",
            Rule::OwnFence => "own-fence",
            Rule::FencesOrderStrong => "fences-order-strong",
            Rule::Lockset => "lockset",
            Rule::GlobalOnly => "global-only",
            Rule::BarrierOfAll => "barrier-of-all",
            Rule::Overlap => "overlap",
            Rule::OneGrid => "one-grid",
            Rule::NoCopies => "no-copies",
        }
    }
}

/// Whether an access is volatile, as far as its instruction is known.
fn is_volatile(party: &RaceParty) -> bool {
    party.at.as_ref().is_some_and(|at| at.instruction.contains(".volatile"))
}

/// What a detector reports besides a pair of places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Besides {
    /// A pair that has one of the two places.
    pub place: bool,
    /// Another pair in the same kind of memory.
    pub memory: bool,
}

/// Why a detector reports what the model does not. `model`: what that reports.
pub fn of_report(own: &Race, model: Besides) -> Option<Rule> {
    let volatile = is_volatile(&own.first) && is_volatile(&own.second);
    match (own.detector, own.kind) {
        (Detector::Ptx, _) => None,
        (_, RaceKind::BarrierDivergence) => Some(Rule::Divergence),
        _ if model.place => Some(Rule::OnePair),
        (Detector::Hirace | Detector::Barracuda, _) if volatile => Some(Rule::VolatileIsPlain),
        (Detector::Hirace, _) if own.missing == RaceMissing::AtomicScope => Some(Rule::ScopeWhateverOrders),
        (Detector::Hirace, _) => Some(Rule::BarriersOnly),
        (Detector::Barracuda, _) => Some(Rule::FencesBesideAccesses),
        (Detector::Scord, _) => match own.missing {
            RaceMissing::AtomicScope => Some(Rule::ScopeWhateverOrders),
            RaceMissing::BlockFence | RaceMissing::DeviceFence => Some(Rule::OwnFence),
            RaceMissing::StrongAccess => Some(Rule::FencesOrderStrong),
            RaceMissing::LockOnLoad | RaceMissing::LockOnStore => Some(Rule::Lockset),
            _ => None,
        },
    }
}

/// Why a detector is silent on what the model reports. `own`: what it reports.
pub fn of_silence(detector: Detector, model: &Race, own: Besides) -> Option<Rule> {
    let warp = matches!(model.class, RaceClass::IntraWarp | RaceClass::Divergence);
    let atomics = model.first.access == FaultAccess::Atomic && model.second.access == FaultAccess::Atomic;
    match (detector, model.missing) {
        (Detector::Ptx, _) => None,
        _ if matches!(model.class, RaceClass::InterGrid | RaceClass::Host) => Some(Rule::OneGrid),
        _ if model.first.asynchronous || model.second.asynchronous => Some(Rule::NoCopies),
        (_, RaceMissing::CopyWait | RaceMissing::ProxyFence) => Some(Rule::NoCopies),
        (Detector::Scord, _) if model.shared => Some(Rule::GlobalOnly),
        (Detector::Scord | Detector::Barracuda, _) if warp => Some(Rule::Lockstep),
        _ if own.place => Some(Rule::OnePair),
        (Detector::Barracuda, _) if atomics => Some(Rule::AtomicsNeverRace),
        (Detector::Barracuda, RaceMissing::AtomicScope | RaceMissing::Overlap) => {
            Some(Rule::AtomicsNeverRace)
        }
        (
            Detector::Barracuda,
            RaceMissing::Acquire | RaceMissing::Release | RaceMissing::Scope | RaceMissing::Strong,
        ) => Some(Rule::FencesBesideAccesses),
        (Detector::Barracuda, _) => None,
        (Detector::Hirace | Detector::Scord, RaceMissing::Overlap) => Some(Rule::Overlap),
        (Detector::Hirace, _) => match model.class {
            // An element that has raced is not looked at any more.
            RaceClass::InterBlock => own.memory.then_some(Rule::OnePair),
            _ => Some(Rule::BarrierOfAll),
        },
        (Detector::Scord, RaceMissing::BlockBarrier | RaceMissing::WarpBarrier) => Some(Rule::BarrierOfAll),
        (Detector::Scord, _) => None,
    }
}
