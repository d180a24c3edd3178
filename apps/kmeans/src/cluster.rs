//! K-means clustering (Lloyd's algorithm) as the host drives it, whoever assigns the points.

use bugaroo_apps_host::noise;

/// Values of each point.
pub const FEATURES: usize = 34;
/// Groups that the points really come in.
const GROUPS: usize = 5;
/// Share of the points that may still change cluster when the search ends.
const THRESHOLD: f32 = 0.001;
/// Most iterations of a search.
const MOST_ITERATIONS: u32 = 500;

/// What a search found.
#[derive(Debug, PartialEq)]
pub struct Clustering {
    /// The centres, one after the other.
    pub centres: Vec<f32>,
    /// How often the points were assigned.
    pub iterations: u32,
}

/// `count` points, one after the other: scattered around a few distinct places, in turns.
pub fn points(count: usize) -> Vec<f32> {
    let value = |point: usize, feature: usize| {
        let place = 10.0 * noise(1, (point % GROUPS * FEATURES + feature) as u64);
        place + 4.0 * (noise(2, (point * FEATURES + feature) as u64) - 0.5)
    };
    (0..count).flat_map(|point| (0..FEATURES).map(move |feature| value(point, feature))).collect()
}

/// Searches `clusters` clusters of `points`. The first points are the first centres; `assign` gives each
/// point's nearest centre among those it is handed. Ends when hardly a point changes its cluster.
///
/// # Errors
/// What `assign` fails with.
pub fn search<E>(
    points: &[f32],
    clusters: usize,
    mut assign: impl FnMut(&[f32]) -> Result<Vec<i32>, E>,
) -> Result<Clustering, E> {
    let mut centres = points[..clusters * FEATURES].to_vec();
    let mut membership = vec![-1; points.len() / FEATURES];
    for iterations in 1.. {
        let now = assign(&centres)?;
        let changes = now.iter().zip(&membership).filter(|(now, before)| now != before).count();
        membership = now;
        move_centres(points, &membership, &mut centres);
        if changes as f32 <= THRESHOLD * membership.len() as f32 || iterations == MOST_ITERATIONS {
            return Ok(Clustering { centres, iterations });
        }
    }
    unreachable!("the loop ends by the limit of iterations")
}

/// Moves each centre to the mean of its points; one without points stays. A membership that names no
/// cluster, which only a device gone wrong gives, counts for none.
fn move_centres(points: &[f32], membership: &[i32], centres: &mut [f32]) {
    let mut sums = vec![0.0; centres.len()];
    let mut counts = vec![0_u32; centres.len() / FEATURES];
    for (point, &cluster) in points.chunks_exact(FEATURES).zip(membership) {
        let Some((cluster, count)) =
            usize::try_from(cluster).ok().and_then(|cluster| Some((cluster, counts.get_mut(cluster)?)))
        else {
            continue;
        };
        *count += 1;
        for (sum, value) in sums[cluster * FEATURES..].iter_mut().zip(point) {
            *sum += value;
        }
    }
    for ((centre, sums), &count) in
        centres.chunks_exact_mut(FEATURES).zip(sums.chunks_exact(FEATURES)).zip(&counts)
    {
        for (value, sum) in centre.iter_mut().zip(sums).filter(|_| count > 0) {
            *value = sum / count as f32;
        }
    }
}

/// The nearest centre of each point, by the host: the same roundings as in the kernel.
pub fn nearest(points: &[f32], centres: &[f32]) -> Vec<i32> {
    let nearest_of = |point: &[f32]| {
        let mut nearest = -1;
        let mut least = f32::INFINITY;
        for (cluster, centre) in (0..).zip(centres.chunks_exact(FEATURES)) {
            let distance = squared_distance(point, centre);
            if distance < least {
                (least, nearest) = (distance, cluster);
            }
        }
        nearest
    };
    points.chunks_exact(FEATURES).map(nearest_of).collect()
}

/// How far `centres` are from those `expected`: the largest distance of two that belong together, as a
/// share of the expected one's length.
pub fn relative_distance(centres: &[f32], expected: &[f32]) -> f32 {
    let relative = |(centre, expected): (&[f32], &[f32])| {
        let length = expected.iter().map(|value| value * value).sum::<f32>();
        (squared_distance(centre, expected) / length).sqrt()
    };
    let pairs = centres.chunks_exact(FEATURES).zip(expected.chunks_exact(FEATURES));
    // Not f32::max, which would drop a NaN.
    pairs.map(relative).fold(0.0, |most, next| if next <= most { most } else { next })
}

fn squared_distance(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).fold(0.0, |sum, square| sum + square)
}

#[cfg(test)]
mod tests;
