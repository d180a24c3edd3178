//! How strong accesses are, in the words of commands.

use bugaroo_ptx::types::{Scope, Semantics};
use bugaroo_semantics::effect::strong_among;

use crate::program::SharedStrength;

/// How strong an access is, as far as it matters among the CTAs of a cluster. Volatile ones are relaxed, for the system.
pub(super) fn strength(semantics: Semantics) -> SharedStrength {
    match strong_among(semantics) {
        None => SharedStrength::Weak,
        Some(Scope::Cta) => SharedStrength::Cta,
        Some(_) => SharedStrength::Cluster,
    }
}

/// The same of an atomic operation, for the device if nothing is said.
pub(super) fn atomic_strength(semantics: Semantics) -> SharedStrength {
    strength(semantics).max(match strong_among(semantics) {
        None => SharedStrength::Cluster,
        Some(_) => SharedStrength::Weak,
    })
}
