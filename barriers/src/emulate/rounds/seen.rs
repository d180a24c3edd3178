//! What has been seen of rounds.

use rustc_hash::{FxHashMap, FxHashSet};

use super::state::Cut;
use crate::emulate::symbol::{Lost, Symbol};

/// Times that what was made unknown may not have been enough.
const PATIENCE: u32 = 8;

/// How rounds are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Induction {
    /// Rounds that are followed as they are: at least twice as many as the longest period has.
    pub exact: u32,
    /// Rounds of the longest period that is tried.
    pub longest: u32,
}

/// What is known of the rounds of an emulation.
#[derive(Default)]
pub(in crate::emulate) struct Rounds<'a> {
    /// None: all are followed as they are.
    pub(super) induction: Option<Induction>,
    /// Something is under way that no barrier ends for all, from here on.
    pub under_way: bool,
    /// The most often that a head was reached.
    pub most: u32,
    pub widening: Widening,
    /// What follows has been seen.
    pub covered: bool,
    /// It will not be seen.
    pub(super) given_up: bool,
    pub(super) time: Times,
    pub(super) heads: Vec<Head<'a>>,
    /// By instruction, whether rounds begin there for which warps wait; empty: for none.
    pub(super) stations: Vec<bool>,
    /// By warp and instruction, the predicates that were decided by assumption.
    pub(super) decided: FxHashMap<(usize, u32), FxHashSet<Symbol>>,
}

/// What has been made unknown, so that one round stands for all that follow.
#[derive(Default)]
pub(in crate::emulate) struct Widening {
    /// Some values have been.
    pub widened: bool,
    /// Commands of each warp before that.
    pub exact: Vec<usize>,
    /// The states that had to come back, by what tells them apart.
    pub aims: Vec<u64>,
}

/// How often rounds began, and how often something was decided by assumption.
#[derive(Default)]
pub(in crate::emulate) struct Times {
    /// Times that any head was reached.
    pub(super) clock: u64,
    /// Pauses since each of which something was decided by assumption.
    pub(super) pauses: u64,
    /// How often that was so at the last pause.
    pub(super) decisions: u64,
}

impl Rounds<'_> {
    /// Those of an emulation that begins.
    pub fn new(induction: Option<Induction>, stations: Vec<bool>) -> Self {
        Rounds { induction, stations, ..Rounds::default() }
    }

    /// Whether so many pauses have been that none of them will be found to come back.
    pub(super) fn is_late(&self) -> bool {
        let of = |n: Induction| u64::from(n.exact + (PATIENCE + 3) * n.longest + 8);
        self.induction.is_none_or(|induction| self.time.pauses > of(induction))
    }
}

/// A barrier that all threads have met at, or where they are in a pause.
pub(super) struct Head<'a> {
    /// The instruction behind the barrier, by warp; of a pause, the instructions of all lanes.
    pub(super) at: Vec<u32>,
    /// Predicates that had been decided by assumption then.
    pub(super) decisions: u64,
    /// Times that it was reached.
    pub(super) times: u32,
    /// When it was reached last, by [`Rounds::clock`].
    pub(super) last: u64,
    /// The latest states, and when that was.
    pub(super) states: Vec<(u64, Cut<'a>)>,
    pub(super) target: Option<Target<'a>>,
    pub(super) patience: u32,
    /// What is not taken to be known of numbers that change.
    pub(super) lost: FxHashSet<Lost>,
}

impl Head<'_> {
    pub(super) fn new(at: Vec<u32>) -> Self {
        Head {
            at,
            decisions: 0,
            times: 0,
            last: 0,
            states: Vec::new(),
            target: None,
            patience: PATIENCE,
            lost: FxHashSet::default(),
        }
    }
}

/// The state that has to come back.
pub(super) struct Target<'a> {
    pub(super) state: Cut<'a>,
    /// Rounds of the period.
    pub(super) period: u32,
    /// When it has to be there again.
    pub(super) due: u32,
    /// The numbers that stand for what changes.
    pub(super) numbers: FxHashSet<Symbol>,
    /// How far programs and barriers were, then and after each period.
    pub(super) marks: Vec<Mark>,
}

/// How far programs and barriers are.
pub(super) struct Mark {
    /// Commands, by warp.
    pub(super) commands: Vec<usize>,
    /// Phases of the mbarriers, by CTA and offset in one.
    pub(super) phases: FxHashMap<u32, u32>,
}
