//! What `bugaroo bisect --format json` advises.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::expert::{ExpertCause, ExpertLine};
use crate::tools::{AdviceTools, Copy};

/// One access of a diagnosis.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct AdvisedAccess {
    /// Where it stands in the source; none without line information.
    pub source: Option<ExpertLine>,
}

/// A fault that is not a fence's.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct AdvisedDiagnosis {
    /// A [`ExpertCause`] by name; what this suite does not know is never right.
    pub kind: String,
    /// One of the two accesses.
    pub first: AdvisedAccess,
    /// The other one.
    pub second: AdvisedAccess,
}

/// The part of the report that is measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct SuiteAdvice {
    /// A unified diff; none, or empty, where nothing is to be changed.
    pub patch: Option<String>,
    /// Faults that no fence cures.
    #[serde(default)]
    pub diagnosis: Vec<AdvisedDiagnosis>,
    /// Why there is no cure, in whatever shape.
    pub unresolved: Option<serde_json::Value>,
    /// What went wrong.
    pub error: Option<serde_json::Value>,
}

impl SuiteAdvice {
    /// From the report's JSON.
    pub fn parse(json: &[u8]) -> Result<SuiteAdvice> {
        let mut advice: SuiteAdvice = serde_json::from_slice(json).context("bisect printed no report")?;
        advice.patch = advice.patch.filter(|patch| !patch.trim().is_empty());
        Ok(advice)
    }

    /// Asks about a built program; says how long the answer took as well.
    pub fn ask(tools: &AdviceTools, copy: &Copy, trials: u32) -> Result<(SuiteAdvice, Duration)> {
        let trials = trials.to_string();
        let began = Instant::now();
        let ran = tools.run(copy, &["bisect", "--format", "json", "--trials", &trials])?;
        let took = began.elapsed();
        let errors = || String::from_utf8_lossy(&ran.stderr).trim().to_owned();
        Ok((SuiteAdvice::parse(&ran.stdout).with_context(errors)?, took))
    }

    /// Whether a fault of this cause is named, with these two lines in either order.
    pub fn names(&self, cause: ExpertCause, first: &ExpertLine, second: &ExpertLine) -> bool {
        let is = |access: &AdvisedAccess, line: &ExpertLine| {
            let source = access.source.as_ref();
            source
                .is_some_and(|found| found.line == line.line && Path::new(&found.file).ends_with(&line.file))
        };
        self.diagnosis.iter().any(|found| {
            let kind = serde_json::from_value::<ExpertCause>(found.kind.clone().into());
            let there = is(&found.first, first) && is(&found.second, second);
            let back = is(&found.first, second) && is(&found.second, first);
            kind.is_ok_and(|kind| kind == cause) && (there || back)
        })
    }

    /// Why it has no patch, if it says so.
    pub fn refusal(&self) -> Option<String> {
        [&self.unresolved, &self.error].into_iter().flatten().next().map(ToString::to_string)
    }
}

#[cfg(test)]
#[path = "advice/tests.rs"]
mod tests;
