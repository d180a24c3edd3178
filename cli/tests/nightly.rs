//! `bugaroo nightly`, `merge`, `history` and `init`, on a real program on the virtual GPU.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::common::{Ended, end, signal};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A folder with a plan.
struct Night {
    folder: TempDir,
}

/// A program that is built with the tests.
fn program(name: &str) -> String {
    let bugaroo = PathBuf::from(env!("CARGO_BIN_EXE_bugaroo"));
    bugaroo.with_file_name(name).to_str().unwrap().to_owned()
}

impl Night {
    fn new(plan: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let plan = plan.replace("DOT", &program("cbe_dot"));
        fs::write(folder.path().join("plan.toml"), plan).unwrap();
        Self { folder }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bugaroo"));
        command.args(args).current_dir(self.folder.path()).stdin(Stdio::null());
        command
    }

    fn bugaroo(&self, args: &[&str]) -> Ended {
        end(&mut self.command(args))
    }

    /// The night's JSON without what depends on the clock and on the machine's folders.
    fn json(&self, args: &[&str]) -> Value {
        let ended = self.bugaroo(&[args, &["--format", "json"]].concat());
        timeless(ended.json())
    }
}

/// Removes what depends on the clock.
fn timeless(mut value: Value) -> Value {
    match &mut value {
        Value::Object(map) => {
            map.retain(|key, _| !key.ends_with("_ms") && key != "began" && key != "ended");
            map.values_mut().for_each(|value| *value = timeless(value.take()));
        }
        Value::Array(list) => list.iter_mut().for_each(|value| *value = timeless(value.take())),
        _ => {}
    }
    value
}

const BOTH: &str = r#"
[night]
seed = 7
search = false
[defaults]
trials = 60
race-trials = 4
pw = [0.75]
[[program]]
name = "right"
run = ["DOT"]
[[program]]
name = "wrong"
run = ["DOT", "--variant", "no_fence"]
"#;

fn cell(night: &Value, program: usize, cell: usize) -> &Value {
    &night["programs"][program]["cells"][cell]
}

#[test]
fn a_night_finds_what_is_wrong_and_nothing_else() {
    let place = Night::new(BOTH);
    let ended = place.bugaroo(&["nightly", "plan.toml", "--night", "one", "--format", "json"]).exits(1);
    let night = ended.json();
    assert_eq!(
        (&night["verdict"], &night["complete"], &night["label"]),
        (&json!("red"), &json!(true), &json!("one"))
    );
    for at in 0..3 {
        assert_eq!(cell(&night, 0, at)["status"], "pass", "{night:#}");
        assert_eq!(cell(&night, 1, at)["status"], "fail", "{night:#}");
    }
    assert_eq!(cell(&night, 0, 0)["trials"], 60);
    for file in ["report.json", "junit.xml", "report.sarif", "index.html"] {
        assert!(place.folder.path().join("plan-reports/one").join(file).is_file(), "{file}");
    }
    // What it says shows the failure again does.
    let replay = night["programs"][1]["findings"][0]["replay"].as_str().unwrap();
    let words: Vec<&str> = replay.split(' ').skip(1).collect();
    place.bugaroo(&words).exits(1);
    place.bugaroo(&["history", "--plan", "plan.toml", "wrong"]).exits(0).prints("store-buffer pw=0.75");
    // The same again is complete, and forgets nothing of what the first start has found out.
    let again = place.bugaroo(&["nightly", "plan.toml", "--night", "one"]).exits(1);
    again.says("nothing is left to run");
    let junit = fs::read_to_string(place.folder.path().join("plan-reports/one/junit.xml")).unwrap();
    assert_eq!(junit.matches("sha256").count(), 2, "{junit}");
    // The next night knows what is not new.
    let next = place.bugaroo(&["nightly", "plan.toml", "--night", "two", "--format", "json"]).exits(1).json();
    assert_eq!(next["compared_with"], "one");
    assert!(
        next["programs"][1]["findings"].as_array().unwrap().iter().all(|finding| finding["new"] == false)
    );
}

