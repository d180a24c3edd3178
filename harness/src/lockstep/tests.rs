//! What pairs of runs say.

use std::collections::BTreeMap;

use super::*;
use crate::report::KernelUse;

fn seen(pairs: u64, failures: u32, in_lockstep: u32) -> Option<bool> {
    Seen { pairs, failures, in_lockstep }.verdict()
}

#[test]
fn one_run_that_passes_in_lockstep_says_nothing() {
    assert_eq!(seen(1, 1, 0), None);
    assert_eq!(seen(6, 6, 0), None);
    assert_eq!(seen(7, 7, 0), Some(true));
}

#[test]
fn a_program_that_fails_in_lockstep_too_does_not_count_on_it() {
    assert_eq!(seen(1, 1, 1), Some(false));
    assert_eq!(seen(20, 10, 1), Some(false));
}

#[test]
fn rare_failures_take_more_pairs_and_too_rare_ones_are_given_up() {
    assert_eq!(seen(20, 2, 0), None);
    assert_eq!(seen(28, 2, 0), Some(false));
    assert_eq!(seen(PAIRS, 6, 0), Some(false));
}

#[test]
fn blocks_of_one_thread_have_no_warps() {
    let report = |threads| {
        let mut kernel = KernelUse::default();
        (kernel.counts.warp_instructions, kernel.counts.thread_instructions) = (100, threads);
        Report { kernels: BTreeMap::from([("k".to_owned(), kernel)]), ..Report::default() }
    };
    assert!(!has_warps(&report(100)));
    assert!(has_warps(&report(140)));
    assert!(!has_warps(&Report::default()));
}
