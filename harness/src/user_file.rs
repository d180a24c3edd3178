//! TOML files that the user has written: what is wrong in one is told with its line.

use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

/// Why a file was not taken.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It cannot be read.
    #[error("{option} {}: {source}", path.display())]
    Io {
        /// The option that names it.
        option: &'static str,
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
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
pub(crate) struct Text<'a> {
    pub path: &'a Path,
    pub text: &'a str,
}

impl Text<'_> {
    /// The line of a byte, from 1.
    pub fn line_of(self, start: usize) -> usize {
        let before = &self.text.as_bytes()[..start.min(self.text.len())];
        1 + before.iter().filter(|&&byte| byte == b'\n').count()
    }

    /// Something is wrong there; without a place, in the first line.
    pub fn wrong(self, span: Option<Range<usize>>, what: String) -> FileError {
        let line = self.line_of(span.map_or(0, |span| span.start));
        FileError::Wrong { path: self.path.to_owned(), line, what }
    }

    /// What it says.
    ///
    /// # Errors
    /// When it is no TOML, or does not say such a thing.
    pub fn parse<T: DeserializeOwned>(self) -> Result<T, FileError> {
        toml::from_str(self.text).map_err(|error| self.wrong(error.span(), error.message().to_owned()))
    }
}

/// Reads a file that an option names.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn read(option: &'static str, path: &Path) -> Result<String, FileError> {
    fs::read_to_string(path).map_err(|source| FileError::Io { option, path: path.to_owned(), source })
}
