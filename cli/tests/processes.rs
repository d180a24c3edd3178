//! What happens to processes and is no finding: signals from outside, trials that are slow, panics of our own, limits of
//! the shell; and their standard input.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use crate::common::{Ended, Place, app, end, until, wait};
use serde_json::{Value, json};

/// The built `host_habits`, beside the built `bugaroo`.
fn host_habits() -> PathBuf {
    let built = Path::new(env!("CARGO_BIN_EXE_bugaroo")).with_file_name("host_habits");
    assert!(built.exists(), "{} is missing: build the whole workspace first", built.display());
    built
}

/// `bugaroo run --out run` of a habit, with the real driver.
fn habit(place: &Place, options: &[&str], habit: &str, file: &str) -> Command {
    let program = host_habits();
    let always = ["run", "--seed", "5", "--out", "run", "--format", "json"];
    let mut command = place.command(&[&always, options, &[program.to_str().unwrap(), habit, file]].concat());
    command.env_remove("BUGAROO_DRIVER");
    command
}

/// Runs a command with this on its standard input.
fn with_input(command: &mut Command, input: &[u8]) -> Ended {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    // Who refuses it stops reading.
    let _ = pipe.write_all(input);
    drop(pipe);
    wait(child)
}

/// Processes with this argument, but for one.
fn processes(argument: &str, but: u32) -> Vec<i32> {
    let has = |entry: fs::DirEntry| {
        let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
        let line = fs::read(entry.path().join("cmdline")).ok()?;
        let mut arguments = line.split(|byte| *byte == 0);
        (arguments.any(|given| given == argument.as_bytes()) && pid != but.cast_signed()).then_some(pid)
    };
    fs::read_dir("/proc").unwrap().flatten().filter_map(has).collect()
}

