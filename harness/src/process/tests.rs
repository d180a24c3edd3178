use std::ffi::OsString;
use std::time::Duration;

use super::{Ended, Ends, Keep, NO_VARIABLES, Patience, ProgramCall};
use crate::outcome::Exit;

/// Runs a shell script.
async fn shell(script: &str, timeout: Duration, keep: Keep) -> Ended {
    let arguments = [OsString::from("-c"), script.into()];
    program(&arguments, timeout, keep).run(&[]).await.unwrap()
}

fn program(arguments: &[OsString], timeout: Duration, keep: Keep) -> ProgramCall<'_> {
    let patience = Patience::exactly(timeout);
    ProgramCall {
        path: "/bin/sh".into(),
        arguments,
        directory: "/".into(),
        variables: &NO_VARIABLES,
        input: None,
        patience,
        keep,
    }
}

const LONG: Duration = Duration::from_secs(600);
const SHORT: Duration = Duration::from_millis(200);

/// Whether a process of this number runs (a zombie does not).
fn runs(pid: i32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or("").trim_start().starts_with('Z'))
}

async fn wait_until_gone(pid: i32) {
    while runs(pid) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn codes_and_signals() {
    assert_eq!(shell("exit 0", LONG, Keep::default()).await.exit, Exit::Code(0));
    assert_eq!(shell("exit 77", LONG, Keep::default()).await.exit, Exit::Code(77));
    assert_eq!(shell("kill -SEGV $$", LONG, Keep::default()).await.exit, Exit::Signal(libc::SIGSEGV));
}

#[tokio::test]
async fn outputs_are_kept_apart() {
    let ended = shell("echo out; echo err >&2", LONG, Keep { head: true, digest: false }).await;
    assert_eq!(ended.stdout.head, b"out\n");
    assert_eq!(ended.stdout.tail, b"out\n");
    assert_eq!(ended.stderr.tail, b"err\n");
}

#[tokio::test]
async fn one_that_loops_is_killed() {
    assert_eq!(shell("while :; do :; done", SHORT, Keep::default()).await.exit, Exit::Killed);
}

#[tokio::test]
async fn one_that_ignores_signals_and_closes_its_outputs_is_killed() {
    let script = "trap '' TERM INT HUP; exec >&- 2>&-; while :; do sleep 1000; done";
    assert_eq!(shell(script, SHORT, Keep::default()).await.exit, Exit::Killed);
}

/// A gigabyte passes through bounded memory.
#[tokio::test]
async fn one_that_prints_a_gigabyte() {
    let ended =
        shell("head -c 1073741824 /dev/zero; echo end", LONG, Keep { head: true, digest: false }).await;
    assert_eq!(ended.exit, Exit::Code(0));
    assert_eq!(ended.stdout.bytes, (1 << 30) + 4);
    assert_eq!(ended.stdout.head.len(), crate::capture::HEAD_BYTES);
    assert!(ended.stdout.tail.ends_with(b"\0end\n"));
}

/// The end of its outputs never comes while the child that it leaves behind holds them; and that child
/// dies.
#[tokio::test]
async fn one_that_leaves_a_child_behind() {
    let ended = shell("sleep 100000 & echo $!", LONG, Keep::default()).await;
    assert_eq!(ended.exit, Exit::Code(0));
    let pid: i32 = String::from_utf8(ended.stdout.tail).unwrap().trim().parse().unwrap();
    wait_until_gone(pid).await;
}

/// A child in a session of its own escapes, but cannot hold up the trial, not even by printing.
#[tokio::test]
async fn one_whose_child_escapes_and_prints() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let child = format!("trap '' PIPE; echo $$ > {}; while echo y; do :; done", file.display());
    let script = format!("setsid sh -c \"$CHILD\" & while ! test -s {}; do :; done; exit 3", file.display());
    let arguments = [OsString::from("-c"), script.into()];
    let ended = program(&arguments, LONG, Keep::default()).run(&[("CHILD", child.into())]).await.unwrap();
    assert_eq!(ended.exit, Exit::Code(3));
    let pid = std::fs::read_to_string(file).unwrap().trim().parse().unwrap();
    // Nobody reads its output any more, and it stops at that.
    wait_until_gone(pid).await;
}

