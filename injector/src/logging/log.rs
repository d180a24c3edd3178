//! What there is to tell in a module.

use std::collections::BTreeMap;

use super::blind::Blind;
use super::told::{Told, Waited};
use crate::collect_sites::SiteTable;
use crate::kits::Table;

/// When loads are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loads {
    /// Before they are done: for a device that does not stop a warp between the two.
    Before,
    /// Behind them: for hardware.
    Behind,
}

/// What to tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogOptions {
    /// When loads are told.
    pub loads: Loads,
    /// Tell branches and where lanes meet again.
    pub branches: bool,
    /// Leave out what is told already ([`super::prune`]).
    pub prune: bool,
}

/// What there is to tell in a module, and what the passes have to know of it.
#[derive(Clone, Debug)]
pub struct Log {
    /// The places where code is injected.
    pub sites: SiteTable,
    /// Per place of `sites`: what is told there.
    pub points: Vec<LogPoint>,
    /// Which functions of `sites` are kernels.
    pub kernels: Vec<bool>,
    /// Kernels that are not looked at.
    pub blind: Vec<Blind>,
    /// Functions that stay as they are, as they have something that is not told.
    pub left: Vec<String>,
    /// How many threads a barrier waits for, by kernels that reach one which may wait for fewer than its block has; the fewest.
    pub waited: BTreeMap<String, Waited>,
    /// By kernel: the functions that it may come to, by their numbers in `sites`.
    pub reached: BTreeMap<String, Vec<usize>>,
    /// What was asked for.
    pub options: LogOptions,
}

impl Table for Log {
    fn sites(&self) -> &SiteTable {
        &self.sites
    }
}

/// What is told at a place of the table.
#[derive(Clone, Debug, Default)]
pub struct LogPoint {
    /// Before the instruction; its record's place has twice the point's number.
    pub before: Option<Told>,
    /// Behind it; one more.
    pub behind: Option<Told>,
    /// The operand that is the word, or what the word is made of.
    pub operand: Option<String>,
    /// Of a compare-and-swap: destination, comparand and the width of both.
    pub compared: Option<(String, String, u32)>,
    /// Line of the instruction.
    pub line: u32,
    /// Left out by [`super::prune`].
    pub pruned: bool,
}
