//! Numbers that everything random starts from.

/// The scheduler's seed for a launch, such that neighbouring seeds and launches have unrelated schedules.
pub fn scheduler_seed(seed: u64, ordinal: u64) -> u64 {
    mix(seed, ordinal.wrapping_add(1))
}

/// What decides which stores of a launch are held back from beyond its device.
pub fn beyond_seed(seed: u64, ordinal: u64) -> u64 {
    mix(!seed, ordinal.wrapping_add(1))
}

/// Two numbers in one: a step of SplitMix64 (Steele, Lea and Flood) from `a`, `b` steps on.
pub fn mix(a: u64, b: u64) -> u64 {
    let mut z = a.wrapping_add(b.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
