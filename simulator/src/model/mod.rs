//! Memory models: what a thread's accesses do to memory, where they shall do other than the engine's
//! sequentially consistent accesses do.
//!
//! A [`MemoryModel`] is given to a launch ([`crate::launch_with`], [`crate::Grid::with_model`]) and lives as long as
//! it. The engine asks it before each instruction that reads, writes or orders memory that other threads see,
//! once for all lanes of a warp that execute it together. Accesses to local memory, to parameters and to the
//! tester's own memory never get there. A launch without a model pays nothing: the interpreter's loop
//! is compiled once with the hooks, once without, and once for launches without a model that somebody looks on at.
//!
//! # What a hook is told
//! [`At`]: which lanes of which warp, and the number of the instruction in the program ([`crate::Program::spans`] says
//! where in the text it stands). [`Accessed`]: addresses, bytes, semantics, data. Addresses have been checked: bad
//! ones have ended the launch already, with a fault at this instruction. [`World`]: all other memory that a
//! model has business with. Shared memory of another block of the cluster has addresses that [`is_elsewhere`].
//!
//! # What a hook answers
//! A [`NextOperation`]. Memory itself always holds what the engine or a model wrote last: a model that wants others not to see
//! a store yet takes it ([`NextOperation::Do`], `taken`) and writes it through [`World::write`] later. What a model does step
//! by step, so that other threads can see it half done, it does one step a call and answers [`NextOperation::Again`]: the
//! instruction then has not been executed, the step has counted as one visible operation, the warp's turn may
//! end, and when the warp goes on, the hook is called again for the same instruction. Between the
//! calls lanes may have parted or joined (lanes that stand at the same instruction, in whatever state the
//! model thinks them to be), so what a model remembers between two calls belongs to a thread, not to a warp.
//!
//! # What a model can rely on
//! - For every lane that executes a hooked instruction its hook is called until it answers other than `Again`, and
//!   then exactly that happened which the answer says, before anything else of this lane.
//! - Hooks for one warp slot between [`MemoryModel::start_block`] and [`MemoryModel::end_block`] of its CTA concern
//!   one block. All threads of the block have had their [`ModelEvent::Exit`] before `end_block`.
//! - Memory changes without a hook by what is no generic access of a thread: asynchronous copies when they complete,
//!   `mbarrier` words, matrices (each is announced as [`ModelEvent::Opaque`] by the thread that issues it),
//!   `printf` and `malloc` in device code (announced, too), other grids, and the host between two turns. A model
//!   that keeps what memory held earlier compares the newest value that it knows with what is there.
//! - All calls are deterministic: a model that draws lots has a seed of its own, and asks no clock and no host
//!   address.

pub(crate) mod accessed;
mod beyond;
mod fetch;
mod held;
pub(crate) mod lockstep;
pub(crate) mod notes;
pub mod ptx;
pub mod store_buffer;
pub(crate) mod swarm;
mod targets;
mod world;

pub use accessed::Accessed;
pub use beyond::held_from_beyond;
pub use bugaroo_semantics::effect::Fence;
pub use bugaroo_semantics::event::Shape;
pub use world::{World, is_elsewhere};

use bugaroo_ptx::types::Semantics;

/// Lanes of a warp that execute an instruction together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At {
    /// Slot of the warp.
    pub warp: u32,
    /// Slot of its CTA.
    pub cta: u32,
    /// Linear index of the CTA in the grid.
    pub block: u64,
    /// Linear index in the grid of the thread in lane 0; lane `i` has the index `i` more.
    pub first_thread: u64,
    /// The lanes; never empty.
    pub lanes: u32,
    /// Number of the instruction in the program.
    pub pc: u32,
}

/// How an instruction goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextOperation {
    /// Not yet: the model did something that others can see. Call again, for the same instruction.
    Again,
    /// The engine does the instruction for some lanes; the model has done it for others (a load whose value it gave, a
    /// store that it keeps); for the rest it has been done by an earlier call, or shall not be done at all. Then the lanes go on
    /// behind the instruction.
    Do(Split),
    /// The same, but the lanes stay at the instruction: call again.
    DoAndStay(Split),
}

/// Lanes for which the engine executes an instruction, and lanes for which the model has.
///
/// They are one word, so that an answer comes back in registers. In memory it would be written in parts and read as a whole, and a
/// processor lets such a read wait until all that was stored before is in its cache: a few hundred cycles, where a model has just
/// written entries.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Split(u64);

impl Split {
    /// The engine executes it for the lanes in `run`; the model has for those in `taken`.
    pub fn new(run: u32, taken: u32) -> Split {
        Split(u64::from(run) | u64::from(taken) << 32)
    }

