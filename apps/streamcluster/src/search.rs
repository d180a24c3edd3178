//! The clustering of one block of points: facility location by local search, after PARSEC's
//! streamcluster, which implements O'Callaghan et al., "Streaming-data algorithms for high-quality
//! clustering" (2002).
//!
//! Every open centre costs z, every point its squared distance to its centre; a search over z brings
//! the number of centres between two limits. For each z, the gain of opening a centre at one of a few
//! randomly chosen points is computed many times; that is the device's part.
//!
//! It departs from PARSEC in three points: the order of the points is shuffled instead of the points
//! themselves; all points weigh one, as they do in the first (here: only) block of the stream; and the
//! gains are bounded in number, so that a device that computes nonsense cannot keep the search going.

use bugaroo_apps_host::noise;

use crate::gain::{Contributions, Gain, Solution};
use crate::points::{DIMENSIONS, Points};

/// Fewest centres wanted.
pub const FEWEST: usize = 10;
/// Most centres wanted.
pub const MOST: usize = 20;
/// Tries at a first solution before z is halved.
const TRIES: u32 = 1;
/// Candidates, and gains computed in a pass, are this factor times k ln k for the fewest and most centres.
const PASS_FACTOR: f64 = 3.0;

/// What a search found.
#[derive(Clone, Debug, PartialEq)]
pub struct Clustering {
    /// The mean of each cluster's points, one after the other.
    pub centres: Vec<f32>,
    /// Sum of the squared distances of the points to the centres they were assigned to.
    pub cost: f64,
    /// How many gains were computed: launches of the kernel.
    pub gains: u32,
}

/// Clusters `points`, of which there must be more than [`MOST`]. After `limit` gains, no more are computed
/// and the search ends with what it has.
///
/// # Errors
/// What `gain` fails with.
pub fn search<G: Gain>(points: &Points, limit: u32, gain: &mut G) -> Result<Clustering, G::Error> {
    let mut search = Search {
        points,
        gain,
        solution: Solution::default(),
        contributions: Contributions::default(),
        order: (0..points.size).collect(),
        draws: 0,
        gains: 0,
        limit,
    };
    search.run()?;
    Ok(Clustering { centres: search.means(), cost: search.cost(), gains: search.gains })
}

struct Search<'a, G> {
    points: &'a Points,
    gain: &'a mut G,
    solution: Solution,
    contributions: Contributions,
    /// The points in the order in which a first solution meets them.
    order: Vec<usize>,
    /// Random numbers drawn so far.
    draws: u64,
    gains: u32,
    /// Most gains to compute.
    limit: u32,
}

