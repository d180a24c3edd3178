use super::*;
use crate::fixture;

#[test]
fn results_survive_the_file() {
    let place = tempfile::tempdir().unwrap();
    let results = fixture::results();
    results.save(place.path()).unwrap();
    assert_eq!(Evaluation::open(place.path(), results.settings.clone()).unwrap(), results);
}

#[test]
fn a_directory_without_results_gives_new_ones() {
    let place = tempfile::tempdir().unwrap();
    let settings = fixture::settings();
    assert_eq!(Evaluation::open(place.path(), settings.clone()).unwrap(), Evaluation::new(settings));
}

#[test]
fn results_of_other_settings_or_another_build_are_refused_with_what_differs() {
    let place = tempfile::tempdir().unwrap();
    fixture::results().save(place.path()).unwrap();
    let mut settings = fixture::settings();
    settings.trials = 7;
    settings.built.insert("libcuda.so".to_owned(), "other".to_owned());
    let error = Evaluation::open(place.path(), settings).unwrap_err().to_string();
    assert!(error.contains("trials 1000 instead of 7, another libcuda.so. Name another --out"), "{error}");
}

#[test]
fn what_is_damaged_is_named() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join(FILE), "{\"schema\": 1").unwrap();
    let error = format!("{:#}", Evaluation::open(place.path(), fixture::settings()).unwrap_err());
    assert!(error.contains("evaluation.json"), "{error}");
}

#[test]
fn rows_are_found_by_program_variant_and_model() {
    let results = fixture::results();
    assert!(results.rated("cbe_dot", "no_fence", Model::StoreBuffer).unwrap().fails());
    assert!(!results.rated("cbe_dot", "1_fence", Model::StoreBuffer).unwrap().fails());
    assert_eq!(results.rated("cbe_dot", "no_fence", Model::Bugaroo), None);
    assert_eq!(results.counts("kmeans", "original").unwrap().global_stores, 3600);
    assert_eq!(results.models(), [Model::StoreBuffer]);
}
