//! The default strategy: any runnable warp, any time.

use super::rng::Rng;
use super::strategy::{Candidate, SchedulerStrategy, Turn};

/// After each visible operation the turn ends with probability 1/2; then every runnable warp is equally
/// likely to be next. The operation that a warp is about to do is thereby overtaken by another warp's about
/// every second time, which is what lost updates and missing fences need to show; a uniform choice after
/// *every* operation would differ in degree only, at twice the switches.
#[derive(Clone, Debug)]
pub struct RandomScheduler {
    rng: Rng,
}

impl RandomScheduler {
    /// The schedule of this seed.
    pub fn new(seed: u64) -> RandomScheduler {
        RandomScheduler { rng: Rng::new(seed) }
    }
}

impl SchedulerStrategy for RandomScheduler {
    fn begin(&mut self, _warps: u64) {}

    #[inline]
    fn next(&mut self, candidates: &[Candidate]) -> Turn {
        let bits = self.rng.next();
        // The high half picks the warp (multiply and shift), the low half the length of the turn: the
        // number of trailing zeros is geometric with parameter 1/2.
        let candidate = ((bits >> 32) * candidates.len() as u64) >> 32;
        Turn { candidate: candidate as usize, operations: 1 + (bits as u32).trailing_zeros() }
    }

    fn random(&mut self) -> u64 {
        self.rng.next()
    }
}
