use super::*;

fn asked(said: Said) -> Asked {
    let run = Run { arguments: vec!["1".to_owned()], said: BTreeMap::from([("hirace".to_owned(), said)]) };
    Asked {
        suite: "indigo".to_owned(),
        program: "push".to_owned(),
        digest: String::new(),
        unbuilt: None,
        code: None,
        runs: vec![run],
    }
}

#[test]
fn a_result_is_wrong_unless_all_processes_say_that_it_is_right() {
    let said = |exits: &[(&str, u64)]| Said {
        exits: exits.iter().map(|(exit, count)| ((*exit).to_owned(), *count)).collect(),
        ..Said::default()
    };
    assert!(!said(&[("exit code 0", 3)]).failed());
    assert!(said(&[("exit code 0", 3), ("exit code 1", 1)]).failed());
    assert!(said(&[("signal 9", 1)]).failed());
}

#[test]
fn what_was_not_answered_is_incomplete() {
    let answered = asked(Said::default());
    assert!(!answered.is_incomplete());
    assert_eq!(answered.told(), "hirace 0");
    assert!(answered.said(&["1".to_owned()], "hirace").is_some());
    assert!(answered.said(&[], "hirace").is_none());
    assert!(asked(Said { refused: Some("no".to_owned()), ..Said::default() }).is_incomplete());
    assert!(Asked { unbuilt: Some("no".to_owned()), ..answered }.is_incomplete());
}
