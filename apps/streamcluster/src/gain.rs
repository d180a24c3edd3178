//! What each point gains when one more centre is opened: the part that the device computes.

use std::convert::Infallible;

use crate::points::Points;

/// Which points are centres, and where each point goes.
#[derive(Clone, Debug, Default)]
pub struct Solution {
    /// The centre that each point goes to.
    pub assigned: Vec<i32>,
    /// What that costs: the squared distance.
    pub cost: Vec<f32>,
    /// For each point that is a centre, its column in the table of contributions; -1 for others.
    pub slot: Vec<i32>,
    /// The centres, by column.
    pub centres: Vec<usize>,
}

/// What the points contribute to the gain of opening a centre.
#[derive(Debug, Default)]
pub struct Contributions {
    /// A row for each point: a float for each open centre, then one for the candidate. See the kernel.
    pub lower: Vec<f32>,
    /// A 1 for each point that is nearer to the candidate than to its centre.
    pub switches: Vec<u8>,
}

/// Computes contributions.
pub trait Gain {
    /// Why it may fail.
    type Error;

    /// What the points contribute if a centre is opened at `candidate`.
    ///
    /// # Errors
    /// When the device does not do it.
    fn contributions(
        &mut self,
        solution: &Solution,
        candidate: usize,
        contributions: &mut Contributions,
    ) -> Result<(), Self::Error>;
}

/// The host's own way, with the same roundings as the kernel.
pub struct OnHost<'a>(pub &'a Points);

impl Gain for OnHost<'_> {
    type Error = Infallible;

    fn contributions(
        &mut self,
        solution: &Solution,
        candidate: usize,
        contributions: &mut Contributions,
    ) -> Result<(), Infallible> {
        let columns = solution.centres.len() + 1;
        let Contributions { lower, switches } = contributions;
        lower.clear();
        lower.resize(self.0.size * columns, 0.0);
        switches.clear();
        switches.resize(self.0.size, 0);
        let rows = lower.chunks_exact_mut(columns).zip(switches);
        let points = self.0.distances_to(candidate).into_iter().zip(&solution.cost).zip(&solution.assigned);
        for ((own, switches), ((candidate_cost, &cost), &assigned)) in rows.zip(points) {
            if candidate_cost < cost {
                *switches = 1;
                own[columns - 1] += candidate_cost - cost;
            } else {
                own[solution.slot[assigned as usize] as usize] += cost - candidate_cost;
            }
        }
        Ok(())
    }
}
