use std::collections::BTreeSet;

use crate::exports::{FUNCTIONS, find};

/// Names of the real libraries that nothing here stands behind: a program that calls one is told so.
const MISSING: &str = include_str!("missing.txt");

fn missing(names: &str, version: i32) -> Vec<&str> {
    names.split_whitespace().filter(|name| find(name, version).is_none()).collect()
}

#[test]
fn what_is_missing_is_known() {
    let libraries = [
        (include_str!("../../shims/libcudart.so.13.names"), 13),
        (include_str!("../../shims/libcudart.so.12.names"), 12),
    ];
    let mut all: Vec<_> = libraries.iter().flat_map(|(names, version)| missing(names, *version)).collect();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all, MISSING.split_whitespace().collect::<Vec<_>>());
}

#[test]
fn every_name_is_listed_once() {
    let names: BTreeSet<_> = super::all().chain(FUNCTIONS).map(|(name, _)| name).collect();
    assert_eq!(names.len(), super::all().chain(FUNCTIONS).count());
}
