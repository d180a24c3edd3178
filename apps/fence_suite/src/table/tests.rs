use super::{SuiteTotals, median, short, table};
use crate::expert::ExpertKind;
use crate::measure::{AdviceOutcome, Measured};

fn one(
    kind: ExpertKind,
    outcome: AdviceOutcome,
    same_line: Option<bool>,
    ours: Option<i64>,
    search_seconds: f64,
) -> Measured {
    Measured { program: "p".to_owned(), kind, outcome, same_line, ours, expert: 1, search_seconds }
}

#[test]
fn totals_count_what_the_rows_say() {
    let all = [
        one(ExpertKind::Missing, AdviceOutcome::Cured, Some(true), Some(1), 1.0),
        one(ExpertKind::Missing, AdviceOutcome::Cured, Some(false), Some(2), 9.0),
        one(ExpertKind::TooWide, AdviceOutcome::Refused("why".to_owned()), None, None, 3.0),
        one(ExpertKind::Redundant, AdviceOutcome::NothingToDo, None, None, 2.0),
        one(ExpertKind::NotAFence, AdviceOutcome::Named, None, None, 4.0),
        one(ExpertKind::NotAFence, AdviceOutcome::Wrong("x".repeat(500)), None, None, 5.0),
    ];
    let totals = SuiteTotals::of(&all);
    assert_eq!((totals.programs, totals.patchable, totals.not_a_fence), (6, 4, 2));
    assert_eq!((totals.cured, totals.refused, totals.same_line, totals.too_many), (3, 1, 2, 1));
    assert_eq!((totals.named, totals.right), (1, 4));
    assert_eq!(totals.median_search_seconds, 3.5);
    let text = table(&all).to_string();
    assert!(
        text.contains("+2/+1") && text.contains("refused: why") && !text.contains(&"x".repeat(161)),
        "{text}"
    );
}

#[test]
fn medians() {
    assert_eq!(median(vec![]), 0.0);
    assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
}

#[test]
fn reasons_are_cut_between_letters() {
    assert_eq!(short("a\n  b"), "a b");
    assert_eq!(short(&"ü".repeat(200)), format!("{}…", "ü".repeat(160)));
}
