//! One edit of a text.

use std::ops::Range;

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

/// Edits that were added together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EditId(pub usize);
