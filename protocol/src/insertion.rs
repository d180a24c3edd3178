//! What is put into a program as if its source had it: fences and barriers at places of the source.
//!
//! A place of the source is one side of a stretch of it: of a statement, a loop, a condition. One line of CUDA stands at
//! several places of the PTX (in each kernel or template instance, in each copy of an inlined function, in each round of
//! an unrolled loop), and what is inserted goes into all of them, as it would if the source were changed.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A place in a source file, as `.loc` counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Position {
    /// From 1.
    pub line: u32,
    /// From 1, in bytes.
    pub column: u32,
}

/// A stretch of a source file.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SourceSpan {
    /// Path as the compiler wrote it.
    pub file: String,
    /// Where it begins.
    pub from: Position,
    /// Where what follows begins.
    pub to: Position,
}

/// A side of a stretch of source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// Whenever a thread comes to it.
    Before,
    /// Whenever a thread leaves it, but for the end of a thread.
    Behind,
}

/// What is inserted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Inserted {
    /// `__threadfence()`
    Fence,
    /// `__threadfence_system()`
    SystemFence,
    /// `__threadfence_block()`
    BlockFence,
    /// `__syncthreads()`
    BlockBarrier,
    /// `__syncwarp()`
    WarpBarrier,
}

/// What an insertion becomes in the PTX.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placed {
    /// Places of the PTX at which it is put.
    pub places: u32,
    /// Sites of the PTX that belong to the stretch.
    pub sites: u32,
    /// Why it cannot be done, if it cannot: one sentence without its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

/// Something that is put into the program.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Insertion {
    /// Beside what.
    pub span: SourceSpan,
    /// On which side.
    pub side: Side,
    /// What.
    pub what: Inserted,
}

impl fmt::Display for Insertion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.what {
            Inserted::Fence => "__threadfence()",
            Inserted::SystemFence => "__threadfence_system()",
            Inserted::BlockFence => "__threadfence_block()",
            Inserted::BlockBarrier => "__syncthreads()",
            Inserted::WarpBarrier => "__syncwarp()",
        };
        let side = if self.side == Side::Before { "before" } else { "behind" };
        let SourceSpan { file, from, .. } = &self.span;
        write!(f, "{what} {side} {file}:{}:{}", from.line, from.column)
    }
}