#[tokio::test]
async fn a_dropped_run_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let script = format!("echo $$ > {0}.new; mv {0}.new {0}; sleep 100000", file.display());
    let run = shell(&script, LONG, Keep::default());
    let pid = async {
        loop {
            if let Ok(text) = std::fs::read_to_string(&file) {
                return text.trim().parse::<i32>().unwrap();
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let pid = tokio::select! {
        _ = run => panic!("it sleeps for longer than any test"),
        pid = pid => pid,
    };
    assert!(!runs(pid));
}

#[tokio::test]
async fn a_report_comes_through_also_after_the_end() {
    let arguments = [OsString::from("-c"), "printf 'one\\n' > /dev/fd/$FD; printf two > /dev/fd/$FD".into()];
    let mut report = Vec::new();
    let ended = program(&arguments, LONG, Keep::default())
        .run_with_report(
            |ends| vec![("FD", ends.report.to_string().into())],
            |bytes| {
                report.extend_from_slice(bytes);
                false
            },
        )
        .await
        .unwrap();
    assert_eq!(ended.exit, Exit::Code(0));
    assert_eq!(report, b"one\ntwo");
}

/// The report's pipe of one program is not inherited by others that start beside it.
#[tokio::test]
async fn report_pipes_do_not_leak() {
    let arguments = [OsString::from("-c"), "ls -l /proc/self/fd".into()];
    // What the program saw, and which pipe was its own.
    let run = || async {
        let mut own = 0;
        let keep = Keep { head: true, digest: false };
        let environment = |ends: Ends<'_>| {
            own = ends.report;
            vec![]
        };
        let ended = program(&arguments, LONG, keep).run_with_report(environment, |_| false).await.unwrap();
        let text = String::from_utf8(ended.stdout.head).unwrap();
        let prefix = format!(" {own} -> ");
        let pipe =
            text.lines().find_map(|line| line.split_once(&prefix)).expect("it has its own").1.to_owned();
        (text, pipe)
    };
    let (a, b, c, d, e, f) = tokio::join!(run(), run(), run(), run(), run(), run());
    let all = [a, b, c, d, e, f];
    for (text, own) in &all {
        assert!(own.starts_with("pipe:["));
        let seen = all.iter().filter(|(_, pipe)| text.contains(pipe.as_str())).count();
        assert_eq!(seen, 1, "{text}");
    }
}

#[tokio::test]
async fn what_cannot_start_is_an_error() {
    let program = ProgramCall { path: "/nonexistent".into(), ..program(&[], LONG, Keep::default()) };
    let error = program.run(&[]).await.unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
}

/// One that works gets more time, and is told apart when that is up, too; one that does not is killed at the first limit.
#[tokio::test]
async fn one_that_is_at_work_when_its_time_is_up() {
    let run = async |script: &str, patience| {
        let arguments = [OsString::from("-c"), script.into()];
        let program = ProgramCall { patience, ..program(&arguments, LONG, Keep::default()) };
        let environment = |ends: Ends<'_>| vec![("FD", ends.report.to_string().into())];
        program.run_with_report(environment, |bytes| !bytes.is_empty()).await.unwrap()
    };
    let works = "for turn in 1 2 3 4 5 6 7 8 9 10 11 12; do echo work > /dev/fd/$FD; sleep 0.05; done";
    let patience = Patience { limit: SHORT, most: LONG };
    let ended = run(works, patience).await;
    assert_eq!((ended.exit, ended.slow), (Exit::Code(0), false));
    let for_ever = "while :; do echo work > /dev/fd/$FD; sleep 0.05; done";
    let ended = run(for_ever, Patience { most: 3 * SHORT, ..patience }).await;
    assert_eq!((ended.exit, ended.slow), (Exit::Killed, true));
    assert!(ended.duration >= 3 * SHORT);
    let ended = run(&format!("{works}; sleep 100000"), patience).await;
    assert_eq!((ended.exit, ended.slow), (Exit::Killed, false));
}
