//! The search against programs that the tests make up: which fences they need, and how often they
//! fail without.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use bugaroo_harness::Variation;
use bugaroo_protocol::{Site, SiteId, SiteKind, SourceLine, Space};

use super::{Subject, VERIFYING_TRIALS, search};
use crate::report::Report;
use crate::trials::{Tally, Trials};

/// A bug: it fails at `rate` as long as stores of its space and kernel are delayed and not all of
/// its fences are there.
struct Bug {
    space: Space,
    kernel: &'static str,
    needs: &'static [u32],
    rate: f64,
}

/// A program with bugs.
struct Program {
    bugs: Vec<Bug>,
    /// Fences of the program that matter: without one it fails at this rate.
    own: Vec<(u32, f64)>,
}

impl Program {
    fn fails(&self, variation: &Variation, index: u64) -> bool {
        // A hash of the index alone: the same seed meets the same coin flips in every variation.
        let mut bits = (index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        bits = (bits ^ (bits >> 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let coin = (bits >> 11) as f64 / (1u64 << 53) as f64;
        let has = |fence: &u32| variation.with_fence.contains(&id(*fence));
        let by_bug = self.bugs.iter().any(|bug| {
            let space = variation.space == Space::Both || variation.space == bug.space;
            let kernel = variation.kernel.as_ref().is_none_or(|kernel| kernel.contains(bug.kernel));
            space && kernel && !bug.needs.iter().all(has) && coin < bug.rate
        });
        let by_omission = self
            .own
            .iter()
            .any(|(fence, rate)| variation.without_fence.contains(&id(*fence)) && coin < *rate);
        by_bug || by_omission
    }
}

impl Trials for Program {
    type Error = Infallible;

    async fn run(&self, variation: &Variation, indices: Vec<u64>, until: bool) -> Result<Tally, Infallible> {
        let mut tally = Tally::default();
        for index in indices {
            tally.trials += 1;
            if self.fails(variation, index) {
                tally.failing.push(index);
                if until {
                    break;
                }
            }
        }
        tally.failing.sort_unstable();
        Ok(tally)
    }
}

fn id(index: u32) -> SiteId {
    SiteId { module: 0, index }
}

fn site(index: u32, kind: SiteKind, function: &str, space: Option<&str>) -> Site {
    Site {
        id: id(index),
        kind,
        function: function.to_owned(),
        in_kernel: true,
        space: space.map(str::to_owned),
        scope: None,
        ptx_line: 100 + index,
        instruction: String::new(),
        source: Some(SourceLine { file: "kernel.cu".to_owned(), line: index }),
        inlined_at: Vec::new(),
    }
}

/// Kernels `alpha` (sites 0 to 19) and `beta` (20 to 39), global and shared stores in turn, with
/// fences at 40 (alpha) and 41 (beta).
fn subject() -> Subject {
    let mut sites: Vec<Site> = (0..40)
        .map(|index| {
            let space = if index % 2 == 0 { "global" } else { "shared" };
            site(index, SiteKind::Store, if index < 20 { "alpha" } else { "beta" }, Some(space))
        })
        .collect();
    sites.push(site(40, SiteKind::Fence, "alpha", None));
    sites.push(site(41, SiteKind::Fence, "beta", None));
    Subject {
        sites,
        kernels: vec!["alpha".to_owned(), "beta".to_owned()],
        trials: 1000,
        whole: Variation::default(),
    }
}

fn report(program: &Program) -> Report {
    let subject = subject();
    let future = pin!(search(program, &subject, &|_| ()));
    match future.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(Ok(report)) => report,
        Poll::Pending => unreachable!("nothing in these tests waits"),
    }
}

fn found(report: &Report) -> Vec<(u32, &str, Option<&str>)> {
    report
        .missing
        .iter()
        .map(|fence| (fence.site.index, fence.space.as_str(), fence.kernel.as_deref()))
        .collect()
}

#[test]
fn one_missing_fence_is_placed_and_verified() {
    for rate in [1.0, 0.5, 0.05] {
        let program = Program {
            bugs: vec![Bug { space: Space::Global, kernel: "beta", needs: &[26], rate }],
            own: vec![],
        };
        let report = report(&program);
        assert_eq!(found(&report), [(26, "global", Some("beta"))], "at rate {rate}");
        assert_eq!(report.verified.trials, VERIFYING_TRIALS);
        assert_eq!(report.verified.failures, 0);
        assert_eq!(report.missing[0].scope, "gpu");
        assert_eq!(report.missing[0].before.as_ref().map(|site| site.id), Some(id(27)));
    }
}

#[test]
fn two_bugs_are_found_one_after_the_other() {
    let program = Program {
        bugs: vec![
            Bug { space: Space::Global, kernel: "alpha", needs: &[4], rate: 0.9 },
            Bug { space: Space::Shared, kernel: "beta", needs: &[33], rate: 0.2 },
        ],
        own: vec![],
    };
    let report = report(&program);
    let fences: BTreeSet<_> = found(&report).into_iter().collect();
    assert_eq!(fences, BTreeSet::from([(4, "global", Some("alpha")), (33, "shared", Some("beta"))]));
    assert_eq!(report.verified.failures, 0);
}

#[test]
fn a_bug_that_needs_two_fences_at_once_gets_both() {
    let program = Program {
        bugs: vec![Bug { space: Space::Shared, kernel: "alpha", needs: &[3, 11], rate: 0.7 }],
        own: vec![],
    };
    let report = report(&program);
    assert_eq!(found(&report), [(3, "shared", Some("alpha")), (11, "shared", Some("alpha"))]);
    assert_eq!(report.missing[0].scope, "cta");
    assert!(report.caveats.iter().any(|caveat| caveat.contains("__syncwarp()")));
}

#[test]
fn a_failure_that_no_fence_cures_is_reported_as_such() {
    let program = Program {
        bugs: vec![Bug { space: Space::Global, kernel: "alpha", needs: &[999], rate: 0.5 }],
        own: vec![],
    };
    let report = report(&program);
    assert!(report.missing.is_empty());
    assert!(report.unresolved.is_some());
    assert!(report.verified.failures > 0);
}

#[test]
fn fences_that_can_go_are_told_from_those_that_cannot() {
    let program = Program { bugs: vec![], own: vec![(41, 0.02)] };
    let report = report(&program);
    assert!(report.missing.is_empty());
    let redundant: Vec<u32> = report.redundant.iter().map(|fence| fence.site.index).collect();
    assert_eq!(redundant, [40]);
    assert!(report.caveats.iter().any(|caveat| caveat.contains("missing acquire")));
}
