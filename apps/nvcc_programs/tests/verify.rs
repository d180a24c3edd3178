//! `bugaroo verify` on programs: kernels as they are launched by the host, by graphs and by other kernels, with clusters and tensor maps.

use std::path::Path;

use crate::support::{Runtime, build, nvcc, run};
use serde_json::Value;

/// What `bugaroo verify` finds in a program that nvcc has built; None without nvcc.
fn verified(source: &str, arguments: &[&str], code: i32) -> Option<Value> {
    let built = build(&nvcc()?, source, Runtime::Static);
    let mut program = vec![built.as_path()];
    program.extend(arguments.iter().map(Path::new));
    let ran = run(&["verify", "--format", "json"], &program);
    let errors = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(code), "{source}: {errors}{}", String::from_utf8_lossy(&ran.stdout));
    Some(serde_json::from_slice(&ran.stdout).expect("a report"))
}

/// Verdict and launches of each of a kernel's verdicts.
fn of(report: &Value, kernel: &str) -> Vec<(String, u64)> {
    let rows = report["kernels"].as_array().expect("a list of verdicts").iter();
    let named = rows.filter(|row| row["demangled"].as_str().is_some_and(|name| name.starts_with(kernel)));
    named
        .map(|row| {
            let verdict = row["verdict"].as_str().expect("a verdict").to_owned();
            (verdict, row["launches"].as_u64().expect("a number"))
        })
        .collect()
}

#[test]
fn tensor_maps_say_what_copies_bring() {
    let right = || vec![("verified".to_owned(), 1)];
    let Some(report) = verified("verify/tensor_maps.cu", &[], 0) else { return };
    assert_eq!(of(&report, "sum("), right());
    // Another number of bytes is never complete: the virtual GPU waits for ever, too.
    let Some(report) = verified("verify/tensor_maps.cu", &["1024"], 1) else { return };
    assert_eq!(of(&report, "sum("), [("deadlock".to_owned(), 1)]);
    assert_eq!(report["failure"]["outcome"], "deadlock");
    let Some(report) = verified("tensor_copies.cu", &[], 0) else { return };
    assert_eq!(
        (of(&report, "shift("), of(&report, "swizzled(")),
        (vec![("verified".to_owned(), 4)], right())
    );
}

#[test]
fn launches_of_graphs_and_of_other_kernels() {
    let all = |report: &Value, launches: u64| {
        assert_eq!((&report["launches"], &report["not_looked_at"]), (&launches.into(), &0.into()));
    };
    let Some(report) = verified("device_launches.cu", &[], 0) else { return };
    all(&report, 238);
    assert_eq!(of(&report, "transform("), [("verified".to_owned(), 8)]);
    let Some(report) = verified("graph_nodes.cu", &[], 0) else { return };
    all(&report, 42);
    assert_eq!(of(&report, "fill("), [("verified".to_owned(), 9)]);
}

#[test]
fn clusters_are_those_of_each_launch() {
    let Some(report) = verified("clusters.cu", &[], 0) else { return };
    // Data says whose shared memory is added to, and where.
    assert!(of(&report, "histogram(").iter().all(|(verdict, _)| verdict == "verified"));
    assert_eq!(of(&report, "neighbours("), [("verified".to_owned(), 1), ("verified".to_owned(), 1)]);
    let clusters: Vec<&Value> =
        report["kernels"].as_array().expect("a list").iter().map(|row| &row["cluster"]).collect();
    assert_eq!(clusters.last(), Some(&&serde_json::json!([2, 1, 1])));
}

#[test]
fn kernels_that_look_at_textures() {
    let Some(report) = verified("textures.cu", &[], 0) else { return };
    let once = || vec![("verified".to_owned(), 1)];
    assert_eq!((of(&report, "blur("), of(&report, "sum(")), (once(), once()));
}

/// A function that a variable names: no kernel writes it, so that the launch says which it is.
#[test]
fn functions_that_variables_name() {
    let Some(report) = verified("two_files/main.cu", &[], 0) else { return };
    assert_eq!(of(&report, "evaluate("), [("verified".to_owned(), 1)]);
}

/// A scan and a sort whose warps look back at the sums of other blocks. Each warp of the sort counts digits in a row of its own, at places
/// that hang on the data, while others have yet to read what stands beside the rows.
#[test]
fn blocks_that_look_back_at_others() {
    for source in ["cub_algorithms.cu", "thrust_algorithms.cu"] {
        let Some(report) = verified(source, &[], 0) else { return };
        let rows = report["kernels"].as_array().expect("a list of verdicts");
        let named = |part: &str| {
            let name = |row: &&Value| row["demangled"].as_str().is_some_and(|name| name.contains(part));
            rows.iter().filter(name).count()
        };
        assert!(named("DeviceReduce") > 1 && named("DeviceRadixSortOnesweepKernel") == 1, "{report:#}");
        assert!(rows.iter().all(|row| row["verdict"] == "verified"), "{report:#}");
    }
}
