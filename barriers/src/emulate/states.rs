//! States of lanes: what is known of them at one place.

use rustc_hash::FxHashMap;

use super::local::Local;
use super::registers::Registers;

/// What is known of some lanes.
pub(super) struct State<'a> {
    pub mask: u32,
    pub registers: Registers<'a>,
    pub local: Local,
}

/// Where lanes end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    At(u32),
    Returned,
    Exited,
}

/// States by where their lanes end.
pub(super) type Ends<'a> = Vec<(End, State<'a>)>;

/// What is known of loops in arms, by frame, the branch and lanes: with what they were entered last, and what was left of that after all rounds.
pub(super) type Loops<'a> = FxHashMap<(u32, u32, u32), [State<'a>; 2]>;
