//! Where detectors differ from the memory model, `race --detector all` says by which rule; each rule has a program, and a place in the
//! documentation.

mod support;

use race_suite::suite::programs_of;
use serde_json::Value;
use support::tools;

/// A program, who differs, whether it is the one that reports, and the rule.
const RULES: [(&str, &str, bool, &str); 26] = [
    ("barriers_only", "hirace", true, "barriers-only"),
    ("barriers_only", "scord", true, "fences-order-strong"),
    ("own_fence", "scord", true, "own-fence"),
    ("own_fence", "hirace", true, "volatile-is-plain"),
    ("lockset", "scord", true, "lockset"),
    ("scope_whatever_orders", "hirace", true, "scope-whatever-orders"),
    ("scope_whatever_orders", "scord", true, "scope-whatever-orders"),
    ("volatile_is_plain", "hirace", true, "volatile-is-plain"),
    ("volatile_is_plain", "barracuda", true, "volatile-is-plain"),
    ("fences_beside_accesses", "barracuda", false, "fences-beside-accesses"),
    ("lockstep", "scord", false, "lockstep"),
    ("divergence", "barracuda", true, "divergence"),
    ("atomics_never_race", "barracuda", false, "atomics-never-race"),
    ("overlap", "barracuda", false, "atomics-never-race"),
    ("overlap", "hirace", false, "overlap"),
    ("overlap", "scord", false, "overlap"),
    ("global_only", "scord", false, "global-only"),
    ("barrier_of_all", "hirace", false, "barrier-of-all"),
    ("barrier_of_all", "scord", false, "barrier-of-all"),
    ("one_pair", "hirace", false, "one-pair"),
    ("one_grid", "barracuda", false, "one-grid"),
    ("one_grid", "hirace", false, "one-grid"),
    ("one_grid", "scord", false, "one-grid"),
    ("no_copies", "barracuda", false, "no-copies"),
    ("no_copies", "hirace", false, "no-copies"),
    ("no_copies", "scord", false, "no-copies"),
];

#[test]
fn each_rule_shows_in_its_program() {
    let Some(tools) = tools() else { return };
    let mut wrong = Vec::new();
    for program in programs_of("rules").expect("all labels can be read") {
        let built = tools.build(&program).expect("it builds");
        let options = ["race", "--detector", "all", "--trials", "8", "--seed", "1", "--format", "json"];
        // Who comes to a barrier in part is known in lockstep alone.
        let lockstep: &[&str] = if program.name == "divergence" { &["--warp-synchronous"] } else { &[] };
        let done = tools.run(&built, &[&options, lockstep].concat(), &[]).expect("bugaroo starts");
        let report: Value = serde_json::from_slice(&done.stdout).unwrap_or_default();
        let rows = report["comparison"]["rows"].as_array().cloned().unwrap_or_default();
        let told: Vec<(String, bool, String)> = rows
            .iter()
            .flat_map(|row| row["differences"].as_array().cloned().unwrap_or_default())
            .map(|one| {
                let text = |name: &str| one[name].as_str().unwrap_or("none").to_owned();
                (text("detector"), one["reports"] == true, text("rule"))
            })
            .collect();
        for (_, detector, reports, rule) in RULES.iter().filter(|(name, ..)| *name == program.name) {
            if !told.contains(&((*detector).to_owned(), *reports, (*rule).to_owned())) {
                wrong.push(format!("{}: {detector}: {rule} is not said, but {told:?}", program.name));
            }
        }
        if told.iter().any(|(.., rule)| rule == "none") {
            wrong.push(format!("{}: without a rule: {told:?}", program.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_rule_is_in_the_documentation() {
    let page = include_str!("../../../detectors/README.md");
    for (program, _, _, rule) in RULES {
        assert!(page.contains(&format!("\n### `{rule}` (")), "{rule}");
        let programs = programs_of("rules").expect("all labels can be read");
        assert!(programs.iter().any(|one| one.name == program), "{program}");
    }
}
