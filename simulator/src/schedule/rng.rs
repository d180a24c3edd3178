//! The engine's random numbers.

use bugaroo_semantics::splitmix::{GOLDEN, mix};

/// SplitMix64 ([`bugaroo_semantics::splitmix`]). Full period, passes BigCrush, one addition and two multiplications a draw;
/// any seed is as good as another. Not for cryptography.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rng {
    state: u64,
}

impl Rng {
    /// The sequence of this seed.
    pub fn new(seed: u64) -> Rng {
        Rng { state: seed }
    }

    /// The next 64 uniform bits.
    #[inline]
    #[allow(
        clippy::should_implement_trait,
        reason = "an endless sequence; an iterator's Option would be noise"
    )]
    pub fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GOLDEN);
        mix(self.state)
    }

    /// A uniform number below so many: the high bits of a draw (Lemire, "Fast random integer generation in an interval", 2019), whose bias is
    /// below one in 2^64 / `most`.
    #[inline]
    pub fn below(&mut self, most: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(most)) >> 64) as u64
    }
}
