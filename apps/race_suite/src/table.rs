//! What came out, for people and as JSON.

use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{ContentArrangement, Table};
use serde::Serialize;
use serde_json::Value;

use crate::label::{DETECTORS, LabelVerdict};
use crate::suite::LabelledProgram;

/// What a detector said about a program, compared with its label.
#[derive(Clone, Debug, Serialize)]
pub struct DetectorAnswer {
    /// The program.
    pub program: String,
    /// The detector.
    pub detector: String,
    /// What it has to say: `none`, `races`, `any`.
    pub demanded: &'static str,
    /// How many races it has reported.
    pub reported: usize,
    /// What differs from the label; nothing where all is as it should be.
    pub differences: Vec<String>,
    /// Why the label is as it is.
    pub why: String,
    /// Whether the detector is known not to see what it must.
    pub gap: bool,
    /// How long asking took, building not counted.
    pub seconds: f64,
    /// The whole report.
    pub report: Value,
}

impl DetectorAnswer {
    /// About nothing yet.
    pub fn new(program: &LabelledProgram, detector: &str) -> DetectorAnswer {
        let demanded = match program.label.verdict(detector) {
            LabelVerdict::Any => "any",
            LabelVerdict::None => "none",
            LabelVerdict::Races { .. } => "races",
        };
        DetectorAnswer {
            program: program.name.clone(),
            detector: detector.to_owned(),
            demanded,
            reported: 0,
            differences: Vec::new(),
            why: program.label.why.clone(),
            gap: program.label.gap.as_deref() == Some(detector),
            seconds: 0.0,
            report: Value::Null,
        }
    }

    /// Whether it is as its label demands.
    pub fn right(&self) -> bool {
        self.differences.is_empty()
    }

    /// Whether it is as it is known to be: right, or, where a gap is known, not.
    pub fn as_known(&self) -> bool {
        self.right() != self.gap
    }

    fn judged(&self) -> bool {
        self.demanded != "any"
    }
}

/// A row for each answer.
pub fn table(answers: &[DetectorAnswer]) -> Table {
    let mut table = Table::new();
    table.load_preset(UTF8_FULL_CONDENSED).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_header(["program", "detector", "demanded", "reported", "verdict", "s"]);
    for one in answers {
        let verdict = match (one.right(), one.judged()) {
            (true, true) => "right".to_owned(),
            (true, false) => "not judged".to_owned(),
            (false, _) if one.gap => "known gap".to_owned(),
            (false, _) => format!("WRONG: {}", one.differences.join("; ")),
        };
        table.add_row([
            one.program.clone(),
            one.detector.clone(),
            one.demanded.to_owned(),
            one.reported.to_string(),
            verdict,
            format!("{:.1}", one.seconds),
        ]);
    }
    table
}

/// How many are right, by detector.
pub fn totals(answers: &[DetectorAnswer]) -> String {
    let of = |detector: &&str| {
        let of: Vec<&DetectorAnswer> = answers.iter().filter(|one| one.detector == **detector).collect();
        let judged = of.iter().filter(|one| one.judged() || !one.right()).count();
        let right = of.iter().filter(|one| one.judged() && one.right()).count();
        let rest = of.len() - judged;
        (!of.is_empty()).then(|| format!("{detector}: {right} of {judged} right, {rest} not judged"))
    };
    DETECTORS.iter().filter_map(of).collect::<Vec<_>>().join("\n")
}
