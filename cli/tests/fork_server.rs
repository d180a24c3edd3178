//! The fork server on real programs, through the built `libcuda.so`: trials come out as with a process each, and
//! nothing is left running.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::{Ended, Place, end, until, wait};
use serde_json::Value;

/// A built program, beside the built `bugaroo`.
fn built(name: &str) -> PathBuf {
    let built = Path::new(env!("CARGO_BIN_EXE_bugaroo")).with_file_name(name);
    assert!(
        built.exists() && built.with_file_name("libcuda.so").exists(),
        "{} or libcuda.so beside it is missing: build the whole workspace first, in the same profile",
        built.display()
    );
    built
}

/// `bugaroo run --out run` of a program, with its real driver.
fn command(place: &Place, options: &[&str], program: &str, arguments: &[&str]) -> Command {
    let program = built(program);
    let always = ["run", "--seed", "5", "--out", "run", "--format", "json", "--error-exitcode", "0"];
    let mut command = place.command(&[&always, options, &[program.to_str().unwrap()], arguments].concat());
    command.env_remove("BUGAROO_DRIVER");
    command
}

/// A run's summary.
fn run(place: &Place, options: &[&str], program: &str, arguments: &[&str]) -> Value {
    end(&mut command(place, options, program, arguments)).exits(0).json()
}

/// Runs the same both ways, and gives what the first says of its fork server.
fn both_ways(options: &[&str], program: &str, arguments: &[&str]) -> Value {
    let place = Place::new();
    fs::write(place.path("file"), "half and the rest").unwrap();
    let summary = run(&place, options, program, arguments);
    let forked = place.timeless_trials();
    place.clear();
    let each = run(&place, &[options, &["--no-fork-server"]].concat(), program, arguments);
    assert_eq!(each["fork_server"]["used"], false);
    assert_eq!(forked, place.timeless_trials());
    assert_eq!(summary["cells"], each["cells"]);
    summary["fork_server"].clone()
}

fn served(options: &[&str], program: &str, arguments: &[&str]) {
    let fork_server = both_ways(options, program, arguments);
    assert_eq!(fork_server, serde_json::json!({"used": true, "why_not": null}));
}

/// Not served, and why.
fn not_served(arguments: &[&str], why: &str) {
    let fork_server = both_ways(&["--trials", "3"], "host_habits", arguments);
    assert_eq!(fork_server["used"], false);
    assert!(fork_server["why_not"].as_str().is_some_and(|told| told.contains(why)), "{fork_server}");
}

#[test]
fn programs_come_out_as_with_a_process_each() {
    for variant in ["original_2_fence", "1_fence", "no_fence"] {
        served(&["--trials", "10", "--pw", "0.75,0.25"], "cbe_dot", &["--variant", variant]);
    }
    served(&["--trials", "10", "--model", "bugaroo"], "cbe_dot", &["--variant", "no_fence"]);
    served(&["--trials", "5"], "sdk_red", &["--variant", "no_fence"]);
    served(&["--trials", "5", "--jobs", "1"], "cub_scan", &["--variant", "no_fence"]);
}

