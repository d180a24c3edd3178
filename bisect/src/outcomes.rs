//! How trials ended, by what they ran.

use std::collections::HashMap;

use bugaroo_harness::Variation;

use crate::trials::Shown;

/// Outcomes by variation (in [`key`]'s form) and index.
pub type OutcomesByTrial = HashMap<String, HashMap<u64, Shown>>;

/// A variation as a text: equal for equal variations only.
pub fn key(variation: &Variation) -> String {
    // Plain data: serialisation cannot fail.
    serde_json::to_string(variation).expect("a variation is plain data")
}
