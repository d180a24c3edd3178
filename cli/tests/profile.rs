//! `bugaroo profile`: what it counts, how it prints that, and its manners.

use std::path::Path;
use std::process::Stdio;

use crate::common::{Ended, Place, app, end, signal, until, wait};
use serde_json::{Value, json};

/// `bugaroo profile` of the fake program.
fn profile(place: &Place, options: &[&str], behaviour: &[&str]) -> Ended {
    place.bugaroo(&[&["profile"], options, &[app().as_str()], behaviour].concat())
}

#[test]
fn kernels_stand_in_the_order_of_their_first_launch() {
    let place = Place::new();
    let ended = profile(&place, &["--trials", "3", "--format", "json"], &["kernels", "1000"]).exits(0);
    let json = ended.json();
    let dot = json!({
        "name": "dot", "launches": 1000, "dynamic_instructions": 32_000_000, "fences": 32_000, "barriers": 64_000,
        "shared_stores": 7000, "global_stores": 9000, "static_fences": 1, "delayed_stores": 9000,
        "flush_lengths": {"global": {"1": 3000, "2": 3000}, "shared": {}}, "buffer_bytes": 4096,
    });
    assert_eq!(json["kernels"][0]["name"], "zero");
    assert_eq!(json["kernels"][1], dot);
    assert_eq!(json["total"]["launches"], 1001);
    assert_eq!(json["total"]["flush_lengths"]["global"]["2"], 3003);
    assert_eq!(
        (&json["schema"], &json["app"], &json["args"], &json["seed"], &json["model"], &json["backend"]),
        (
            &json!(1),
            &json!(app()),
            &json!(["kernels", "1000"]),
            &json!(0),
            &json!("store-buffer"),
            &json!("sim")
        )
    );
    assert_eq!(
        (&json["pw"], &json["buffer"], &json["space"], &json["trials"], &json["failed_trials"]),
        (&json!(0.75), &json!(256), &json!("both"), &json!(3), &json!(0))
    );
    assert_eq!((&json["interrupted"], &json["warnings"]), (&json!(false), &json!([])));
}

#[test]
fn people_see_a_table_and_bars() {
    let place = Place::new();
    let ended = profile(&place, &["--trials", "2"], &["kernels", "10"])
        .exits(0)
        .prints("2 trials under injection")
        .prints("global stores: 50.0 % of 44 flushes have length 1")
        .prints("shared stores: no flushes");
    assert!(!ended.stdout.contains('\x1b'), "{ended:#?}");
    assert!(ended.stdout.contains("66 stores delayed"), "{ended:#?}");
    let row = |name: &str| {
        let line = ended.stdout.lines().find(|line| line.trim_start().starts_with(name)).unwrap();
        line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(row("dot"), ["dot", "10", "320,000", "320", "(1)", "640", "70", "90"]);
    assert_eq!(row("total"), ["total", "11", "352,000", "352", "(1)", "704", "77", "99"]);
    assert_eq!(row("1 ")[..4], ["1", "22", "50.0", "%"]);
}

#[test]
fn counts_alone() {
    let place = Place::new();
    let ended = profile(&place, &["--trials", "0"], &["pass"]).exits(0).prints("counts of one run");
    assert!(!ended.stdout.contains("flushes") && !ended.stderr.contains("warning"), "{ended:#?}");
    profile(&place, &["--pw", "0"], &["pass"]).exits(0);
}

/// A trial that fails is no finding of a profile: it is said, and counts.
#[test]
fn failing_trials_are_no_findings() {
    let place = Place::new();
    let ended = profile(&place, &["--trials", "8", "--format", "json"], &["segfault"]).exits(0);
    ended.says("8 of 8 trials failed");
    let ended = profile(&place, &["--trials", "8", "--format", "json"], &["odd"]).exits(0);
    let json = ended.json();
    let failed = json["failed_trials"].as_u64().unwrap();
    assert!(0 < failed && failed < 8, "{json:#}");
    assert_eq!(json["total"]["flush_lengths"]["global"], json!({"1": 8, "2": 8}));
}

#[test]
fn programs_that_cannot_be_profiled() {
    let place = Place::new();
    profile(&place, &[], &["fails"]).exits(3).says("fails without injection");
    profile(&place, &[], &["silent"]).exits(4);
    profile(&place, &[], &["unsupported"]).exits(4).says("tex.2d");
    let ended =
        profile(&place, &[], &["idle"]).exits(0).says("launches no kernel: there is nothing to profile");
    assert_eq!(ended.stdout, "");
    let json = profile(&place, &["--format", "json"], &["idle"]).exits(0).json();
    assert_eq!((&json["kernels"], &json["trials"]), (&json!([]), &json!(0)));
}

#[test]
fn options() {
    let place = Place::new();
    profile(&place, &["--until-failure"], &["pass"]).exits(2).says("unexpected argument");
    profile(&place, &["--pw", "0.5,1"], &["pass"]).exits(2).says("profile takes one --pw");
    profile(&place, &["--kernel", "^x"], &["pass"]).exits(2).says("no kernel that the program loads matches");
    profile(&place, &["--without-fence", "0"], &["pass"]).exits(2).says("is no fence but a store");
    profile(&place, &["--without-fence", "1", "--with-fence", "0", "--space", "global"], &["pass"]).exits(0);
    profile(&place, &["--backend", "cuda"], &["pass"])
        .exits(4)
        .says("--backend cuda: no driver of a GPU was found");
    let nothing = [("NOTHING_DELAYED", "1")];
    end(place.command(&["profile", &app(), "pass"]).envs(nothing)).exits(0).says("no store was ever delayed");
}

/// What was found by then is printed.
#[test]
fn ctrl_c() {
    let place = Place::new();
    let log = place.path("pids");
    let log = log.to_str().unwrap();
    let app = app();
    let mut command = place.command(&["profile", "--format", "json", &app, "loop", log]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    until(|| Path::new(log).exists());
    signal(&child, libc::SIGINT);
    let ended = wait(child).exits(130);
    let json: Value = ended.json();
    assert_eq!((&json["interrupted"], &json["trials"]), (&json!(true), &json!(0)));
    assert_eq!(json["total"]["global_stores"], 9);
}
