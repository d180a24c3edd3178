//! The search against programs that the tests make up: which fences they need, and how often they
//! fail without. Every seed has to come to the same answer.

use bugaroo_protocol::{DelayedSpace, Model};

use crate::model::{Bug, Coins, Own, Program, found, report, report_on, subject};
use crate::report::{Needed, NeededScope, SearchReport};

fn bug(space: DelayedSpace, kernel: &'static str, cures: &[&[u32]], rate: f64) -> Bug {
    Bug { space, kernel, cures: cures.iter().map(|cure| cure.to_vec()).collect(), rate }
}

/// The answers for these seeds, where a seed fails again or not, for a program whose own fences are
/// needed.
fn reports(seeds: u64, bugs: &[Bug]) -> Vec<SearchReport> {
    let mut reports = Vec::new();
    for coins in [Coins::Same, Coins::Fresh] {
        for seed in 0..seeds {
            let mut program = Program::new(seed, coins, bugs.to_vec());
            program.own = vec![Own { keep: vec![vec![80, 81, 82, 83]], rate: 0.9 }];
            // Their block alone sees stores to shared memory.
            let shared = bugs.iter().filter(|bug| bug.space == DelayedSpace::Shared);
            program.narrow_does = shared.flat_map(|bug| bug.cures.concat()).collect();
            reports.push(report(&program));
        }
    }
    reports
}

/// Asserts that all answers are these fences, verified, and nothing else.
fn all_find(reports: &[SearchReport], fences: &[(u32, &str, Option<&str>)]) {
    for (at, report) in reports.iter().enumerate() {
        assert_eq!(found(report), fences, "answer {at}");
        assert!(report.redundant.is_empty() && report.unresolved.is_none());
        assert!(report.verified.trials >= 2301 && report.verified.failures == 0);
    }
}

#[test]
fn one_missing_fence_is_placed_and_verified() {
    for (rate, bound) in [(1.0, 3600), (0.9, 3600), (0.3, 3900), (0.1, 5000)] {
        let reports = reports(10, &[bug(DelayedSpace::Global, "beta", &[&[66]], rate)]);
        all_find(&reports, &[(66, "global", Some("beta"))]);
        let most = reports.iter().map(|report| report.trials).max();
        assert!(most < Some(bound), "{most:?} trials at rate {rate}");
        assert_eq!(reports[0].missing[0].scope, "gpu");
        assert_eq!(reports[0].missing[0].before.as_ref().map(|site| site.id.index), Some(67));
        assert_eq!(reports[0].assurance.rate, 0.002);
        assert!(reports[0].assurance.error <= 0.02);
    }
}

/// One trial of 500, the rarest that the default number of trials is meant for: at 100 trials a second
/// the bound is 10 minutes.
#[test]
fn a_fence_that_shows_in_one_trial_of_five_hundred() {
    let reports = reports(5, &[bug(DelayedSpace::Global, "beta", &[&[66]], 0.002)]);
    all_find(&reports, &[(66, "global", Some("beta"))]);
    for report in &reports {
        assert!(report.trials < 60_000, "{} trials", report.trials);
    }
    let mean = reports.iter().map(|report| report.trials).sum::<u64>() / reports.len() as u64;
    assert!(mean < 25_000, "{mean} trials on average");
}

#[test]
fn bugs_are_found_one_after_the_other_however_their_rates_differ() {
    let bugs = [
        bug(DelayedSpace::Global, "alpha", &[&[4]], 0.9),
        bug(DelayedSpace::Shared, "beta", &[&[53]], 0.2),
        bug(DelayedSpace::Global, "beta", &[&[70]], 0.004),
    ];
    let reports = reports(4, &bugs);
    let fences = [(4, "global", Some("alpha")), (53, "shared", Some("beta")), (70, "global", Some("beta"))];
    all_find(&reports, &fences);
}

