//! Input data that looks random and is the same in every trial.

/// A number in [0, 1) that depends on `seed` and `index` alone, with 24 random bits, so that every
/// value is exact in a float. The mixing is SplitMix64's (Steele, Lea and Flood, 2014).
pub fn noise(seed: u64, index: u64) -> f32 {
    let mut bits =
        seed.rotate_left(32).wrapping_add(index.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^= bits >> 31;
    (bits >> 40) as f32 / (1_u32 << 24) as f32
}
