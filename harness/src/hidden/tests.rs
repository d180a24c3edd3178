use super::{Hidden, Usual, tells_of_failure};
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
    assert_eq!(hidden.oracle.as_deref(), Some(r"stdout:^\s*Test PASSED\s*$"));
    let hidden = usual.hidden(&output("sum 13\nTest PASSED\n")).expect("another sum");
    assert_eq!((hidden.says.as_deref(), hidden.lacks.as_deref()), (None, Some("sum 12")));
    let hidden = usual.hidden(&output("sum 12\nTest PASSED\n3 mismatches\n")).expect("a mismatch");
    assert_eq!(hidden.oracle.as_deref(), Some("cmd:! grep -qw mismatches"));
    let hidden = usual.hidden(&output("sum 12\nTest PASSED\n2 tests failed\n")).expect("failed tests");
    assert_eq!(hidden.oracle.as_deref(), Some("cmd:! grep -qw 'tests failed'"));
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
    assert_eq!(hidden.oracle.as_deref(), Some(r"stdout:^\s*errors: 0\s*$"));
}

#[test]
fn of_a_long_output_only_words_are_told() {
    let long = "x\n".repeat(TAIL_BYTES);
    let usual = usual(&[format!("first\n{long}last\n").as_str(); 2]);
    assert!(usual.always.is_empty());
    assert_eq!(usual.hidden(&output("other\n")), None);
    let hidden = usual.hidden(&output(&format!("{long}FAILED\n"))).expect("it fails");
    assert_eq!(hidden, Hidden { says: Some("FAILED".into()), lacks: None, oracle: None });
}

#[test]
fn an_oracle_takes_signs_of_expressions_as_they_are() {
    let usual = usual(&["\ta[0] = (1+2)*3? \r\n"]);
    let hidden = usual.hidden(&output("")).expect("it is missing");
    let oracle: crate::Oracle = hidden.oracle.expect("a proposal").parse().expect("an oracle");
    let crate::Oracle::Stdout(pattern) = oracle else { panic!("{oracle}") };
    assert!(pattern.is_match(b"x\n\ta[0] = (1+2)*3? \r\n") && !pattern.is_match(b"a[0] = 3"));
}

#[test]
fn no_oracle_is_proposed_that_the_program_fails_anyway() {
    let usual = usual(&["ERROR tolerance: 3\n\x1b[32mgood\x1b[0m\n"; 3]);
    // What is coloured is no line that an oracle finds as it stands.
    assert!(!usual.always.iter().any(|line| line.contains("good")));
    let all = "ERROR tolerance: 3\n";
    let oracle = |more: &str| usual.hidden(&output(&format!("{all}{more}"))).expect("it says so").oracle;
    assert_eq!(
        oracle("ERROR in block '5'").as_deref(),
        Some(r"cmd:! grep -qF -e 'ERROR in block '\''5'\'''")
    );
    assert_eq!(oracle("FAILED").as_deref(), Some("cmd:! grep -qw FAILED"));
    // A part of what is usual.
    assert_eq!(oracle("ERROR"), None);
    let coloured = usual.hidden(&output(&format!("{all}\x1b[31mFAILED\x1b[0m\n"))).expect("it says so");
    assert_eq!((coloured.says.as_deref(), coloured.oracle), (Some("FAILED"), None));
}

#[test]
fn a_program_that_fails_from_the_first_is_told_of() {
    let told = |text| tells_of_failure(&output(text));
    assert_eq!(told("GPU 3, CPU 4\nTest failed!\n").as_deref(), Some("Test failed!"));
    assert_eq!(told("Result = FAIL\n").as_deref(), Some("Result = FAIL"));
    assert_eq!(told("mismatch at 17\n").as_deref(), Some("mismatch at 17"));
    let fine = "Test PASSED\n0 mismatches\nERROR: none\nERRORS 0\nL1 norm ERROR: 1.076856E-07\nrelative ERROR .0001\nno mismatch\nfailover\n";
    assert_eq!(told(fine), None);
}
