use super::*;
use crate::fixture::{rated, results};

const SOUND: Model = Model::StoreBuffer;

fn kinds(failures: u64, papers: f64) -> Option<Kind> {
    Kind::of(&rated("cbe_dot", "no_fence", SOUND, [failures; 4]).cells[0], papers)
}

#[test]
fn a_single_failure_where_the_paper_saw_none_is_a_difference_in_kind() {
    assert_eq!(kinds(1, 0.0), Some(Kind::OursAlone));
    assert_eq!(kinds(0, 0.0), None);
}

#[test]
fn none_of_ours_is_a_difference_only_where_the_trials_were_enough_to_tell() {
    assert_eq!(kinds(0, 1.0), Some(Kind::PapersAlone));
    assert_eq!(kinds(0, 0.0037), Some(Kind::PapersAlone));
    // The interval of 0 in 1000 reaches up to 0.0037.
    assert_eq!(kinds(0, 0.002), None);
}

#[test]
fn rates_differ_in_size_where_our_interval_excludes_the_papers() {
    assert_eq!(kinds(857, 0.857), None);
    assert_eq!(kinds(1000, 1.0), None);
    assert_eq!(kinds(990, 1.0), Some(Kind::Size));
    assert_eq!(kinds(900, 0.857), Some(Kind::Size));
}

#[test]
fn differences_are_gathered_by_row_and_kind() {
    let differences = differences(&results(), SOUND);
    let [only] = differences.as_slice() else { panic!("{differences:?}") };
    assert_eq!((only.finding.variant, only.kind, &only.pw), ("no_fence", Kind::Size, &vec![0.5, 0.25]));
    assert!(only.cause.is_some());
}

#[test]
fn what_must_not_fail_is_found_under_the_sound_model_alone() {
    let mut results = results();
    assert_eq!(unsound(&results), Vec::<&Rated>::new());
    results.rates.push(rated("hotspot", "original", Model::Bugaroo, [1; 4]));
    assert_eq!(unsound(&results), Vec::<&Rated>::new());
    results.rates.push(rated("hotspot", "original", SOUND, [0, 0, 0, 1]));
    let [only] = unsound(&results)[..] else { panic!() };
    assert!(only.row.is("hotspot", "original"));
}
