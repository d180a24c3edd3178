//! `bugaroo run`: outcomes, exit codes, what is printed.

use crate::common::{Ended, Place, app, end};
use serde_json::{Value, json};

/// The outcomes of 8 trials of a behaviour.
fn outcomes(options: &[&str], behaviour: &[&str]) -> (Option<i32>, Value) {
    let ended = Place::new().run(&[&["--trials", "8", "--format", "json"], options].concat(), behaviour);
    let outcomes = ended.json()["cells"][0]["outcomes"].clone();
    (ended.code, outcomes)
}

fn all(outcome: &str) -> Value {
    let mut all = json!({
        "pass": 0, "wrong-result": 0, "crash": 0, "deadlock": 0, "timeout": 0, "slow": 0, "killed": 0,
    });
    all[outcome] = json!(8);
    all
}

#[test]
fn every_ending_has_its_outcome() {
    for (outcome, behaviour) in [
        ("pass", &["pass"][..]),
        ("pass", &["forks"]),
        ("deadlock", &["deadlock"]),
        ("timeout", &["budget"]),
        ("crash", &["fault"]),
        ("crash", &["segfault"]),
    ] {
        let code = i32::from(outcome != "pass");
        assert_eq!(outcomes(&[], behaviour), (Some(code), all(outcome)), "{behaviour:?}");
    }
    assert_eq!(outcomes(&["--timeout", "300ms"], &["loop"]), (Some(1), all("timeout")));
}

#[test]
fn a_gigabyte_of_output_is_no_matter() {
    let ended = Place::new().run(&["--trials", "2"], &["gigabyte"]);
    ended.exits(0).prints("no failures");
}

