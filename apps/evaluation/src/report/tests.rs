use super::*;
use crate::fixture::{rated, results};
use bugaroo_protocol::Model;

#[test]
fn the_report_has_all_tables_and_figures() {
    let text = render(&results());
    let headings = [
        "Table I:",
        "Table II: what",
        "Figure 3:",
        "Figure 4:",
        "Table IV:",
        "Memory",
        "Table II: programs",
        "The state machine",
        "Table VI:",
        "Table VII:",
        "The suite of small programs",
        "Table 1:",
        // What depends on the machine comes last.
        "Bugaroo, Table III:",
    ];
    let at =
        |heading: &&str| text.find(&format!("\n## {heading}")).unwrap_or_else(|| panic!("{heading}: {text}"));
    assert!(headings.iter().map(at).is_sorted(), "{text}");
    assert!(text.contains("(figure3.svg)") && text.contains("(figure4.svg)"), "{text}");
    assert!(!text.contains("Not as it should be"), "{text}");
    assert!(!text.contains("\n\n\n"), "{text}");
    assert!(text.ends_with('\n') && !text.ends_with("\n\n"));
}

#[test]
fn alarms_come_first() {
    let mut results = results();
    results.rates.push(rated("hotspot", "original", Model::StoreBuffer, [1, 0, 0, 0]));
    let text = render(&results);
    let at = |what: &str| text.find(what).unwrap_or_else(|| panic!("{what}: {text}"));
    assert!(at("Not as it should be") < at("hotspot is correct, but failed in 1 trials"));
    assert!(at("hotspot is correct, but failed") < at("## Table I"));
}
