//! `bugaroo litmus`.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::Stdio;

use crate::common::{Place, signal, wait};
use serde_json::json;

/// A file of the suite.
fn suite(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../litmus/tests");
    folder.join(name).to_str().expect("the checkout's path is text").to_owned()
}

const RACE: &str = "PTX RACE\n{ x=0; }\nP0@cta 0 | P1@cta 1;\nld r0, x | ld r0, x;\nadd r0, r0, 1 | add r0, r0, 1;\n\
                    st x, r0 | st x, r0;\n";

#[test]
fn a_test_with_a_table() {
    let place = Place::new();
    let test = suite("SB+d+weak+n-ag.litmus");
    let ended = place.bugaroo(&["litmus", "--trials", "500", "--format", "json", &test]).exits(0);
    let json = ended.json();
    assert_eq!(
        (&json["schema"], &json["model"], &json["seed"]),
        (&json!(1), &json!("store-buffer"), &json!(0))
    );
    let of = &json["tests"][0];
    assert_eq!((&of["name"], &of["trials"]), (&json!("SB+d+weak+n-ag"), &json!(500)));
    assert_eq!((&of["keys"], &of["forbidden_seen"]), (&json!(["P0:r0", "P1:r0"]), &json!(0)));
    let outcomes = of["outcomes"].as_array().expect("a list");
    let weak: Vec<_> = outcomes.iter().filter(|outcome| outcome["weak"] == json!(true)).collect();
    assert_eq!((weak.len(), &weak[0]["values"], &weak[0]["allowed"]), (1, &json!([0, 0]), &json!(true)));
    let count: u64 = outcomes.iter().filter_map(|outcome| outcome["count"].as_u64()).sum();
    assert_eq!(count, 500);
    assert_eq!((&json["totals"]["weak_targets_shown"], &json["totals"]["trials"]), (&json!(1), &json!(500)));
    let ended = place.bugaroo(&["litmus", "--trials", "500", &test]).exits(0);
    ended.prints("allowed-weak: shown").prints("1 of 1 weak targets shown");
}

#[test]
fn forbidden_outcomes_are_findings_with_a_command() {
    let place = Place::new();
    let test = suite("BAR-MP+c.litmus");
    let args = ["litmus", "--model", "bugaroo", "--trials", "100", &test];
    let ended = place.bugaroo(&args).exits(1).prints("FORBIDDEN").prints("is forbidden: in");
    let command = ended.stdout.lines().find(|line| line.starts_with("  bugaroo litmus")).expect("a command");
    let words: Vec<_> = command.split_whitespace().skip(1).collect();
    place.bugaroo(&words).exits(1).prints("in 1 of");
    place.bugaroo(&[&args[..], &["--error-exitcode", "9"]].concat()).exits(9);
    place.bugaroo(&["litmus", "--model", "sc", "--scheduler", "pct", "--trials", "100", &test]).exits(0);
}

#[test]
fn conditions_without_a_table() {
    let place = Place::new();
    for (condition, code, part) in [
        ("exists (x=1)", 0, "shown"),
        ("~exists (x=1)", 1, "the condition (~exists) fails"),
        ("forall (x=1 \\/ [x]==2)", 0, "ok"),
        ("forall (x=2)", 1, "FAILS"),
        ("", 0, "0 with a failed condition"),
    ] {
        fs::write(place.path("race.litmus"), format!("{RACE}{condition}\n")).expect("it can be written");
        place
            .bugaroo(&["litmus", "--model", "sc", "--trials", "200", "race.litmus"])
            .exits(code)
            .prints(part);
    }
    fs::write(place.path("race.litmus"), format!("{RACE}exists (x=1)")).expect("it can be written");
    let table = r#"{"RACE": {"keys": ["x"], "allowed": [[2]], "target": "forbidden"}}"#;
    fs::write(place.path("table"), table).expect("it can be written");
    let args = ["litmus", "--model", "sc", "--outcomes", "table", "race.litmus"];
    place.bugaroo(&args).exits(1).prints("RACE: x=1 is forbidden");
    fs::write(place.path("outcomes.json"), table).expect("it can be written");
    fs::create_dir(place.path("below")).expect("it can be made");
    fs::rename(place.path("race.litmus"), place.path("below/race.litmus")).expect("it can be moved");
    place.bugaroo(&["litmus", "--model", "sc", "below"]).exits(1).prints("RACE: x=1 is forbidden");
}