/// Kills processes of a correct program's trials so many times; no trial is lost, and none is a finding.
fn killed_from_outside(options: &[&str], kills: usize) {
    let place = Place::new();
    let file = place.path("file");
    let trials = 20 * kills;
    let count = trials.to_string();
    let options = [&["--pw", "0", "--trials", count.as_str()], options].concat();
    let mut command = habit(&place, &options, "none", file.to_str().unwrap());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    until(|| place.trials().len() > 2);
    let mut killed = 0;
    let mut last = 0;
    // One for a few trials that have ended, so that hardly any is met twice.
    while killed < kills {
        let ended = fs::read_to_string(place.path("run/trials.jsonl")).unwrap_or_default().lines().count();
        if ended + 10 >= trials {
            break;
        }
        if ended >= last + 8
            && let Some(pid) = processes(file.to_str().unwrap(), child.id()).last()
        {
            // SAFETY: no memory is involved. That it has ended meanwhile is no matter.
            killed += usize::from(unsafe { libc::kill(*pid, libc::SIGKILL) } == 0);
            last = ended;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let summary = wait(child);
    assert!(killed * 2 > kills, "{killed}");
    let cell = summary.json()["cells"][0].clone();
    assert_eq!((&cell["trials"], &cell["failures"]), (&json!(trials), &json!(0)), "{summary:#?}");
    let of = |outcome: &str| cell["outcomes"][outcome].as_u64().unwrap();
    assert_eq!(of("pass") + of("killed"), trials as u64);
    assert!(of("killed") <= 1, "{cell}");
    assert_eq!(place.trials().len(), trials);
    let indices: BTreeSet<u64> = place.trials().keys().map(|(_, trial)| *trial).collect();
    assert_eq!(indices, (0..trials as u64).collect());
}

#[test]
fn trials_killed_from_outside_run_again() {
    killed_from_outside(&[], 12);
}

#[test]
fn trials_killed_from_outside_run_again_without_a_fork_server() {
    killed_from_outside(&["--no-fork-server"], 12);
}

/// The bar of a hundred.
#[test]
#[ignore = "takes a minute"]
fn trials_killed_from_outside_a_hundred_times() {
    killed_from_outside(&[], 100);
    killed_from_outside(&["--no-fork-server"], 100);
}

fn outcome(cell: &Value, outcome: &str) -> u64 {
    cell["outcomes"][outcome].as_u64().unwrap()
}

#[test]
fn a_trial_that_is_always_killed_says_nothing() {
    let place = Place::new();
    let ended = place.run(&["--trials", "4", "--format", "json"], &["killed"]).exits(5);
    let cell = ended.json()["cells"][0].clone();
    assert_eq!((outcome(&cell, "killed"), &cell["failures"], &cell["rate"]), (4, &json!(0), &Value::Null));
    ended.says("4 trials were ended twice by a signal that Bugaroo did not send");

    let mark = place.path("mark");
    let ended = place.run(&["--trials", "4", "--format", "json"], &["killed-once", mark.to_str().unwrap()]);
    let ended =
        ended.exits(0).says("4 trials were ended by a signal that Bugaroo did not send, and run again");
    assert_eq!(outcome(&ended.json()["cells"][0], "pass"), 4);
}

#[test]
fn slow_trials_are_no_findings() {
    let place = Place::new();
    let options = ["--trials", "8", "--timeout", "1s", "--format", "json"];
    let ended = place.run(&[&options[..], &["--out", "run"]].concat(), &["works"]).exits(5);
    let cell = ended.json()["cells"][0].clone();
    let (slow, pass) = (outcome(&cell, "slow"), outcome(&cell, "pass"));
    assert_eq!((slow + pass, &cell["failures"], &cell["first_failing_trial"]), (8, &json!(0), &Value::Null));
    assert!(slow > 0 && pass > 0, "{cell}");
    ended.says("still at work on the device when the time was up (--timeout gives more)");
    let trials = place.trials();
    let slow = trials.iter().find(|(_, trial)| trial["outcome"] == "slow").unwrap();
    assert_eq!(slow.1["exit"], "killed");
    let ended = place.bugaroo(&["replay", "run", &slow.0.1.to_string()]);
    ended.exits(5).prints("as recorded: outcome");
}

/// The same with a real program that launches over and over; and one that waits for ever is a finding.
#[test]
fn a_program_that_launches_on_is_slow_and_one_that_waits_is_not() {
    for (what, seen, code) in [("works", "slow", 5), ("hangs", "timeout", 1)] {
        let place = Place::new();
        let mut command = habit(&place, &["--trials", "3", "--timeout", "8s"], what, "none");
        let ended = end(&mut command).exits(code);
        let cell = ended.json()["cells"][0].clone();
        assert!(outcome(&cell, seen) > 0, "{cell}");
        assert_eq!(outcome(&cell, seen) + outcome(&cell, "pass"), 3, "{cell}");
    }
}

#[test]
fn a_panic_of_ours_is_told_once_and_is_no_finding() {
    let place = Place::new();
    for command in ["run", "bisect"] {
        let ended = place.bugaroo(&[command, "--trials", "20", app().as_str(), "panics"]).exits(5);
        let told = "error: internal error in cuLaunchKernel: index out of bounds (pump.rs:7)";
        assert_eq!(ended.stderr.matches(told).count(), 1, "{ended:#?}");
        assert_eq!(ended.stderr.matches("index out of bounds").count(), 1, "{ended:#?}");
        assert!(!ended.stdout.contains("failing"), "{ended:#?}");
    }
}

#[test]
fn every_trial_gets_the_standard_input() {
    let place = Place::new();
    for options in [&[][..], &["--no-fork-server"]] {
        let options =
            [&["--trials", "6", "--pw", "0", "--oracle", "stdout:^half and the rest$"], options].concat();
        let mut command = habit(&place, &options, "asks", "none");
        let ended = with_input(&mut command, b"half and the rest").exits(0);
        assert_eq!(ended.json()["fork_server"]["used"], options.len() == 6);
        place.clear();
    }
    let mut command =
        place.run_command(&["--trials", "6", "--out", "run", "--oracle", "stdout:^LINE$"], &["asks"]);
    with_input(&mut command, b"line\n").exits(0);
    // A replay reads it from the run's directory, and a run that goes on takes it from there.
    place.bugaroo(&["replay", "run", "2"]).exits(0).prints("  | LINE");
    let app = app();
    let more = ["run", "--out", "run", "--trials", "9", "--oracle", "stdout:^LINE$", app.as_str(), "asks"];
    place.bugaroo(&more).exits(0).prints("3 trials in");
    let ended = with_input(&mut place.command(&more), b"other\n").exits(2);
    ended.says("stdin is {").says("here");
    fs::write(place.path("run/stdin"), "another").unwrap();
    place.bugaroo(&["replay", "run", "2"]).exits(2).says("run/stdin: it is not the standard input");
}

#[test]
fn too_much_standard_input_is_refused_by_its_limit() {
    let place = Place::new();
    let mut command = place.run_command(&["--trials", "2"], &["asks"]);
    let ended = with_input(&mut command, &vec![b'x'; (64 << 20) + 1]).exits(2);
    ended.says("standard input has more than 64 MiB");
}

#[test]
fn a_terminal_is_not_read() {
    let place = Place::new();
    let mut ends = [0; 2];
    // SAFETY: there are places for two descriptors; the null pointers ask for nothing.
    let opened = unsafe {
        let [master, slave] = &mut ends;
        libc::openpty(master, slave, std::ptr::null_mut(), std::ptr::null(), std::ptr::null())
    };
    assert_eq!(opened, 0);
    let terminal = File::options().read(true).open(format!("/proc/self/fd/{}", ends[1])).unwrap();
    let mut command = place.run_command(&["--trials", "2", "--oracle", "stdout:^$"], &["asks"]);
    let ended = end(command.stdin(terminal)).exits(0);
    ended.says("standard input is a terminal: the program gets an empty one");
}

/// `bugaroo` under limits of a shell.
fn limited(place: &Place, limit: &str, arguments: &[&str]) -> Ended {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{limit}; exec \"$@\""), "sh", env!("CARGO_BIN_EXE_bugaroo")]);
    command.args(arguments).current_dir(place.path(".")).stdin(Stdio::null());
    end(command.env("BUGAROO_DRIVER", app()).env("XDG_STATE_HOME", place.path("state")))
}

