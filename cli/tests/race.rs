//! `bugaroo race`, on a program that tells of races as a driver would.

use std::fs;
use std::process::Command;

use crate::common::{Ended, Place, app, end};
use serde_json::Value;

const SOURCE: &str = "\
__device__ int total;
// Adds up.
__global__ void dot(int *out) {
    total = out[0];
    atomicAdd(&total, 1);
    out[1] = total;
}
";

fn place() -> Place {
    let place = Place::new();
    fs::write(place.path("kernel.cu"), SOURCE).unwrap();
    place
}

/// `bugaroo race OPTIONS… app BEHAVIOUR…`
fn command(place: &Place, options: &[&str], behaviour: &[&str]) -> Command {
    place.command(&[&["race", "--seed", "1"], options, &[app().as_str()], behaviour].concat())
}

fn race(place: &Place, options: &[&str], behaviour: &[&str]) -> Ended {
    end(&mut command(place, options, behaviour))
}

fn json(place: &Place, options: &[&str], behaviour: &[&str], code: i32) -> Value {
    race(place, &[&["--format", "json"], options].concat(), behaviour).exits(code).json()
}

#[test]
fn for_people() {
    let place = place();
    let ended = race(&place, &["--trials", "12", "--out", "run"], &["races"]).exits(1);
    let text = &ended.stdout;
    assert!(
        text.starts_with(
            "error: data race in global memory: a store, then a load, by threads of different blocks\n"
        ),
        "{text}"
    );
    for part in [
        " --> kernel.cu:6:5",
        "4 |     total = out[0];",
        "first: block (0,0,0) thread (0,0,0) stores 4 bytes, weak",
        "then: block (1,0,0) thread (0,0,0) loads 4 bytes, weak",
        "note: first: dot(int*), kernel.cu:4, PTX line 14: store.global.u32",
        "note: then: dot(int*), kernel.cu:6, PTX line 16: load.global.u32",
        "note: address 0x208, 8 bytes into the 64-byte variable total at 0x200",
        "note: allocated by main, main.cu:40",
        "note: missing: no acquire by the thread of the load at kernel.cu:6 since the other's release; what adds it: \
         __threadfence() behind the load of the flag or the atomic, before the load, or ld.acquire there",
        "note: proven: by the memory model nothing orders the two in this execution",
        "note: seen by ptx in 12 of 12 trials, 36 times; first in trial 0",
        "note: replay it: bugaroo replay run 0",
        "error: data race in global memory: an atomic, then a store, by threads of different blocks",
        "note: the store at kernel.cu:4 is plain beside an access that is not: an atomic",
        "2 races between 2 pairs of places in 12 trials (ptx: 4 without weak memory, 4 store-buffer, 4 ptx; schedules 6 random, 6 pct; ",
        "accesses of warps looked at; seed 1)",
        "records: run\n",
    ] {
        assert!(text.contains(part), "wanted {part:?} in {text}");
    }
    // The one that shows in every trial comes first.
    assert!(text.find("a store, then a load") < text.find("an atomic, then a store"), "{text}");
}

/// Races of the same two places are one finding, whoever found them.
#[test]
fn several_detectors() {
    let place = place();
    let ended = race(&place, &["--detector", "all", "--trials", "8"], &["races"]).exits(1);
    ended
        .prints("note: also as read-write (kernel.cu:6 first): seen by barracuda in 4 of 4 trials, 28 times; first in trial 0")
        .prints("between 2 pairs of places in 8 trials (ptx, barracuda, hirace, scord: 4 without weak memory; schedules 2 random, 2 pct; ptx, hirace: 2 store-buffer, 2 ptx");
    let ended = race(&place, &["--detector", "barracuda", "--trials", "3"], &["races"]).exits(1);
    ended
        .prints("note: inferred: it rests on what fences and atomics in the PTX are taken to mean")
        .prints("__threadfence() behind the load, before the flag or the atomic that tells others of it");
}