/// Site flags are data of a launch, too.
#[test]
fn fences_are_set_at_the_fork() {
    let place = Place::new();
    let program = built("cbe_dot");
    let mut command = place.command(&["sites", "--format", "json", program.to_str().unwrap()]);
    let sites = end(command.env_remove("BUGAROO_DRIVER")).exits(0).json();
    let of_kind = |kind: &str| {
        let sites = sites["sites"].as_array().unwrap().iter();
        let named = sites.filter(|site| site["kind"] == kind && site["function"] == "dot_original_2_fence");
        named.map(|site| site["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>().join(",")
    };
    let (fences, stores) = (of_kind("fence"), of_kind("store"));
    let variant = ["--variant", "original_2_fence"];
    served(&["--trials", "10", "--without-fence", &fences], "cbe_dot", &variant);
    served(&["--trials", "10", "--without-fence", &fences, "--with-fence", &stores], "cbe_dot", &variant);
    served(&["--trials", "10", "--narrow-fence", &fences], "cbe_dot", &variant);
}

#[test]
fn what_was_printed_before_the_launch_belongs_to_every_trial() {
    served(&["--trials", "5"], "host_habits", &["prints", "file"]);
    served(&["--trials", "5", "--oracle", "reference"], "host_habits", &["prints", "file"]);
    served(&["--trials", "5", "--oracle", "stdout:^before the launch$"], "host_habits", &["prints", "file"]);
    served(
        &["--trials", "5", "--oracle", "cmd:grep -q 'half a line, host'"],
        "host_habits",
        &["prints", "file"],
    );
}

#[test]
fn files_that_are_read_are_read_on_by_every_trial() {
    served(&["--trials", "5"], "host_habits", &["reads", "file"]);
}

#[test]
fn what_processes_said_that_have_ended_does_not_count() {
    served(&["--trials", "3"], "host_habits", &["runs", "file"]);
    served(&["--trials", "3"], "host_habits", &["runs-aloud", "file"]);
}

/// As torch does.
#[test]
fn programs_that_refuse_to_be_forked_do_not_hear_of_it() {
    served(&["--trials", "5"], "host_habits", &["refuses-forks", "file"]);
}

#[test]
fn trials_that_crash() {
    served(&["--trials", "5"], "host_habits", &["crashes", "file"]);
}

#[test]
fn trials_that_hang_are_killed() {
    served(&["--trials", "2", "--timeout", "8s"], "host_habits", &["hangs", "file"]);
}

/// What a program does between its first launch and its first wait is done once.
#[test]
fn trials_are_forked_when_the_first_kernel_begins() {
    let place = Place::new();
    let file = place.path("marks");
    let summary = run(&place, &["--trials", "20"], "host_habits", &["marks-later", file.to_str().unwrap()]);
    assert_eq!(summary["fork_server"], serde_json::json!({"used": true, "why_not": null}));
    let marks = fs::read_dir(file.parent().unwrap()).unwrap().flatten();
    let marks = marks.filter(|entry| entry.path().file_stem() == file.file_stem()).count();
    // Runs without injection make one each.
    assert!((1..10).contains(&marks), "{marks}");
}

/// What one trial has loaded, the next ones find with their server.
#[test]
fn modules_that_are_loaded_later_come_out_the_same() {
    let arguments = ["loads-later", "file"];
    for options in
        [&["--pw", "0.75,0.25"][..], &["--model", "ptx"], &["--model", "bugaroo"], &["--oracle", "memory"]]
    {
        served(&[&["--trials", "8"], options].concat(), "host_habits", &arguments);
    }
    served(&["--trials", "8", "--jobs", "3", "--kernel", "dot"], "host_habits", &arguments);
    let place = Place::new();
    let told = run(&place, &["--trials", "4", "--jobs", "1", "--pw", "0"], "host_habits", &arguments);
    assert_eq!(told["cells"][0]["outcomes"]["pass"], 4);
}

/// A search wants more of modules than a run does, and has it of those, too.
#[test]
fn searches_in_modules_that_are_loaded_later_come_out_the_same() {
    let found = |more: &[&str]| {
        let place = Place::new();
        let program = built("host_habits");
        let program = [program.to_str().unwrap(), "loads-later", "file"];
        let always = ["bisect", "--seed", "3", "--trials", "8", "--out", "run", "--format", "json"];
        let mut command = place.command(&[&always, more, &program].concat());
        let mut found = end(command.env_remove("BUGAROO_DRIVER")).exits(1).json();
        found.as_object_mut().unwrap().remove("run_dir");
        found
    };
    let forked = found(&[]);
    assert_ne!(forked["missing"], serde_json::json!([]));
    assert_eq!(forked, found(&["--no-fork-server"]));
}

/// What trials of a Python program write at their end is in one piece then.
#[test]
fn arenas_of_python_lie_side_by_side() {
    const SCRIPT: &str = "
objects = [bytes(100) for _ in range(400000)]
sizes = []
for line in open('/proc/self/maps'):
    fields = line.split()
    if len(fields) == 5 and fields[1] == 'rw-p':
        first, end = fields[0].split('-')
        sizes.append(int(end, 16) - int(first, 16))
print(max(sizes) >> 20)";
    let preload = built("libbugaroo_preload.so");
    let largest = |preload: &str| {
        let mut python = Command::new("python3");
        let ended = python.args(["-c", SCRIPT]).env("LD_PRELOAD", preload).output().ok()?;
        String::from_utf8(ended.stdout).unwrap().trim().parse::<u32>().ok()
    };
    let Some(alone) = largest("") else {
        assert!(std::env::var_os("BUGAROO_REQUIRE_NUMBA").is_none(), "no python3");
        return;
    };
    let ours = largest(preload.to_str().unwrap()).expect("python3 runs with the library, too");
    assert!(ours > 40 && ours > alone, "{ours} MiB, and {alone} without");
}

/// Memory that trials write again and again is put into huge pages, and holds what it held.
#[test]
fn memory_that_trials_rewrite_comes_out_the_same() {
    for jobs in ["1", "3"] {
        served(&["--trials", "12", "--jobs", jobs], "host_habits", &["rewrites", "file"]);
    }
    let place = Place::new();
    let told = run(
        &place,
        &[
            "--trials",
            "12",
            "--oracle",
            "stdout:(?m)^0 numbers are wrong\n0 numbers are wrong\n0 numbers are wrong$",
        ],
        "host_habits",
        &["rewrites", "file"],
    );
    assert_eq!(told["cells"][0]["outcomes"]["pass"], 12);
}

#[test]
fn where_that_is_too_late_they_are_forked_at_the_launch() {
    served(&["--trials", "5"], "host_habits", &["threads-later", "file"]);
}

#[test]
fn programs_that_must_not_be_forked() {
    not_served(&["threads", "file"], "2 threads");
    not_served(&["processes", "file"], "started other processes");
    not_served(&["writes", "file"], "written to something besides its outputs");
    not_served(&["wrote-by-thread", "file"], "written to something besides its outputs");
    not_served(&["keeps-open", "file"], "a file to write");
}

/// Numbers of the processes that have this argument.
fn processes(argument: &str) -> Vec<i32> {
    let has = |entry: fs::DirEntry| {
        let pid = entry.file_name().to_str()?.parse().ok()?;
        let line = fs::read(entry.path().join("cmdline")).ok()?;
        let mut arguments = line.split(|byte| *byte == 0);
        // A zombie has no arguments.
        arguments.any(|given| given == argument.as_bytes()).then_some(pid)
    };
    fs::read_dir("/proc").unwrap().flatten().filter_map(has).collect()
}

fn runs(pid: i32) -> bool {
    fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| !line.is_empty())
}

#[test]
fn what_a_trial_leaves_behind_is_killed() {
    let place = Place::new();
    let file = place.path("left");
    let summary = run(&place, &["--trials", "5"], "host_habits", &["leaves", file.to_str().unwrap()]);
    assert_eq!(summary["fork_server"]["used"], true);
    let mut left = 0;
    for entry in fs::read_dir(file.parent().unwrap()).unwrap().flatten() {
        if entry.path().file_stem() == file.file_stem() {
            let pid = fs::read_to_string(entry.path()).unwrap().parse().unwrap();
            until(|| !runs(pid));
            left += 1;
        }
    }
    // Those of the runs without injection are among them.
    assert!(left >= 5, "{left}");
    assert!(processes(file.to_str().unwrap()).is_empty());
}

/// The server, its trials and what they started die with a harness that is killed.
#[test]
fn a_killed_harness_leaves_nothing_running() {
    let place = Place::new();
    let file = place.path("file");
    let arguments = ["none", file.to_str().unwrap()];
    let mut command = command(&place, &["--trials", "1000000"], "host_habits", &arguments);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until(|| place.trials().len() > 5);
    child.kill().unwrap();
    child.wait().unwrap();
    until(|| processes(file.to_str().unwrap()).is_empty());
}

/// A server that is killed is started again, and its trials run again.
#[test]
fn a_killed_server_is_started_again() {
    let place = Place::new();
    let file = place.path("file");
    let arguments = ["none", file.to_str().unwrap()];
    let mut command = command(&place, &["--trials", "60"], "host_habits", &arguments);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    until(|| place.trials().len() > 2);
    let harness = child.id().to_string();
    let is_server = |pid: &i32| {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        status.lines().any(|line| line.strip_prefix("PPid:").is_some_and(|of| of.trim() == harness))
    };
    if let Some(server) = processes(file.to_str().unwrap()).iter().find(|pid| is_server(pid)) {
        // SAFETY: no memory is involved; the server is a child of a process that is not waited for yet.
        unsafe { libc::kill(*server, libc::SIGKILL) };
    }
    let ended: Ended = wait(child);
    let summary = ended.exits(0).json();
    assert_eq!(summary["cells"][0]["trials"], 60);
    assert_eq!(summary["fork_server"], serde_json::json!({"used": true, "why_not": null}));
    let after = place.timeless_trials();
    place.clear();
    run(&place, &["--trials", "60", "--no-fork-server"], "host_habits", &arguments);
    assert_eq!(after, place.timeless_trials());
}

/// A trial of a fork server is replayed by a process.
#[test]
fn replay_agrees() {
    let place = Place::new();
    run(&place, &["--trials", "3"], "cbe_dot", &["--variant", "no_fence"]);
    let mut replay = place.command(&["replay", "run", "1"]);
    end(replay.env_remove("BUGAROO_DRIVER"))
        .exits(1)
        .prints("as recorded: outcome, exit code 1, device memory");
}
