use super::{AdviceOutcome, with_cure, without_patch};
use crate::advice::SuiteAdvice;
use crate::expert::{ExpertProgram, programs};

fn program(name: &str) -> ExpertProgram {
    let all = programs().expect("the programs can be read");
    all.into_iter().find(|program| program.name == name).expect("it is there")
}

fn advice(json: &str) -> SuiteAdvice {
    SuiteAdvice::parse(json.as_bytes()).expect("a report")
}

fn is_wrong(outcome: &AdviceOutcome) -> bool {
    matches!(outcome, AdviceOutcome::Wrong(_))
}

#[test]
fn no_patch_is_right_only_where_nothing_is_to_be_changed() {
    assert_eq!(without_patch(&program("acquire_kept"), &advice("{}")), AdviceOutcome::NothingToDo);
    assert!(is_wrong(&with_cure(&program("acquire_kept"), &advice("{}"))));
    assert!(is_wrong(&without_patch(&program("acquire_kept"), &advice(r#"{"error": "no trial ended"}"#))));
    assert!(is_wrong(&without_patch(&program("mailbox"), &advice("{}"))));
    assert_eq!(with_cure(&program("mailbox"), &advice("{}")), AdviceOutcome::Cured);
}

#[test]
fn a_refusal_counts_where_the_expert_takes_it() {
    let refused = advice(r#"{"unresolved": "the compiler reordered two loads"}"#);
    assert!(matches!(without_patch(&program("seqlock_unrolled"), &refused), AdviceOutcome::Refused(_)));
    assert!(is_wrong(&without_patch(&program("mailbox"), &refused)));
}

#[test]
fn what_is_not_a_fence_has_to_be_named() {
    let reverse = program("tile_reverse");
    let (first, second) = (reverse.expert.first.clone(), reverse.expert.second.clone());
    let access = |line: Option<crate::expert::ExpertLine>| serde_json::json!({"source": line.expect("it has two lines")});
    let named = serde_json::json!({"diagnosis": [
        {"kind": "missing-barrier", "first": access(first), "second": access(second)}
    ]});
    let named = advice(&named.to_string());
    assert_eq!(without_patch(&reverse, &named), AdviceOutcome::Named);
    assert_eq!(with_cure(&reverse, &named), AdviceOutcome::Cured);
    assert!(is_wrong(&without_patch(&reverse, &advice("{}"))));
    assert!(is_wrong(&with_cure(&reverse, &advice("{}"))));
}
