//! What the detector is told of accesses.

use bugaroo_device_handlers::hirace::what;
use bugaroo_ptx::types::Semantics;
use bugaroo_semantics::effect::Stated;
use bugaroo_semantics::history::word::action;
use bugaroo_semantics::scope::Strength;

/// What the detector is told of an access besides its address.
pub(crate) fn word(point: usize, stated: &Stated) -> u64 {
    let (size, elements) = stated.parts();
    let volatile = stated.semantics == Semantics::Volatile;
    let action = action(stated.kind, Strength::of(stated.semantics), volatile);
    // Points are fewer than the text has bytes, which are fewer than 2^32.
    point as u64
        | u64::from(size.trailing_zeros()) << what::SIZE_AT
        | u64::from(elements) << what::ELEMENTS_AT
        | (action as u64) << what::ACTION_AT
        | u64::from(!stated.kind.writes()) << what::KEPT_AT
}
