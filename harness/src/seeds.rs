//! Seeds: everything random in a run stems from one number.
//!
//! The run's seed keys a ChaCha8 generator; each trial's seed is the first word of a stream of its own,
//! so that it depends on the run's seed and the trial's index alone: not on how many trials run, in what
//! order, nor on which cell they belong to. Trials of the same index have the same seed in every cell,
//! so that cells differ in what is studied and in nothing else (the paper compares so in section III.D).

use std::hash::{BuildHasher, RandomState};

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Streams from here on belong to the baseline, which no trial's index reaches.
const BASELINE_STREAMS: u64 = 1 << 63;

/// The seeds of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seeds {
    run: u64,
}

impl Seeds {
    /// The seeds that stem from the run's seed.
    pub fn new(run: u64) -> Self {
        Self { run }
    }

    /// Seed of the trial with this index, below 2^63.
    pub fn trial(self, index: u64) -> u64 {
        debug_assert!(index < BASELINE_STREAMS);
        self.stream(index)
    }

    /// Seed of the baseline's run with this index, below 2^63.
    pub fn baseline(self, index: u64) -> u64 {
        debug_assert!(index < BASELINE_STREAMS);
        self.stream(BASELINE_STREAMS + index)
    }

    fn stream(self, stream: u64) -> u64 {
        let mut generator = ChaCha8Rng::seed_from_u64(self.run);
        generator.set_stream(stream);
        generator.next_u64()
    }
}

/// A run's seed where the user gave none. It has 32 bits, so that it is short to type and that every
/// reader of JSON keeps it exactly.
pub fn random_run_seed() -> u64 {
    // The standard library keys its hashers from the system's source of randomness.
    RandomState::new().hash_one(std::process::id()) >> 32
}

#[cfg(test)]
mod tests;
