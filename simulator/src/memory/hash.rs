//! A hash of memory's contents, made to be fast: it tells runs apart, and resists nobody.

/// A hash in the making. Four of them, so that no word waits for the one before it.
pub(super) struct Hash([u64; 4]);

impl Default for Hash {
    fn default() -> Self {
        Hash([0xcbf2_9ce4_8422_2325; 4])
    }
}

impl Hash {
    fn mix(hash: u64, word: u64) -> u64 {
        (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
    }

    /// Takes four words more.
    pub(super) fn step(&mut self, words: [u64; 4]) {
        self.0 = std::array::from_fn(|at| Self::mix(self.0[at], words[at]));
    }

    /// The hash of all that was taken.
    pub(super) fn finish(self) -> u64 {
        self.0.into_iter().fold(0, Self::mix)
    }
}