#[test]
fn nothing_found() {
    let place = place();
    let ended = race(&place, &["--trials", "6"], &["no-races"]).exits(0);
    ended
        .prints("warning: accesses of a tensor copy were not looked at: 18 times in 6 trials")
        .prints("no race was found in 6 trials (ptx: 2 without weak memory, 2 store-buffer, 2 ptx; schedules 3 random, 3 pct; 7,404 accesses of warps looked at; seed 1)")
        .prints("does not prove that there is none");
    // A driver that tells the detectors nothing is no clean bill.
    race(&place, &["--trials", "2"], &["pass"])
        .exits(0)
        .prints("the detectors were told of no access at all");
}

#[test]
fn as_json() {
    let place = place();
    let report = json(&place, &["--trials", "12", "--out", "run"], &["races"], 1);
    assert_eq!(
        (&report["schema"], &report["detector"], &report["trials"]),
        (&1.into(), &"ptx".into(), &12.into())
    );
    assert_eq!((&report["seed"], &report["args"][0]), (&1.into(), &"races".into()));
    let first = &report["races"][0];
    for (name, value) in [
        ("kind", Value::from("write-read")),
        ("class", "inter-block".into()),
        ("space", "global".into()),
        ("address", 520.into()),
        ("missing", "acquire".into()),
        ("count", 36.into()),
        ("trials", 12.into()),
        ("of", 12.into()),
        ("proven", true.into()),
        ("first_failing_trial", "0".into()),
        ("detector", "ptx".into()),
    ] {
        assert_eq!(first[name], value, "{name}");
    }
    assert_eq!(first["allocation"]["variable"], "total");
    let party = &first["second"];
    assert_eq!((&party["kernel"], &party["kernel_mangled"]), (&"dot(int*)".into(), &"_Z3dotPi".into()));
    assert_eq!((&party["ptx_line"], &party["source"]["line"]), (&16.into(), &6.into()));
    assert_eq!((&party["thread"], &party["block"]), (&vec![0, 0, 0].into(), &vec![1, 0, 0].into()));
    assert_eq!(
        (&party["access"], &party["bytes"], &party["scope"]),
        (&"load".into(), &4.into(), &"weak".into())
    );
    assert_eq!(report["warnings"], Value::Array(vec![]));
    assert_eq!(report["exits"]["exit code 0"], 12);
    assert_eq!(report["looked"].as_array().unwrap().len(), 6);
    let nothing = json(&place, &["--trials", "2"], &["no-races"], 0);
    assert_eq!(nothing["warnings"][0]["count"], 6);
    assert_eq!(nothing["races"], Value::Array(vec![]));
}

/// The exit code of a program is told, and is no race; what the user calls right decides otherwise.
#[test]
fn a_program_that_fails() {
    let place = place();
    race(&place, &["--trials", "3"], &["fails"])
        .exits(0)
        .prints("the program ended with exit code 7 in 3 trials");
    race(&place, &["--trials", "3"], &["aborts"])
        .exits(0)
        .prints("the program ended with signal 6 (SIGABRT) in 3 trials");
    race(&place, &["--trials", "3", "--oracle", "exit"], &["fails"]).exits(3).says("fails without injection");
    let ended = race(&place, &["--trials", "12", "--oracle", "exit"], &["odd"]).exits(1);
    ended.prints("first failing trial: ").prints("wrong-result: exit code 1");
    race(&place, &["--trials", "12"], &["odd"]).exits(0);
    let report = json(&place, &["--trials", "2"], &["races", "5"], 1);
    assert_eq!((&report["exits"]["exit code 5"], &report["failures"]), (&2.into(), &0.into()));
    race(&place, &["--trials", "2"], &["segfault"]).exits(0).prints("signal 11 (SIGSEGV)");
}

