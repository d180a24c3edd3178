//! The reports' files, and why one was not written.

use std::io;
use std::path::PathBuf;

/// The report in JSON.
pub const JSON: &str = "report.json";
/// The report for what reads test results.
pub const JUNIT: &str = "junit.xml";
/// The report for what shows results beside the source.
pub const SARIF: &str = "report.sarif";
/// The report for people.
pub const HTML: &str = "index.html";

/// A report that was not written.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The night has something that the format cannot say.
    #[error("cannot make {name}: {why}")]
    Made {
        /// The report.
        name: &'static str,
        /// What the format's writer says.
        why: String,
    },
    /// Its file cannot be written.
    #[error("cannot write `{}`: {source}", path.display())]
    Written {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

pub(super) fn made(name: &'static str, error: &dyn std::error::Error) -> ReportError {
    ReportError::Made { name, why: error.to_string() }
}
