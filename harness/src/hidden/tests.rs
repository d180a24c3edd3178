use super::{Hidden, Usual};
use crate::capture::{Capture, Keep, Output, TAIL_BYTES};

fn output(text: &str) -> Output {
    let mut capture = Capture::new(Keep::default());
    capture.push(text.as_bytes());
    capture.finish()
}

fn usual(texts: &[&str]) -> Usual {
    let outputs: Vec<Output> = texts.iter().map(|text| output(text)).collect();
    Usual::of(&outputs)
}

#[test]
fn a_line_of_failure_and_a_line_that_is_missing_are_told() {
    let usual = usual(&["sum 12\nTest PASSED\n"; 3]);
    assert_eq!(usual.hidden(&output("sum 12\nTest PASSED\n")), None);
    let hidden = usual.hidden(&output("sum 12\nTest FAILED\n")).expect("it fails");
    assert_eq!(hidden.says.as_deref(), Some("Test FAILED"));
    assert_eq!(hidden.lacks.as_deref(), Some("Test PASSED"));
    assert_eq!(hidden.oracle(), "stdout:^Test PASSED$");
    let hidden = usual.hidden(&output("sum 13\nTest PASSED\n")).expect("another sum");
    assert_eq!(hidden, Hidden { says: None, lacks: Some("sum 12".into()) });
    let hidden = usual.hidden(&output("sum 12\nTest PASSED\n3 mismatches\n")).expect("a mismatch");
    assert_eq!(hidden.oracle(), "cmd:! grep -qw mismatches");
}

#[test]
fn what_varies_or_is_usual_is_not_told() {
    let usual = usual(&[
        "took 1.5 ms\nrandom 1\nerrors: 0\nERROR rate 3\n0.00 ms\n",
        "took 1.6 ms\nrandom 2\nerrors: 0\nERROR rate 4\n0.00 ms\n",
    ]);
    assert_eq!(usual.always.iter().collect::<Vec<_>>(), ["errors: 0"]);
    assert_eq!(usual.hidden(&output("took 9 ms\nrandom 77\nerrors: 0\nERROR rate 12\n0.01 ms")), None);
    // Words within words are none.
    assert_eq!(
        usual.hidden(&output("errors: 0\nFAILOVER ERRORLESS unfailing\nno error, failed over\n")),
        None
    );
    let hidden = usual.hidden(&output("errors: 5\n")).expect("other errors");
    assert_eq!(hidden.oracle(), "stdout:^errors: 0$");
}

#[test]
fn of_a_long_output_only_words_are_told() {
    let long = "x\n".repeat(TAIL_BYTES);
    let usual = usual(&[format!("first\n{long}last\n").as_str(); 2]);
    assert!(usual.always.is_empty());
    assert_eq!(usual.hidden(&output("other\n")), None);
    let hidden = usual.hidden(&output(&format!("{long}FAILED\n"))).expect("it fails");
    assert_eq!(hidden, Hidden { says: Some("FAILED".into()), lacks: None });
}

#[test]
fn an_oracle_takes_signs_of_expressions_as_they_are() {
    let usual = usual(&["a[0] = (1+2)*3?"]);
    let hidden = usual.hidden(&output("")).expect("it is missing");
    let oracle: crate::Oracle = hidden.oracle().parse().expect("an oracle");
    let crate::Oracle::Stdout(pattern) = oracle else { panic!("{oracle}") };
    assert!(pattern.is_match(b"x\na[0] = (1+2)*3?\n") && !pattern.is_match(b"a[0] = 3"));
}
