//! SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014): a counter through a 64-bit finaliser.
//!
//! Models, schedulers and detectors all draw with it, each by counters of its own.

/// Step of the counter.
pub const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
/// First multiplier of the finaliser.
pub const MIX_1: u64 = 0xbf58_476d_1ce4_e5b9;
/// Second multiplier of the finaliser.
pub const MIX_2: u64 = 0x94d0_49bb_1331_11eb;

/// The finaliser: a number that says nothing of the one it comes from.
#[inline]
pub const fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(MIX_1);
    x = (x ^ (x >> 27)).wrapping_mul(MIX_2);
    x ^ (x >> 31)
}
