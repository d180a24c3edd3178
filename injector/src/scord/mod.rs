//! ScoRD: the module with code that looks for scoped races while it runs.
//!
//! Source: Kamath, George, Basu: "ScoRD: A Scoped Race Detector for GPUs" (ISCA'20). The detector (`bugaroo-device-handlers`, `scord.cu`)
//! is merged into the module, and called before loads, stores and atomics of global and generic memory, behind compare-and-swaps, of which
//! it has to know whether they have written, before fences, before and behind barriers of blocks, and where threads begin and end.
//! A guarded instruction is looked at for the lanes alone for which its guard holds.
//!
//! Where it departs: the paper's detector is hardware beside the caches, and this is PTX. Accesses of shared memory are not looked at, as
//! in the paper.
//!
//! What it does not know, it refuses by name, as the log does ([`crate::logging`]), of which it has its places. It refuses calls of
//! `malloc` and `free`, too: whose memory comes and goes within a grid would be taken for the same.

pub mod passes;

use bugaroo_device_handlers::BufferSpace;
use bugaroo_device_handlers::scord::{how, what};
use bugaroo_ptx::op::AtomOp;
use bugaroo_ptx::types::{Scope, Semantics, Space};
use bugaroo_semantics::effect::Stated;
use bugaroo_semantics::event::AccessKind;
use bugaroo_semantics::scope::Strength;

use crate::access::Access;
use crate::collect_sites::PointKind;
use crate::kits::{Pass, apply};
use crate::logging::{Loads, Log, Logged, LoggingError, Looks, Options, Told, logged};
use crate::{InstrumentError, error};
use passes::PASSES;

/// An access is looked at before it is done; branches do not matter.
const OPTIONS: Options = Options { loads: Loads::Before, branches: false, prune: false };
/// The kit.
const SCORD: Looks = Looks { name: "ScoRD", harmless: &["vprintf", "__assertfail"] };

/// Makes a module in which ScoRD looks at accesses. A place is known by the number of its point, which is half that of
/// [`Logged::places`].
///
/// # Errors
/// As [`crate::logging::log`].
pub fn detect(source: &str) -> Result<Logged, LoggingError> {
    detect_with(source, &PASSES).map(|(logged, _)| logged)
}

/// Does some of the passes: the first few of [`PASSES`].
///
/// # Errors
/// As [`detect`].
pub fn detect_with(source: &str, passes: &[Pass<Log>]) -> Result<(Logged, Log), LoggingError> {
    let module = bugaroo_ptx::parse(source).map_err(InstrumentError::from)?;
    error::check(&module)?;
    let log = SCORD.look(&module, OPTIONS)?;
    let edited = apply((&module, source), &log, passes)?;
    Ok((logged(edited, &log), log))
}

/// Whether what is told is a fence, or an access that releases.
pub fn fences(told: Told) -> bool {
    match told {
        Told::Fence(_) => true,
        Told::Access(stated) => stated.space != Space::Shared && releases(&stated),
        _ => false,
    }
}

/// Whether it may take a lock.
pub fn locks(told: Told) -> bool {
    let swaps = |stated: &Stated| stated.kind == AccessKind::Atomic(AtomOp::Cas);
    matches!(told, Told::Access(stated) if stated.space != Space::Shared && swaps(&stated))
}

/// The access of a place, if it is looked at: any but those of shared memory.
pub(crate) fn looked_at(kind: &PointKind) -> Option<&Access> {
    match kind {
        PointKind::Store { access, .. } | PointKind::Load(access) | PointKind::Atomic(access) => {
            Some(access).filter(|access| access.space != BufferSpace::Shared)
        }
        _ => None,
    }
}

/// Whether an access releases, or acquires.
pub(crate) fn releases(stated: &Stated) -> bool {
    matches!(stated.semantics, Semantics::Release(_) | Semantics::AcqRel(_))
}

fn acquires(stated: &Stated) -> bool {
    matches!(stated.semantics, Semantics::Acquire(_) | Semantics::AcqRel(_))
}

/// Whether an access is of more than the block, as far as that is asked.
pub(crate) fn is_wide(stated: &Stated) -> bool {
    Strength::of(stated.semantics) != Strength::Strong(Scope::Cta)
}

/// What the detector is told of an access besides its address.
pub(crate) fn word(point: usize, stated: &Stated) -> u64 {
    let strong = Strength::of(stated.semantics) != Strength::Weak;
    // Volatile accesses are older than the model, and the paper's strong ones.
    let atomic =
        matches!(stated.kind, AccessKind::Atomic(_)) || strong && stated.semantics != Semantics::Volatile;
    let opens = match stated.kind {
        AccessKind::Atomic(op) => matches!(op, AtomOp::Exch | AtomOp::Cas),
        AccessKind::Store => strong,
        AccessKind::Load => false,
    };
    let some = |is_so: bool, bit: u32| if is_so { bit } else { 0 };
    let how = some(stated.kind.writes(), how::WRITES)
        | some(atomic, how::ATOMIC)
        | some(is_wide(stated), how::DEVICE)
        | some(strong, how::STRONG);
    let bytes = stated.ty.bytes() * u32::from(stated.elements);
    let flags = [
        (what::DEVICE, is_wide(stated)),
        (what::RELEASE, releases(stated)),
        (what::ACQUIRE, acquires(stated)),
        (what::SWAPS, stated.kind == AccessKind::Atomic(AtomOp::Cas)),
        (what::OPENS, opens),
    ];
    // Points are fewer than the text has bytes, which are fewer than 2^32.
    point as u64
        | u64::from(bytes.trailing_zeros()) << what::BYTES_AT
        | u64::from(how) << what::HOW_AT
        | flags.iter().filter(|(_, is_so)| *is_so).fold(0, |all, (bit, _)| all | bit)
}
