//! Fences on either side.

use bugaroo_protocol::{DelayedSpace, Model, Site, SiteKind};

use crate::model::{Bug, Coins, Own, Program, report_on, site, subject};
use crate::report::Needed::{Both, Neither, Ptx};
use crate::subject::Subject;

/// Fences are missing after 20 (for stores) and 31 (for loads), whose kernel has three of its own: 80 is needed
/// for stores, 81 for loads.
fn program() -> Program {
    let bug = |cure| Bug { space: DelayedSpace::Global, kernel: "alpha", cures: vec![vec![cure]], rate: 0.3 };
    let mut program = Program::new(5, Coins::Fresh, vec![bug(20), bug(30)]);
    program.own = [80, 81].map(|fence| Own { keep: vec![vec![fence]], rate: 0.3 }).to_vec();
    program.load_side = vec![30, 81];
    program
}

fn under(model: Model) -> Subject {
    let mut subject = subject();
    subject.whole.model = model;
    subject
}

#[test]
fn each_fence_is_told_by_the_models_that_need_it() {
    let report = report_on(&program(), &under(Model::Ptx));
    let needs: Vec<_> =
        report.needs.iter().map(|need| (need.site.index, need.inserted, need.needed)).collect();
    let own = [(80, false, Both), (81, false, Ptx), (82, false, Neither), (83, false, Neither)];
    assert_eq!(needs, [&[(20, true, Both), (30, true, Ptx)][..], &own].concat());
    assert!(report.needs.iter().all(|need| (need.failures > 0) == (need.needed == Both)));
    assert!(report.needs[1].trials >= 230, "that it passes is told with the trials that say so");
}

#[test]
fn a_model_of_delayed_stores_says_nothing_of_loads() {
    let report = report_on(&program(), &under(Model::StoreBuffer));
    assert!(report.needs.is_empty());
    assert_eq!(report.missing.iter().map(|fence| fence.site.index).collect::<Vec<_>>(), [20]);
}

#[test]
fn a_fence_that_stands_there_is_to_be_widened() {
    let mut subject = under(Model::Ptx);
    let fence = |index, scope: &str| Site {
        scope: Some(scope.to_owned()),
        ..site(index, SiteKind::Fence, "alpha", None)
    };
    subject.sites[21] = fence(21, "cta");
    let widened = |subject: &Subject| report_on(&program(), subject).missing[0].widen.clone();
    assert_eq!(widened(&subject).map(|own| own.site.index), Some(21));
    subject.sites[21] = fence(21, "gpu");
    assert_eq!(widened(&subject), None, "one that is wide enough is not what is wrong");
}
