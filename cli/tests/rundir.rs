//! Run directories: killed, resumed, interrupted, damaged.

use std::fs::{self, OpenOptions};
use std::io::Write;

use crate::common::{Place, app, signal, until, wait};

const OPTIONS: [&str; 4] = ["--trials", "300", "--pw", "0.5,1"];

#[test]
fn killed_at_any_moment_and_resumed() {
    let place = Place::new();
    place.run(&[&["--out", "run"][..], &OPTIONS].concat(), &["odd"]).exits(1);
    let whole = place.timeless_trials();
    assert_eq!(whole.len(), 600);
    place.clear();

    for kill_after in [0, 40, 350] {
        let mut child = place.start(&OPTIONS, &["odd"]);
        until(|| place.path("run/run.json").exists() && place.trials().len() >= kill_after);
        signal(&child, libc::SIGKILL);
        child.wait().unwrap();
        let survived = place.timeless_trials();
        assert!(survived.len() >= kill_after && survived.len() < 600, "{}", survived.len());

        let ended = wait(place.start(&OPTIONS, &["odd"])).exits(1).says("going on with the run in run");
        assert!(ended.stdout.contains(&format!("{} trials in", 600 - survived.len())), "{ended:#?}");
        // None lost, none doubled, none that went another way.
        assert_eq!(place.timeless_trials(), whole);
        place.clear();
    }
}

#[test]
fn a_finished_run_is_only_summed_up() {
    let place = Place::new();
    let first = wait(place.start(&OPTIONS, &["odd"])).exits(1);
    let second = wait(place.start(&OPTIONS, &["odd"])).exits(1).prints("no trial left to run");
    // How trials were run is no part of it.
    let table = |text: &str| text.split_once(" p_w").unwrap().1.to_owned();
    assert_eq!(table(&first.stdout), table(&second.stdout));
}

#[test]
fn torn_last_line() {
    let place = Place::new();
    wait(place.start(&OPTIONS, &["odd"])).exits(1);
    let whole = place.timeless_trials();
    let path = place.path("run/trials.jsonl");
    let text = fs::read(&path).unwrap();
    for cut in [1, 2, 30] {
        fs::write(&path, &text[..text.len() - cut]).unwrap();
        let ended = wait(place.start(&OPTIONS, &["odd"])).exits(1);
        ended.says("the last line of trials.jsonl was cut off").prints("1 trial in");
        assert_eq!(place.timeless_trials(), whole);
    }
}

#[test]
fn without_a_seed_the_runs_own_goes_on_and_trials_may_be_added() {
    let place = Place::new();
    wait(place.start(&["--trials", "10"], &["odd"])).exits(1);
    let ended = place.bugaroo(&["run", "--out", "run", "--trials", "25", &app(), "odd"]).exits(1);
    ended.prints("seed 1, model store-buffer, 15 trials in");
    assert_eq!(place.trials().len(), 25);
    let ended = place.bugaroo(&["run", "--out", "run", "--trials", "5", "--format", "json", &app(), "odd"]);
    assert_eq!(ended.exits(1).json()["cells"][0]["trials"], 5);
    assert_eq!(place.trials().len(), 25);
}

