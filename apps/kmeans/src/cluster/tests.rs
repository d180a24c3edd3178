use std::convert::Infallible;

use super::{FEATURES, GROUPS, MOST_ITERATIONS, nearest, points, relative_distance, search};

fn by_host(points: &[f32], clusters: usize) -> super::Clustering {
    let Ok(found) = search(points, clusters, |centres| Ok::<_, Infallible>(nearest(points, centres)));
    found
}

#[test]
fn the_default_input_takes_two_iterations() {
    assert_eq!(by_host(&points(100), GROUPS).iterations, 2);
}

#[test]
fn the_groups_are_found() {
    let points = points(100);
    let found = by_host(&points, GROUPS);
    let membership = nearest(&points, &found.centres);
    assert!(membership.iter().enumerate().all(|(point, &cluster)| cluster as usize == point % GROUPS));
}

#[test]
fn every_centre_is_the_mean_of_its_points() {
    let points = points(200);
    let found = by_host(&points, 8);
    assert!(found.iterations > 2, "more clusters than groups take longer");
    let membership = nearest(&points, &found.centres);
    for (cluster, centre) in found.centres.chunks_exact(FEATURES).enumerate() {
        let own: Vec<&[f32]> = points
            .chunks_exact(FEATURES)
            .zip(&membership)
            .filter(|&(_, &of)| of as usize == cluster)
            .map(|(point, _)| point)
            .collect();
        for (feature, value) in centre.iter().enumerate() {
            let mean = own.iter().map(|point| point[feature]).sum::<f32>() / own.len() as f32;
            assert!((value - mean).abs() < 1e-4, "cluster {cluster}, feature {feature}: {value}, not {mean}");
        }
    }
}

#[test]
fn a_search_that_never_settles_ends() {
    let points = points(100);
    let mut flip = 0;
    let Ok(found) = search(&points, 2, |_| {
        flip = 1 - flip;
        Ok::<_, Infallible>(vec![flip; 100])
    });
    assert_eq!(found.iterations, MOST_ITERATIONS);
}

#[test]
fn one_point_in_the_wrong_cluster_is_far_over_the_tolerance() {
    let points = points(65_536);
    let mut membership = nearest(&points, &by_host(&points, GROUPS).centres);
    let mut right = vec![0.0; GROUPS * FEATURES];
    super::move_centres(&points, &membership, &mut right);
    membership[17] = (membership[17] + 1) % GROUPS as i32;
    let mut wrong = vec![0.0; GROUPS * FEATURES];
    super::move_centres(&points, &membership, &mut wrong);
    assert!(relative_distance(&wrong, &right) > 10.0 * crate::TOLERANCE);
    assert_eq!(relative_distance(&right, &right), 0.0);
}

#[test]
fn a_nan_is_never_near() {
    let nan = [f32::NAN; FEATURES];
    assert!(relative_distance(&nan, &[1.0; FEATURES]).is_nan());
}