#[test]
fn a_bug_that_needs_two_fences_at_once_gets_both() {
    for rate in [0.7, 0.02] {
        let reports = reports(5, &[bug(DelayedSpace::Shared, "alpha", &[&[3, 11]], rate)]);
        all_find(&reports, &[(3, "shared", Some("alpha")), (11, "shared", Some("alpha"))]);
        assert_eq!(reports[0].missing[0].scope, "cta");
        assert!(reports[0].caveats.iter().any(|caveat| caveat.contains("__syncwarp()")));
    }
    let reports = reports(5, &[bug(DelayedSpace::Global, "beta", &[&[42, 58, 76]], 0.5)]);
    all_find(&reports, &[42, 58, 76].map(|site| (site, "global", Some("beta"))));
}

/// Of cures that will do the first in the text, and no fence that another makes superfluous.
#[test]
fn the_answer_is_minimal_and_the_first_in_the_text() {
    let either = reports(5, &[bug(DelayedSpace::Global, "beta", &[&[46], &[50], &[74]], 0.5)]);
    all_find(&either, &[(46, "global", Some("beta"))]);
    // The frequent one alone would take 46; 50 cures both.
    let bugs = [
        bug(DelayedSpace::Global, "beta", &[&[46], &[50]], 0.5),
        bug(DelayedSpace::Global, "beta", &[&[50]], 0.02),
    ];
    all_find(&reports(8, &bugs), &[(50, "global", Some("beta"))]);
    // A second bug of like rate, further down, must not draw the first one's fence to a later place.
    let bugs = [
        bug(DelayedSpace::Global, "beta", &[&[46], &[60]], 0.6),
        bug(DelayedSpace::Global, "beta", &[&[74]], 0.3),
    ];
    all_find(&reports(8, &bugs), &[(46, "global", Some("beta")), (74, "global", Some("beta"))]);
}

#[test]
fn a_failure_that_takes_both_spaces_and_several_kernels() {
    // In the whole program only: stores of one space or one kernel alone don't show it.
    let mut program = Program::new(1, Coins::Fresh, vec![bug(DelayedSpace::Both, "", &[&[10]], 0.4)]);
    program.own = vec![Own { keep: vec![vec![80, 81, 82, 83]], rate: 0.9 }];
    let report = report(&program);
    assert_eq!(found(&report), [(10, "both", Some("alpha"))]);
}

#[test]
fn a_failure_that_no_fence_cures_is_reported_as_such() {
    let report = report(&Program::new(2, Coins::Fresh, vec![bug(DelayedSpace::Global, "alpha", &[], 0.5)]));
    assert!(report.missing.is_empty());
    assert!(report.unresolved.is_some());
    assert!(report.verified.failures > 0);
    assert!(report.redundant.is_empty());
}

#[test]
fn a_sound_program_takes_a_verification_and_no_more() {
    let mut program = Program::new(3, Coins::Fresh, vec![]);
    program.own = vec![Own { keep: vec![vec![80, 81, 82, 83]], rate: 0.9 }];
    let report = report(&program);
    assert!(report.missing.is_empty() && report.redundant.is_empty());
    assert!(report.trials < 2902 + 231 + 50, "{} trials", report.trials);
}

/// A fence in the source goes into all copies of its line: none of them alone would cure.
#[test]
fn a_line_with_several_copies_is_one_fence() {
    let mut subject = subject();
    for (copy, line) in [(14, 10), (50, 10), (54, 10)] {
        subject.sites[copy].source.as_mut().expect("all sites have a line").line = line;
    }
    let cures: &[&[u32]] = &[&[10, 14, 50, 54]];
    let program = Program::new(4, Coins::Fresh, vec![bug(DelayedSpace::Global, "beta", cures, 0.5)]);
    let report = report_on(&program, &subject);
    assert_eq!(report.missing.len(), 1);
    let fence = &report.missing[0];
    assert_eq!(fence.sites.iter().map(|site| site.index).collect::<Vec<_>>(), [10, 14, 50, 54]);
    assert_eq!((fence.kernel.as_deref(), fence.site.index), (Some("beta"), 50));
}