impl<G: Gain> Search<'_, G> {
    /// The bisection over z.
    fn run(&mut self) -> Result<(), G::Error> {
        let (mut low, mut high) = (0.0, self.points.distances_to(0).into_iter().map(f64::from).sum::<f64>());
        let mut z = (low + high) / 2.0;
        self.first_solution(z);
        let mut tries = 0;
        while self.centres() < FEWEST {
            if tries >= TRIES {
                high = z;
                z = (low + high) / 2.0;
                tries = 0;
            }
            self.first_solution(z);
            tries += 1;
        }
        let mut candidates = self.draw_candidates();
        let gains = (PASS_FACTOR * MOST as f64 * (MOST as f64).ln()) as usize;
        loop {
            self.improve(z, &mut candidates, gains, 0.1)?;
            let k = self.centres();
            let nearly = (k as f64 <= 1.1 * MOST as f64 && k as f64 >= 0.9 * FEWEST as f64)
                || (FEWEST - 2..=MOST + 2).contains(&k);
            if nearly {
                self.improve(z, &mut candidates, gains, 0.001)?;
            }
            let k = self.centres();
            if k > MOST {
                low = z;
                z = (low + high) / 2.0;
            } else if k < FEWEST {
                high = z;
                z = (low + high) / 2.0;
            }
            if (FEWEST..=MOST).contains(&k) || low >= 0.999 * high {
                return Ok(());
            }
        }
    }

    /// A first solution for `z`: each point in turn becomes a centre with the probability of its cost over z.
    fn first_solution(&mut self, z: f64) {
        let mut order = std::mem::take(&mut self.order);
        self.shuffle(&mut order);
        let size = self.points.size;
        let mut is_centre = vec![false; size];
        is_centre[order[0]] = true;
        self.solution.cost = self.points.distances_to(order[0]);
        self.solution.assigned = vec![order[0] as i32; size];
        for &point in &order[1..] {
            if f64::from(self.draw()) < f64::from(self.solution.cost[point]) / z {
                is_centre[point] = true;
                let costs = self.points.distances_to(point);
                for (other, cost) in costs.into_iter().enumerate() {
                    if cost < self.solution.cost[other] {
                        self.solution.cost[other] = cost;
                        self.solution.assigned[other] = point as i32;
                    }
                }
            }
        }
        self.number_centres(&is_centre);
        self.order = order;
    }

    /// Passes over the candidates at one `z`, `gains` gains each, until one lowers the total cost by no
    /// more than the share `enough`.
    fn improve(
        &mut self,
        z: f64,
        candidates: &mut [usize],
        gains: usize,
        enough: f64,
    ) -> Result<(), G::Error> {
        loop {
            let before = self.cost() + z * self.centres() as f64;
            self.shuffle(candidates);
            let mut change = 0.0;
            for &candidate in candidates.iter().cycle().take(gains) {
                change += self.try_candidate(candidate, z)?;
            }
            if change <= enough * (before - change) {
                return Ok(());
            }
        }
    }

    /// Opens a centre at `candidate`, and closes those that it makes superfluous, if that lowers the total
    /// cost. Gives by how much it does, or 0.
    fn try_candidate(&mut self, candidate: usize, z: f64) -> Result<f64, G::Error> {
        if self.gains == self.limit {
            return Ok(0.0);
        }
        self.gains += 1;
        self.gain.contributions(&self.solution, candidate, &mut self.contributions)?;
        let k = self.centres();
        let mut sums = vec![0.0_f64; k + 1];
        for row in self.contributions.lower.chunks_exact(k + 1) {
            for (sum, &part) in sums.iter_mut().zip(row) {
                *sum += f64::from(part);
            }
        }
        // Closing a centre saves z and costs what its points lose.
        let closes: Vec<bool> = sums[..k].iter().map(|lost| z + lost > 0.0).collect();
        let saved: f64 = sums[..k].iter().map(|lost| (z + lost).max(0.0)).sum();
        let change = z + sums[k] - saved;
        if change < 0.0 {
            self.open(candidate, &closes);
        }
        Ok(f64::max(-change, 0.0))
    }

    /// Opens a centre at `candidate`, closes those in the columns that `closes` names, and moves points
    /// to the candidate: those that switch, and those whose centre closes.
    fn open(&mut self, candidate: usize, closes: &[bool]) {
        let mut is_centre = vec![false; self.points.size];
        for (&centre, &closes) in self.solution.centres.iter().zip(closes) {
            is_centre[centre] = !closes;
        }
        is_centre[candidate] = true;
        let costs = self.points.distances_to(candidate);
        for (point, cost) in costs.into_iter().enumerate() {
            let slot = self.solution.slot[self.solution.assigned[point] as usize];
            if self.contributions.switches[point] != 0 || closes[slot as usize] {
                self.solution.cost[point] = cost;
                self.solution.assigned[point] = candidate as i32;
            }
        }
        self.number_centres(&is_centre);
    }

    /// Gives each centre a column.
    fn number_centres(&mut self, is_centre: &[bool]) {
        self.solution.centres = (0..is_centre.len()).filter(|&point| is_centre[point]).collect();
        self.solution.slot = vec![-1; is_centre.len()];
        for (slot, &centre) in (0..).zip(&self.solution.centres) {
            self.solution.slot[centre] = slot;
        }
    }

    /// The points at which centres may be opened.
    fn draw_candidates(&mut self) -> Vec<usize> {
        let count = (PASS_FACTOR * FEWEST as f64 * (FEWEST as f64).ln()) as usize;
        if count >= self.points.size {
            return (0..self.points.size).collect();
        }
        (0..count).map(|_| self.draw_below(self.points.size)).collect()
    }

    fn centres(&self) -> usize {
        self.solution.centres.len()
    }

    /// What the points cost, without the centres.
    fn cost(&self) -> f64 {
        self.solution.cost.iter().map(|&cost| f64::from(cost)).sum()
    }

    /// The mean of each cluster's points, one after the other.
    fn means(&self) -> Vec<f32> {
        let k = self.centres();
        let (mut sums, mut counts) = (vec![0.0_f64; k * DIMENSIONS], vec![0_u32; k]);
        for (point, &assigned) in self.solution.assigned.iter().enumerate() {
            let slot = self.solution.slot[assigned as usize] as usize;
            counts[slot] += 1;
            for (sum, &value) in sums[slot * DIMENSIONS..].iter_mut().zip(self.points.point(point)) {
                *sum += f64::from(value);
            }
        }
        // A centre always has a point: itself.
        sums.iter()
            .zip(counts.iter().flat_map(|&n| [n; DIMENSIONS]))
            .map(|(sum, n)| (sum / f64::from(n)) as f32)
            .collect()
    }

    fn shuffle(&mut self, list: &mut [usize]) {
        for at in 0..list.len() {
            let other = at + self.draw_below(list.len() - at);
            list.swap(at, other);
        }
    }

    fn draw_below(&mut self, bound: usize) -> usize {
        ((f64::from(self.draw()) * bound as f64) as usize).min(bound - 1)
    }

    /// The next random number in [0, 1).
    fn draw(&mut self) -> f32 {
        self.draws += 1;
        noise(2, self.draws)
    }
}

#[cfg(test)]
mod tests;
