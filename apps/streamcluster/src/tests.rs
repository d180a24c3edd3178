use crate::points::DIMENSIONS;
use crate::relative_distance;

#[test]
fn distance_is_that_of_the_worst_pair() {
    let expected = [2.0; 2 * DIMENSIONS];
    let mut centres = expected;
    assert_eq!(relative_distance(&centres, &expected), 0.0);
    centres[DIMENSIONS..].fill(3.0);
    assert_eq!(relative_distance(&centres, &expected), 0.5);
}

#[test]
fn a_nan_is_never_near() {
    assert!(relative_distance(&[f32::NAN; DIMENSIONS], &[1.0; DIMENSIONS]).is_nan());
}