/// A fence for delayed stores, and one for old values, which the first model asked does not show.
#[test]
fn models_are_asked_one_after_the_other() {
    let mut subject = subject();
    subject.models = vec![Model::StoreBuffer, Model::Ptx];
    let bugs =
        [bug(DelayedSpace::Global, "alpha", &[&[4]], 0.3), bug(DelayedSpace::Global, "beta", &[&[70]], 0.2)];
    for seed in 0..5 {
        let mut program = Program::new(seed, Coins::Fresh, bugs.to_vec());
        program.load_side = vec![70, 82];
        program.own = vec![Own { keep: vec![vec![80]], rate: 0.5 }, Own { keep: vec![vec![82]], rate: 0.02 }];
        let report = report_on(&program, &subject);
        assert_eq!(found(&report).iter().map(|fence| fence.0).collect::<Vec<_>>(), [4, 70]);
        let by_model: Vec<Model> = report.verified.by_model.iter().map(|by| by.model).collect();
        assert_eq!(by_model, subject.models);
        assert!(report.verified.by_model.iter().all(|by| by.trials >= 2301 && by.failures == 0));
        let redundant: Vec<u32> = report.redundant.iter().map(|fence| fence.site.index).collect();
        assert_eq!(redundant, [81, 83], "82 keeps loads from reading old values");
        let needs: Vec<_> = report.needs.iter().map(|need| (need.site.index, need.needed)).collect();
        let (both, ptx, neither) = (Needed::Both, Needed::Ptx, Needed::Neither);
        assert_eq!(needs, [(4, both), (70, ptx), (80, both), (81, neither), (82, ptx), (83, neither)]);
    }
}

/// Two fences cure, and so does one at a place of lower rank.
#[test]
fn one_fence_is_better_than_two() {
    let cures: &[&[u32]] = &[&[44, 52], &[70]];
    let reports = reports(5, &[bug(DelayedSpace::Global, "beta", cures, 0.4)]);
    all_find(&reports, &[(70, "global", Some("beta"))]);
}

/// `--trials` says how rare a failure may be.
#[test]
fn fewer_trials_are_a_smaller_promise() {
    let mut subject = subject();
    subject.trials = 100;
    let program = Program::new(5, Coins::Fresh, vec![bug(DelayedSpace::Global, "beta", &[&[66]], 0.1)]);
    let report = report_on(&program, &subject);
    assert_eq!(found(&report), [(66, "global", Some("beta"))]);
    assert_eq!(report.assurance.rate, 0.02);
    assert!((228..300).contains(&report.verified.trials), "{} trials", report.verified.trials);
}

/// Where the memory model forgot something, what failed did fail, but nothing is called redundant or verified.
#[test]
fn nothing_is_concluded_where_the_model_forgot() {
    let bugs = [bug(DelayedSpace::Global, "alpha", &[&[10]], 1.0)];
    let mut program = Program::new(1, Coins::Same, bugs.to_vec());
    program.forgets = true;
    let report = report(&program);
    assert!(report.forgetful > 0);
    assert_eq!(found(&report), [(10, "global", Some("alpha"))]);
    assert!(report.redundant.is_empty() && report.minimal_sets.is_empty());
    assert!(report.scope_advice.iter().all(|advice| advice.needed != NeededScope::Cta));
    assert_eq!((report.missing[0].confidence, report.assurance.error), (0.0, 1.0));
    assert!(report.caveats.iter().any(|caveat| caveat.contains("--model-memory")));
}

/// Trials that say nothing are neither passes nor failures: what failed did, but nothing is called redundant or verified.
#[test]
fn nothing_is_concluded_where_trials_were_slow() {
    let bugs = [bug(DelayedSpace::Global, "alpha", &[&[10]], 1.0)];
    let mut program = Program::new(1, Coins::Same, bugs.to_vec());
    assert!(!report(&program).redundant.is_empty());
    program.slow = Some(400);
    let report = report(&program);
    assert!(report.untold > 0);
    assert_eq!(found(&report), [(10, "global", Some("alpha"))]);
    assert!(report.redundant.is_empty() && report.minimal_sets.is_empty());
    assert!(report.scope_advice.iter().all(|advice| advice.needed != NeededScope::Cta));
    assert_eq!((report.missing[0].confidence, report.assurance.error), (0.0, 1.0));
    assert!(report.caveats.iter().any(|caveat| caveat.contains("still at work")));
}
