//! Model `ptx` from end to end, on `cbe_dot` without the fence in its `lock()`: every option and command that takes a
//! model. The load of the sum misses what the block before has written, as nothing acquires behind the `atomicCAS`.

use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

/// The variant without the fence in `lock()`, and one with the fewest fences with which nothing fails.
const WRONG: &str = "1_fence";
const RIGHT: &str = "ptx_correct";

fn cbe_dot() -> PathBuf {
    let built = Path::new(env!("CARGO_BIN_EXE_bugaroo")).with_file_name("cbe_dot");
    assert!(built.exists(), "{} is missing: build the whole workspace first", built.display());
    built
}

/// A state folder, and commands that use it.
struct Place(TempDir);

impl Place {
    fn new() -> Place {
        Place(tempfile::tempdir().expect("a temporary folder"))
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bugaroo"));
        command
            .env("XDG_STATE_HOME", self.0.path())
            .env_remove("BUGAROO_DRIVER")
            // Source lines are relative to here.
            .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."));
        command
    }

    /// `bugaroo COMMAND --model ptx OPTIONS… cbe_dot --variant VARIANT`.
    fn bugaroo(&self, command: &str, options: &[&str], variant: &str) -> Output {
        self.command()
            .args([command, "--model", "ptx", "--seed", "3"])
            .args(options)
            .arg(cbe_dot())
            .args(["--variant", variant])
            .output()
            .expect("bugaroo can be started")
    }

    /// How many of 40 trials fail.
    fn failures(&self, options: &[&str], variant: &str) -> u64 {
        let options = [&["--trials", "40", "--format", "json"], options].concat();
        let output = self.bugaroo("run", &options, variant);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {said}"));
        let failures = report["cells"][0]["failures"].as_u64().unwrap_or_else(|| panic!("{report}"));
        assert_eq!(output.status.code(), Some(i32::from(failures > 0)), "{said}");
        failures
    }

    /// Sites of the variant's kernel of this kind, with their source lines.
    fn sites(&self, kind: &str, variant: &str) -> Vec<(String, u64)> {
        let output = self
            .command()
            .args(["sites", "--format", "json"])
            .arg(cbe_dot())
            .args(["--variant", variant])
            .output()
            .expect("bugaroo can be started");
        let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
        let kernel = format!("dot_{variant}");
        let all = report["sites"].as_array().expect("sites").iter();
        all.filter(|site| site["function"] == kernel.as_str() && site["kind"] == kind)
            .map(|site| {
                let id = site["id"].as_str().expect("a number").to_owned();
                (id, site["source"]["line"].as_u64().expect("a line"))
            })
            .collect()
    }

    /// The `atomicCAS` of `lock()`: the first atomic of the kernel.
    fn taking_of_the_lock(&self) -> String {
        self.sites("atomic", WRONG)[0].0.clone()
    }
}

#[test]
fn run_finds_the_missing_acquire_and_says_so() {
    let place = Place::new();
    let output = place.bugaroo("run", &["--trials", "40"], WRONG);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("a load read an older value than memory held"), "{said}");
    assert!(said.contains("no acquire: the reader executed no fence or acquire"), "{said}");
    for scheduler in ["random", "pct"] {
        assert!(place.failures(&["--scheduler", scheduler], WRONG) > 20, "{scheduler}");
        assert_eq!(place.failures(&["--scheduler", scheduler], RIGHT), 0, "{scheduler}");
    }
}

#[test]
fn replay_gives_the_same_trial() {
    let place = Place::new();
    let out = place.0.path().join("run");
    let output = place.bugaroo("run", &["--trials", "10", "--out", out.to_str().expect("text")], WRONG);
    assert_eq!(output.status.code(), Some(1));
    let again = place.command().arg("replay").arg(&out).arg("0").output().expect("bugaroo can be started");
    let said = String::from_utf8_lossy(&again.stdout).into_owned() + &String::from_utf8_lossy(&again.stderr);
    assert_eq!(again.status.code(), Some(1), "{said}");
    assert!(said.contains("as recorded: outcome"), "{said}");
}

