//! The unified diff, as git writes it and `patch -p1` reads it.

use std::fmt;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};

use similar::{DiffOp, TextDiff};

use super::edit::{Edit, EditId};

/// Lines around a change that are shown with it.
const CONTEXT: usize = 3;

/// Changes of several files.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Patch {
    /// By path.
    pub files: Vec<FilePatch>,
}

/// Changes of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePatch {
    /// Where it lies.
    pub path: PathBuf,
    /// As it is called in the diff, without `a/` or `b/`.
    pub name: String,
    /// True if it lies in the folder that the diff is relative to; if not, `name` is its whole path without the first
    /// slash, and `patch -p1 -d /` applies it.
    pub inside: bool,
    /// The text that was read.
    pub original: String,
    /// The text that it becomes.
    pub edited: String,
    /// In the order of the file.
    pub hunks: Vec<Hunk>,
}

/// A stretch of changed lines with the lines around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// Its lines, from `@@` on.
    pub text: String,
    /// The lines of the original that it shows, from 1.
    pub old_lines: Range<usize>,
    /// The lines that it makes of them.
    pub new_lines: Range<usize>,
    /// Whose edits it carries out.
    pub edits: Vec<EditId>,
}

impl FilePatch {
    /// The diff of one file.
    pub(super) fn new(
        path: &Path,
        folder: &Path,
        original: &str,
        edited: String,
        edits: &[(EditId, Edit)],
    ) -> Self {
        let (name, inside) = name(path, folder);
        let mut hunks = hunks(original, &edited);
        attribute(&mut hunks, original, edits);
        Self { path: path.to_owned(), name, inside, original: original.to_owned(), edited, hunks }
    }
}

/// What a file is called relative to a folder, and whether it lies in there.
fn name(path: &Path, folder: &Path) -> (String, bool) {
    let absolute = folder.join(path);
    let plain = normal(&absolute);
    match plain.strip_prefix(normal(folder)) {
        Ok(inside) => (inside.to_string_lossy().into_owned(), true),
        Err(_) => (plain.to_string_lossy().trim_start_matches('/').to_owned(), false),
    }
}

/// A path without `.` and `..`, as far as it can be said from the path alone.
fn normal(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if matches!(plain.components().next_back(), Some(Component::Normal(_))) => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}

/// Lines with their ends. A lone carriage return ends no line for `patch`, and so none here.
fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// Hunks, whose edits are not known yet.
fn hunks(original: &str, edited: &str) -> Vec<Hunk> {
    let (old, new) = (lines(original), lines(edited));
    let diff = TextDiff::configure().newline_terminated(true).diff_slices(&old, &new);
    let mut unified = diff.unified_diff();
    unified.context_radius(CONTEXT);
    unified
        .iter_hunks()
        .map(|hunk| {
            // The parts of a hunk follow one on the other.
            let ends = |of: fn(&DiffOp) -> Range<usize>| {
                let first = hunk.ops().first().map_or(0, |op| of(op).start);
                first..hunk.ops().last().map_or(first, |op| of(op).end)
            };
            let (old, new) = (ends(DiffOp::old_range), ends(DiffOp::new_range));
            Hunk {
                text: hunk.to_string(),
                old_lines: old.start + 1..old.end + 1,
                new_lines: new.start + 1..new.end + 1,
                edits: Vec::new(),
            }
        })
        .collect()
}

/// Says of each hunk whose edits it carries out: of an edit, the hunks that show its lines, or else the nearest.
fn attribute(hunks: &mut [Hunk], original: &str, edits: &[(EditId, Edit)]) {
    let starts: Vec<usize> =
        std::iter::once(0).chain(original.match_indices('\n').map(|(at, _)| at + 1)).collect();
    let line = |at: usize| starts.partition_point(|&start| start <= at);
    for (id, edit) in edits {
        let (first, last) = (line(edit.range.start), line(edit.range.end));
        let distance = |hunk: &Hunk| {
            let after = hunk.old_lines.start.saturating_sub(last);
            let before = (first + 1).saturating_sub(hunk.old_lines.end);
            after.max(before)
        };
        let Some(nearest) = hunks.iter().map(distance).min() else { return };
        for hunk in hunks.iter_mut().filter(|hunk| distance(hunk) == nearest) {
            if !hunk.edits.contains(id) {
                hunk.edits.push(*id);
                hunk.edits.sort_unstable();
            }
        }
    }
}

/// A name as it stands in a header: quoted as git does it, or closed by a tab where it has a space, as `patch` would
/// take what follows for a date.
fn header(prefix: &str, name: &str) -> String {
    let odd = |c: char| c == '"' || c == '\\' || c.is_control();
    if name.contains(odd) {
        let mut quoted = format!("\"{prefix}");
        for c in name.chars() {
            match c {
                '"' | '\\' => quoted.extend(['\\', c]),
                '\t' => quoted.push_str("\\t"),
                '\n' => quoted.push_str("\\n"),
                c if c.is_control() => quoted.push_str(&format!("\\{:03o}", u32::from(c))),
                c => quoted.push(c),
            }
        }
        quoted.push('"');
        return quoted;
    }
    let tab = if name.contains(' ') { "\t" } else { "" };
    format!("{prefix}{name}{tab}")
}

impl fmt::Display for FilePatch {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (old, new) = (header("a/", &self.name), header("b/", &self.name));
        writeln!(out, "diff --git {} {}", old.trim_end(), new.trim_end())?;
        writeln!(out, "--- {old}\n+++ {new}")?;
        self.hunks.iter().try_for_each(|hunk| out.write_str(&hunk.text))
    }
}

impl fmt::Display for Patch {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.files.iter().try_for_each(|file| write!(out, "{file}"))
    }
}
