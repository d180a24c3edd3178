//! TOML files that the user has written: what is wrong in one is told with its line, and what was likely meant.

use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;
use serde::de::DeserializeOwned;

/// Why a file was not taken.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It cannot be read.
    #[error("{named_by}{}: {source}{hint}", path.display())]
    Io {
        /// The option that names it, and a space; or nothing.
        named_by: String,
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
        /// What helps, in brackets behind a space; or nothing.
        hint: &'static str,
    },
    /// Something in it is wrong.
    #[error("{}:{line}: {what}", path.display())]
    Wrong {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What.
        what: String,
    },
}

/// The text of a file.
#[derive(Clone, Copy, Debug)]
pub struct Text<'a> {
    /// Its file.
    pub path: &'a Path,
    /// What stands there.
    pub text: &'a str,
}

impl Text<'_> {
    /// The line of a byte, from 1.
    pub fn line(self, start: usize) -> usize {
        let before = &self.text.as_bytes()[..start.min(self.text.len())];
        1 + before.iter().filter(|&&byte| byte == b'\n').count()
    }

    /// Something is wrong there.
    pub fn wrong(self, span: Range<usize>, what: impl Into<String>) -> FileError {
        FileError::Wrong { path: self.path.to_owned(), line: self.line(span.start), what: what.into() }
    }

    /// What it says.
    ///
    /// # Errors
    /// When it is no TOML, or has keys that such a file does not have.
    pub fn parse<T: DeserializeOwned>(self) -> Result<T, FileError> {
        toml::from_str(self.text).map_err(|error| {
            let message = error.message().trim();
            // Without a place it is in the first line.
            self.wrong(error.span().unwrap_or_default(), format!("{message}{}", meant(message)))
        })
    }
}

/// Reads a file that an option names.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn read(option: &str, path: &Path) -> Result<String, FileError> {
    fs::read_to_string(path).map_err(|source| FileError::Io {
        named_by: format!("{option} "),
        path: path.to_owned(),
        source,
        hint: "",
    })
}

/// Of "unknown field `x`, expected one of `a`, `b`" the name that is closest to `x`.
fn meant(message: &str) -> String {
    static QUOTED: LazyLock<Regex> =
        LazyLock::new(|| Regex::new("`([^`]*)`").expect("the expression is constant"));
    if !message.starts_with("unknown ") {
        return String::new();
    }
    let mut names = QUOTED.captures_iter(message).map(|found| found.extract::<1>().1[0]);
    let given = names.next().unwrap_or_default();
    closest(given, names)
}

/// ` (did you mean …?)`, where one of these names is close to what was written.
pub fn closest<'a>(given: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let likeness = |name: &str| strsim::jaro_winkler(&given.replace('_', "-"), name);
    let best = names.into_iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    match best.filter(|best| likeness(best) > 0.8) {
        Some(best) => format!(" (did you mean `{best}`?)"),
        None => String::new(),
    }
}
