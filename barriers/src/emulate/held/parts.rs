//! What the emulation in progress holds besides threads and barriers, by what it is for.

use std::collections::BTreeSet;

use crate::emulate::doubt::Doubt;
use crate::emulate::held::counters::Counters;
use crate::emulate::held::frame::Frame;
use crate::emulate::making::Makings;
use crate::emulate::objects::{Objects, Scattered};
use crate::emulate::rounds::seen::Rounds;
use crate::emulate::states::Loops;
use crate::emulate::symbol::{Symbol, Symbols};
use crate::verdict::Misuse;

/// Calls in progress.
pub(in crate::emulate) struct Calls<'a> {
    pub frames: Vec<Frame<'a>>,
    /// Frames to be used again, by function.
    pub free: Vec<Vec<u32>>,
}

/// How far the execution has come.
#[derive(Default)]
pub(in crate::emulate) struct Course {
    pub steps: u64,
    pub thread_steps: u64,
    /// Lanes of each warp that have arrived at their cluster's barrier and were not let through.
    pub cluster_arrived: Vec<u32>,
    /// Arrivals at the grid's barrier.
    pub grid_barriers: u32,
    /// A barrier was asked what it cannot do: nothing goes on behind that.
    pub misuse: Option<Misuse>,
    /// Strong reads that seem to come again and again for ever: instructions.
    pub polled: Vec<u32>,
}

/// What is known of values.
pub(in crate::emulate) struct Knowledge {
    pub symbols: Symbols,
    /// A predicate that is the same for all threads and must be known, and the parameters in it, as they can be given.
    pub asked: Option<(Symbol, Vec<String>)>,
    pub counters: Counters,
    /// Numbers of the tables of which something was read and is taken for known.
    pub tables: BTreeSet<usize>,
}

/// Branches and loops of which not all is known.
pub(in crate::emulate) struct Ways<'a> {
    /// Arms of branches that are being run without knowing whether they are taken.
    pub doubt: Doubt,
    /// Of the open branch that is being run, the loops in its arms.
    pub loops: Loops<'a>,
    /// Rounds of loops around barriers.
    pub rounds: Rounds<'a>,
}

/// Where addresses come from, and go.
pub(in crate::emulate) struct Addressing<'a> {
    /// The variables that addresses are in.
    pub objects: Objects<'a>,
    /// How addresses are made.
    pub makings: Makings<'a>,
    /// Where something was written at an address that is not known.
    pub scattered: Scattered,
    /// A pointer into shared memory was stored where it is not tracked.
    pub escaped: bool,
}
