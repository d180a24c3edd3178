//! What the detector is told of places.

use bugaroo_device_handlers::BufferSpace;
use bugaroo_device_handlers::scord::{how, what};
use bugaroo_ptx::op::AtomOp;
use bugaroo_ptx::types::{Scope, Semantics, Space};
use bugaroo_semantics::effect::Stated;
use bugaroo_semantics::event::AccessKind;
use bugaroo_semantics::scope::Strength;

use crate::access::AccessOperand;
use crate::collect_sites::PointKind;
use crate::logging::Told;

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
pub(crate) fn looked_at(kind: &PointKind) -> Option<&AccessOperand> {
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