    /// Lanes for which the engine executes it.
    pub fn run(self) -> u32 {
        self.0 as u32
    }

    /// Lanes for which the model has.
    pub fn taken(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

impl std::fmt::Debug for Split {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Split").field("run", &self.run()).field("taken", &self.taken()).finish()
    }
}

impl NextOperation {
    /// The instruction as it stands, for these lanes.
    pub fn run(lanes: u32) -> NextOperation {
        NextOperation::split(lanes, 0)
    }

    /// The instruction for the lanes `run`; the model has done it for those in `taken`. All go on behind it.
    pub fn split(run: u32, taken: u32) -> NextOperation {
        NextOperation::Do(Split::new(run, taken))
    }

    /// For which lanes the instruction is done, and whether they stay at it; None for [`NextOperation::Again`].
    pub(crate) fn done(self) -> Option<(Split, bool)> {
        match self {
            NextOperation::Again => None,
            NextOperation::Do(lanes) => Some((lanes, false)),
            NextOperation::DoAndStay(lanes) => Some((lanes, true)),
        }
    }
}

/// An instruction, other than an access or a fence, that a model has to know of before it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelEvent {
    /// Arrival at a CTA barrier (`bar`, `barrier`), with or without waiting there. [`MemoryModel::arrived`] follows.
    Barrier,
    /// `bar.warp.sync`. [`MemoryModel::released`] follows when all have come.
    WarpBarrier,
    /// Something that waits for other threads without ordering memory: `shfl.sync`, `vote.sync`, `match`,
    /// `redux`, `mma`; waiting for an mbarrier (which does order, when it succeeds) or for the cluster.
    Collective,
    /// Memory that no hook is called for is read, written or promised to others: asynchronous copies, `mbarrier`
    /// operations but for waiting, arrival at the cluster's barrier, matrices in memory, `printf`, `malloc`.
    Opaque,
    /// The lanes end.
    Exit,
}

/// A load, or an atomic that leaves memory as it is: all lanes read the same there.
#[derive(Clone, Copy, Debug)]
pub struct Poll {
    /// It is an atomic.
    pub atomic: bool,
    /// It is one that has compared, and not written. Others have written what was there.
    pub compares: bool,
    /// Generic address.
    pub address: u64,
    /// Bytes from there on: 1, 2, 4 or 8.
    pub bytes: u32,
    /// What memory holds there.
    pub value: u64,
    /// Order, strength and scope.
    pub semantics: Semantics,
}

/// What a model has counted, for the report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelCounts {
    /// Stores that were delayed.
    pub delayed: u64,
    /// How often a thread's buffer of global stores, and of shared ones, that drained held so many: by length.
    pub flushes: [Vec<u64>; 2],
    /// Bytes of host memory that the model took, at most.
    pub bytes: u64,
    /// Writes that were forgotten to keep within a bound on memory, though somebody might have read past them.
    pub forgotten: u64,
}

/// Which edge of happens-before was missing where a load did not have to see a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LackingEdge {
    /// The writer had not released since.
    Release,
    /// It had, but the reader had not acquired since.
    Acquire,
    /// Both, but the scope of one does not take in the other.
    Scope,
    /// Both, and their scopes do, but no strong load of the one had read what a strong store of the other wrote.
    Strong,
}

/// Loads by one instruction that read something older than what another instruction had written by then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StaleLoads {
    /// One such reader, among the last: linear index of its block, and of the thread in it.
    pub reader: (u64, u32),
    /// Number of the load.
    pub load: u32,
    /// Who had written.
    pub writer: (u64, u32),
    /// Number of the store.
    pub write: u32,
    /// Where.
    pub address: u64,
    /// Which edge was missing between these two.
    pub missing: LackingEdge,
    /// Both are strong, each in the other's scope: what the one reads of the other is how they synchronise.
    pub synchronising: bool,
    /// How often.
    pub count: u64,
}

/// A memory model. See the [module](self) for what its hooks promise and may rely on.
pub trait MemoryModel {
    /// Warps of this launch run in lockstep; comes before everything else. A model that answers `true` sees to it that
    /// what lanes of a warp have stored is seen by the others in the next instruction; before one that does not, a barrier of the
    /// warp is put between its instructions.
    fn in_lockstep(&mut self) -> bool {
        false
    }

    /// Whether it does nothing but look on: every answer is [`NextOperation::run`] of all lanes. A launch with such a model is as one
    /// without in all that can be seen of it.
    fn only_looks_on(&self) -> bool {
        false
    }

