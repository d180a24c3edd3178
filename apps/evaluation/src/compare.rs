//! Our failures beside the paper's: where the two differ in kind (one fails, the other doesn't), where only in
//! size, and failures that no sound model may show.
//!
//! A variant of which the paper saw a failure and we saw none differs in kind only if our trials were enough to
//! tell: if the 95 % interval of our rate excludes the paper's rate. A single failure of ours where the paper saw
//! none is always a difference.

use bugaroo_protocol::Model;

use crate::causes;
use crate::kind::Kind;
use crate::paper::{self, Finding};
use crate::results::{Cell, Evaluation, Rated};

/// A difference of one kind in one row.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The paper's row.
    pub finding: &'static Finding,
    /// Our model.
    pub model: Model,
    /// Which kind.
    pub kind: Kind,
    /// At these p_w.
    pub pw: Vec<f64>,
    /// Why, if it is known.
    pub cause: Option<&'static str>,
}

/// All differences of what was measured under a model, in the paper's order. None under `ptx`: the paper delays
/// stores and nothing else, so a failure that it did not see is none.
pub fn differences(results: &Evaluation, model: Model) -> Vec<Difference> {
    let mut differences = Vec::new();
    if model == Model::Ptx {
        return differences;
    }
    for finding in &paper::TABLE_IV {
        let Some(rated) = results.rated(finding.program, finding.variant, model) else { continue };
        for kind in [Kind::OursAlone, Kind::PapersAlone, Kind::Size] {
            let pw: Vec<f64> = pairs(rated, finding)
                .filter(|(cell, papers)| Kind::of(cell, *papers) == Some(kind))
                .map(|(cell, _)| cell.pw)
                .collect();
            if !pw.is_empty() {
                let cause = causes::of(finding.program, finding.variant, model, kind);
                differences.push(Difference { finding, model, kind, pw, cause });
            }
        }
    }
    differences
}

/// Rows that fail though they are correct, under the models that show nothing forbidden.
pub fn unsound(results: &Evaluation) -> Vec<&Rated> {
    let correct = |rated: &&Rated| {
        let program = crate::catalog::program(&rated.row.program);
        let variant = program.and_then(|program| program.variant(&rated.row.variant));
        variant.is_some_and(|variant| variant.correct_under(rated.model))
    };
    results.rates.iter().filter(correct).filter(|rated| rated.fails()).collect()
}

/// Our cells with the paper's rates.
fn pairs<'a>(rated: &'a Rated, finding: &'a Finding) -> impl Iterator<Item = (&'a Cell, f64)> {
    rated.cells.iter().filter_map(|cell| {
        let at = paper::PW.iter().position(|&pw| pw == cell.pw)?;
        Some((cell, finding.rates[at]))
    })
}

#[cfg(test)]
mod tests;
