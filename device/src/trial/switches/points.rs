//! Few changes, at steps that are drawn from all of a launch's.
//!
//! As [`PctScheduler`](bugaroo_simulator::PctScheduler) draws them (Burckhardt, Kothari, Musuvathi, Nagarakatti, ASPLOS 2010), but among
//! steps and not among operations, which are far more. Windows of steps have one or two change points each, and each window is as long as
//! all before it. How many steps a launch will have is not known: the first window has 4 to 64, drawn for each launch as the number of
//! points is.

use bugaroo_simulator::Rng;

/// The change points of a launch.
#[derive(Debug)]
pub struct Points {
    in_window: u64,
    /// Steps so far.
    step: u64,
    /// The last step of the window.
    window: u64,
    /// Steps of the window that are change points, the last one first.
    points: Vec<u64>,
}

impl Points {
    /// Those of a launch.
    pub fn new(rng: &mut Rng) -> Points {
        let (in_window, length) = (1 + rng.below(2), 4 << rng.below(5));
        let mut points = Points { in_window, step: 0, window: 0, points: Vec::new() };
        points.open(length, rng);
        points
    }

    fn open(&mut self, length: u64, rng: &mut Rng) {
        self.points = (0..self.in_window).map(|_| self.window + 1 + rng.below(length)).collect();
        self.points.sort_unstable_by(|a, b| b.cmp(a));
        self.window += length;
    }

    /// Whether the next step is a change point.
    pub fn next(&mut self, rng: &mut Rng) -> bool {
        self.step += 1;
        if self.step > self.window {
            self.open(self.window, rng);
        }
        let mut here = false;
        while self.points.pop_if(|step| *step <= self.step).is_some() {
            here = true;
        }
        here
    }
}

#[cfg(test)]
mod tests {
    use bugaroo_simulator::Rng;

    use super::Points;

    /// The change points among the first so many steps.
    fn changes(seed: u64, steps: u64) -> Vec<u64> {
        let mut rng = Rng::new(seed);
        let mut points = Points::new(&mut rng);
        (1..=steps).filter(|_| points.next(&mut rng)).collect()
    }

    #[test]
    fn every_early_step_is_one_now_and_then_and_no_launch_has_many() {
        let mut at = [0; 33];
        for seed in 0..4000 {
            let early = changes(seed, 32);
            assert!(early.len() <= 8, "seed {seed}: two in each of four windows at most");
            early.iter().for_each(|step| at[usize::try_from(*step).expect("small")] += 1);
        }
        assert!(at[1..].iter().all(|count| (150..1500).contains(count)), "{at:?}");
        assert!((0..200).all(|seed| changes(seed, 100_000).len() <= 32));
    }

    #[test]
    fn a_seed_says_which() {
        assert_eq!(changes(3, 1000), changes(3, 1000));
        assert_ne!(changes(3, 1000), changes(4, 1000));
    }
}
