//! `--backend cuda`, with a copy of Bugaroo's own driver in the place of a GPU's: the copy is the plain virtual GPU,
//! and what is injected comes from the modules that are rewritten on the way to it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;

/// Runs `bugaroo run OPTIONS… cbe_dot --variant VARIANT` before such a driver.
fn run(variant: &str, options: &[&str]) -> Output {
    let beside = |name: &str| Path::new(env!("CARGO_BIN_EXE_bugaroo")).with_file_name(name);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let real: PathBuf = folder.path().join("a-real-driver.so");
    fs::copy(beside("libcuda.so"), &real).expect("the workspace is built, in the same profile");
    Command::new(env!("CARGO_BIN_EXE_bugaroo"))
        .env("XDG_STATE_HOME", folder.path())
        .env("BUGAROO_REAL_DRIVER", &real)
        .env_remove("BUGAROO_DRIVER")
        .args(["run", "--backend", "cuda", "--seed", "3", "--format", "json"])
        .args(options)
        .arg(beside("cbe_dot"))
        .args(["--variant", variant])
        .output()
        .expect("bugaroo can be started")
}

fn failures(variant: &str) -> u64 {
    let ran = run(variant, &["--pw", "1", "--trials", "20"]);
    let error = String::from_utf8_lossy(&ran.stderr);
    assert!(matches!(ran.status.code(), Some(0 | 1)), "{:?}: {error}", ran.status);
    let report: Value = serde_json::from_slice(&ran.stdout).expect("a report");
    assert_eq!(report["backend"], "cuda");
    report["cells"][0]["failures"].as_u64().expect("a count")
}

#[test]
fn stores_are_delayed_before_a_real_driver() {
    assert!(failures("no_fence") > 10);
    assert_eq!(failures("1_fence"), 0);
}

#[test]
fn fences_are_inserted_before_a_real_driver() {
    // The store before the unlock: bisect's answer on the virtual GPU.
    let sites = Command::new(env!("CARGO_BIN_EXE_bugaroo"))
        .args(["sites", "--format", "json"])
        .arg(Path::new(env!("CARGO_BIN_EXE_bugaroo")).with_file_name("cbe_dot"))
        .args(["--variant", "no_fence"])
        .output()
        .expect("bugaroo can be started");
    let sites: Value = serde_json::from_slice(&sites.stdout).expect("a list of sites");
    let stores = sites["sites"].as_array().expect("a list").iter().filter(|site| {
        site["function"] == "dot_no_fence"
            && site["instruction"].as_str().is_some_and(|text| text.starts_with("st.global"))
    });
    let stores: Vec<String> =
        stores.map(|site| site["id"].as_str().expect("an identifier").to_owned()).collect();
    assert!(!stores.is_empty());
    let ran = run("no_fence", &["--pw", "1", "--trials", "20", "--with-fence", &stores.join(",")]);
    assert_eq!(ran.status.code(), Some(0), "{}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn without_a_driver_it_is_told_where_one_was_looked_for() {
    let ran = Command::new(env!("CARGO_BIN_EXE_bugaroo"))
        .env("BUGAROO_REAL_DRIVER", "/nowhere/libcuda.so.1")
        .args(["run", "--backend", "cuda", "true"])
        .output()
        .expect("bugaroo can be started");
    let error = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(4), "{error}");
    assert!(error.contains("/nowhere/libcuda.so.1"), "{error}");
}
