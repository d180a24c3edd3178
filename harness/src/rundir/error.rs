//! Why a run directory cannot be used.

use std::io;
use std::path::PathBuf;

use super::layout::{RUN, SCHEMA};
use crate::limits::explanation;

/// Why a run directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RunDirError {
    /// Something else is there.
    #[error("{} holds files but no run ({RUN} is missing): name a new or empty directory", .0.display())]
    NotARun(PathBuf),
    /// There is none.
    #[error("{} is no run directory: it has no {RUN}", .0.display())]
    Missing(PathBuf),
    /// Another run writes there.
    #[error("another bugaroo is writing to {}", .0.display())]
    Busy(PathBuf),
    /// A run of another configuration is there.
    #[error("{} holds a run of another configuration: {differences}", path.display())]
    Differs {
        /// The directory.
        path: PathBuf,
        /// What differs, both values each.
        differences: String,
    },
    /// Something else stands where a file should.
    #[error("{} is {what}, and no regular file", path.display())]
    NotRegular {
        /// The place.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// A file is not what it should be.
    #[error("{}: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        what: String,
    },
    /// Written by another version.
    #[error("{} is of schema {found}; this version reads schema {SCHEMA}", path.display())]
    Schema {
        /// The file.
        path: PathBuf,
        /// The schema that it states.
        found: u64,
    },
    /// The run has no such cell.
    #[error("the run in {} has {cells} cells, from 0: there is no cell {cell}", path.display())]
    NoCell {
        /// The directory.
        path: PathBuf,
        /// The cell asked for.
        cell: usize,
        /// How many there are.
        cells: usize,
    },
    /// The trial asked for is not among those that finished.
    #[error("trial {cell}:{trial} is not among those that finished in {}", path.display())]
    NoTrial {
        /// The directory.
        path: PathBuf,
        /// Cell.
        cell: usize,
        /// Index.
        trial: u64,
    },
    /// The directory cannot be read or written.
    #[error("{}: {source}{}", path.display(), explanation(source))]
    Io {
        /// What was touched.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

impl RunDirError {
    /// Whether another command line is the answer.
    pub fn is_usage(&self) -> bool {
        !matches!(self, RunDirError::Io { .. })
    }
}
