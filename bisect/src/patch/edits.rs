//! Edits, and a text with them carried out.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::edit::{Edit, EditId};
use super::unified::{FilePatch, Patch};

/// Two edits change the same bytes.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("two edits change the same text of {path}: bytes {first:?} and {second:?}")]
pub struct Overlap {
    /// Of which file.
    pub path: PathBuf,
    /// The earlier range.
    pub first: Range<usize>,
    /// The later one.
    pub second: Range<usize>,
}

/// The ranges of two edits that overlap.
type Ranges = (Range<usize>, Range<usize>);

/// Edits in the order in which they are carried out, with those gone that were wanted once and came twice.
fn ordered<'e>(edits: impl IntoIterator<Item = &'e Edit>) -> Result<Vec<&'e Edit>, Ranges> {
    let mut all: Vec<&Edit> = Vec::new();
    for edit in edits {
        if !(edit.once && all.contains(&edit)) {
            all.push(edit);
        }
    }
    // At one place, what is inserted comes before what is replaced from there on. Deletions within a deletion go.
    all.sort_by_key(|edit| (edit.range.start, !edit.range.is_empty(), edit.rank));
    let mut kept: Vec<&Edit> = Vec::new();
    for edit in all {
        match kept.last() {
            Some(last) if edit.range.start < last.range.end => {
                let within = edit.range.end <= last.range.end;
                let deletions = last.text.is_empty() && edit.text.is_empty();
                if !(within && deletions) {
                    return Err((last.range.clone(), edit.range.clone()));
                }
            }
            _ => kept.push(edit),
        }
    }
    Ok(kept)
}

/// The text with edits carried out; `Err` has the ranges of two that overlap.
pub fn apply<'e>(text: &str, edits: impl IntoIterator<Item = &'e Edit>) -> Result<String, Ranges> {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for edit in ordered(edits)? {
        out.push_str(&text[done..edit.range.start]);
        out.push_str(&edit.text);
        done = edit.range.end;
    }
    out.push_str(&text[done..]);
    Ok(out)
}

/// Edits of several files, collected for a patch.
#[derive(Clone, Debug, Default)]
pub struct EditsByFile {
    files: BTreeMap<PathBuf, FileEdits>,
    added: usize,
}

/// Edits of one file.
#[derive(Clone, Debug)]
struct FileEdits {
    original: String,
    edits: Vec<(EditId, Edit)>,
}

impl EditsByFile {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The next edits belong together.
    pub fn next_id(&mut self) -> EditId {
        self.added += 1;
        EditId(self.added - 1)
    }

    /// Adds edits of a file that belong together. `original` is its text as it was read; all edits of a file are to
    /// the same text.
    pub fn add(&mut self, path: &Path, original: &str, edits: Vec<Edit>) -> EditId {
        let id = self.next_id();
        self.add_to(id, path, original, edits);
        id
    }

    /// Adds edits, perhaps of another file, to those that belong together already.
    pub fn add_to(&mut self, id: EditId, path: &Path, original: &str, edits: Vec<Edit>) {
        let file = self
            .files
            .entry(path.to_owned())
            .or_insert_with(|| FileEdits { original: original.to_owned(), edits: Vec::new() });
        debug_assert_eq!(file.original, original, "edits of {} are to one text", path.display());
        file.edits.extend(edits.into_iter().map(|edit| (id, edit)));
    }

    /// True if there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.files.values().all(|file| file.edits.is_empty())
    }

    /// All of them as one patch, with paths relative to `folder`.
    pub fn patch(&self, folder: &Path) -> Result<Patch, Overlap> {
        let mut files = Vec::new();
        for (path, file) in &self.files {
            let edited = apply(&file.original, file.edits.iter().map(|(_, edit)| edit))
                .map_err(|(first, second)| Overlap { path: path.clone(), first, second })?;
            if edited != file.original {
                files.push(FilePatch::new(path, folder, &file.original, edited, &file.edits));
            }
        }
        Ok(Patch { files })
    }
}