#[test]
fn json_is_the_contracts() {
    let place = Place::new();
    let ended =
        place.run(&["--trials", "20", "--pw", "0,0.5", "--format", "json", "--out", "run"], &["odd", "x y"]);
    let json = ended.exits(1).json();
    assert_eq!(json["schema"], 1);
    assert_eq!(json["app"], app());
    assert_eq!(json["args"], json!(["odd", "x y"]));
    assert_eq!(
        (&json["seed"], &json["model"], &json["backend"]),
        (&json!(1), &json!("store-buffer"), &json!("sim"))
    );
    assert_eq!(
        (&json["run_dir"], &json["interrupted"], &json["warnings"]),
        (&json!("run"), &json!(false), &json!([]))
    );
    assert!(json["trials_per_second"].as_f64().unwrap() > 0.0);
    let cells = json["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 2);
    for (cell, pw) in cells.iter().zip([0.0, 0.5]) {
        assert_eq!(cell["pw"], pw);
        assert_eq!(cell["trials"], 20);
        let failures = cell["outcomes"]["wrong-result"].as_u64().unwrap();
        assert_eq!(cell["failures"], failures);
        assert_eq!(cell["rate"], failures as f64 / 20.0);
        let [low, high] = [0, 1].map(|at| cell["ci95"][at].as_f64().unwrap());
        assert!(low < failures as f64 / 20.0 && high > failures as f64 / 20.0);
        // The first odd seed of run seed 1.
        assert_eq!(cell["first_failing_trial"], 0);
    }
    // The same seeds in both cells.
    let trials = place.trials();
    for trial in 0..20 {
        assert_eq!(trials[&(0, trial)]["seed"], trials[&(1, trial)]["seed"]);
        assert_eq!(trials[&(0, trial)]["schema"], 1);
    }
}

#[test]
fn human_output_shows_the_failure_and_how_to_replay_it() {
    let place = Place::new();
    let ended = place.run(&["--trials", "8", "--out", "a run"], &["deadlock"]).exits(1);
    ended
        .prints("p_w  trials  failures")
        .prints("first failing trial: 0 (p_w 0.75): deadlock: kernel dot: 31 threads wait at a barrier")
        .prints("block (0,0,0): 31 threads from (1,0,0) stand at dot, kernel.cu:5, PTX line 12: bar.sync 0;")
        .prints("bugaroo replay 'a run' 0\n");
    let ended = place.run(&["--trials", "8", "--pw", "0.5,1", "--out", "run"], &["odd"]).exits(1);
    ended.prints("it said: wrong sum\n").prints("bugaroo replay run 0:0\n");
}

#[test]
fn a_pass_exits_0_and_findings_as_asked() {
    let place = Place::new();
    place
        .run(&["--trials", "4"], &["pass"])
        .exits(0)
        .prints("no failures; records: ")
        .says("4 of 4 trials, 0 failures");
    place.run(&["--trials", "4", "--error-exitcode", "0"], &["odd"]).exits(0).prints("first failing trial");
    place.run(&["--trials", "4", "--error-exitcode", "42"], &["odd"]).exits(42);
}

#[test]
fn oracles() {
    let outcome = |oracle| outcomes(&["--oracle", oracle], &["prints"]);
    assert_eq!(outcome("exit"), (Some(0), all("pass")));
    let (code, by_reference) = outcome("reference");
    assert_eq!(code, Some(1));
    assert_eq!(by_reference["wrong-result"], 6, "{by_reference}");
    assert_eq!(outcome("stdout:^sum 42$").1, by_reference);
    assert_eq!(outcome("cmd:grep -q 'sum 42'").1, by_reference);
    assert_eq!(outcome("stdout:^sum 4[12]$"), (Some(0), all("pass")));
    assert_eq!(outcome("cmd:test $BUGAROO_EXIT_CODE = 0"), (Some(0), all("pass")));
}

#[test]
fn what_a_pass_hides_is_told_with_the_oracle_that_would_see_it() {
    let place = Place::new();
    let ended = place.run(&["--trials", "8", "--pw", "0,0.75"], &["says"]).exits(0).prints("no failures");
    let ended = ended.prints(
        "note (p_w 0.75): 8 trials pass by their exit code, but of these 6 print that something failed",
    );
    let ended = ended.prints("prints: Result = FAIL").prints("lacks:  Result = PASS");
    let ended = ended.prints(r"--oracle 'stdout:^\s*Result = PASS\s*$'");
    assert!(!ended.stdout.contains("note (p_w 0)"), "{ended:#?}");
    for (behaviour, says, differ) in [("says", 6, 0), ("says-more", 6, 0), ("prints", 0, 6)] {
        let json = place.run(&["--trials", "8", "--format", "json"], &[behaviour]).exits(0).json();
        let hiding = &json["cells"][0]["hiding"];
        assert_eq!((&hiding["say_failure"], &hiding["differ"]), (&json!(says), &json!(differ)), "{json:#}");
        // With what is proposed these trials fail, and the program without injection does not.
        let oracle = hiding["what"]["oracle"].as_str().unwrap();
        let (code, outcomes) = outcomes(&["--oracle", oracle], &[behaviour]);
        assert_eq!((code, outcomes["wrong-result"].as_u64()), (Some(1), Some(6)), "{behaviour}: {oracle}");
    }
    // An output that differs; a run that goes on still knows.
    let ended = place.run(&["--trials", "8", "--out", "run"], &["prints"]).exits(0);
    let ended = ended.prints("6 print something else than without injection").prints("lacks:  sum 42");
    assert!(!ended.stdout.contains("something failed"), "{ended:#?}");
    let more = place.run(&["--trials", "9", "--out", "run"], &["prints"]).exits(0);
    assert!(more.stdout.contains("print something else than without injection"), "{more:#?}");
    // Nothing is hidden of a program that prints the same, nor where the output is judged.
    for (oracle, behaviour) in [("exit", "pass"), ("stdout:sum", "prints"), ("none", "says")] {
        let ended = place.run(&["--trials", "8", "--oracle", oracle], &[behaviour]).exits(0);
        assert!(!ended.stdout.contains("note ("), "{ended:#?}");
    }
}

#[test]
fn until_failure_stops_at_the_first() {
    let place = Place::new();
    let options =
        ["--trials", "100000", "--pw", "0.5,1", "--until-failure", "--format", "json", "--jobs", "3"];
    let json = place.run(&options, &["odd"]).exits(1).json();
    assert_eq!(json["cells"][0]["first_failing_trial"], 0);
    assert!(json["cells"][0]["trials"].as_u64().unwrap() < 10);
    assert_eq!((&json["cells"][1]["trials"], &json["cells"][1]["rate"]), (&json!(0), &Value::Null));
}

#[test]
fn a_program_that_fails_by_itself() {
    let place = Place::new();
    place
        .run(&["--out", "run"], &["fails"])
        .exits(3)
        .says("fails without injection: wrong-result: exit code 7")
        .says("| always wrong");
    // Nothing is left behind that a later run would trip over.
    assert!(!place.path("run").exists());
    place.run(&[], &["silent", "3"]).exits(3).says("did not get as far as to initialise the CUDA driver");
    place.run(&["--oracle", "stdout:^sum 43$"], &["pass"]).exits(3).says("does not match ^sum 43$");
}

#[test]
fn what_is_not_supported() {
    let place = Place::new();
    place.run(&[], &["silent"]).exits(4).says("never used Bugaroo's CUDA driver");
    place.run(&[], &["unsupported"]).exits(4).says("tex.2d, PTX line 7");
    place
        .run(&["--backend", "cuda"], &["pass"])
        .exits(4)
        .says("--backend cuda: no driver of a GPU was found");
    end(place.run_command(&[], &["pass"]).env("VERSION", "9999"))
        .exits(5)
        .says("its libcuda.so.1 version 9999");
}

#[test]
fn nothing_delayed_is_a_warning() {
    let place = Place::new();
    let ended = end(place.run_command(&["--trials", "4"], &["pass"]).env("NOTHING_DELAYED", "1"));
    ended.exits(0).says("warning: no store was ever delayed");
    let ended =
        end(place.run_command(&["--trials", "4", "--pw", "0"], &["pass"]).env("NOTHING_DELAYED", "1"));
    assert!(!ended.exits(0).stderr.contains("warning"));
}

#[test]
fn a_random_seed_is_told() {
    let place = Place::new();
    let app = app();
    let seed = || {
        let ended = place.bugaroo(&["run", "--trials", "2", "--format", "json", &app, "odd"]);
        ended.json()["seed"].as_u64().unwrap()
    };
    let (one, other) = (seed(), seed());
    assert_ne!(one, other);
    let text = one.to_string();
    let again = place.bugaroo(&["run", "--trials", "2", "--format", "json", "--seed", &text, &app, "odd"]);
    assert_eq!(again.json()["seed"], one);
}

#[test]
fn sites_are_checked_before_the_first_trial() {
    let place = Place::new();
    place.run(&["--trials", "2", "--without-fence", "1", "--with-fence", "0"], &["pass"]).exits(0);
    place.run(&["--without-fence", "9"], &["pass"]).exits(2).says("the program has no site 9");
    place.run(&["--without-fence", "0"], &["pass"]).exits(2).says("site 0 is no fence but a store");
    place.run(&["--with-fence", "0,2,1"], &["pass"]).exits(2).says("site 1 is a fence");
    place.run(&["--kernel", "^d.t$", "--trials", "2"], &["pass"]).exits(0);
    place
        .run(&["--kernel", "norm"], &["pass"])
        .exits(2)
        .says("no kernel that the program loads matches `--kernel norm`; it loads dot");
}

#[test]
fn a_time_bounds_the_trials() {
    let place = Place::new();
    let time = ["--for", "300ms", "--pw", "0.25,0.75", "--out", "run", "--format", "json"];
    let cells = |ended: Ended| -> Vec<u64> {
        let json = ended.json();
        json["cells"].as_array().unwrap().iter().map(|cell| cell["trials"].as_u64().unwrap()).collect()
    };
    let first = cells(place.run(&time, &["pass"]).exits(0));
    // Each cell has its share, and a trial at least.
    assert!(first.iter().all(|&trials| (1..1 << 20).contains(&trials)), "{first:?}");
    let file = std::fs::read_to_string(place.path("run/run.json")).unwrap();
    let run: Value = serde_json::from_str(&file).unwrap();
    assert_eq!(run["trials"].as_u64(), first.iter().copied().max());
    // The same command goes on for as long again.
    let more = cells(place.run(&time, &["pass"]).exits(0));
    assert!(first.iter().zip(&more).all(|(first, more)| more > first), "{first:?} {more:?}");
    // A time that is too short for any, and a number that is reached before the time is up.
    assert_eq!(cells(place.run(&["--for", "1ms", "--jobs", "1", "--format", "json"], &["pass"])), [1]);
    assert_eq!(cells(place.run(&["--for", "1h", "--trials", "3", "--format", "json"], &["pass"])), [3]);
    place.run(&["--for", "10m", "--until-failure", "--oracle", "stdout:43"], &["prints"]).exits(3);
    place.run(&["--for", "10m", "--until-failure"], &["odd"]).exits(1);
    place.bugaroo(&["race", "--for", "1ms", "--seed", "1", &app(), "pass"]).exits(0);
    place.bugaroo(&["bisect", "--for", "1m", &app(), "pass"]).exits(2).says("--for is for run and race");
}

#[test]
fn how_long_all_will_take_is_said_first() {
    let place = Place::new();
    place.run(&["--trials", "4"], &["pass"]).exits(0).says("bugaroo: 4 trials, ").says("at that pace");
    assert!(!place.run(&["--for", "1ms"], &["pass"]).exits(0).stderr.contains("at that pace"));
}
