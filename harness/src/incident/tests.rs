use bugaroo_protocol::{BlockedThread, Diagnosis, Fault, FaultKind};

use super::*;

pub(crate) fn fault(kernel: &str, kind: FaultKind, line: u32) -> FailedLaunch {
    let at = BlockedThread {
        block: [0; 3],
        thread: [0; 3],
        threads: 1,
        function: kernel.to_owned(),
        ptx_line: Some(10 * line),
        source: Some(SourceLine { file: "k.cu".to_owned(), line }),
        instruction: "st.u32".to_owned(),
    };
    let (summary, what) = (String::new(), String::new());
    let fault = Fault { kind, summary, what, access: None, address: None, size: None, allocation: None, at };
    FailedLaunch { ordinal: 0, kernel: kernel.to_owned(), end: LaunchEnd::Fault(fault) }
}

fn waiting(end: fn(Diagnosis) -> LaunchEnd) -> FailedLaunch {
    FailedLaunch { ordinal: 0, kernel: "k".to_owned(), end: end(Diagnosis::default()) }
}

#[test]
fn the_same_is_counted_once() {
    let mut all = Incidents::default();
    for launch in [
        fault("a", FaultKind::Trap, 1),
        fault("a", FaultKind::Trap, 1),
        fault("a", FaultKind::Trap, 2),
        fault("a", FaultKind::Assert, 1),
        fault("b", FaultKind::Trap, 1),
        waiting(LaunchEnd::Deadlock),
        waiting(LaunchEnd::Deadlock),
        waiting(LaunchEnd::StepBudget),
    ] {
        all.take(&launch);
    }
    let counts: Vec<u64> = all.kept.iter().map(|incident| incident.count).collect();
    assert_eq!(counts, [2, 1, 1, 1, 2]);
    assert_eq!(all.more, 0);
    all.ignore_faults();
    assert_eq!(all.kept.len(), 1);
}

#[test]
fn their_number_is_bounded() {
    let mut all = Incidents::default();
    for line in 0..100 {
        all.take(&fault("a", FaultKind::Trap, line));
        all.take(&fault("a", FaultKind::Trap, 0));
    }
    assert_eq!((all.kept.len(), all.kept[0].count), (MOST_INCIDENTS, 101));
    assert_eq!(all.more, 100 - MOST_INCIDENTS as u64);
}
