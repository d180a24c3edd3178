//! Fences at block scope.

use bugaroo_protocol::{Model, Space};

use super::can_tell_scope;
use crate::model::{Bug, Coins, Own, Program, report, report_on, subject};

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
