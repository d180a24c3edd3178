//! Programs with the static runtime and without symbols, which run NVIDIA's own runtime on Bugaroo's driver: trial for trial they give what
//! the same programs give whose runtime is redirected.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{Runtime, build, nvcc, run};
use serde_json::Value;
use tempfile::TempDir;

/// A program, and the same without symbols, of the same name.
struct Pair {
    whole: PathBuf,
    stripped: PathBuf,
    _folder: TempDir,
}

impl Pair {
    fn of(source: &str) -> Option<Pair> {
        let whole = build(&nvcc()?, source, Runtime::Static);
        let folder = tempfile::tempdir().expect("a temporary folder");
        let stripped = folder.path().join(whole.file_name().expect("a file"));
        let strip = Command::new("strip").arg(&whole).arg("-o").arg(&stripped).status();
        assert!(strip.is_ok_and(|status| status.success()), "strip");
        let symbols = Command::new("nm").arg(&stripped).output().expect("nm can be started");
        assert!(symbols.stdout.is_empty(), "nothing to redirect");
        Some(Pair { whole, stripped, _folder: folder })
    }

    /// Exit code and report of both, but for what is another one in each run.
    fn reports(&self, options: &[&str], words: &[&str]) -> [(Option<i32>, Value); 2] {
        [&self.whole, &self.stripped].map(|program| {
            let words = words.iter().map(Path::new);
            let program: Vec<&Path> = [program.as_path()].into_iter().chain(words).collect();
            let ran = run(&[options, &["--format", "json"]].concat(), &program);
            let said = String::from_utf8_lossy(&ran.stderr);
            let mut report: Value =
                serde_json::from_slice(&ran.stdout).unwrap_or_else(|wrong| panic!("{wrong}: {said}"));
            for varies in ["app", "trials_per_second", "run_dir"] {
                report.as_object_mut().expect("an object").remove(varies);
            }
            (ran.status.code(), report)
        })
    }

    /// Asks that both say the same; what they say.
    fn same(&self, options: &[&str], words: &[&str]) -> (Option<i32>, Value) {
        let [whole, stripped] = self.reports(options, words);
        assert_eq!(stripped, whole, "{options:?} {words:?}");
        whole
    }
}

macro_rules! programs {
    ($($test:ident: $source:literal;)*) => {$(
        #[test]
        fn $test() {
            let Some(pair) = Pair::of($source) else { return };
            for model in ["bugaroo", "store-buffer", "ptx"] {
                let options = ["run", "--trials", "20", "--seed", "3", "--model", model];
                let (code, report) = pair.same(&options, &[]);
                assert!(matches!(code, Some(0 | 1)), "{model}: {report:#}");
                assert_eq!(report["cells"][0]["trials"], 20, "{model}");
            }
        }
    )*};
}

programs! {
    streams_and_events: "streams_events.cu";
    graphs_and_their_nodes: "graph_nodes.cu";
    managed_and_mapped_memory: "managed.cu";
    textures_and_surfaces: "textures.cu";
    relocatable_device_code: "two_files/main.cu";
    cooperative_grid_sync: "grid_sync.cu";
    launches_from_the_device: "device_launches.cu";
    what_warps_fail_by: "two_warps.cu";
    calls_of_the_runtime: "runtime_calls.cu";
}

/// The program exits with 1 when a call of the runtime's gives something else than a GPU's.
#[test]
fn what_the_runtime_answers_is_right() {
    let Some(pair) = Pair::of("runtime_calls.cu") else { return };
    for program in [&pair.whole, &pair.stripped] {
        let ran = run(&["run", "--trials", "3"], &[program]);
        assert_eq!(ran.status.code(), Some(0), "{}", String::from_utf8_lossy(&ran.stderr));
    }
}

#[test]
fn trials_are_forked() {
    let Some(pair) = Pair::of("streams_events.cu") else { return };
    let (_, report) = pair.same(&["run", "--trials", "5", "--seed", "3"], &[]);
    assert_eq!(report["fork_server"]["used"], true, "{report:#}");
}

#[test]
fn missing_fences_and_their_lines() {
    let Some(pair) = Pair::of("silent.cu") else { return };
    let options = ["bisect", "--oracle", "memory", "--trials", "200", "--seed", "3"];
    let (code, report) = pair.same(&options, &[]);
    assert_eq!(code, Some(1));
    let missing = report["missing"].as_array().expect("a list");
    let named =
        |found: &Value| found["source"]["file"].as_str().is_some_and(|file| file.ends_with("silent.cu"));
    assert!(!missing.is_empty() && missing.iter().all(named), "{report:#}");
}

/// But for the calls on the host, whose functions have no names.
#[test]
fn races_and_their_lines() {
    let Some(pair) = Pair::of("silent.cu") else { return };
    let options = ["race", "--detector", "hirace", "--trials", "4", "--seed", "3"];
    let [whole, stripped] = pair.reports(&options, &[]).map(|(code, report)| {
        let races = report["races"].as_array().expect("a list").clone();
        let sides = races.iter().flat_map(|race| [&race["first"], &race["second"]]);
        let told = |side: &Value| ["kernel", "ptx_line", "source", "access"].map(|what| side[what].clone());
        (code, sides.map(told).collect::<Vec<_>>())
    });
    assert_eq!(stripped, whole);
    assert!(whole.0 == Some(1) && !whole.1.is_empty(), "{whole:?}");
}

/// As with the redirected runtime: a fat binary is looked at when something of it is used first.
#[test]
fn machine_code_is_refused_when_a_kernel_of_it_is_launched() {
    let Some(pair) = Pair::of("machine_code.cu") else { return };
    let ran = run(&["run", "--trials", "2"], &[&pair.stripped]);
    assert_eq!(ran.status.code(), Some(0), "{}", String::from_utf8_lossy(&ran.stderr));
    let ran = run(&["run", "--trials", "2"], &[&pair.stripped, Path::new("launches")]);
    let said = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(4), "{said}");
    assert!(said.contains("the module of the kernel `void twice<int>(int*)` is a fat binary"), "{said}");
}
