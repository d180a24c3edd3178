use super::SuiteAdvice;
use crate::expert::{ExpertCause, ExpertLine};

fn line(file: &str, line: u32) -> ExpertLine {
    ExpertLine { file: file.to_owned(), line }
}

fn diagnosed(kind: &str, first: u32, second: u32) -> SuiteAdvice {
    let access =
        |line: u32| format!(r#"{{"source": {{"file": "/tmp/x/main.cu", "line": {line}}}, "kernel": "k"}}"#);
    let json = format!(
        r#"{{"schema": 1, "diagnosis": [{{"kind": "{kind}", "first": {}, "second": {}, "why": "…"}}]}}"#,
        access(first),
        access(second)
    );
    SuiteAdvice::parse(json.as_bytes()).expect("a report")
}

#[test]
fn a_cause_is_named_by_its_kind_and_both_lines_in_either_order() {
    let (first, second) = (line("main.cu", 7), line("main.cu", 9));
    let names = |advice: SuiteAdvice| advice.names(ExpertCause::LostUpdate, &first, &second);
    assert!(names(diagnosed("lost-update", 7, 9)));
    assert!(names(diagnosed("lost-update", 9, 7)));
    assert!(!names(diagnosed("lost-update", 7, 7)));
    assert!(!names(diagnosed("lost-update", 7, 8)));
    assert!(!names(diagnosed("missing-barrier", 7, 9)));
    assert!(!names(diagnosed("something-new", 7, 9)));
    assert!(!diagnosed("lost-update", 7, 9).names(ExpertCause::LostUpdate, &line("x.cu", 7), &second));
}

#[test]
fn a_report_without_patch_or_diagnosis_is_one() {
    let advice =
        SuiteAdvice::parse(br#"{"schema": 1, "missing": [], "unresolved": null}"#).expect("a report");
    assert_eq!(advice, SuiteAdvice::default());
    assert_eq!(advice.refusal(), None);
    let advice =
        SuiteAdvice::parse(br#"{"patch": "\n", "unresolved": {"why": "two stores"}}"#).expect("a report");
    assert_eq!(advice.patch, None, "an empty patch is none");
    assert_eq!(advice.refusal().as_deref(), Some(r#"{"why":"two stores"}"#));
    assert!(SuiteAdvice::parse(b"no JSON").is_err());
}