#[test]
fn a_low_limit_of_open_files_lowers_the_jobs() {
    let place = Place::new();
    let app = app();
    let run = ["run", "--trials", "60", "--jobs", "200", "--format", "json", app.as_str(), "pass"];
    let ended = limited(&place, "ulimit -n 64", &run).exits(0);
    assert_eq!(ended.json()["cells"][0]["outcomes"]["pass"], 60);
    assert_eq!(
        ended.stderr.matches("this shell's limit of 64 open files (ulimit -n)").count(),
        1,
        "{ended:#?}"
    );
}

#[test]
fn a_limit_of_file_sizes_is_named() {
    let place = Place::new();
    let app = app();
    let run = ["run", "--trials", "2000", "--out", "run", app.as_str(), "pass"];
    limited(&place, "ulimit -f 16", &run).exits(5).says("run/trials.jsonl: ").says("(ulimit -f)");
    place.run(&["--trials", "2"], &["file-limit"]).exits(1).prints("this shell's limit, ulimit -f");
}

/// A program that closes what it did not open has closed the way to us, too.
#[test]
fn a_program_that_closes_our_descriptors_is_named() {
    let place = Place::new();
    let program = host_habits();
    let script =
        "for fd in /proc/$$/fd/*; do n=${fd##*/}; [ $n -gt 2 ] && eval \"exec $n>&-\"; done; exec \"$@\"";
    let program = program.to_str().unwrap();
    let mut command =
        place.command(&["run", "--trials", "2", "bash", "-c", script, "bash", program, "none", "none"]);
    end(command.env_remove("BUGAROO_DRIVER")).exits(4).says("closes descriptors that it did not open");
}