#[test]
fn shards_together_are_the_whole() {
    let whole = Night::new(BOTH);
    let parts = Night::new(BOTH);
    // The folder's name is in the commands that replay.
    let wanted = whole.json(&["nightly", "plan.toml", "--night", "n"]);
    let wanted = wanted.to_string().replace(whole.folder.path().to_str().unwrap(), "");
    let mut files = Vec::new();
    for index in 1..=8 {
        let (shard, file) = (format!("{index}/8"), format!("part-{index}.sqlite"));
        parts.bugaroo(&["nightly", "plan.toml", "--night", "n", "--shard", &shard, "--results", &file]);
        files.push(file);
    }
    let merge = |files: &[String]| {
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        let merged = parts.json(&[&["merge", "plan.toml"], &files[..]].concat());
        merged.to_string().replace(parts.folder.path().to_str().unwrap(), "")
    };
    // Missing shards are named.
    let few = merge(&files[..3]);
    let few: Value = serde_json::from_str(&few).unwrap();
    assert_eq!(few["missing_shards"], json!([4, 5, 6, 7, 8]));
    assert_eq!(few["complete"], false);
    // In any order, and more than once.
    assert_eq!(merge(&files[3..]), wanted);
    files.reverse();
    assert_eq!(merge(&files), wanted);
}

#[test]
fn what_does_not_belong_together_is_not_merged() {
    let one = Night::new(BOTH);
    let other = Night::new(&BOTH.replace("trials = 60", "trials = 8"));
    let args = ["nightly", "plan.toml", "--night", "n", "--shard", "1/2", "--results"];
    one.bugaroo(&[&args[..], &["a.sqlite"]].concat());
    other.bugaroo(&[&args[..], &["b.sqlite"]].concat());
    let b = other.folder.path().join("b.sqlite");
    let b = b.to_str().unwrap();
    one.bugaroo(&["merge", "plan.toml", "a.sqlite", b]).exits(2).says("is of another plan");
    one.bugaroo(&["merge", "plan.toml", "nope.sqlite"]).exits(2).says("no such file");
    fs::write(one.folder.path().join("text.sqlite"), "no database").unwrap();
    one.bugaroo(&["merge", "plan.toml", "text.sqlite"]).exits(5).says("text.sqlite");
}

