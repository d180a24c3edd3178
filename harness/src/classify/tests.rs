use std::time::Duration;

use bugaroo_protocol::{BlockedThread, Diagnosis, Fault, FaultKind, LaunchEnd};

use super::{by_oracle, without_oracle};
use crate::incident::FailedLaunch;
use crate::oracle::verdict::OracleVerdict;
use crate::outcome::{Exit, Outcome};

fn launch(end: LaunchEnd) -> FailedLaunch {
    FailedLaunch { ordinal: 0, kernel: "k".into(), end }
}

fn deadlock() -> FailedLaunch {
    launch(LaunchEnd::Deadlock(Diagnosis { summary: "all wait".into(), ..Diagnosis::default() }))
}

fn step_budget() -> FailedLaunch {
    launch(LaunchEnd::StepBudget(Diagnosis { summary: "spins".into(), ..Diagnosis::default() }))
}

fn fault() -> FailedLaunch {
    let at = BlockedThread {
        block: [0; 3],
        thread: [0; 3],
        threads: 1,
        function: "k".into(),
        ptx_line: Some(7),
        source: None,
        instruction: "ld.global.u32 %r1, [%rd1];".into(),
    };
    let summary = "illegal address 0x10".into();
    launch(LaunchEnd::Fault(Fault {
        kind: FaultKind::IllegalAddress,
        summary,
        what: String::new(),
        access: None,
        address: None,
        size: None,
        allocation: None,
        at,
    }))
}

fn first(exit: Exit, launch: Option<&FailedLaunch>) -> Option<Outcome> {
    without_oracle(exit, false, launch, Duration::from_secs(60)).map(|(outcome, reason)| {
        assert!(!reason.is_empty());
        outcome
    })
}

#[test]
fn by_the_process_alone() {
    assert_eq!(first(Exit::Code(0), None), None);
    assert_eq!(first(Exit::Code(1), None), None);
    assert_eq!(first(Exit::Signal(11), None), Some(Outcome::Crash));
    assert_eq!(first(Exit::Killed, None), Some(Outcome::Timeout));
}

#[test]
fn what_the_virtual_gpu_saw_comes_first() {
    for exit in [Exit::Code(0), Exit::Code(1), Exit::Signal(6), Exit::Killed] {
        assert_eq!(first(exit, Some(&deadlock())), Some(Outcome::Deadlock));
        assert_eq!(first(exit, Some(&step_budget())), Some(Outcome::Timeout));
    }
    assert_eq!(first(Exit::Killed, Some(&fault())), Some(Outcome::Crash));
    assert_eq!(first(Exit::Code(1), Some(&fault())), None);
}

#[test]
fn by_the_oracle() {
    let discontent = || OracleVerdict::Discontent("sum is off".into());
    assert_eq!(by_oracle(OracleVerdict::Content, None, false), (Outcome::Pass, None));
    assert_eq!(by_oracle(discontent(), None, false), (Outcome::WrongResult, Some("sum is off".into())));
    assert_eq!(by_oracle(OracleVerdict::Content, Some(&fault()), false), (Outcome::Pass, None));
    assert_eq!(by_oracle(OracleVerdict::Content, Some(&fault()), true).0, Outcome::Crash);
    let (outcome, reason) = by_oracle(discontent(), Some(&fault()), false);
    assert_eq!(outcome, Outcome::Crash);
    assert_eq!(reason.unwrap(), "kernel k: illegal address 0x10 (sum is off)");
}

/// What says nothing of the program is told apart, but what the virtual GPU saw comes first.
#[test]
fn what_says_nothing() {
    let outcome = |exit, slow, launch: Option<&FailedLaunch>| {
        without_oracle(exit, slow, launch, Duration::from_secs(60)).map(|(outcome, _)| outcome)
    };
    assert_eq!(outcome(Exit::Killed, true, None), Some(Outcome::Slow));
    assert_eq!(outcome(Exit::Killed, true, Some(&deadlock())), Some(Outcome::Deadlock));
    for signal in [libc::SIGKILL, libc::SIGTERM, libc::SIGXCPU] {
        assert_eq!(outcome(Exit::Signal(signal), false, None), Some(Outcome::Killed));
        assert_eq!(outcome(Exit::Signal(signal), false, Some(&deadlock())), Some(Outcome::Deadlock));
    }
    assert_eq!(outcome(Exit::Signal(libc::SIGABRT), false, None), Some(Outcome::Crash));
}