    /// The launch begins; comes first, and once.
    fn begin(&mut self, shape: &Shape);

    /// A block begins in a CTA slot. Its shared memory is zero.
    fn start_block(&mut self, cta: u32, block: u64);

    /// The block in a CTA slot has ended: whatever it still holds becomes visible.
    fn end_block(&mut self, cta: u32, world: &mut World<'_>);

    /// The warp in this slot has a turn: what the model keeps of it is likely to be needed soon. A hint to the processor at most.
    fn turn_begins(&self, warp: u32) {
        let _ = warp;
    }

    /// Does a load by these lanes need no model at this moment? Asked before addresses are looked at; then
    /// [`Self::load`] is not called. `false` is always right.
    fn passes_load(&self, at: &At) -> bool {
        let _ = at;
        false
    }

    /// Does a weak load by these lanes of memory that nobody writes while the launch runs need no model at this moment? Whatever
    /// the model says of such memory, the load reads what is there; but something else may have to be done before it.
    /// If not, [`Self::load`] is not called.
    fn passes_quiet_load(&self, at: &At) -> bool {
        let _ = at;
        true
    }

    /// These lanes are about to do, `times` more, an access that they have done before and between which they do nothing else that a
    /// model hears of. Answers whether each of them would read what memory holds, and is as good as done: whatever the
    /// model counts has been counted, and no hook is called for them. `false` is always right; nothing has been counted
    /// then.
    fn polls(&mut self, at: &At, poll: &Poll, times: u32) -> bool {
        let _ = times;
        !poll.atomic && self.passes_load(at)
    }

    /// `ld`, `ldu`: values that the model has come through [`Accessed::supply`], in a call that does not answer
    /// `Again`, for lanes that it then names as `taken`.
    fn load(&mut self, at: &At, access: &Accessed<'_>, world: &mut World<'_>) -> NextOperation;

    /// `st`.
    fn store(&mut self, at: &At, access: &Accessed<'_>, world: &mut World<'_>) -> NextOperation;

    /// `atom`, `red`. Elements of a vector come one by one, as instructions of their own with the same text.
    fn atomic(&mut self, at: &At, access: &Accessed<'_>, world: &mut World<'_>) -> NextOperation;

    /// `fence`, `membar`; of a proxy, too.
    fn fence(&mut self, at: &At, fence: Fence, world: &mut World<'_>) -> NextOperation;

    /// Before an instruction of the kinds that [`ModelEvent`] names. The answer is `Again`, or `NextOperation::run(at.lanes)`.
    fn event(&mut self, at: &At, event: ModelEvent, world: &mut World<'_>) -> NextOperation;

    /// The lanes' warp has arrived at this CTA barrier: these are all of its threads that have not exited. Each of them has
    /// executed nothing since its event, which may lie further back.
    fn arrived(&mut self, at: &At, barrier: u32) {
        let _ = (at, barrier);
    }

    /// The lanes, of one warp, are let go on at a barrier: the CTA barrier of this number, or (None) the warp's, at
    /// which all lanes named have met. For a CTA barrier this comes for each of its warps with lanes that wait, one after
    /// another, before any of their lanes executes anything; if there are none, once without lanes. `at.pc` is not meaningful.
    fn released(&mut self, at: &At, barrier: Option<u32>) {
        let _ = (at, barrier);
    }

    /// Whether it holds something back that comes out by itself as the threads go on, whatever they do. What comes out at a
    /// fence only does not count. Asked when a launch looks as if it went round for ever.
    fn is_restless(&self) -> bool {
        false
    }

    /// Whether it holds back a store to one of these bytes, at a generic address of the CTA in this slot.
    fn holds_back(&self, cta: u32, address: u64, bytes: u32) -> bool {
        let _ = (cta, address, bytes);
        false
    }

    /// Another grid of the same device goes on next, whose threads `.gpu` takes in, too: what is held back from beyond the
    /// device only goes to memory.
    fn settle(&mut self, world: &mut World<'_>) {
        let _ = world;
    }

    /// Somebody else has run since the grid's last turn, who may have told one of its threads what another one has released to them:
    /// nobody here may read anything older from now on.
    fn others_ran(&mut self) {}

    /// The same goes for every moment from now on, while somebody runs at the same time; not any more, where nobody does.
    fn others_run(&mut self, run: bool) {
        let _ = run;
    }

    /// Loads that read older values than memory held, the likeliest to matter first.
    fn stale_reads(&self) -> Vec<StaleLoads> {
        Vec::new()
    }

    /// What has been counted so far.
    fn counts(&self) -> ModelCounts;
}
