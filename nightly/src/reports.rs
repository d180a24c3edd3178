//! What people and other programs read of a night: JUnit XML, SARIF, and one page of HTML beside the report in JSON.
//!
//! Each is a text that depends on the night alone. Bottom up: `files` has their names, `text` the words and numbers, `limits` is what the
//! night does not say, `diff` reads patches, and [`junit`], [`sarif`] and [`html`] write.

mod diff;
mod files;
pub mod html;
pub mod junit;
mod limits;
pub mod sarif;
mod text;
mod totals;

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

pub use files::{HTML, JSON, JUNIT, ReportError, SARIF};

use crate::night::Night;
use files::made;

/// The report in JSON, as [`Night`] describes it.
///
/// # Errors
/// When a value cannot be said in JSON.
pub fn json(night: &Night) -> Result<String, ReportError> {
    let text = serde_json::to_string_pretty(night);
    text.map(|text| text + "\n").map_err(|error| made(JSON, &error))
}

/// Writes all reports into a folder, which is made where there is none. Whoever reads one of the files meanwhile
/// sees the old or the new one, whole.
///
/// Source files beneath the current folder are named relative to it in the SARIF report, as patches name them.
///
/// # Errors
/// When one of them cannot be made or written; those before it are there then.
pub fn write_all(night: &Night, folder: &Path) -> Result<(), ReportError> {
    let written = |source| ReportError::Written { path: folder.to_owned(), source };
    fs::create_dir_all(folder).map_err(written)?;
    let current = std::env::current_dir().ok();
    write(folder, JSON, &json(night)?)?;
    write(folder, JUNIT, &junit::text(night)?)?;
    write(folder, SARIF, &sarif::text(night, current.as_deref())?)?;
    write(folder, HTML, &html::text(night))
}

/// Writes a file beside its place and moves it there.
fn write(folder: &Path, name: &str, text: &str) -> Result<(), ReportError> {
    let path = folder.join(name);
    // Two that write at the same time must not write into one file.
    let new = folder.join(format!(".{name}.{}", std::process::id()));
    let whole = File::create(&new)
        .and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&new, &path));
    whole.map_err(|source| {
        // What is half written is of no use; that it cannot be removed says no more than the first error.
        let _ = fs::remove_file(&new);
        ReportError::Written { path, source }
    })
}