#[test]
fn the_same_seed_gives_the_same_trials_with_and_without_the_fork_server() {
    let trials = |options: &[&str]| {
        let place = Place::new();
        let out = place.0.path().join("run");
        let options = [&["--trials", "12", "--out", out.to_str().expect("text")], options].concat();
        place.bugaroo("run", &options, WRONG);
        let text = std::fs::read_to_string(out.join("trials.jsonl")).expect("trials");
        let mut all: Vec<(u64, String, Option<String>)> = text
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).expect("a record"))
            .map(|record| {
                let outcome = record["outcome"].as_str().expect("an outcome").to_owned();
                (
                    record["trial"].as_u64().expect("an index"),
                    outcome,
                    record["digest"].as_str().map(str::to_owned),
                )
            })
            .collect();
        all.sort();
        all
    };
    let forked = trials(&["--jobs", "2"]);
    assert_eq!(forked.len(), 12);
    assert_eq!(forked, trials(&["--jobs", "1", "--no-fork-server"]));
}

#[test]
fn spaces_and_probabilities_select() {
    let place = Place::new();
    assert!(place.failures(&["--space", "global"], WRONG) > 20);
    // What fails is in global memory.
    assert_eq!(place.failures(&["--space", "shared"], WRONG), 0);
    assert_eq!(place.failures(&["--pw", "0", "--pr", "0"], WRONG), 0);
    assert!(place.failures(&["--pw", "0"], WRONG) > 20, "loads alone show it");
    assert_eq!(place.failures(&["--kernel", "^dot_no_fence$"], WRONG), 0);
}

#[test]
fn fences_are_inserted_narrowed_and_left_out() {
    let place = Place::new();
    let lock = place.taking_of_the_lock();
    assert_eq!(place.failures(&["--with-fence", &lock], WRONG), 0, "it cures");
    let narrow = ["--with-fence", lock.as_str(), "--narrow-fence", lock.as_str()];
    assert!(place.failures(&narrow, WRONG) > 20, "a block's fence does not");
    let fences = place.sites("fence", RIGHT);
    assert_eq!(fences.len(), 2, "{fences:?}");
    for (site, line) in &fences {
        assert!(place.failures(&["--without-fence", site], RIGHT) > 0, "the fence of line {line} is needed");
        assert!(place.failures(&["--narrow-fence", site], RIGHT) > 0, "for the device, too");
    }
}

#[test]
fn bisect_names_the_line() {
    let place = Place::new();
    let output = place.bugaroo("bisect", &["--trials", "40", "--format", "json"], WRONG);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
    let missing = report["missing"].as_array().expect("missing fences");
    assert_eq!(missing.len(), 1, "{report}");
    let line = place.sites("atomic", WRONG)[0].1;
    // Behind the whole loop that the atomic is the condition of.
    assert_eq!(missing[0]["source"]["line"].as_u64(), Some(line + 1), "{report}");
    assert!(missing[0]["place"].as_str().is_some_and(|place| place.starts_with("after ")), "{report}");
    assert!(
        report["patch"].as_str().is_some_and(|patch| patch.contains("\n+    __threadfence();\n")),
        "{report}"
    );
    assert_eq!(report["verified"]["failures"], 0, "{report}");
}

/// Where memory runs short, what was forgotten is told, and nothing is concluded from what did not show.
#[test]
fn what_is_forgotten_is_told() {
    let place = Place::new();
    let tight = ["--trials", "3", "--model-memory", "1M", "--format", "json"];
    let output = place.bugaroo("run", &tight, RIGHT);
    let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
    let forgotten = &report["cells"][0]["forgotten"];
    let warned = String::from_utf8_lossy(&output.stderr).contains("--model-memory");
    // `cbe_dot` fits into a mebibyte; if ever it does not, both have to say so.
    assert_eq!(forgotten.is_object(), warned, "{report}");
    let output = place.bugaroo("run", &["--model-memory", "12Q"], RIGHT);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no unit of memory"));
}