#[test]
fn another_configuration_is_refused_by_name() {
    let place = Place::new();
    wait(place.start(&["--trials", "4"], &["odd"])).exits(1);
    let before = fs::read(place.path("run/run.json")).unwrap();
    for (options, behaviour, part) in [
        (&["--seed", "2"][..], "odd", "seed is 1 there, 2 here"),
        (&["--pw", "0.5"], "odd", "pw is [0.75] there, [0.5] here"),
        (&["--model", "bugaroo"], "odd", r#"model is "store-buffer" there, "bugaroo" here"#),
        (&["--timeout", "1s"], "odd", "timeout_ms is null there, 1000 here"),
        (&["--oracle", "reference"], "odd", r#"oracle is "exit" there"#),
        (&["--scheduler", "pct"], "odd", r#"scheduler is "random" there, "pct" here"#),
        (&["--scheduler", "pct", "--pct-depth", "8"], "odd", "pct_depth is null there, 8 here"),
        (&["--with-fence", "0"], "odd", r#"with_fence is [] there, ["0"] here"#),
        (&[], "pass", r#"args is ["odd"] there, ["pass"] here"#),
    ] {
        let app = app();
        let ended =
            place.bugaroo(&[&["run", "--out", "run", "--trials", "4"], options, &[&app, behaviour]].concat());
        ended.exits(2).says("run holds a run of another configuration: ").says(part);
    }
    assert_eq!(fs::read(place.path("run/run.json")).unwrap(), before);
    assert_eq!(place.trials().len(), 4);
}

#[test]
fn what_is_no_run_is_left_alone() {
    let place = Place::new();
    fs::create_dir(place.path("run")).unwrap();
    fs::write(place.path("run/thesis.tex"), "x").unwrap();
    wait(place.start(&[], &["pass"])).exits(2).says("run holds files but no run");
    fs::remove_file(place.path("run/thesis.tex")).unwrap();
    wait(place.start(&["--trials", "2"], &["pass"])).exits(0);

    fs::write(place.path("file"), "x").unwrap();
    place.run(&["--out", "file"], &["pass"]).exits(5).says("file: ");
}

#[test]
fn damaged_files_are_named() {
    let place = Place::new();
    wait(place.start(&["--trials", "4"], &["pass"])).exits(0);
    let path = place.path("run/trials.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("\"pass\"", "\"pa", 1)).unwrap();
    wait(place.start(&["--trials", "4"], &["pass"])).exits(2).says("trials.jsonl: line 1: ");
    fs::write(&path, text.replacen("\"schema\":1", "\"schema\":9", 1)).unwrap();
    wait(place.start(&["--trials", "4"], &["pass"])).exits(2).says("trials.jsonl is of schema 9");
    fs::write(place.path("run/run.json"), "{").unwrap();
    wait(place.start(&["--trials", "4"], &["pass"])).exits(2).says("run.json: ");
}

/// Whether a process runs (a zombie does not).
fn runs(pid: &str) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or("").trim_start().starts_with('Z'))
}

#[test]
fn interrupted_before_anything_was_found() {
    for number in [libc::SIGINT, libc::SIGTERM] {
        let place = Place::new();
        let pids = place.path("pids");
        let child = place.start(&["--jobs", "2", "--timeout", "10h"], &["loop", pids.to_str().unwrap()]);
        until(|| {
            fs::read_to_string(&pids).is_ok_and(|text| text.lines().count() == 2 && text.ends_with('\n'))
        });
        signal(&child, number);
        wait(child)
            .exits(130)
            .prints("interrupted; the same command with --out run goes on")
            .prints("no failures");
        assert!(place.trials().is_empty());
        for pid in fs::read_to_string(&pids).unwrap().lines() {
            assert!(!runs(pid));
        }
    }
}

#[test]
fn interrupted_after_findings() {
    let place = Place::new();
    let child = place.start(&["--jobs", "2", "--timeout", "10h"], &["odd-or-loop"]);
    until(|| !place.trials().is_empty());
    signal(&child, libc::SIGINT);
    wait(child).exits(1).prints("interrupted").prints("first failing trial: ");
    assert!(place.trials().values().all(|trial| trial["outcome"] == "wrong-result"));
}

#[test]
fn interrupted_during_the_baseline() {
    let place = Place::new();
    let begun = place.path("begun");
    let child = place.start(&["--timeout", "10h"], &["sleeps", "100000", begun.to_str().unwrap()]);
    until(|| begun.exists());
    signal(&child, libc::SIGINT);
    wait(child).exits(130).says("bugaroo: interrupted");
    assert!(!place.path("run").exists());
}

#[test]
fn two_runs_in_one_directory() {
    let place = Place::new();
    let child = place.start(&["--timeout", "10h"], &["loop"]);
    until(|| place.path("run/run.json").exists());
    wait(place.start(&["--timeout", "10h"], &["loop"])).exits(2).says("another bugaroo is writing to run");
    signal(&child, libc::SIGINT);
    wait(child).exits(130);
}

/// What a run that was killed before it stated itself leaves behind is no obstacle.
#[test]
fn leftovers_of_a_run_that_never_began() {
    let place = Place::new();
    fs::create_dir(place.path("run")).unwrap();
    for name in ["lock", "run.json.new"] {
        fs::write(place.path("run").join(name), "").unwrap();
    }
    let mut trials =
        OpenOptions::new().create(true).append(true).open(place.path("run/trials.jsonl")).unwrap();
    trials.write_all(b"{\"half a li").unwrap();
    wait(place.start(&["--trials", "3"], &["pass"])).exits(0);
    assert_eq!(place.trials().len(), 3);
}
