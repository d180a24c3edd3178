//! `bugaroo race` and `bisect --oracle race` on a real program: `cbe_dot` on the virtual GPU, through the built `libcuda.so`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

fn built(name: &str) -> PathBuf {
    let built = Path::new(env!("CARGO_BIN_EXE_bugaroo")).with_file_name(name);
    assert!(
        built.exists() && built.with_file_name("libcuda.so").exists(),
        "{} or libcuda.so beside it is missing: build the whole workspace first, in the same profile",
        built.display()
    );
    built
}

/// Runs `bugaroo COMMAND OPTIONS… cbe_dot --variant VARIANT` in an empty state folder.
fn bugaroo(state: &TempDir, options: &[&str], variant: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_bugaroo"))
        .env("XDG_STATE_HOME", state.path())
        .env_remove("BUGAROO_DRIVER")
        // Source lines are relative to here.
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
        .args(options)
        .arg(built("cbe_dot"))
        .args(["--variant", variant])
        .output()
        .expect("bugaroo can be started")
}

fn json(output: &Output, code: i32) -> Value {
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{error}{}", String::from_utf8_lossy(&output.stdout));
    serde_json::from_slice(&output.stdout).unwrap_or_else(|wrong| panic!("{wrong}: {error}"))
}

/// The line of `kernel.cu` that holds this text.
fn line_of(text: &str) -> u64 {
    let kernel = Path::new(env!("CARGO_MANIFEST_DIR")).join("../apps/cbe_dot/kernel.cu");
    let source = fs::read_to_string(kernel).expect("kernel.cu is in the repository");
    source.lines().position(|line| line.contains(text)).expect("the kernel has such a line") as u64 + 1
}

fn state() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// Without fences, what is added up under the lock races in the first trial already.
#[test]
fn the_sum_under_the_lock_races_without_fences() {
    let state = state();
    let options = ["race", "--trials", "6", "--seed", "1", "--format", "json"];
    let report = json(&bugaroo(&state, &options, "no_fence"), 1);
    let races = report["races"].as_array().expect("races");
    assert!(!races.is_empty());
    let sum = line_of("*sum += cache[0];");
    for race in races {
        assert_eq!(race["space"], "global");
        assert_eq!(race["class"], "inter-block");
        assert_eq!(
            (&race["first"]["source"]["line"], &race["second"]["source"]["line"]),
            (&sum.into(), &sum.into())
        );
        assert_eq!(race["proven"], true);
    }
    assert_eq!(races[0]["first_failing_trial"], "0");
    assert!(report["accesses"].as_u64().expect("accesses") > 0);

    // Each trial shows the same again.
    let run_dir = report["run_dir"].as_str().expect("a run directory");
    for trial in 0..6 {
        let again = Command::new(env!("CARGO_BIN_EXE_bugaroo"))
            .args(["replay", run_dir, &trial.to_string()])
            .output()
            .expect("bugaroo can be started");
        let text = String::from_utf8_lossy(&again.stdout);
        assert_eq!(again.status.code(), Some(1), "{text}{}", String::from_utf8_lossy(&again.stderr));
        assert!(
            text.contains("as recorded: ") && text.contains("error: data race in global memory"),
            "{text}"
        );
    }
}

#[test]
fn the_correct_one_is_clean() {
    let looked_at = |detector: &str, code: i32| {
        let state = state();
        let options = ["race", "--detector", detector, "--trials", "24", "--seed", "1", "--format", "json"];
        let report = json(&bugaroo(&state, &options, "ptx_correct"), code);
        assert_eq!(report["trials"], 24);
        assert!(report["accesses"].as_u64().expect("accesses") > 0);
        report["races"].as_array().expect("races").clone()
    };
    for detector in ["ptx", "barracuda"] {
        assert_eq!(looked_at(detector, 0), Vec::<Value>::new());
    }
    // HiRace knows no locks, and to ScoRD fences order strong accesses alone: the sum under the lock is a plain one.
    for race in looked_at("all", 1) {
        assert!(race["detector"] == "hirace" || race["detector"] == "scord", "{race:#}");
        assert_eq!(race["proven"], false);
    }
}

