//! Verdicts on a program's launches as JSON.

use bugaroo_harness::Outcome;
use bugaroo_harness::launches::{LeftOut, Row};
use bugaroo_harness::names::demangled;
use serde::Serialize;

use super::shown::Shown;
use crate::verify::kernels::LISTED;

/// What is written.
#[derive(Serialize)]
pub struct Report<'a> {
    schema: u32,
    app: &'a str,
    args: &'a [String],
    /// Launches of the kernels that were asked for.
    launches: u64,
    /// Of these, those without a verdict.
    not_looked_at: u64,
    /// A verdict each.
    kernels: Vec<Kernel>,
    left_out: &'a [LeftOut],
    /// What the virtual GPU could not run.
    refused: &'a [String],
    /// How the program failed, if it did.
    failure: Option<Failure<'a>>,
    interrupted: bool,
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct Failure<'a> {
    outcome: Outcome,
    reason: &'a str,
    stderr: &'a str,
}

#[derive(Serialize)]
struct Kernel {
    #[serde(flatten)]
    row: Row,
    demangled: String,
}

/// All that was found.
pub fn report<'a>(shown: &Shown<'a>) -> Report<'a> {
    let recording = shown.recording;
    let kernel = |row: &Row| {
        let mut row = row.clone();
        if !shown.all {
            row.findings.shorten(LISTED);
        }
        Kernel { demangled: demangled(&row.findings.kernel), row }
    };
    Report {
        schema: 1,
        app: shown.target.app.to_str().unwrap_or_default(),
        args: &shown.target.args,
        launches: shown.launches,
        not_looked_at: shown.left_out(),
        kernels: shown.verified.rows.iter().map(kernel).collect(),
        left_out: &shown.verified.left_out,
        refused: &recording.refused,
        failure: recording.failed.as_ref().map(|(outcome, reason)| Failure {
            outcome: *outcome,
            reason,
            stderr: &recording.stderr,
        }),
        interrupted: shown.verified.interrupted,
        warnings: shown.warnings(),
    }
}
