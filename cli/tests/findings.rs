//! What is said of errors of kernels, of programs that fails without injection, and by JSON for every exit code.

use crate::common::{Place, end};
use serde_json::{Value, json};

#[test]
fn a_fault_is_a_finding_whatever_the_program_makes_of_it() {
    let place = Place::new();
    let ended =
        place.run(&["--trials", "6", "--pw", "0.5,1", "--format", "json", "--out", "run"], &["faulty"]);
    let json = ended.exits(1).json();
    let finding = &json["findings"][0];
    assert_eq!(json["findings"].as_array().unwrap().len(), 1, "{json:#}");
    assert_eq!((&finding["kind"], &finding["kernel"]), (&json!("illegal-address"), &json!("dot")));
    assert_eq!(finding["source"], json!({"file": "kernel.cu", "line": 5}));
    assert_eq!(finding["without_injection"], json!({"seen": 3, "of": 3}));
    assert_eq!(finding["trials"], json!({"seen": 12, "of": 12}));
    assert_eq!(finding["first_trial"], "0:0");
    // It has that fault anyhow: the cells say what injection adds.
    for cell in json["cells"].as_array().unwrap() {
        assert_eq!((&cell["failures"], &cell["outcomes"]["pass"]), (&json!(0), &json!(6)), "{json:#}");
    }
    let replayed = place.bugaroo(&["replay", "run", "1:3"]).exits(1);
    replayed.prints("as recorded").prints("store outside every allocation in kernel dot");
    // The run goes on and says the same.
    let options = ["--trials", "8", "--pw", "0.5,1", "--out", "run"];
    let ended = place.run(&options, &["faulty"]).exits(1);
    ended.prints("seen in 3 of 3 runs without injection, in 16 of 16 trials").prints("no failures besides");
}

#[test]
fn faults_can_be_ignored() {
    let place = Place::new();
    let options = ["--trials", "4", "--format", "json", "--ignore-faults"];
    let json = place.run(&options, &["faulty"]).exits(0).json();
    assert_eq!(json["findings"], json!([]));
    let json = place.run(&options, &["more-faulty"]).exits(0).json();
    assert_eq!(json["cells"][0]["failures"], 0);
}

/// What only injection brings about makes a trial fail.
#[test]
fn a_fault_of_a_trial_alone_is_its_failure() {
    let place = Place::new();
    let ended = place.run(&["--trials", "20", "--format", "json", "--out", "run"], &["more-faulty"]);
    let json = ended.exits(1).json();
    let kinds: Vec<&Value> =
        json["findings"].as_array().unwrap().iter().map(|finding| &finding["kind"]).collect();
    assert_eq!(kinds, ["illegal-address", "trap"]);
    let crashes = json["cells"][0]["outcomes"]["crash"].as_u64().unwrap();
    assert!(crashes > 0 && crashes < 20, "{json:#}");
    assert_eq!(json["findings"][1]["without_injection"], json!({"seen": 0, "of": 3}));
    assert_eq!(json["findings"][1]["trials"], json!({"seen": crashes, "of": 20}));
    let first = json["cells"][0]["first_failing_trial"].as_u64().unwrap();
    assert_eq!(json["findings"][1]["first_trial"], first.to_string());
    place
        .bugaroo(&["replay", "run", &first.to_string()])
        .exits(1)
        .prints("crash: kernel dot: ")
        .prints("as recorded");
}

#[test]
fn distinct_faults_are_bounded_and_it_is_said() {
    let place = Place::new();
    let json = place.run(&["--trials", "2", "--format", "json"], &["many-faults", "20"]).exits(1).json();
    assert_eq!(json["findings"].as_array().unwrap().len(), 16);
    assert_eq!(json["more_findings"], 8);
    let ended = place.run(&["--trials", "2"], &["many-faults", "20"]).exits(1);
    ended.prints("8 more launches ended with errors of other kinds or at other lines");
}

#[test]
fn a_search_tells_faults_too() {
    let place = Place::new();
    let mut bisect =
        place.command(&["bisect", "--trials", "4", "--format", "json", &crate::common::app(), "faulty"]);
    let json = end(&mut bisect).exits(1).json();
    assert_eq!(json["findings"][0]["kind"], "illegal-address");
    assert_eq!(json["missing"], json!([]));
}