/// A process for each trial comes to the same as forks of one.
#[test]
fn forks_show_what_processes_show() {
    let of = |options: &[&str]| {
        let state = state();
        let all = [&["race", "--trials", "6", "--seed", "3", "--format", "json"][..], options].concat();
        let report = json(&bugaroo(&state, &all, "no_fence"), 1);
        (report["races"].clone(), report["accesses"].clone(), report["warnings"].clone())
    };
    assert_eq!(of(&[]), of(&["--no-fork-server"]));
}

/// The search for what removes the races ends at the fences that the variant lacks.
#[test]
fn bisect_finds_the_fences_that_remove_the_races() {
    let state = state();
    let options = ["bisect", "--oracle", "race", "--trials", "20", "--seed", "1", "--format", "json"];
    let report = json(&bugaroo(&state, &options, "no_fence"), 1);
    assert_eq!(report["unresolved"], Value::Null, "{report}");
    let missing = report["missing"].as_array().expect("missing");
    assert_eq!(missing.len(), 2, "{missing:#?}");
    assert!(missing.iter().all(|fence| fence["call"] == "__threadfence()"), "{missing:#?}");
    assert_eq!(report["verified"]["failures"], 0);
    let patch = report["patch"].as_str().expect("a patch");
    assert_eq!(
        patch.lines().filter(|line| line.starts_with('+') && line.contains("__threadfence();")).count(),
        2,
        "{patch}"
    );
}

/// What the settings leave out is not reported, and what they name in vain is told.
#[test]
fn settings_say_what_is_looked_at() {
    let state = state();
    let report = |detector: &str, text: &str, code: i32| {
        let file = state.path().join("look.toml");
        fs::write(&file, text).expect("a file in a temporary folder");
        let file = file.to_str().expect("a temporary folder has such a name");
        let looked = ["race", "--detector", detector, "--trials", "2", "--seed", "1", "--format", "json"];
        let options = [&looked[..], &["--detector-config", file]].concat();
        json(&bugaroo(&state, &options, "ptx_correct"), code)
    };
    let races = |report: &Value| report["races"].as_array().expect("races").len();
    let warnings = |report: &Value| report["warnings"].to_string();
    for detector in ["hirace", "scord"] {
        assert!(races(&report(detector, "", 1)) > 0);
        assert!(races(&report(detector, "[watch]\nkernels = [\"^dot_ptx\"]\nspace = \"global\"\n", 1)) > 0);
        for left_out in [
            "[watch]\nspace = \"shared\"\n",
            "[watch]\nvariables = [\"cache\"]\n",
            "[watch]\naddresses = [\"0..1\"]\n",
            "[watch]\nblocks = [\"3\"]\n",
        ] {
            let report = report(detector, left_out, 0);
            assert_eq!((races(&report), warnings(&report).as_str()), (0, "[]"), "{left_out}");
        }
        let vain = report(
            detector,
            "[watch]\nkernels = [\"^sum\", \"^dot\"]\nvariables = [\"cash\", \"cache\"]\n",
            0,
        );
        assert!(warnings(&vain).contains("no kernel was launched whose name matches '^sum'"), "{vain:#}");
        assert!(warnings(&vain).contains("has a variable 'cash'"), "{vain:#}");
        assert!(!warnings(&vain).contains("^dot") && !warnings(&vain).contains("'cache'"), "{vain:#}");
        assert_eq!(races(&report(detector, "[limits]\nraces = 1\n", 1)), 1);
    }
    // Every way to lay the words out sees the race of the sum.
    for layout in
        ["layout = \"paper\"", "layout = { block = 12, warp = 3, dev_fence = 9, blk_fence = 9, barrier = 9 }"]
    {
        for more in ["", "cache = 4\n", "independent_threads = true\n"] {
            assert!(
                races(&report("scord", &format!("[scord]\n{layout}\n{more}"), 1)) > 0,
                "{layout}, {more}"
            );
        }
    }
    assert!(races(&report("hirace", "[hirace]\nblock_clock = 9\nwarp_clock = 9\nsite = 0\n", 1)) > 0);
    let small = report("hirace", "[hirace]\nblock_clock = 2\n", 0);
    assert!(warnings(&small).contains("more barriers than the shadow word can count"), "{small:#}");
}