#[test]
fn what_cannot_be_run_is_named() {
    let place = Place::new();
    let write = |name: &str, text: &str| fs::write(place.path(name), text).expect("it can be written");
    place.bugaroo(&["litmus"]).exits(2);
    place.bugaroo(&["litmus", "nothing"]).exits(2).says("nothing: No such file");
    fs::create_dir(place.path("empty")).expect("it can be made");
    place.bugaroo(&["litmus", "empty"]).exits(2).says("empty: there is no .litmus file in it");
    write("empty.litmus", "");
    place.bugaroo(&["litmus", "empty.litmus"]).exits(2).says("empty.litmus:1:1: the file is empty");
    write("mmio.litmus", "PTX A\n{}\nP0@cta 0;\nld.mmio.relaxed.sys r0, x;\n");
    let said = "litmus --backend cuda: not in this version";
    place.bugaroo(&["litmus", "--backend", "cuda", "mmio.litmus"]).exits(4).says(said);
    place.bugaroo(&["litmus", "mmio.litmus"]).exits(4).says("mmio.litmus:4:1").says(".mmio is not supported");
    write("fine.litmus", RACE);
    // The others run; text that is no test weighs more than one that has something unknown.
    let ended =
        place.bugaroo(&["litmus", "--model", "sc", "."]).exits(2).prints("1 tests").prints("2 not run");
    ended.says("the file is empty").says(".mmio");
    write("outcomes.json", "[");
    place.bugaroo(&["litmus", "fine.litmus"]).exits(2).says("outcomes.json: ");
    place.bugaroo(&["litmus", "--outcomes", "gone", "fine.litmus"]).exits(2).says("gone: No such file");
    place.bugaroo(&["litmus", "--pw", "2", "fine.litmus"]).exits(2).says("a probability is from 0 to 1");
    fs::remove_file(place.path("outcomes.json")).expect("it was written");
    write("stuck.litmus", "PTX A\n{}\nP0@cta 0|P1@cta 0;\nbar.sync 0;|bar.sync 1;\n");
    place.bugaroo(&["litmus", "--trials", "9", "stuck.litmus"]).exits(2).says("the test deadlocks");
}

#[test]
fn interrupted_it_prints_what_it_has() {
    let place = Place::new();
    let tests = [suite("SB+c+weak+ag-n.litmus"), suite("MP+c+ragpu+n-n.litmus")];
    let (trials, jobs) = (["--trials", "100000000000"], ["--jobs", "1"]);
    let mut command =
        place.command(&[&["litmus"], &trials[..], &jobs[..], &tests.each_ref().map(String::as_str)].concat());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let status = format!("/proc/{}/status", child.id());
    let listens = |text: String| {
        let mask = text.lines().find_map(|line| line.strip_prefix("SigCgt:"))?;
        Some(u64::from_str_radix(mask.trim(), 16).ok()? >> (libc::SIGINT - 1) & 1 == 1)
    };
    while !fs::read_to_string(&status).ok().and_then(listens).unwrap_or(false) {
        std::thread::yield_now();
    }
    signal(&child, libc::SIGINT);
    let mut stderr = String::new();
    child.stderr.take().expect("it is piped").read_to_string(&mut stderr).expect("it is text");
    assert!(stderr.contains("interrupted"), "{stderr}");
    wait(child).exits(130).prints(" trials/s");
}