/// A race that needs no weak memory is told as such, with trials to replay.
#[test]
fn failing_under_some_schedules_is_a_finding() {
    let place = Place::new();
    let options = ["--trials", "7", "--format", "json", "--out", "run"];
    let json = place.run(&options, &["racy"]).exits(1).json();
    let share = &json["fails_without_injection"];
    let failures = share["seen"].as_u64().unwrap();
    assert!(share["of"] == 50 && failures > 0 && failures < 50, "{json:#}");
    let cells = json["cells"].as_array().unwrap();
    let schedulers: Vec<_> =
        cells.iter().map(|cell| (&cell["pw"], &cell["scheduler"], &cell["trials"])).collect();
    assert_eq!(
        schedulers,
        [(&json!(0.0), &json!("random"), &json!(25)), (&json!(0.0), &json!("pct"), &json!(25))]
    );
    let first = cells[1]["first_failing_trial"].as_u64().unwrap();
    place.bugaroo(&["replay", "run", &format!("1:{first}")]).exits(1).prints("as recorded");
    // Asked again, it is known.
    let ended = place.run(&["--trials", "7", "--out", "run"], &["racy"]).exits(1);
    let said = format!("the program fails without injection under {failures} of 50 schedules");
    ended
        .prints(&said)
        .prints("a race or a missing barrier that needs no weak memory")
        .prints("it said: wrong");
    // A search looks for no fence, and says why.
    let mut bisect = place.command(&[
        "bisect",
        "--format",
        "json",
        "--error-exitcode",
        "9",
        &crate::common::app(),
        "racy",
    ]);
    let json = end(&mut bisect).exits(9).json();
    assert!(json["unresolved"].as_str().unwrap().contains("it is not a missing fence"), "{json:#}");
    assert_eq!((&json["missing"], &json["patch"]), (&json!([]), &json!("")));
}

#[test]
fn failing_under_all_schedules_is_told_with_what_was_seen() {
    let place = Place::new();
    let ended = place.run(&["--format", "json"], &["fails"]).exits(3);
    let json = ended.json();
    assert!(json["error"].as_str().unwrap().contains("fails under each of 50 schedules"), "{json:#}");
    assert_eq!((&json["exit_code"], &json["outcome"]), (&json!(3), &json!("wrong-result")));
    assert_eq!((&json["reason"], &json["stdout"]), (&json!("exit code 7"), &json!("always wrong")));
    assert_eq!(json["schedules"], json!({"trials": 50, "failures": 50}));
    assert_eq!(json["findings"], json!([]));
}

#[test]
fn an_output_that_differs_by_itself_is_no_reference() {
    let place = Place::new();
    let ended = place.run(&["--oracle", "reference", "--format", "json"], &["seeds"]).exits(3);
    let error = ended.json()["error"].as_str().unwrap().to_owned();
    let proposal =
        r"to compare the rest, as far as these runs tell: --oracle reference --ignore-lines '^seed \S+$'";
    for part in
        ["(20 of 20 differ from the first run's)", "line 2 of what is compared is\n  | seed ", proposal]
    {
        assert!(error.contains(part), "{part:?} in {error}");
    }
    let ignoring = ["--oracle", "reference", "--ignore-lines", r"^seed \S+$", "--trials", "10"];
    place.run(&ignoring, &["seeds"]).exits(0);
    place.run(&ignoring, &["prints"]).exits(1);
    place.run(&["--oracle", "reference", "--trials", "10"], &["prints"]).exits(1);
    place.run(&["--oracle", "reference", "--trials", "10"], &["pass"]).exits(0);
}