/// The same by device code, which refuses what it does not know.
#[test]
fn settings_say_what_device_code_looks_at() {
    let state = state();
    let report = |detector: &str, text: &str, code: i32| {
        let file = state.path().join("look.toml");
        fs::write(&file, text).expect("a file in a temporary folder");
        let file = file.to_str().expect("a temporary folder has such a name");
        let looked = ["race", "--handlers", "--detector", detector, "--trials", "2", "--seed", "1"];
        let options = [&looked[..], &["--format", "json", "--detector-config", file]].concat();
        json(&bugaroo(&state, &options, "ptx_correct"), code)
    };
    let races = |report: &Value| report["races"].as_array().expect("races").len();
    let warnings = |report: &Value| report["warnings"].to_string();
    for detector in ["hirace", "scord"] {
        assert!(races(&report(detector, "", 1)) > 0);
        assert!(races(&report(detector, "[watch]\nkernels = [\"^dot_ptx\"]\nspace = \"global\"\n", 1)) > 0);
        for left_out in [
            "[watch]\nkernels = [\"^dot_ptx\"]\nspace = \"shared\"\n",
            "[watch]\nvariables = [\"cache\"]\n",
            "[watch]\naddresses = [\"0..1\"]\n",
            "[watch]\nblocks = [\"3\"]\n",
        ] {
            let report = report(detector, left_out, 0);
            assert_eq!((races(&report), warnings(&report).as_str()), (0, "[]"), "{left_out}");
        }
        let vain = report(detector, "[watch]\nkernels = [\"^sum\"]\n", 0);
        assert!(warnings(&vain).contains("no kernel was launched whose name matches '^sum'"), "{vain:#}");
        assert_eq!(races(&report(detector, "[limits]\nraces = 1\n", 1)), 1);
        assert!(races(&report(detector, "[limits]\nshadow = \"1M\"\n", 1)) > 0);
    }
    for layout in
        ["layout = \"paper\"", "layout = { block = 12, warp = 3, dev_fence = 9, blk_fence = 9, barrier = 9 }"]
    {
        assert!(races(&report("scord", &format!("[scord]\n{layout}\n"), 1)) > 0, "{layout}");
    }
    for (more, what) in [
        ("cache = 4\n", "metadata as a cache"),
        ("independent_threads = true\n", "threads of a warp apart"),
        ("layout = { block = 12, thread = 5 }\n", "threads of a warp apart"),
    ] {
        let refused = report("scord", &format!("[scord]\n{more}"), 4);
        let error = refused["error"].to_string();
        assert!(error.contains("with injected handlers: device code does not know"), "{error}");
        assert!(error.contains(what), "{error}");
    }
    assert!(races(&report("hirace", "[hirace]\nblock_clock = 9\nwarp_clock = 9\nsite = 0\n", 1)) > 0);
    let small = report("hirace", "[hirace]\nblock_clock = 2\n", 0);
    assert!(warnings(&small).contains("more barriers than the shadow word can count"), "{small:#}");
}

/// Device code finds the races of the same lines. It need not know the earlier access: its words have room for less.
#[test]
fn on_the_device_as_natively() {
    let lines = |detector: &str, handlers: &[&str]| {
        let state = state();
        let looked = ["race", "--detector", detector, "--trials", "4", "--seed", "1", "--format", "json"];
        let report = json(&bugaroo(&state, &[&looked[..], handlers].concat(), "no_fence"), 1);
        assert!(report["accesses"].as_u64().expect("accesses") > 0);
        let line = |race: &Value, side: &str| race[side]["source"]["line"].as_u64();
        let races = report["races"].as_array().expect("races");
        let mut lines: Vec<_> =
            races.iter().map(|race| [line(race, "first"), line(race, "second")]).collect();
        // Which of the two comes first is the schedule's.
        lines.iter_mut().filter(|lines| lines[0].is_some()).for_each(|lines| lines.sort());
        lines
    };
    for detector in ["hirace", "scord"] {
        let (native, device) = (lines(detector, &[]), lines(detector, &["--handlers"]));
        assert!(!native.is_empty() && !device.is_empty());
        for (of, others) in [(&native, &device), (&device, &native)] {
            let is = |one: &[Option<u64>; 2], other: &[Option<u64>; 2]| match (one, other) {
                ([None, line], other) | (other, [None, line]) => other.contains(line),
                (one, other) => one == other,
            };
            assert!(of.iter().all(|one| others.iter().any(|other| is(one, other))), "{native:?} {device:?}");
        }
    }
}
