//! The CUDA source around a finding, where it can be read.
//!
//! The compiler wrote the path down where it ran; the program may since have moved. So a relative path
//! is looked for from the working directory and from every folder above the program, and any path by
//! its name alone beside the program.

use std::fs;
use std::path::{Path, PathBuf};

/// A source file that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceText {
    /// Where.
    pub path: PathBuf,
    /// All of it.
    pub text: String,
}

impl SourceText {
    /// Finds the file that the compiler called `file`, for the program at `app`; None when it is not
    /// there, not text, or has no line `line`.
    pub fn find(file: &str, line: u32, app: &Path) -> Option<Self> {
        let above = app.ancestors().skip(1).map(|folder| folder.join(file));
        let name = Path::new(file).file_name()?;
        let beside = app.parent().map(|folder| folder.join(name));
        let found = std::iter::once(PathBuf::from(file))
            .chain(above)
            .chain(beside)
            .find_map(|path| Some(SourceText { text: fs::read_to_string(&path).ok()?, path }))?;
        found.line_span(line).is_some().then_some(found)
    }

    /// Bytes of a line (from 1) without its end: where it starts, where it ends.
    pub fn line_span(&self, line: u32) -> Option<(usize, usize)> {
        let wanted = usize::try_from(line).ok()?.checked_sub(1)?;
        let start = match wanted {
            0 => 0,
            _ => self.text.match_indices('\n').nth(wanted - 1)?.0 + 1,
        };
        if start >= self.text.len() {
            return None;
        }
        let end = self.text[start..].find('\n').map_or(self.text.len(), |length| start + length);
        Some((start, end))
    }

    /// The spaces and tabs that a line starts with.
    pub fn indentation(&self, line: u32) -> &str {
        let Some((start, end)) = self.line_span(line) else { return "" };
        let line = &self.text[start..end];
        &line[..line.len() - line.trim_start().len()]
    }
}

#[cfg(test)]
mod tests;