/// Errors of kernels are findings, as everywhere.
#[test]
fn errors_of_kernels() {
    let place = place();
    race(&place, &["--trials", "2"], &["faulty"]).exits(1).prints("outside every allocation in kernel dot");
    race(&place, &["--trials", "2", "--ignore-faults"], &["faulty"]).exits(0);
    race(&place, &["--trials", "2"], &["deadlock"]).exits(1).prints("error: deadlock in kernel dot");
    race(&place, &["--trials", "2"], &["killed"]).exits(5).says("ended twice by a signal");
    race(&place, &["--trials", "2"], &["panics"]).exits(5);
    race(&place, &["--trials", "2"], &["unsupported"]).exits(4).says("tex.2d");
}

#[test]
fn replayed() {
    let place = place();
    race(&place, &["--trials", "7", "--out", "run", "--detector", "all"], &["races"]).exits(1);
    let records = place.trials();
    assert_eq!(records.len(), 7);
    for ((_, trial), record) in records {
        let races = record["races"]["races"].as_array().unwrap();
        let many = if races.len() == 1 { "1 race\n".to_owned() } else { format!("{} races\n", races.len()) };
        let detector = if trial % 6 < 2 { "ptx, barracuda, hirace, scord" } else { "ptx, hirace" };
        place
            .bugaroo(&["replay", "run", &trial.to_string()])
            .exits(1)
            .prints(&format!("trial {trial}, detector {detector}, "))
            .prints(&format!("as recorded: outcome, exit code 0, device memory, {many}"))
            .prints("error: data race in global memory");
    }
    // The first is without weak memory, the third is not.
    place.bugaroo(&["replay", "run", "0"]).prints("no weak memory, scheduler random");
    place.bugaroo(&["replay", "run", "2"]).prints("model store-buffer, scheduler random");
}

#[test]
fn a_race_that_does_not_come_again() {
    let place = place();
    let flag = place.path("flag");
    race(&place, &["--trials", "1", "--out", "run"], &["races-once", flag.to_str().unwrap()]).exits(1);
    place
        .bugaroo(&["replay", "run", "0"])
        .exits(5)
        .prints("NOT as recorded")
        .prints("write-read race between kernel.cu:4 and kernel.cu:6: 2 times then, not now");
}

#[test]
fn known_races() {
    let place = place();
    let known = "\
[[suppress]]
file = \"kernel.cu\"
line = 6
reason = \"the last one wins\"

[[suppress]]
symbol = \"counter\"
reason = \"only for statistics\"
";
    fs::write(place.path("known.toml"), known).unwrap();
    fs::write(place.path("more.toml"), "[[suppress]]\nkernel = \"^dot\"\nreason = \"not ours\"\n").unwrap();
    let one = ["--trials", "12", "--suppressions", "known.toml"];
    let ended = race(&place, &one, &["races"]).exits(1);
    ended
        .prints("error: data race in global memory: an atomic, then a store")
        .prints("suppressed: 1 race\n  known.toml:1: kernel.cu:4 and kernel.cu:6: the last one wins\n")
        .prints("warning: known.toml:6: this rule has suppressed nothing (only for statistics)")
        .prints("1 race between 1 pair of places");
    let both = [&one[..], &["--suppressions", "more.toml"]].concat();
    race(&place, &both, &["races"]).exits(0).prints("suppressed: 2 races").prints("no other race was found");
    let report = json(&place, &both, &["races"], 0);
    assert_eq!(report["races"], Value::Array(vec![]));
    assert_eq!(report["suppressed"][0]["rule"]["reason"], "the last one wins");
    assert_eq!(report["suppressed"].as_array().unwrap().len(), 2);
    assert_eq!(report["unused_suppressions"][0]["at"], "known.toml:6");

    fs::write(place.path("bad.toml"), "[[suppress]]\nsimbol = \"x\"\nreason = \"y\"\n").unwrap();
    let ended = race(&place, &["--format", "json", "--suppressions", "bad.toml"], &["races"]).exits(2);
    assert_eq!(ended.json()["exit_code"], 2);
    ended.says("bad.toml:2: unknown field `simbol`");
    race(&place, &["--suppressions", "none.toml"], &["races"]).exits(2).says("--suppressions none.toml: ");
}