#[test]
fn killed_at_any_moment_it_goes_on_and_counts_once() {
    let kills: u64 = std::env::var("BUGAROO_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(6);
    let calm = Night::new(BOTH);
    let wanted = calm.json(&["nightly", "plan.toml", "--night", "n"]);
    let wanted = wanted.to_string().replace(calm.folder.path().to_str().unwrap(), "");
    let mut done = 0;
    while done < kills {
        let rough = Night::new(BOTH);
        for _ in 0..4 {
            let mut command = rough.command(&["nightly", "plan.toml", "--night", "n"]);
            let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            // Moments that are spread over the night's time.
            std::thread::sleep(Duration::from_millis(done * 2_654_435_761 % 1500));
            child.kill().unwrap();
            child.wait().unwrap();
            done += 1;
        }
        let night = rough.json(&["nightly", "plan.toml", "--night", "n"]);
        assert_eq!(night.to_string().replace(rough.folder.path().to_str().unwrap(), ""), wanted);
    }
}

#[test]
fn a_signal_leaves_a_report_of_what_is_done() {
    let place = Night::new(&BOTH.replace("trials = 60", "trials = 100000"));
    let mut command = place.command(&["nightly", "plan.toml", "--night", "n", "--format", "json"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_secs(8));
    signal(&child, libc::SIGTERM);
    let ended = crate::common::wait(child);
    assert!(matches!(ended.code, Some(1 | 130)), "{ended:#?}");
    let night = ended.json();
    assert_eq!(night["complete"], false);
    assert!(place.folder.path().join("plan-reports/n/index.html").is_file());
}

/// Waits until it is so.
fn until(so: impl Fn() -> bool) {
    while !so() {
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_shard_that_was_stopped_is_not_done_whatever_it_has_found() {
    let plan = "[night]\nsearch = false\n[[program]]\nrun = [\"DOT\", \"--variant\", \"no_fence\"]\ntrials = 1000000\n";
    let place = Night::new(plan);
    let args = [
        "nightly",
        "plan.toml",
        "--night",
        "n",
        "--shard",
        "1/2",
        "--results",
        "r.sqlite",
        "--format",
        "json",
    ];
    let child = place.command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let progress = place.folder.path().join("r.progress");
    let done = || serde_json::from_str::<Value>(&fs::read_to_string(&progress).ok()?).ok()?["done"].as_u64();
    until(|| done().is_some_and(|done| done > 0));
    signal(&child, libc::SIGTERM);
    let night = crate::common::wait(child).exits(130).json();
    assert_ne!(night["programs"][0]["findings"], json!([]), "{night:#}");
    assert_eq!(night["complete"], false);
}

#[test]
fn a_signal_ends_a_build_step_and_leaves_a_report() {
    let build = "build = \"echo $$ >pid.new; mv pid.new pid; sleep 5000; true\"";
    let place = Night::new(&format!("[[program]]\nrun = [\"DOT\"]\n{build}\n"));
    let mut command = place.command(&["nightly", "plan.toml", "--night", "n", "--format", "json"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    until(|| place.folder.path().join("pid").exists());
    signal(&child, libc::SIGTERM);
    let ended = crate::common::wait(child).exits(1);
    assert_eq!(ended.json()["complete"], false);
    assert!(place.folder.path().join("plan-reports/n/index.html").is_file());
    let pid = fs::read_to_string(place.folder.path().join("pid")).unwrap();
    assert!(!PathBuf::from(format!("/proc/{}", pid.trim())).exists(), "the build step is gone");
}

#[test]
fn a_night_that_runs_is_not_run_twice() {
    let place = Night::new(&BOTH.replace("trials = 60", "trials = 1000000"));
    let args = ["nightly", "plan.toml", "--night", "n"];
    let mut first = place.command(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let lock = place.folder.path().join("plan-reports/n/lock");
    until(|| fs::read_to_string(&lock).is_ok_and(|text| text == first.id().to_string()));
    place.bugaroo(&args).exits(2).says(&format!("another bugaroo runs night n (process {})", first.id()));
    place.bugaroo(&["nightly", "plan.toml"]).exits(2).says("another bugaroo runs night n");
    first.kill().unwrap();
    first.wait().unwrap();
    let mut again = place.command(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until(|| fs::read_to_string(&lock).is_ok_and(|text| text == again.id().to_string()));
    again.kill().unwrap();
    again.wait().unwrap();
}

#[test]
fn a_budget_is_kept_and_finds_what_is_wrong() {
    let plan = BOTH.replace("seed = 7", "seed = 7\nbudget = \"12s\"").replace("trials = 60\n", "");
    let night = Night::new(&plan).bugaroo(&["nightly", "plan.toml", "--format", "json"]).exits(1).json();
    assert_eq!(night["complete"], true);
    assert_eq!(cell(&night, 0, 0)["status"], "pass");
    assert_eq!(cell(&night, 1, 0)["status"], "fail");
    assert!(cell(&night, 0, 0)["trials"].as_u64().unwrap() >= 20, "{night:#}");
}

#[test]
fn what_is_expected_is_green_until_its_day() {
    let expect = |until: &str| {
        let known = |what: &str| {
            format!("[[program.expect]]\nfinding = \"{what}\"\nreason = \"ticket 1\"\nuntil = {until}\n")
        };
        Night::new(&format!("{BOTH}{}{}", known("failure"), known("race")))
    };
    let night = expect("2999-01-01").bugaroo(&["nightly", "plan.toml", "--format", "json"]).exits(0).json();
    assert_eq!((&night["verdict"], &cell(&night, 1, 0)["status"]), (&json!("green"), &json!("expected")));
    expect("2001-01-01").bugaroo(&["nightly", "plan.toml"]).exits(1).prints("has expired");
}

#[test]
fn a_night_that_tested_nothing_is_red() {
    let place = Night::new("[[program]]\nrun = [\"./nope\"]\n");
    place.bugaroo(&["nightly", "plan.toml"]).exits(1).prints("nothing was tested").prints("RED");
    let junit = fs::read_dir(place.folder.path().join("plan-reports")).unwrap().flatten();
    let folder = junit.map(|entry| entry.path()).find(|path| path.join("junit.xml").is_file()).unwrap();
    assert!(fs::read_to_string(folder.join("junit.xml")).unwrap().contains("<error"));
}

#[test]
fn a_build_step_that_fails_is_told() {
    let plan = "[[program]]\nrun = [\"DOT\"]\nbuild = \"echo no compiler here; exit 3\"\n";
    Night::new(plan).bugaroo(&["nightly", "plan.toml"]).exits(1).prints("no compiler here");
}

#[test]
fn variables_and_input_reach_the_program() {
    let script = "#!/bin/sh\n[ \"$COLOUR\" = blue ] && [ \"$(cat)\" = hello ] && exec DOT\n";
    let plan = "[night]\nsearch = false\n[[program]]\nrun = [\"./app.sh\"]\nenvironment = { COLOUR = \"blue\" }\n\
                stdin = \"in.txt\"\ntrials = 3\nrace-trials = 0\n";
    let place = Night::new(plan);
    let path = place.folder.path().join("app.sh");
    fs::write(&path, script.replace("DOT", &program("cbe_dot"))).unwrap();
    fs::write(place.folder.path().join("in.txt"), "hello").unwrap();
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    place.bugaroo(&["nightly", "plan.toml"]).exits(0).prints("green");
}

#[test]
fn mistakes_are_told_with_their_place() {
    let place = Night::new("[night]\nbuget = \"1h\"\n");
    let ended = place.bugaroo(&["nightly", "plan.toml", "--format", "json"]).exits(2);
    assert!(ended.json()["error"].as_str().unwrap().contains("plan.toml:2: unknown field `buget`"));
    place.bugaroo(&["nightly", "none.toml"]).exits(2).says("bugaroo init");
    let place = Night::new(BOTH);
    place.bugaroo(&["nightly", "plan.toml", "--shard", "0/8"]).exits(2).says("counted from 1");
    place.bugaroo(&["nightly", "plan.toml", "--shard", "1/20000"]).exits(2).says("at most 10000 shards");
    place.bugaroo(&["history", "--plan", "plan.toml"]).exits(2).says("no night yet");
    place.bugaroo(&["nightly", "plan.toml", "--dry-run"]).exits(0).prints("not known");
    let args = ["nightly", "plan.toml", "--night", "n", "--shard", "1/60", "--results", "r.sqlite"];
    place.bugaroo(&args);
    place.bugaroo(&[&args[..], &["--seed", "8"]].concat()).exits(2).says("another seed");
}

#[test]
fn a_dry_run_names_programs_that_are_not_there() {
    let place = Night::new("[[program]]\nrun = [\"./nope\"]\n[[program]]\nrun = [\"DOT\"]\n");
    place
        .bugaroo(&["nightly", "plan.toml", "--dry-run"])
        .exits(2)
        .says("nope: program not found: ./nope (line 1");
    let place = Night::new("[[program]]\nrun = [\"./nope\"]\nbuild = \"make nope\"\n");
    place.bugaroo(&["nightly", "plan.toml", "--dry-run"]).exits(0).says("its build step has to make it");
}

#[test]
fn a_first_plan_can_be_run_as_it_stands() {
    let place = Night::new("");
    place.bugaroo(&["init", &program("cbe_dot")]).exits(0).says("wrote nightly.toml");
    place.bugaroo(&["init"]).exits(2).says("is there already");
    place.bugaroo(&["init", "-o", "two.toml", "a/app", "b/app"]).exits(0).says("wrote two.toml");
    place.bugaroo(&["nightly", "--dry-run", "nightly.toml"]).exits(0).prints("cbe_dot");
}
