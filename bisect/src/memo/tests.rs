//! What is known is not run again, and changes no answer.

use bugaroo_harness::Variation;
use bugaroo_protocol::DelayedSpace;

use super::Memo;
use crate::model::{Bug, Coins, Program, now};

fn program() -> Program {
    let bug = Bug { space: DelayedSpace::Global, kernel: "alpha", cures: vec![], rate: 0.1 };
    Program::new(1, Coins::Same, vec![bug])
}

#[test]
fn trials_run_once() {
    let program = program();
    let memo = Memo::new(&program, Default::default(), None);
    let variation = Variation::default();
    let first = now(memo.run(&variation, (0..200).collect(), false)).expect("trials");
    assert_eq!((first.trials, memo.ran(), program.ran.get()), (200, 200, 200));
    let again = now(memo.run(&variation, (0..200).collect(), false)).expect("trials");
    assert_eq!((again, program.ran.get()), (first.clone(), 200));
    let other = Variation { pw: 0.5, ..variation };
    now(memo.run(&other, vec![0], false)).expect("trials");
    assert_eq!(program.ran.get(), 201);
    assert!(first.failures() > 5);
}

#[test]
fn until_a_failure_gives_the_same_whatever_is_known() {
    let plain = program();
    let fresh = Memo::new(&plain, Default::default(), None);
    let variation = Variation::default();
    let expected = now(fresh.run(&variation, (0..100).collect(), true)).expect("trials");
    assert_eq!(expected.failures(), 1);
    let failing = expected.failing[0];
    for known in [0..1, 0..failing, failing..failing + 1, failing + 1..100, 0..100] {
        let program = program();
        let memo = Memo::new(&program, Default::default(), None);
        now(memo.run(&variation, known.clone().collect(), false)).expect("trials");
        let before = memo.ran();
        let tally = now(memo.run(&variation, (0..100).collect(), true)).expect("trials");
        assert_eq!(tally, expected, "{known:?}");
        let left = (0..=failing).filter(|index| !known.contains(index)).count() as u64;
        assert_eq!(memo.ran() - before, left, "{known:?}");
    }
}
