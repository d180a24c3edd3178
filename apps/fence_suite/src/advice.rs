//! What `bugaroo bisect --format json` advises.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::expert::{Cause, Line};
use crate::tools::{Copy, Tools};

/// One access of a diagnosis.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Access {
    /// Where it stands in the source; none without line information.
    pub source: Option<Line>,
}

/// A fault that is not a fence's.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Diagnosis {
    /// A [`Cause`] by name; what this suite does not know is never right.
    pub kind: String,
    /// One of the two accesses.
    pub first: Access,
    /// The other one.
    pub second: Access,
}

/// The part of the report that is measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Advice {
    /// A unified diff; none, or empty, where nothing is to be changed.
    pub patch: Option<String>,
    /// Faults that no fence cures.
    #[serde(default)]
    pub diagnosis: Vec<Diagnosis>,
    /// Why there is no cure, in whatever shape.
    pub unresolved: Option<serde_json::Value>,
    /// What went wrong.
    pub error: Option<serde_json::Value>,
}

impl Advice {
    /// From the report's JSON.
    pub fn parse(json: &[u8]) -> Result<Advice> {
        let mut advice: Advice = serde_json::from_slice(json).context("bisect printed no report")?;
        advice.patch = advice.patch.filter(|patch| !patch.trim().is_empty());
        Ok(advice)
    }

    /// Asks about a built program; says how long the answer took as well.
    pub fn ask(tools: &Tools, copy: &Copy, trials: u32) -> Result<(Advice, Duration)> {
        let trials = trials.to_string();
        let began = Instant::now();
        let ran = tools.run(copy, &["bisect", "--format", "json", "--trials", &trials])?;
        let took = began.elapsed();
        let errors = || String::from_utf8_lossy(&ran.stderr).trim().to_owned();
        Ok((Advice::parse(&ran.stdout).with_context(errors)?, took))
    }

    /// Whether a fault of this cause is named, with these two lines in either order.
    pub fn names(&self, cause: Cause, first: &Line, second: &Line) -> bool {
        let is = |access: &Access, line: &Line| {
            let source = access.source.as_ref();
            source
                .is_some_and(|found| found.line == line.line && Path::new(&found.file).ends_with(&line.file))
        };
        self.diagnosis.iter().any(|found| {
            let kind = serde_json::from_value::<Cause>(found.kind.clone().into());
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
