//! Schedules for many copies of a test in one launch: one copy after the other, each with a schedule of its
//! own that depends on the seed and the trial's number alone.

use bugaroo_simulator::{Candidate, PctScheduler, RandomScheduler, Rng, SchedulerStrategy, Turn};

/// How it is decided who runs next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strategy {
    /// Anyone, at any time.
    Random,
    /// Random priorities, few change points.
    Pct,
}

/// The schedules of the copies of a launch.
pub(crate) struct Copies {
    strategy: Strategy,
    seed: u64,
    /// Number of the first copy's trial.
    first: u64,
    /// Warps of a copy.
    warps: u64,
    /// Visible operations of a copy, about.
    steps: u64,
    /// The copy whose turn it is.
    current: u64,
    inner: Box<dyn SchedulerStrategy>,
    /// The current copy's candidates, and where they are among all.
    candidates: Vec<Candidate>,
    places: Vec<usize>,
}

/// Seeds of trials that have nothing to do with each other.
pub(crate) fn trial_seed(seed: u64, trial: u64) -> u64 {
    Rng::new(seed ^ Rng::new(trial).next()).next()
}

impl Copies {
    pub fn new(strategy: Strategy, seed: u64, first: u64, warps: u64, steps: u64) -> Copies {
        let mut copies = Copies {
            strategy,
            seed,
            first,
            warps,
            steps,
            current: 0,
            inner: Box::new(RandomScheduler::new(0)),
            candidates: Vec::new(),
            places: Vec::new(),
        };
        copies.enter(0);
        copies
    }

    fn enter(&mut self, copy: u64) {
        self.current = copy;
        let mut rng = Rng::new(trial_seed(self.seed, self.first + copy));
        let seed = rng.next();
        self.inner = match self.strategy {
            Strategy::Random => Box::new(RandomScheduler::new(seed)),
            Strategy::Pct => {
                // Without a change point, to three of them.
                let depth = 1 + (rng.next() >> 62) as u32;
                Box::new(PctScheduler::new(seed, depth, Some(self.steps)))
            }
        };
        self.inner.begin(self.warps);
    }
}

impl SchedulerStrategy for Copies {
    fn begin(&mut self, _warps: u64) {}

    fn next(&mut self, candidates: &[Candidate]) -> Turn {
        let copy = candidates.iter().map(|one| one.warp / self.warps).min().unwrap_or(self.current);
        if copy != self.current {
            self.enter(copy);
        }
        self.candidates.clear();
        self.places.clear();
        for (place, candidate) in candidates.iter().enumerate() {
            if candidate.warp / self.warps == copy {
                let mut within = *candidate;
                within.warp %= self.warps;
                self.candidates.push(within);
                self.places.push(place);
            }
        }
        let turn = self.inner.next(&self.candidates);
        Turn { candidate: self.places[turn.candidate], ..turn }
    }

    fn random(&mut self) -> u64 {
        self.inner.random()
    }
}
