//! Few preemptions at random places: probabilistic concurrency testing.
//!
//! S. Burckhardt, P. Kothari, M. Musuvathi, S. Nagarakatti, "A randomized scheduler with probabilistic
//! guarantees of finding bugs", ASPLOS 2010. Every warp gets a random priority; the runnable warp with the
//! highest one runs, until one of d - 1 change points, random numbers of a step each, at which the warp that
//! runs falls below all initial priorities. Of n warps and k steps, a bug that needs d ordering constraints
//! is found with probability at least 1 / (n k^(d-1)).
//!
//! Where it departs. *Steps*: visible operations of the launch; k need not be known: a window of steps has its
//! d - 1 change points, and the next window, with points of its own, is as long as all before it. The
//! bound holds for bugs within one window, with the window's end for k. A turn that ends before its operations
//! are used up counts as a whole, so that change points come a little early; turns get shorter on the way to a
//! change point, so that the error is at most an eighth of the way. *Fairness*: a warp that has had [`QUOTA`]
//! operations since it fell last falls below all others, or a spinning warp would wait for ever for one that
//! it does not let run. So all runnable warps take turns in the end, and the bound holds as long as no warp does more than the
//! quota. *New blocks* start with the priority that their warps have from the beginning.
//!
//! What it can miss: lanes of one warp are the engine's to choose, and it chooses as with any scheduler.

use rustc_hash::FxHashMap;

use super::rng::Rng;
use super::strategy::{Candidate, SchedulerStrategy, Turn};

/// Operations after which a warp falls below all others.
pub const QUOTA: u32 = 512;

/// Most operations of a turn, where a change point is far.
const LONGEST_TURN: u64 = 64;

/// Steps of the first window for each warp, where nobody knows better: what a short kernel does.
const STEPS_PER_WARP: u64 = 16;

/// Random priorities with few change points.
#[derive(Clone, Debug)]
pub struct PctScheduler {
    rng: Rng,
    ranks: Ranks,
    depth: u32,
    /// Steps of the first window; None: by the number of warps.
    estimate: Option<u64>,
    steps: Steps,
    /// Operations of each warp since it fell.
    operations: FxHashMap<u64, u32>,
    /// The warp that ran last, where it was among how many candidates, and what it was granted.
    last: Option<(u64, usize, usize)>,
}

/// The priorities of warps.
#[derive(Clone, Debug)]
struct Ranks {
    /// Where initial priorities come from.
    key: u64,
    /// Warps that fell, and how low.
    fallen: FxHashMap<u64, u64>,
    /// The next who falls gets this priority: lower than all others.
    lowest: u64,
    /// By place among the candidates: the warp that was there last, and its priority.
    places: Vec<(u64, u64)>,
}

/// How far the launch is, and where its change points are.
#[derive(Clone, Debug)]
struct Steps {
    done: u64,
    /// The last one of the current window.
    end: u64,
    /// Change points of the current window and what the warp falls to there, the last one first.
    points: Vec<(u64, u64)>,
}

/// All initial priorities are at least this; those who fell are below.
const INITIAL: u64 = 1 << 63;

impl Ranks {
    fn of(&self, warp: u64) -> u64 {
        if let Some(priority) = self.fallen.get(&warp) {
            return *priority;
        }
        // Two warps with one priority are as good as any two: the first candidate goes first.
        INITIAL | Rng::new(self.key ^ warp).next()
    }

    /// A priority below all others.
    fn below_all(&mut self) -> u64 {
        self.lowest -= 1;
        self.lowest
    }

    /// Gives a warp a priority.
    fn set(&mut self, warp: u64, priority: u64) {
        self.fallen.insert(warp, priority);
        // It may have stood at several places.
        for (_, known) in self.places.iter_mut().filter(|(there, _)| *there == warp) {
            *known = priority;
        }
    }

    /// The candidate with the highest priority, the first of equals.
    fn best(&mut self, candidates: &[Candidate]) -> usize {
        // Most candidates stand where they stood. (No warp has this number.)
        self.places.resize(candidates.len(), (u64::MAX, 0));
        let (mut best, mut highest) = (0, 0);
        for (at, one) in candidates.iter().enumerate() {
            if self.places[at].0 != one.warp {
                self.places[at] = (one.warp, self.of(one.warp));
            }
            let priority = self.places[at].1;
            if priority > highest {
                (best, highest) = (at, priority);
            }
        }
        best
    }
}

impl PctScheduler {
    /// Ordering constraints of the bugs that are looked for, where nobody says: two change points.
    pub const DEPTH: u32 = 3;

    /// The schedule of this seed, with `depth` - 1 change points in a window. `estimate`: steps of the whole
    /// launch, if they are known about.
    pub fn new(seed: u64, depth: u32, estimate: Option<u64>) -> PctScheduler {
        let mut rng = Rng::new(seed);
        PctScheduler {
            ranks: Ranks {
                key: rng.next(),
                fallen: FxHashMap::default(),
                lowest: INITIAL,
                places: Vec::new(),
            },
            rng,
            depth: depth.max(1),
            estimate,
            steps: Steps { done: 0, end: 0, points: Vec::new() },
            operations: FxHashMap::default(),
            last: None,
        }
    }

    /// Draws the change points from the step behind the last window to `end`.
    fn open_window(&mut self, end: u64) {
        let (start, length) = (self.steps.end, end - self.steps.end);
        self.steps.end = end;
        self.steps.points.clear();
        // Which of them falls lowest has nothing to do with which comes first.
        for _ in 1..self.depth {
            let step = start + 1 + self.rng.below(length);
            self.steps.points.push((step, self.ranks.below_all()));
        }
        self.steps.points.sort_unstable_by(|a, b| b.cmp(a));
    }

    fn fall(&mut self, warp: u64, priority: u64) {
        self.ranks.set(warp, priority);
        self.operations.remove(&warp);
        self.last = None;
    }
}

impl SchedulerStrategy for PctScheduler {
    fn begin(&mut self, warps: u64) {
        let first = self.estimate.unwrap_or(warps.saturating_mul(STEPS_PER_WARP)).clamp(1, 1 << 40);
        self.open_window(first);
    }

    fn next(&mut self, candidates: &[Candidate]) -> Turn {
        // Nobody became runnable and nobody ceased to be: the one who ran is the best still.
        let still = self.last.filter(|(warp, at, count)| {
            *count == candidates.len() && candidates.get(*at).is_some_and(|one| one.warp == *warp)
        });
        let at = still.map_or_else(|| self.ranks.best(candidates), |(_, at, _)| at);
        let warp = candidates[at].warp;
        if self.steps.done >= self.steps.end {
            self.open_window(self.steps.end.saturating_mul(2));
        }
        let next =
            self.steps.points.last().map_or(self.steps.end, |(step, _)| *step).max(self.steps.done + 1);
        let way = next - self.steps.done;
        let operations = (way / 8).clamp(1, LONGEST_TURN).min(way);
        self.steps.done += operations;
        self.last = Some((warp, at, candidates.len()));
        let done = self.operations.entry(warp).or_insert(0);
        *done += operations as u32;
        let spent = *done >= QUOTA;
        // It has this turn, and then falls.
        if spent {
            let priority = self.ranks.below_all();
            self.fall(warp, priority);
        }
        while let Some((_, priority)) = self.steps.points.pop_if(|(step, _)| *step <= self.steps.done) {
            self.fall(warp, priority);
        }
        Turn { candidate: at, operations: operations as u32 }
    }

    fn random(&mut self) -> u64 {
        self.rng.next()
    }
}
