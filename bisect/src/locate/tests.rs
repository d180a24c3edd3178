//! The search against a monotone family of cures that the test makes up.

use std::cell::Cell;
use std::convert::Infallible;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use proptest::prelude::*;

use super::minimal_cure;

/// Runs a future that never waits.
fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("nothing in these tests waits"),
    }
}

/// A set cures when it holds all of some alternative.
fn cured_by(alternatives: &[Vec<usize>], set: &[usize]) -> bool {
    alternatives.iter().any(|needed| needed.iter().all(|fence| set.contains(fence)))
}

fn search(count: usize, alternatives: &[Vec<usize>]) -> (Option<Vec<usize>>, usize) {
    let asked = Cell::new(0);
    let candidates: Vec<usize> = (0..count).collect();
    let found = now(minimal_cure(&candidates, |set| {
        asked.set(asked.get() + 1);
        let cured = cured_by(alternatives, &set);
        async move { Ok::<_, Infallible>(cured) }
    }));
    let Ok(found) = found;
    (found, asked.get())
}

#[test]
fn one_fence_is_found_by_halving() {
    for needed in 0..100 {
        let (found, asked) = search(100, &[vec![needed]]);
        assert_eq!(found, Some(vec![needed]));
        assert!(asked <= 9, "{asked} questions for fence {needed} of 100");
    }
}

#[test]
fn two_fences_that_only_cure_together_are_both_found() {
    let (found, _) = search(64, &[vec![5, 40]]);
    assert_eq!(found, Some(vec![5, 40]));
}

#[test]
fn a_failure_that_no_fence_cures_is_said_to_be_so() {
    assert_eq!(search(10, &[]).0, None);
    assert_eq!(search(0, &[vec![0]]).0, None);
}

proptest! {
    #[test]
    fn the_answer_cures_and_none_of_it_can_go(
        count in 1usize..40,
        raw in prop::collection::vec(prop::collection::btree_set(0usize..40, 1..5), 1..5),
    ) {
        let alternatives: Vec<Vec<usize>> =
            raw.into_iter().map(|set| set.into_iter().map(|fence| fence % count).collect()).collect();
        let (found, _) = search(count, &alternatives);
        let found = found.expect("every alternative is among the candidates");
        prop_assert!(cured_by(&alternatives, &found));
        for dropped in &found {
            let rest: Vec<usize> = found.iter().copied().filter(|fence| fence != dropped).collect();
            prop_assert!(!cured_by(&alternatives, &rest), "{} can go from {:?}", dropped, found);
        }
    }
}
