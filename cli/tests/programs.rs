//! The paper's seven programs on the virtual GPU: Table IV in a few trials a cell, and the same with fences
//! omitted by number. Seeds are fixed; the evaluation does the whole table.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;

/// The built program, beside the built `bugaroo`.
fn program(name: &str) -> PathBuf {
    let built = Path::new(env!("CARGO_BIN_EXE_bugaroo")).with_file_name(name);
    assert!(
        built.exists() && built.with_file_name("libcuda.so").exists(),
        "{} or libcuda.so beside it is missing: build the whole workspace first, in the same profile",
        built.display()
    );
    built
}

/// Runs `bugaroo OPTIONS… PROGRAM ARGUMENTS…` in an empty state folder.
fn bugaroo(options: &[&str], app: &[&str]) -> Output {
    let state = tempfile::tempdir().expect("a temporary folder");
    Command::new(env!("CARGO_BIN_EXE_bugaroo"))
        .env("XDG_STATE_HOME", state.path())
        .env_remove("BUGAROO_DRIVER")
        .args(options)
        .arg(program(app[0]))
        .args(&app[1..])
        .output()
        .expect("bugaroo can be started")
}

fn json(output: &Output) -> Value {
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 1)), "{:?}: {error}", output.status);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|wrong| panic!("{wrong}: {error}"))
}

/// Failures in each cell of a run.
fn failures(options: &[&str], app: &[&str]) -> Vec<u64> {
    let options = [&["run", "--seed", "5", "--format", "json"], options].concat();
    let report = json(&bugaroo(&options, app));
    let cells = report["cells"].as_array().expect("a list of cells");
    cells.iter().map(|cell| cell["failures"].as_u64().expect("a count")).collect()
}

const CELLS: [&str; 4] = ["--pw", "1,0.75,0.5,0.25", "--trials", "10"];

fn never_fails(app: &[&str]) {
    assert_eq!(failures(&CELLS, app), [0; 4], "{app:?}");
}

/// Fails at every p_w; how often is the evaluation's business.
fn fails(app: &[&str]) {
    let seen = failures(&["--pw", "1,0.75,0.5,0.25", "--trials", "12"], app);
    assert!(seen.iter().all(|failures| *failures > 0), "{app:?}: {seen:?}");
}

/// Numbers of the sites of this kind in a kernel whose source line holds the text, `//` notes left out.
fn fences_at(program: &str, variant: &str, kernel: &str, text: &str) -> BTreeSet<String> {
    let report = json(&bugaroo(&["sites", "--format", "json"], &[program, "--variant", variant]));
    let path = format!("{}/../apps/{program}/kernel.cu", env!("CARGO_MANIFEST_DIR"));
    let source = fs::read_to_string(path).expect("kernel.cu is in the repository");
    let line =
        source.lines().position(|line| line.contains(text)).expect("the kernel has such a line") as u64 + 1;
    let here = |site: &&Value| {
        site["kind"] == "fence" && site["function"] == kernel && site["source"]["line"].as_u64() == Some(line)
    };
    let sites = report["sites"].as_array().expect("a list of sites");
    let number = |site: &Value| site["id"].as_str().expect("an id").to_owned();
    sites.iter().filter(here).map(number).collect()
}

/// A variant without this fence fails, by number as by name.
fn omitted_fails(program: &str, variant: &str, kernel: &str, fence: &str) {
    let sites = fences_at(program, variant, kernel, fence);
    assert!(!sites.is_empty(), "{kernel} has no fence at '{fence}'");
    let list = sites.into_iter().collect::<Vec<_>>().join(",");
    let options = ["--pw", "1", "--trials", "30", "--without-fence", &list];
    let seen = failures(&options, &[program, "--variant", variant]);
    assert!(seen[0] > 0, "{program} without '{fence}' passes");
}

