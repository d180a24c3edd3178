//! Fences at block scope.

use bugaroo_protocol::{DelayedSpace, Model};

use super::{ALPHA, Rate, can_tell_scope};
use crate::model::{Bug, Coins, Own, Program, report, report_on, subject};
use crate::report::NeededScope::{Cta, Gpu, Unknown};
use crate::subject::Subject;

/// A program whose four fences are needed; 80 and, where it is missing, 66 need GPU scope.
fn program() -> Program {
    let bug = Bug { space: DelayedSpace::Global, kernel: "beta", cures: vec![vec![66]], rate: 0.8 };
    let mut program = Program::new(3, Coins::Fresh, vec![bug]);
    let own = [(80, 0.01), (81, 0.5), (82, 0.5), (83, 0.5)];
    program.own = own.map(|(fence, rate)| Own { keep: vec![vec![fence]], rate }).to_vec();
    program.narrow_does = vec![81, 82, 83];
    program
}

#[test]
fn a_scope_that_is_needed_is_told_from_one_that_is_not() {
    let report = report(&program());
    let needed: Vec<_> =
        report.scope_advice.iter().map(|advice| (advice.site.index, advice.needed)).collect();
    assert_eq!(needed, [(66, Gpu), (80, Gpu), (81, Cta), (82, Cta), (83, Cta)]);
    assert_eq!(report.missing[0].scope, "gpu");
    assert!(report.scope_advice.iter().all(|advice| (advice.failures > 0) == (advice.needed == Gpu)));
    assert!(report.scope_advice[2].trials >= 2301, "advice to narrow takes as many trials as any");

    let mut program = program();
    program.narrow_does.push(66);
    assert_eq!(crate::model::report(&program).missing[0].scope, "cta");
}

#[test]
fn a_model_that_cannot_tell_is_not_asked() {
    let mut subject = subject();
    subject.whole.model = Model::Bugaroo;
    assert!(!can_tell_scope(Model::Bugaroo));
    let report = report_on(&program(), &subject);
    assert!(report.scope_advice.is_empty());
    assert_eq!(report.missing[0].scope, "gpu");
}

#[test]
fn fences_at_block_scope_already_are_left_alone() {
    let mut subject = subject();
    for site in subject.sites.iter_mut().filter(|site| site.id.index >= 80) {
        site.scope = Some("cta".to_owned());
    }
    let report = report_on(&program(), &subject);
    assert_eq!(report.scope_advice.iter().map(|advice| advice.site.index).collect::<Vec<_>>(), [66]);
}

#[test]
fn advice_that_ptx_does_not_bear_out_is_not_given() {
    let mut program = program();
    program.wide_under_ptx = vec![81, 82];
    let report = crate::model::report(&program);
    let told: Vec<_> = report.scope_advice.iter().map(|advice| (advice.site.index, advice.model)).collect();
    let (delayed, ptx) = (Model::StoreBuffer, Model::Ptx);
    assert_eq!(told, [(66, delayed), (80, delayed), (81, ptx), (82, ptx), (83, delayed)]);
    let needed: Vec<_> = report.scope_advice.iter().map(|advice| advice.needed).collect();
    assert_eq!(needed, [Gpu, Gpu, Gpu, Gpu, Cta]);
    assert!(report.scope_advice[4].confirmed >= 2301);
    assert_eq!((report.scope_advice[4].rate, report.scope_advice[4].error), (0.002, 0.01));

    // Where ptx does not run, it is not asked.
    let alone = report_on(&program, &Subject { ptx_runs: false, ..subject() });
    let does = alone.scope_advice.iter().filter(|advice| advice.needed == Cta);
    assert_eq!(
        does.map(|advice| (advice.site.index, advice.confirmed)).collect::<Vec<_>>(),
        [(81, 0), (82, 0), (83, 0)]
    );
}

#[test]
fn nothing_is_advised_of_a_program_that_fails_under_ptx_anyway() {
    let mut program = program();
    program.bugs.push(Bug { space: DelayedSpace::Global, kernel: "alpha", cures: vec![vec![12]], rate: 0.3 });
    program.load_side.push(12);
    let report = crate::model::report(&program);
    let told: Vec<_> = report.scope_advice.iter().map(|advice| (advice.site.index, advice.needed)).collect();
    assert_eq!(told, [(66, Gpu), (80, Gpu)]);
}

/// A program with one fence, for its own block or for others, without which it fails this rarely.
fn rare(seed: u64, rate: f64, narrow_does: bool) -> Program {
    let mut program = Program::new(seed, Coins::Fresh, Vec::new());
    program.own = vec![Own { keep: vec![vec![80]], rate }];
    program.narrow_does = if narrow_does { vec![80] } else { Vec::new() };
    program
}

/// What is said of the fence of a program, of those that are there.
fn said(program: &Program) -> Option<crate::report::ScopeAdvice> {
    report(program).scope_advice.into_iter().find(|advice| advice.site.index == 80)
}

#[test]
fn a_scope_that_is_needed_but_rarely_is_not_taken_for_narrow() {
    // The rates are around the one that the search is made to see, 0.002.
    for rate in [0.0005, 0.001, 0.002, 0.004] {
        let (mut wrong, mut asked) = (0, 0);
        for seed in 0..200 {
            // Where it was never seen to fail without it, the fence counts as redundant.
            let Some(advice) = said(&rare(seed, rate, false)) else { continue };
            asked += 1;
            wrong += u64::from(advice.needed == Cta);
        }
        assert!(asked >= 40, "{rate}: {asked}");
        // The error allowed, with room for chance.
        assert!(wrong * 100 <= 3 * asked, "{rate}: {wrong} of {asked}");
    }
}

#[test]
fn a_scope_is_narrowed_only_where_a_failure_would_have_shown() {
    for (rate, needed) in [(0.3, Cta), (0.02, Cta), (0.004, Cta)] {
        let advice = said(&rare(7, rate, true)).expect("the fence is needed");
        assert_eq!(advice.needed, needed, "{rate}");
        // So many trials passed that the rate without the fence would have shown.
        let omitted = Rate { failures: advice.omitted_failures, trials: advice.omitted_trials };
        assert!(omitted.ln_unseen(advice.trials) <= ALPHA.ln(), "{rate}: {advice:?}");
    }
    let unknown = (0..200).filter_map(|seed| said(&rare(seed, 0.0004, true)));
    let unknown: Vec<_> = unknown.filter(|advice| advice.needed == Unknown).collect();
    assert!(!unknown.is_empty());
    assert!(unknown.iter().all(|advice| advice.failures == 0 && advice.error == 0.0), "{unknown:?}");
}