#[test]
fn options() {
    let place = place();
    // It stops at the first trial that shows something that is not known.
    assert_eq!(json(&place, &["--until-failure", "--jobs", "1"], &["races"], 1)["trials"], 1);
    fs::write(place.path("known.toml"), "[[suppress]]\nline = 4\nreason = \"known\"\n").unwrap();
    let known = ["--until-failure", "--suppressions", "known.toml", "--trials", "6"];
    assert_eq!(json(&place, &known, &["races"], 0)["trials"], 6);

    race(&place, &["--trials", "2", "--error-exitcode", "0"], &["races"]).exits(0).prints("error: data race");
    let looked = |options: &[&str]| {
        let report = json(&place, &[&["--trials", "6"], options].concat(), &["races"], 1);
        let looked = report["looked"].as_array().unwrap().clone();
        looked
            .iter()
            .map(|look| format!("{} {} {}", look["model"], look["scheduler"], look["trials"]))
            .collect::<Vec<_>>()
    };
    assert_eq!(looked(&["--model", "ptx"]), [r#""ptx" "pct" 3"#, r#""ptx" "random" 3"#]);
    assert_eq!(
        looked(&["--model", "store-buffer", "--pw", "0", "--scheduler", "pct"]),
        [r#""none" "pct" 6"#]
    );
    assert_eq!(
        looked(&["--model", "ptx", "--pw", "0", "--pr", "0", "--scheduler", "random"]),
        [r#""none" "random" 6"#]
    );
    for options in [
        &["--timeout", "30s", "--step-budget", "100000", "--no-fork-server", "--buffer", "8"][..],
        &["--warp-synchronous", "--backend", "sim", "--model-memory", "1G"],
        &["--space", "global", "--kernel", "dot"],
        &["--with-fence", "0", "--without-fence", "1", "--narrow-fence", "0"],
    ] {
        race(&place, &[&["--trials", "2"], options].concat(), &["races"]).exits(1);
    }
    race(&place, &["--trials", "2", "--space", "shared"], &["races"])
        .exits(0)
        .prints("not told, of other kernels or memory than asked for: 2 races");
    race(&place, &["--trials", "2", "--kernel", "nothing"], &["races"])
        .exits(2)
        .says("no kernel that the program loads");

    // Goes on, with more trials.
    race(&place, &["--trials", "2", "--out", "run"], &["races"]).exits(1);
    let more = json(&place, &["--trials", "5", "--out", "run"], &["races"], 1);
    assert_eq!((&more["trials"], &more["races"][0]["trials"]), (&5.into(), &5.into()));
    race(&place, &["--out", "run", "--model", "ptx"], &["races"]).exits(2).says("turns is");
    // A run is none of race.
    place.run(&["--out", "other", "--trials", "1"], &["pass"]).exits(0);
    race(&place, &["--out", "other"], &["pass"]).exits(2);
}

/// The same run comes to the same report, whatever the number of jobs.
#[test]
fn deterministic() {
    let place = place();
    let text = |jobs: &str| {
        let ended = race(&place, &["--trials", "20", "--jobs", jobs, "--out", "run"], &["races"]);
        place.clear();
        ended.exits(1).stdout
    };
    assert_eq!(text("1"), text("7"));
}

#[test]
fn what_means_nothing_is_refused() {
    let place = place();
    fs::write(place.path("bad.toml"), "# what to look at\n[watch]\nkernel = \"^dot\"\n").unwrap();
    for (options, part) in [
        (
            &["--handlers"][..],
            "--handlers: device code is there for --detector barracuda, hirace and scord, one at a time",
        ),
        (&["--backend", "cuda"], "--backend cuda: race needs the virtual GPU"),
        (&["--model", "bugaroo"], "--model bugaroo: race takes store-buffer and ptx"),
        (&["--oracle", "race"], "--oracle race is for bisect"),
        (
            &["--detector", "barracuda", "--model", "ptx"],
            "--model: --detector barracuda looks at executions without weak memory",
        ),
        (&["--detector-config", "none.toml"], "--detector-config is for --detector hirace, scord and all"),
        (&["--detector", "hirace", "--detector-config", "none.toml"], "--detector-config none.toml: "),
        (&["--detector", "all", "--detector-config", "bad.toml"], "bad.toml:3: unknown field `kernel`"),
        (&["--detector", "scord", "--pw", "1"], "--pw: --detector scord looks at"),
        (&["--pw", "0.5,1"], "race takes one --pw"),
        (&["--trials", "0"], "0 is not in"),
        (&["--detector", "tsan"], "possible values: ptx, barracuda, hirace, scord, all"),
    ] {
        race(&place, options, &["races"]).exits(2).says(part);
    }
    place.run(&["--oracle", "race"], &["pass"]).exits(2).says("--oracle race is for bisect");
    place.run(&["--oracle", "none", "--trials", "2"], &["fails"]).exits(0);
    place.bugaroo(&["profile", "--oracle", "race", &app(), "pass"]).exits(2);
    race(&place, &[], &["silent"]).exits(4);
}

/// What SARIF 2.1.0 requires of a log.
fn check_sarif(log: &Value) {
    assert_eq!(log["version"], "2.1.0");
    assert!(log["$schema"].as_str().unwrap().ends_with("sarif-schema-2.1.0.json"));
    let run = &log["runs"][0];
    let driver = &run["tool"]["driver"];
    assert_eq!(driver["name"], "bugaroo");
    let rules: Vec<&str> =
        driver["rules"].as_array().unwrap().iter().map(|rule| rule["id"].as_str().unwrap()).collect();
    let different: std::collections::BTreeSet<&&str> = rules.iter().collect();
    assert_eq!(different.len(), rules.len());
    assert!(
        driver["rules"].as_array().unwrap().iter().all(|rule| rule["shortDescription"]["text"].is_string())
    );
    for invocation in run["invocations"].as_array().unwrap() {
        assert!(invocation["executionSuccessful"].is_boolean());
        let notes = invocation["toolExecutionNotifications"].as_array().unwrap();
        assert!(notes.iter().all(|note| note["message"]["text"].is_string()));
    }
    for result in run["results"].as_array().unwrap() {
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
        assert!(["none", "note", "warning", "error"].contains(&result["level"].as_str().unwrap()));
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(rules[index], result["ruleId"]);
        let related = result["relatedLocations"].as_array().cloned().unwrap_or_default();
        let locations = result["locations"].as_array().unwrap();
        assert!(!locations.is_empty());
        for location in locations.iter().chain(&related) {
            let physical = &location["physicalLocation"];
            if !physical.is_null() {
                let uri = physical["artifactLocation"]["uri"].as_str().unwrap();
                assert!(!uri.contains(' ') && !uri.is_empty());
                assert!(physical["region"]["startLine"].as_u64().unwrap() >= 1);
            }
            assert!(location["logicalLocations"][0]["name"].is_string());
        }
        for suppression in result["suppressions"].as_array().into_iter().flatten() {
            assert!(["inSource", "external"].contains(&suppression["kind"].as_str().unwrap()));
        }
    }
}

#[test]
fn as_sarif() {
    let place = place();
    fs::write(place.path("known.toml"), "[[suppress]]\nline = 6\nreason = \"known\"\n").unwrap();
    let options = ["--trials", "12", "--format", "sarif", "--suppressions", "known.toml"];
    let log = race(&place, &options, &["races"]).exits(1).json();
    check_sarif(&log);
    let results = log["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), 2);
    let (known, open) = (&results[0], &results[1]);
    assert_eq!(known["suppressions"][0]["justification"], "known");
    assert_eq!(open["suppressions"], Value::Array(vec![]));
    assert_eq!(known["ruleId"], "write-read");
    let line = |location: &Value| location["physicalLocation"]["region"]["startLine"].as_u64().unwrap();
    assert_eq!((line(&known["locations"][0]), line(&known["relatedLocations"][0])), (6, 4));
    assert_eq!(log["runs"][0]["invocations"][0]["exitCode"], 1);

    check_sarif(&race(&place, &["--trials", "2", "--format", "sarif"], &["no-races"]).exits(0).json());
    let faulty = race(&place, &["--trials", "2", "--format", "sarif"], &["faulty"]).exits(1).json();
    check_sarif(&faulty);
    assert_eq!(faulty["runs"][0]["results"][0]["ruleId"], "kernel-error");
    // What goes wrong is told in a log, too.
    for (options, behaviour, code) in [(&["--oracle", "exit"][..], "fails", 3), (&["--handlers"], "races", 2)]
    {
        let log = race(&place, &[&["--format", "sarif"], options].concat(), &[behaviour]).exits(code).json();
        check_sarif(&log);
        assert_eq!(log["runs"][0]["invocations"][0]["executionSuccessful"], false);
        assert_eq!(log["runs"][0]["invocations"][0]["exitCode"], code);
    }
}

#[test]
fn the_source_may_be_gone() {
    let place = Place::new();
    race(&place, &["--trials", "2"], &["races"])
        .exits(1)
        .prints("error: data race in global memory: a store, then a load, by threads of different blocks\n  kernel.cu:4: block (0,0,0)")
        .prints("  note: missing: no acquire");
}

/// A trial with a race is one that fails: the search is the same.
#[test]
fn bisect_by_races() {
    let place = place();
    let bisect = |options: &[&str], behaviour: &str| {
        place.bugaroo(
            &[&["bisect", "--oracle", "race", "--trials", "20"], options, &[&app(), behaviour]].concat(),
        )
    };
    let report = bisect(&["--format", "json", "--out", "search"], "unfenced").exits(1).json();
    let missing = report["missing"].as_array().unwrap();
    assert_eq!(
        (missing.len(), &missing[0]["site"], &missing[0]["call"]),
        (1, &"0".into(), &"__threadfence()".into())
    );
    assert_eq!((&report["unresolved"], &report["verified"]["failures"]), (&Value::Null, &0.into()));
    assert_eq!((&report["needs"], &report["diagnosis"]), (&Value::Array(vec![]), &Value::Array(vec![])));
    bisect(&[], "unfenced")
        .exits(1)
        .prints("error: missing __threadfence() after kernel.cu:4: accesses of dot to global memory race without it")
        .says("are there races between threads of one block?");

    // What no fence cures is named with both lines.
    bisect(&[], "races")
        .exits(1)
        .prints("plain access beside an atomic: dot(int*) stores to global memory at kernel.cu:4 without an atomic")
        .prints("no fence cures that; make the access at kernel.cu:4 atomic")
        .prints("unresolved: ");
    // Nor is it looked for where it is known.
    fs::write(place.path("known.toml"), "[[suppress]]\nfile = \"kernel.cu\"\nreason = \"known\"\n").unwrap();
    let known = bisect(&["--format", "json", "--suppressions", "known.toml"], "races").json();
    assert_eq!((&known["missing"], &known["unresolved"]), (&Value::Array(vec![]), &Value::Null));
    // It is another search then.
    bisect(&["--out", "search", "--suppressions", "known.toml"], "unfenced").exits(2).says("suppressions is");

    for (options, part) in [
        (
            &["--handlers"][..],
            "--handlers: --oracle race needs the virtual GPU's own models; leave --handlers out",
        ),
        (&["--model", "bugaroo"], "--model bugaroo: --oracle race needs"),
        (&["--backend", "cuda"], "--backend cuda: --oracle race needs"),
        (&["--suppressions", "none.toml"], "--suppressions none.toml: "),
    ] {
        bisect(options, "races").exits(2).says(part);
    }
    let without = place.bugaroo(&["bisect", "--suppressions", "known.toml", &app(), "pass"]);
    without.exits(2).says("--suppressions: bisect takes them with --oracle race alone");
}
