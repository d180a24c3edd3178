//! Numbers that everything random starts from.

use bugaroo_semantics::splitmix;

/// The scheduler's seed for a launch, such that neighbouring seeds and launches have unrelated schedules.
pub fn scheduler_seed(seed: u64, ordinal: u64) -> u64 {
    mix(seed, ordinal.wrapping_add(1))
}

/// What decides which stores of a launch are held back from beyond its device.
pub fn beyond_seed(seed: u64, ordinal: u64) -> u64 {
    mix(!seed, ordinal.wrapping_add(1))
}

/// Two numbers in one: a step of SplitMix64 from `a`, `b` steps on.
pub fn mix(a: u64, b: u64) -> u64 {
    splitmix::mix(a.wrapping_add(b.wrapping_mul(splitmix::GOLDEN)))
}
