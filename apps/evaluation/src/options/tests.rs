use super::*;

fn options(args: &[&str]) -> Options {
    Options::try_parse_from([&["evaluation"], args].concat()).unwrap()
}

#[test]
fn the_full_form_takes_all_models_and_the_papers_number_of_runs() {
    let full = options(&[]);
    assert_eq!((full.trials(), full.models()), (1000, vec![Model::StoreBuffer, Model::Bugaroo, Model::Ptx]));
    assert_eq!(full.programs().len(), 7);
}

#[test]
fn the_short_form_takes_less_unless_told_otherwise() {
    let short = options(&["--short"]);
    assert_eq!((short.trials(), short.models()), (100, vec![Model::StoreBuffer]));
    assert!(short.timings() < options(&[]).timings());
    let told = options(&["--short", "--trials", "5", "--model", "bugaroo"]);
    assert_eq!((told.trials(), told.models()), (5, vec![Model::Bugaroo]));
}

#[test]
fn programs_come_once_and_in_the_papers_order() {
    let names =
        |args: &[&str]| options(args).programs().iter().map(|program| program.name).collect::<Vec<_>>();
    assert_eq!(names(&["--only", "kmeans", "--only", "cbe_dot", "--only", "kmeans"]), ["cbe_dot", "kmeans"]);
}

#[test]
fn what_is_no_program_is_refused_with_those_that_are() {
    let error = Options::try_parse_from(["evaluation", "--only", "nbody"]).unwrap_err().to_string();
    assert!(error.contains("it is none of cbe_dot, ct_octree"), "{error}");
}

#[test]
fn papers_are_all_unless_some_are_named_or_programs_are() {
    use crate::races::questions::Paper::{Barracuda, Bugaroo, Hirace, Scord};
    assert_eq!(options(&[]).papers(), [Bugaroo, Hirace, Scord, Barracuda]);
    assert_eq!(options(&["--only", "kmeans"]).papers(), [Bugaroo]);
    assert_eq!(options(&["--paper", "scord", "--paper", "hirace"]).papers(), [Hirace, Scord]);
    assert_eq!(options(&["--paper", "barracuda", "--only", "kmeans"]).papers(), [Barracuda]);
}
