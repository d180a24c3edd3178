//! Edits, and a text with them carried out.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::unified::{FilePatch, Patch};

/// In which order insertions at one place stand; of equal ranks, the one that was added first stands first.
///
/// What goes behind an inner statement comes before what goes behind the outer statement that ends at the same
/// place, and what goes before a statement comes last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Rank(i64);

impl Rank {
    /// Behind a statement that stands `depth` nodes deep in the tree.
    pub fn behind(depth: usize) -> Self {
        Self(-4 * Self::deep(depth))
    }

    /// What must follow everything that is put behind such a statement.
    pub fn tail(depth: usize) -> Self {
        Self(-4 * Self::deep(depth) + 1)
    }

    /// The brace that closes around such a statement.
    pub fn closing(depth: usize) -> Self {
        Self(-4 * Self::deep(depth) + 2)
    }

    /// The brace that opens around such a statement.
    pub fn opening(depth: usize) -> Self {
        Self(4 * Self::deep(depth))
    }

    /// Before such a statement.
    pub fn before(depth: usize) -> Self {
        Self(4 * Self::deep(depth) + 1)
    }

    fn deep(depth: usize) -> i64 {
        // No text that fits into memory nests deeper than that.
        i64::try_from(depth).unwrap_or(i64::MAX / 8)
    }
}

/// Replaces a range of bytes by a text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Edit {
    /// What is replaced; empty where something is inserted.
    pub range: Range<usize>,
    /// By what.
    pub text: String,
    /// Among insertions at the same place.
    pub rank: Rank,
    /// Several who ask for the same want it once: a brace, the end of a line that is split.
    pub once: bool,
}

impl Edit {
    /// An insertion.
    pub fn insert(at: usize, text: impl Into<String>, rank: Rank) -> Self {
        Self { range: at..at, text: text.into(), rank, once: false }
    }

    /// A replacement.
    pub fn replace(range: Range<usize>, text: impl Into<String>) -> Self {
        Self { range, text: text.into(), rank: Rank(0), once: true }
    }

    /// The same, wanted once however many ask for it.
    #[must_use]
    pub fn once(mut self) -> Self {
        self.once = true;
        self
    }
}

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

/// Edits that were added together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EditId(pub usize);

/// Edits of several files, collected for a patch.
#[derive(Clone, Debug, Default)]
pub struct Edits {
    files: BTreeMap<PathBuf, FileEdits>,
    added: usize,
}

/// Edits of one file.
#[derive(Clone, Debug)]
struct FileEdits {
    original: String,
    edits: Vec<(EditId, Edit)>,
}

impl Edits {
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
