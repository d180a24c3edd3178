//! What becomes of tasks.

use super::*;

fn task(state: TaskState, code: Option<u8>, signal: Option<u8>) -> Task {
    let word = format!("{state:?}");
    Task { state, word, code, signal, node: "n7".into(), ended: "then".into(), reason: String::new() }
}

fn of_code(code: u8) -> NextMove {
    judge(&task(TaskState::Failed, Some(code), None))
}

#[test]
fn what_others_ended_goes_on() {
    let lost = judge(&task(TaskState::Lost, Some(0), None));
    assert_eq!(lost, NextMove::Again { why: "was lost on n7 (Lost)".into(), idle: LOST_IDLE });
    let late = judge(&task(TaskState::TimeOut, Some(0), None));
    assert_eq!(late, NextMove::Again { why: "ran out of its time limit on n7".into(), idle: 0 });
    assert_eq!(of_code(130), NextMove::Again { why: "was stopped on n7".into(), idle: LOST_IDLE });
    let told = NextMove::Again { why: "was killed by signal 15 on n7".into(), idle: LOST_IDLE };
    assert_eq!((of_code(143), judge(&task(TaskState::Failed, None, Some(15)))), (told.clone(), told));
    let killed = NextMove::Again { why: "was killed by signal 9 on n7".into(), idle: 0 };
    assert_eq!(of_code(137), killed);
    assert_eq!(judge(&task(TaskState::Failed, None, Some(9))), killed);
}

#[test]
fn what_would_fail_again_is_named() {
    for (code, says) in
        [(2, "plan"), (3, "exit code 3"), (5, "fault"), (127, "cannot be started"), (200, "200")]
    {
        let NextMove::Missing(why) = of_code(code) else { panic!("{code}: {:?}", of_code(code)) };
        assert!(why.contains(says) && why.contains("n7"), "{why}");
    }
    for (state, says) in [
        (TaskState::Cancelled, "cancelled"),
        (TaskState::OutOfMemory, "memory"),
        (TaskState::Over, "ended it"),
    ] {
        let next = judge(&task(state, None, Some(9)));
        assert!(matches!(&next, NextMove::Missing(why) if why.contains(says)), "{next:?}");
    }
}

#[test]
fn the_others_need_nothing() {
    assert_eq!(judge(&task(TaskState::Waits, Some(0), None)), NextMove::Wait);
    assert_eq!(judge(&task(TaskState::Runs, Some(0), None)), NextMove::Run);
    assert_eq!(judge(&task(TaskState::Completed, Some(0), None)), NextMove::Done);
}