#[test]
fn ct_octree_needs_the_fence_in_push() {
    never_fails(&["ct_octree", "--variant", "1_fence"]);
    fails(&["ct_octree", "--variant", "original_no_fence"]);
    omitted_fails("ct_octree", "1_fence", "octree_1_fence", "if constexpr (kFence) __threadfence();");
}

#[test]
fn sdk_red_needs_its_fence() {
    never_fails(&["sdk_red", "--variant", "original_1_fence"]);
    fails(&["sdk_red", "--variant", "no_fence"]);
    omitted_fails(
        "sdk_red",
        "original_1_fence",
        "reduce_original_1_fence",
        "if constexpr (kFence) __threadfence();",
    );
}

#[test]
fn cub_scan_needs_all_three() {
    never_fails(&["cub_scan", "--variant", "original_all_3_fence"]);
    for variant in ["f1_f2_fence", "f1_f3_fence", "f2_f3_fence", "no_fence"] {
        fails(&["cub_scan", "--variant", variant]);
    }
    for fence in ["kFence1", "kFence2", "kFence3"] {
        let line = format!("if constexpr ({fence}) __threadfence();");
        omitted_fails("cub_scan", "original_all_3_fence", "scan_original_all_3_fence", &line);
    }
}

#[test]
fn programs_without_fences_never_fail() {
    for app in [&["kmeans"][..], &["hotspot"], &["streamcluster", "--size", "128", "--gains", "60"]] {
        never_fails(app);
        let paper = [&CELLS[..], &["--model", "bugaroo"]].concat();
        assert_eq!(failures(&paper, app), [0; 4], "{app:?} under model bugaroo");
    }
}

/// The lines of `kernel.cu` that `bisect` puts a fence beside, each with its side.
fn missing(program: &str, variant: &str) -> BTreeSet<String> {
    let options = ["bisect", "--model", "store-buffer", "--seed", "3", "--trials", "30", "--format", "json"];
    let report = json(&bugaroo(&options, &[program, "--variant", variant]));
    let path = format!("{}/../apps/{program}/kernel.cu", env!("CARGO_MANIFEST_DIR"));
    let source = fs::read_to_string(path).expect("kernel.cu is in the repository");
    let lines: Vec<&str> = source.lines().collect();
    let found = report["missing"].as_array().expect("a list");
    let line = |fence: &Value| {
        let line = lines[fence["source"]["line"].as_u64().expect("a line") as usize - 1].trim();
        let side = fence["place"].as_str().expect("a place").split(' ').next().expect("a side").to_owned();
        format!("{side} {line}")
    };
    found.iter().map(line).collect()
}

/// What an under-fenced program lacks: a fence at the access that publishes, or else behind what was stored.
const PUSHED: &str = "before word.fetch_add(kTailStep, kRelaxed);";
const PARTIAL_SUM: &str = "before unsigned ticket = atomicInc(tickets, gridDim.x);";
const DESCRIPTOR: &str = "after if constexpr (!kPtx) __threadfence_block();";
const INCLUSIVE: &str = "before tiles.status[tile] = kInclusive;";
const PARTIAL: &str = "before tiles.status[tile] = kPartial;";

#[test]
fn bisect_names_what_is_missing_and_nothing_else() {
    for (program, variant, expected) in [
        ("ct_octree", "original_no_fence", &[PUSHED][..]),
        ("sdk_red", "no_fence", &[PARTIAL_SUM]),
        ("cub_scan", "f2_f3_fence", &[DESCRIPTOR]),
        ("cub_scan", "f1_f3_fence", &[INCLUSIVE]),
        ("cub_scan", "f1_f2_fence", &[PARTIAL]),
        ("cub_scan", "no_fence", &[DESCRIPTOR, INCLUSIVE, PARTIAL]),
    ] {
        let expected: BTreeSet<String> = expected.iter().map(|&line| line.to_owned()).collect();
        assert_eq!(missing(program, variant), expected, "{program} {variant}");
    }
}
