//! Producers and consumers, and pipelines of copies, in rounds whose number only the host knows: right ones are verified without options, and each
//! mistake is found or refused.

use bugaroo_barriers::emulate::{Options, Text};
use bugaroo_barriers::findings::{Findings, verify};

fn compiled(file: &str) -> Text {
    let path = format!("{}/tests/kernels/handed_over/{file}.ptx", env!("CARGO_MANIFEST_DIR"));
    Text::new(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn found(text: &Text, kernel: &str) -> Findings {
    verify(text, kernel, &Options::default()).unwrap().findings
}

/// Right ones, and wrong ones with what is found; all kernels of the file are among them.
fn holds(file: &str, right: &[&str], wrong: &[(&str, &str)]) {
    let text = compiled(file);
    for kernel in right {
        let found = found(&text, kernel);
        assert_eq!(found.verdict, "verified", "{kernel}: {found:#?}");
        assert!(found.cases > 1 && !found.vacuous, "{kernel}: {found:#?}");
    }
    for (kernel, verdict) in wrong {
        let found = found(&text, kernel);
        assert_eq!(found.verdict, *verdict, "{kernel}: {found:#?}");
        // Some number of rounds shows it.
        assert!(!found.example.is_empty(), "{kernel}: {found:#?}");
    }
    let mut named: Vec<&str> = right.iter().copied().chain(wrong.iter().map(|(kernel, _)| *kernel)).collect();
    let mut all: Vec<&str> = text.kernels().collect();
    named.sort_unstable();
    all.sort_unstable();
    assert_eq!(named, all);
}

#[test]
fn named_barriers() {
    let right = ["single_buffer", "double_buffer", "token_ring", "unrolled_rounds", "nested_rounds"];
    let wrong = [
        ("single_no_empty", "deadlock"),
        ("single_no_full", "unsafe-recycling"),
        ("single_no_arrive", "deadlock"),
        ("single_early", "race"),
        ("single_late", "unsafe-recycling"),
        ("double_no_empty", "deadlock"),
        ("double_no_full", "unsafe-recycling"),
        ("double_no_arrive", "deadlock"),
        ("double_early", "race"),
        ("double_late", "race"),
        ("token_ring_hurried", "race"),
        ("unrolled_hurried", "race"),
        ("nested_too_often", "deadlock"),
    ];
    holds("named", &right, &wrong);
}

#[test]
fn pipelines_of_copies() {
    let right = ["pipeline_2", "pipeline_3", "pipeline_4", "copies_by_turns"];
    let wrong = [
        ("pipeline_no_wait", "race"),
        ("pipeline_short_wait", "race"),
        ("pipeline_no_barrier", "race"),
        ("pipeline_late", "race"),
        ("copies_too_early", "race"),
    ];
    holds("copies", &right, &wrong);
}

#[test]
fn rings_of_mbarriers() {
    let right = [
        "stores_1",
        "stores_2",
        "copies_2",
        "copies_3",
        "bulk_2",
        "bulk_3",
        "bulk_4",
        "refill",
        "filled_first",
    ];
    let wrong = [
        ("stores_no_empty", "unsafe-recycling"),
        ("stores_no_full", "deadlock"),
        ("stores_parity", "deadlock"),
        ("stores_no_arrive", "deadlock"),
        ("stores_early", "race"),
        ("stores_late", "misuse"),
        ("copies_no_empty", "unsafe-recycling"),
        ("copies_no_full", "deadlock"),
        ("copies_early", "race"),
        ("bulk_no_empty", "unsafe-recycling"),
        ("bulk_no_full", "deadlock"),
        ("bulk_parity", "deadlock"),
        ("bulk_no_arrive", "deadlock"),
        ("bulk_early", "race"),
        ("bulk_late", "unsafe-recycling"),
        ("refill_hurried", "deadlock"),
    ];
    holds("mbarriers", &right, &wrong);
}
