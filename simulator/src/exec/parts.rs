//! The parts of a launch's state, by who needs them together.

use std::cell::Cell;

use crate::config::DeviceConfig;
use crate::exec::Cta;
use crate::exec::frames::{Block, Frames};
use crate::exec::hang::written::Written;
use crate::exec::hang::{Others, Search};
use crate::exec::observed::Observed;
use crate::exec::unwritten::Unwritten;
use crate::exec::warp::Warp;
use crate::launch::{Counts, Plan};
use crate::load::{Constants, Program};
use crate::memory::Region;
use crate::model::MemoryModel;
use crate::model::notes::Notes;
use crate::schedule::Candidate;
use crate::turns::Turns;

/// What is launched, and on what device. Nothing of it changes while the launch runs.
pub(super) struct Given<'a> {
    pub program: &'a Program,
    pub config: &'a DeviceConfig,
    /// Whose turn it is among parts of a warp.
    pub turns: &'a Turns,
    pub plan: Plan<'a>,
    pub constants: Constants,
    pub params: Vec<u64>,
    pub layout: Layout,
    /// Code that the injector has put in delays stores.
    pub injected: bool,
    /// Instructions after which the launch is given up.
    pub budget: u64,
}

/// Where threads and their own memories lie.
pub(super) struct Layout {
    /// `%tid` of each warp of a block, by dimension and lane.
    pub tids: Vec<[[u32; 32]; 3]>,
    /// Bytes between the local memories of two lanes.
    pub local_stride: usize,
    /// Bytes between the shared memories of two CTA slots.
    pub shared_stride: usize,
    /// Keeps the memory behind `shared` pointers.
    pub shared: Block,
    /// Keeps the memory behind `local` pointers.
    pub local: Block,
}

/// The resident blocks and their warps.
pub(super) struct Residents {
    pub warps: Vec<Warp>,
    pub ctas: Vec<Cta>,
    pub frames: Frames,
    pub runnable: Vec<Candidate>,
    pub next_block: u64,
    /// Lanes of each warp that have arrived at their cluster's barrier, and have not been let through.
    pub cluster_arrived: Vec<u32>,
}

/// How far the launch has come.
#[derive(Default)]
pub(super) struct Progress {
    pub counts: Counts,
    /// Which turns, modulo 64, go to a part of a warp.
    pub phase: u64,
    /// How many operations of the turn only prepared for what a fragment still stands at.
    pub again: u32,
    /// Somebody else became runnable: the turn ends.
    pub woken: bool,
}

/// Where accesses went last, so that the next ones find their memory sooner.
pub(super) struct Paths {
    /// Where each access found its memory last: by index of access, then of atomic; the last one is for what
    /// the device's own functions read.
    pub regions: Vec<Region>,
    /// Where those found theirs last that check the bytes of each lane: who reads, and who writes.
    pub spots: [Cell<Region>; 2],
    /// Where each warp's accesses went last, and how far from the time before: see [`crate::exec::resolve::STRIDES`].
    pub strides: Vec<[u64; 2]>,
    /// Host pointers of the lanes of the access in progress, when they follow no pattern.
    pub pointers: [u64; 32],
    /// Which memory nobody writes.
    pub unwritten: Unwritten,
}

/// Who stands between the code and its memory.
pub(super) struct Hooks<'a> {
    /// What decides what accesses see and when stores are seen; None for sequentially consistent memory.
    pub model: Option<Box<dyn MemoryModel + 'a>>,
    /// Who looks on.
    pub watch: Option<Box<Observed>>,
    /// What the model does is noted here, where somebody wants to know.
    pub notes: Option<Box<Notes>>,
    /// Who looks on is to be told which lanes are together: see [`crate::exec::Machine::observed_selection`].
    pub tells_parts: bool,
    /// The launch has no model but what looks on.
    pub sequential: bool,
    /// Where the hook that was called last was to write, and how many bytes, if that memory was gone.
    pub lost: Option<(u64, u32)>,
}

/// The search for a hang.
pub(super) struct Hang<'a> {
    pub search: Search<'a>,
    /// A look is taken.
    pub watching: bool,
    /// While a look is taken: memory that no hook sees may have changed.
    pub unseen: Cell<bool>,
    /// While a look is taken: something depends on more than registers and memory.
    pub unproven: Cell<bool>,
    /// Who wrote what last.
    pub written: Written,
}

impl Default for Hang<'_> {
    fn default() -> Self {
        Hang {
            search: Search::new(Others::Nobody(0)),
            watching: false,
            unseen: Cell::new(false),
            unproven: Cell::new(false),
            written: Written::new(),
        }
    }
}
