//! Fences at block scope.

use bugaroo_protocol::{Model, Space};

use super::can_tell_scope;
use crate::model::{Bug, Coins, Own, Program, report, report_on, subject};
use crate::subject::Subject;

/// A program whose four fences are needed; 80 and, where it is missing, 66 need GPU scope.
fn program() -> Program {
    let bug = Bug { space: Space::Global, kernel: "beta", cures: vec![vec![66]], rate: 0.8 };
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
        report.scope_advice.iter().map(|advice| (advice.site.index, advice.needed.as_str())).collect();
    assert_eq!(needed, [(66, "gpu"), (80, "gpu"), (81, "cta"), (82, "cta"), (83, "cta")]);
    assert_eq!(report.missing[0].scope, "gpu");
    assert!(report.scope_advice.iter().all(|advice| (advice.failures > 0) == (advice.needed == "gpu")));
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
    let needed: Vec<_> = report.scope_advice.iter().map(|advice| advice.needed.as_str()).collect();
    assert_eq!(needed, ["gpu", "gpu", "gpu", "gpu", "cta"]);
    assert!(report.scope_advice[4].confirmed >= 2301);
    assert_eq!((report.scope_advice[4].rate, report.scope_advice[4].error), (0.002, 0.01));

    // Where ptx does not run, it is not asked.
    let alone = report_on(&program, &Subject { ptx_runs: false, ..subject() });
    let does = alone.scope_advice.iter().filter(|advice| advice.needed == "cta");
    assert_eq!(
        does.map(|advice| (advice.site.index, advice.confirmed)).collect::<Vec<_>>(),
        [(81, 0), (82, 0), (83, 0)]
    );
}

#[test]
fn nothing_is_advised_of_a_program_that_fails_under_ptx_anyway() {
    let mut program = program();
    program.bugs.push(Bug { space: Space::Global, kernel: "alpha", cures: vec![vec![12]], rate: 0.3 });
    program.load_side.push(12);
    let report = crate::model::report(&program);
    let told: Vec<_> =
        report.scope_advice.iter().map(|advice| (advice.site.index, advice.needed.as_str())).collect();
    assert_eq!(told, [(66, "gpu"), (80, "gpu")]);
}
