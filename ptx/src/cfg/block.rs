//! Basic blocks.

/// A basic block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// First instruction.
    pub start: usize,
    /// One past the last instruction.
    pub end: usize,
    /// Blocks that can follow, ascending, each once. Leaving the function is not among them.
    pub successors: Vec<usize>,
    /// Blocks that this one can follow, ascending, each once.
    pub predecessors: Vec<usize>,
    /// Whether the function can end with this block.
    pub leaves: bool,
    /// The first block that every path from here to the function's end passes; None when that is the
    /// end itself.
    pub post_dominator: Option<usize>,
}
