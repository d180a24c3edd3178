//! How the detector looks.

use super::layout::EntryLayout;

/// Which layout words have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LayoutChoice {
    /// What suits each launch best.
    #[default]
    Fit,
    /// The paper's.
    Paper,
    /// This one.
    Given(EntryLayout),
}

/// How it looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScordOptions {
    /// The layout of a word.
    pub layout: LayoutChoice,
    /// Metadata is a direct-mapped cache, with so many bits of a tag: of 2 to the power of it words one has an entry. The paper has 4.
    pub cache: Option<u32>,
    /// Threads of a warp run apart where they part (section VI).
    pub independent_threads: bool,
    /// Bytes that metadata may take; None: as much as there is.
    pub most_bytes: Option<u64>,
    /// Different races that are told; None: all.
    pub most_races: Option<u64>,
}
