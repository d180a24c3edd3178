use super::*;
use crate::catalog::program;

fn cbe_dot(variant: &str, fails: &[(&str, bool)]) -> Option<Verdict> {
    let fails = |name: &str| fails.iter().find(|(other, _)| *other == name).map(|(_, fails)| *fails);
    verdict(program("cbe_dot").unwrap(), variant, fails)
}

#[test]
fn a_variant_is_judged_beside_those_with_fewer_fences() {
    let all = [("original_2_fence", false), ("1_fence", false), ("no_fence", true)];
    assert_eq!(cbe_dot("original_2_fence", &all), Some(Verdict::Overfenced));
    assert_eq!(cbe_dot("1_fence", &all), Some(Verdict::Optimal));
    assert_eq!(cbe_dot("no_fence", &all), Some(Verdict::Underfenced));
}

#[test]
fn what_is_not_measured_yet_leaves_the_verdict_open() {
    assert_eq!(cbe_dot("1_fence", &[("1_fence", false)]), None);
    assert_eq!(cbe_dot("1_fence", &[("1_fence", true)]), Some(Verdict::Underfenced));
    assert_eq!(cbe_dot("no_fence", &[]), None);
}

#[test]
fn without_fences_there_is_nothing_to_take_away() {
    let kmeans = program("kmeans").unwrap();
    assert_eq!(verdict(kmeans, "original", |_| Some(false)), Some(Verdict::Optimal));
}