#[test]
fn outputs_are_compared_but_for_what_is_passed_over() {
    let place = Place::new();
    // What is proposed where it varies by itself is enough.
    let error = place.run(&["--oracle", "reference", "--format", "json"], &["rounds"]).exits(3).json();
    let error = error["error"].as_str().unwrap().to_owned();
    let (_, options) = error.rsplit_once("--oracle reference ").expect("a proposal");
    assert_eq!(options, r"--ignore-lines '^took \S+ ms$' --tolerance 1e-4");
    let passing = ["--oracle", "reference", "--ignore-lines", "^took", "--tolerance", "1e-4"];
    let run = [&passing[..], &["--trials", "12", "--out", "run"]].concat();
    place.run(&run, &["rounds"]).exits(1);
    let trials = place.trials();
    let wrong = trials.values().filter(|trial| trial["outcome"] == "wrong-result").count();
    assert!(wrong > 0 && wrong < 12, "{trials:?}");
    // A replay compares alike, and a run does not go on that compared otherwise.
    for ((cell, trial), record) in &trials {
        let code = i32::from(record["outcome"] != "pass");
        place.bugaroo(&["replay", "run", &format!("{cell}:{trial}")]).exits(code);
    }
    let other = ["--oracle", "reference", "--tolerance", "1e-4", "--trials", "12", "--out", "run"];
    place.run(&other, &["rounds"]).exits(2).says("another configuration: comparison is ");
    // They are for outputs that are compared, and that are not long.
    place
        .run(&["--tolerance", "0.1"], &["pass"])
        .exits(2)
        .says("are for the oracle reference; exit compares");
    place.run(&["--oracle", "reference", "--tolerance", "2"], &["pass"]).exits(2).says("between 0 and 1");
    place.run(&["--oracle", "reference", "--ignore-lines", "("], &["pass"]).exits(2).says("unclosed group");
    let long = place.run(&["--oracle", "reference", "--ignore-lines", "^took"], &["two-megabytes"]);
    long.exits(3).says("it prints 2000007 bytes").says("at most 1048576");
    place.run(&["--oracle", "reference"], &["two-megabytes"]).exits(0);
    let nothing = place.run(&["--oracle", "reference", "--ignore-lines", "^sum"], &["pass"]);
    nothing.exits(2).says("there is nothing to compare");
}

#[test]
fn json_is_printed_for_every_exit_code() {
    let place = Place::new();
    let error = |args: &[&str], code: i32, part: &str| {
        let ended = place.bugaroo(args).exits(code);
        let json = ended.json();
        assert_eq!((&json["schema"], &json["exit_code"]), (&json!(1), &json!(code)), "{ended:#?}");
        assert!(json["error"].as_str().is_some_and(|error| error.contains(part)), "{part:?} in {ended:#?}");
    };
    let app = crate::common::app();
    error(&["run", "--format", "json", "--bogus", &app], 2, "unexpected argument '--bogus'");
    error(&["run", "--pw", "7", "--format=json", &app], 2, "a probability is from 0 to 1");
    error(&["bisect", "--format", "json"], 2, "required arguments were not provided");
    error(&["run", "--format", "json", "/no/such/program"], 2, "/no/such/program");
    error(
        &["bisect", "--format", "json", "--pw", "0.5,1", &app, "pass"],
        2,
        "bisect takes one --pw: give the probability to search at",
    );
    error(&["profile", "--format", "json", &app, "fails"], 3, "fails without injection");
    error(&["sites", "--format", "json", &app, "silent"], 4, "never used Bugaroo's CUDA driver");
    error(&["run", "--format", "json", &app, "unsupported"], 4, "tex.2d");
    error(&["race", "--detector", "all", "--format", "json", &app, "unsupported"], 4, "tex.2d");
    error(&["verify", "--format", "json", "/no/such/file"], 2, "/no/such/file");
    error(&["litmus", "--format", "json", "/no/such/file"], 2, "/no/such/file");
    let mut other = place.command(&["run", "--format", "json", &app, "pass"]);
    let json = end(other.env("VERSION", "1")).exits(5).json();
    assert!(json["error"].as_str().unwrap().contains("rebuild both"), "{json:#}");
    // For people there is a line, and nothing on standard output.
    let ended = place.bugaroo(&["run", "--bogus", &app, "--format", "json"]).exits(2);
    assert_eq!(ended.stdout, "");
    assert!(place.bugaroo(&["--version"]).exits(0).stdout.starts_with("bugaroo "));
}
