//! A source file as it was read.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::definitions::{self, Macro};
use super::lines::Lines;
use super::names::declared_names;
use super::tree::Parsed;

/// A source file, parsed.
#[derive(Clone, Debug)]
pub struct SourceFile {
    pub(super) path: PathBuf,
    pub(super) text: String,
    pub(super) lines: Lines,
    pub(super) newline: &'static str,
    pub(super) parsed: Parsed,
    pub(super) macros: Vec<Macro>,
    /// Variables that it declares.
    pub(super) names: BTreeSet<String>,
    /// Those of them that are volatile or atomic.
    pub(super) watched: BTreeSet<String>,
}

impl SourceFile {
    /// Parses a file's text. This never fails: what the grammar does not know is refused where it matters.
    pub fn parse(path: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        let text = text.into();
        let lines = Lines::new(&text);
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let mut parsed = Parsed::new(text.clone(), newline.to_owned(), text.len());
        let macros = definitions::defined(&parsed);
        if let Some(closed) = definitions::close_uses(&text, &macros) {
            parsed = Parsed::new(closed, newline.to_owned(), text.len());
        }
        let (names, watched) = declared_names(&parsed);
        Self { path: path.into(), text, lines, newline, parsed, macros, names, watched }
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// All of it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The files that it includes by `#include "…"`, as they stand there.
    pub fn includes(&self) -> impl Iterator<Item = &str> {
        let included = |line: &'_ str| -> Option<(usize, usize)> {
            let rest =
                line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?.trim_start();
            let name = rest.strip_prefix('"')?;
            let start = line.len() - name.len();
            Some((start, start + name.find('"')?))
        };
        self.text.lines().filter_map(move |line| included(line).map(|(from, to)| &line[from..to]))
    }
}
