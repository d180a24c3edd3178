use std::convert::Infallible;

use super::{Clustering, FEWEST, MOST, search};
use crate::gain::{Contributions, Gain, OnHost, Solution};
use crate::points::{DIMENSIONS, Points};

fn by_host(points: &Points) -> Clustering {
    let Ok(found) = search(points, 10_000, &mut OnHost(points));
    found
}

/// Hands the host's contributions on after a change.
struct Spoilt<'a, F>(OnHost<'a>, F);

impl<F: FnMut(&Solution, &mut Contributions)> Gain for Spoilt<'_, F> {
    type Error = Infallible;

    fn contributions(
        &mut self,
        solution: &Solution,
        candidate: usize,
        contributions: &mut Contributions,
    ) -> Result<(), Infallible> {
        self.0.contributions(solution, candidate, contributions)?;
        self.1(solution, contributions);
        Ok(())
    }
}

#[test]
fn the_number_of_clusters_is_within_its_limits() {
    for size in [128, 256] {
        let count = by_host(&Points::new(size)).centres.len() / DIMENSIONS;
        assert!((FEWEST..=MOST).contains(&count), "{count} clusters of {size} points");
    }
}

#[test]
fn clusters_cost_less_than_one_cluster_at_the_mean() {
    let points = Points::new(256);
    let mut mean = [0.0_f64; DIMENSIONS];
    for point in 0..points.size {
        mean.iter_mut().zip(points.point(point)).for_each(|(mean, &v)| *mean += f64::from(v) / 256.0);
    }
    let square = |point: usize| -> f64 {
        points.point(point).iter().zip(&mean).map(|(&v, mean)| (f64::from(v) - mean).powi(2)).sum()
    };
    let around_the_mean: f64 = (0..points.size).map(square).sum();
    // Twice: centres are points, not means, and a random point is as far from the mean as any.
    assert!(by_host(&points).cost < 2.0 * around_the_mean);
}

#[test]
fn a_search_is_the_same_every_time() {
    let points = Points::new(200);
    assert_eq!(by_host(&points), by_host(&points));
}

#[test]
fn lost_rows_show_in_the_result() {
    let points = Points::new(256);
    // One point's row never arrives, as if its stores were lost.
    let lost = |solution: &Solution, contributions: &mut Contributions| {
        let columns = solution.centres.len() + 1;
        contributions.lower[17 * columns..][..columns].fill(0.0);
        contributions.switches[17] = 0;
    };
    let Ok(found) = search(&points, 10_000, &mut Spoilt(OnHost(&points), lost));
    assert_ne!(found, by_host(&points));
}

#[test]
fn nonsense_ends_the_search() {
    let points = Points::new(40);
    for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -1e30, 1.0] {
        let Ok(_) = search(
            &points,
            2_000,
            &mut Spoilt(OnHost(&points), |_: &Solution, c: &mut Contributions| c.lower.fill(value)),
        );
    }
}

#[test]
fn the_limit_of_gains_is_kept() {
    let points = Points::new(100);
    for limit in [1, 60] {
        let Ok(found) = search(&points, limit, &mut OnHost(&points));
        assert_eq!(found.gains, limit);
    }
}