#[test]
fn folders_of_killed_runs_are_swept() {
    let place = Place::new();
    let temporary = place.path("tmp");
    fs::create_dir(&temporary).unwrap();
    let ours =
        || fs::read_dir(&temporary).unwrap().flatten().map(|entry| entry.path()).collect::<BTreeSet<_>>();
    let start = || {
        let pids = place.path("pids");
        let pids = pids.to_str().unwrap();
        let mut command = place.run_command(&["--timeout", "10h"], &["loop", pids]);
        command.env("TMPDIR", &temporary).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    // Trials that have begun, and stand in the list of those that are ended below.
    let begun = || fs::read_to_string(place.path("pids")).map_or(0, |pids| pids.lines().count());
    let mut killed = start();
    until(|| ours().len() == 1 && begun() > 0);
    let dead = ours();
    killed.kill().unwrap();
    killed.wait().unwrap();
    let before = begun();
    let mut living = start();
    until(|| ours().len() == 2 && begun() > before);
    // What was made just now is left alone: make both look older.
    for folder in ours() {
        File::open(folder).unwrap().set_modified(SystemTime::now() - Duration::from_secs(3600)).unwrap();
    }
    end(place.run_command(&["--trials", "2"], &["pass"]).env("TMPDIR", &temporary)).exits(0);
    let left = ours();
    assert!(left.len() == 1 && left.is_disjoint(&dead), "{left:?} {dead:?}");
    living.kill().unwrap();
    living.wait().unwrap();
    // Who is killed leaves its trials behind.
    for pid in fs::read_to_string(place.path("pids")).unwrap().lines() {
        // SAFETY: no memory is touched.
        unsafe { libc::kill(pid.parse().unwrap(), libc::SIGKILL) };
    }
}

#[test]
fn odd_things_in_a_run_directory_are_refused_by_name() {
    let place = Place::new();
    fs::create_dir(place.path("run")).unwrap();
    type Make = fn(&Path);
    let make: [(&str, Make); 4] = [
        ("a FIFO", |path| assert!(Command::new("mkfifo").arg(path).status().unwrap().success())),
        ("a directory", |path| fs::create_dir(path).unwrap()),
        ("a symbolic link that leads nowhere", |path| std::os::unix::fs::symlink("nowhere", path).unwrap()),
        ("a socket", |path| drop(std::os::unix::net::UnixListener::bind(path).unwrap())),
    ];
    for name in ["trials.jsonl", "run.json", "lock", "search.json", "stdin"] {
        for (what, make) in make {
            let path = place.path("run").join(name);
            make(&path);
            let commands: &[&str] = match name {
                "search.json" => &["bisect"],
                "stdin" => &["run"],
                "run.json" => &["run", "replay"],
                _ => &["run", "bisect"],
            };
            for command in commands {
                let ended = match *command {
                    "replay" => place.bugaroo(&["replay", "run", "0"]),
                    command => {
                        place.bugaroo(&[command, "--out", "run", "--trials", "2", app().as_str(), "pass"])
                    }
                };
                ended.exits(2).says(&format!("run/{name} is {what}, and no regular file"));
            }
            if what == "a directory" { fs::remove_dir(path).unwrap() } else { fs::remove_file(path).unwrap() }
        }
    }
}

#[test]
fn an_error_of_the_system_is_told_once() {
    let place = Place::new();
    fs::write(place.path("file"), "x").unwrap();
    for (arguments, told) in [
        (&["run", "--out", "file", "--trials", "2"][..], "File exists"),
        (&["bisect", "--out", "file/further"], "Not a directory"),
    ] {
        let ended = place.bugaroo(&[arguments, &[app().as_str(), "pass"]].concat());
        assert_eq!(ended.stderr.matches(told).count(), 1, "{ended:#?}");
    }
    for arguments in [&["verify", "none.ptx"][..], &["instrument", "none.ptx"], &["litmus", "none"]] {
        let ended = place.bugaroo(arguments);
        assert_eq!(ended.stderr.matches("No such file").count(), 1, "{ended:#?}");
    }
}

#[test]
fn files_have_a_limit_that_is_named() {
    let place = Place::new();
    // A sparse file takes no room.
    for name in ["large.ptx", "large.litmus"] {
        File::create(place.path(name)).unwrap().set_len((256 << 20) + 1).unwrap();
    }
    for arguments in [&["verify", "large.ptx"][..], &["instrument", "large.ptx"], &["litmus", "large.litmus"]]
    {
        place.bugaroo(arguments).exits(2).says("more than 256 MiB");
    }
}
