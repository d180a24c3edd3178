//! Model `store-buffer`, natively: what the device code of `bugaroo-device-handlers` does for instrumented PTX, done by
//! the engine for the program as it stands.
//!
//! # What it does
//! Each thread has a buffer of global stores and one of shared stores. A store is delayed by a coin, the very coin that
//! the device code tosses: same seed, launch, thread, site and count, same decision. A delayed store does not touch
//! memory before it drains. A thread reads its own delayed stores; where a load or an atomic needs some of an
//! entry's bytes and others, or changes them, the entry drains first. Everything drains, newest first, before a
//! release, before a fence and before what the model does not look into ([`super::Event::Opaque`]); before what
//! orders memory for a CTA alone, weak global stores move into slots of the CTA ([`slots`]): at barriers the two newest, at
//! fences what the slots can hold, and every other strong one; the rest drains. Strong stores drain after 32 hooks of their thread, and before their thread waits.
//!
//! Draining is done entry by entry, an entry of each lane at a time, each time as a visible operation: other warps see
//! the stores come one by one. Of a buffer that is full a sixteenth goes at a time, to the same effect for small ones.
//!
//! Entries are kept by row ([`rows`]): what lanes of a warp store by one instruction together. Accesses are looked at for all lanes
//! at once where that is as good as one lane after another, which is nearly always; what is to be the outcome is said by the lanes.
//!
//! # Lockstep
//! Where warps run in lockstep, a warp is to the model what a thread is else: its lanes share one buffer of global stores and one
//! of shared stores. So each lane sees in an instruction what any of them has stored in an earlier one, what one
//! releases or fences drains what all have stored, as if the warp met at a barrier between its instructions, and other warps
//! still miss what is delayed.
//!
//! # Where it differs from the device code
//! - A vector store is one entry, at most sixteen bytes, with the coin of its first element, and is never torn. So
//!   strong vectors (a status beside its value, in CUB) are delayed, too. The device code delays weak vectors element by
//!   element and strong ones not at all. Vectors of 32 bytes are not delayed here.
//! - Behind a fence of the CTA's scope, strong stores move into slots, too; the device code drains them.
//! - It has room for every entry, in host memory; device memory is not touched.
//! - Instructions take no time of their own for being looked at, so a thread's turns are shorter in instructions,
//!   though not in visible operations.
//! - Loads and atomics that the injector does not take apart (128-bit elements, vectors of atomics, memory
//!   of other blocks in the cluster) are looked at like any others: not everything drains before them.
//!
//! # What it can miss
//! Whatever needs a load to be late: missing acquires, scopes too narrow on the reader's side.

mod buffers;
mod coins;
mod delay;
mod drain;
mod forward;
mod lookup;
mod rows;
mod sites;
mod slots;
mod table;
#[cfg(test)]
mod tests;
mod together;
mod warp;

use std::sync::Arc;

use bugaroo_device_handlers::constants::{STRONG_CALLS, cta::HOLDS};
use bugaroo_device_handlers::{launch_key, threshold};
use bugaroo_ptx::op::FenceKind;
use bugaroo_ptx::types::{Scope, Semantics};

use super::notes::Note;
use super::swarm::Swarm;
use super::{
    Accessed, At, Fence, MemoryModel, ModelCounts, ModelEvent, NextOperation, Poll, Shape, World,
    is_elsewhere,
};
use crate::address::{Window, window};
use crate::alu::{Isa, by_isa};
use crate::exec::lanes;
use crate::schedule::Rng;
use buffers::{Entry, Phase};
use bugaroo_semantics::effect::drains;
use coins::Coins;
use drain::{Towards, space_of};
use sites::NONE;
pub use sites::Sites;
use slots::Slots;
use warp::Warp;

/// A buffer's space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Space {
    Global = 0,
    Shared = 1,
}

impl Space {
    fn other(self) -> Space {
        match self {
            Space::Global => Space::Shared,
            Space::Shared => Space::Global,
        }
    }
}

/// Both, in the order in which they drain.
const SPACES: [Space; 2] = [Space::Global, Space::Shared];

/// Most entries that a buffer can be given.
const MOST: u32 = u16::MAX as u32;

/// Largest store that is delayed.
const WIDEST: u32 = 16;

/// What a launch is to show.
#[derive(Clone, Debug)]
pub struct StoreBufferSettings {
    /// Probability with which global and shared stores are delayed.
    pub pw: [f64; 2],
    /// The trial's seed, and the launch's number.
    pub seed: (u64, u64),
    /// Entries of each buffer, 1 to 65,535; more or less is taken to the nearer end.
    pub capacity: u32,
}

/// The model of one launch.
#[derive(Debug)]
pub struct StoreBuffer {
    given: Given,
    coins: Coins,
    shape: Shape,
    /// By warp slot.
    warps: Vec<Warp>,
    ctas: Vec<Slots>,
    /// What slots hold.
    draws: Rng,
    counts: Tally,
}

/// What the launch is to show, and how it runs.
#[derive(Debug)]
struct Given {
    thresholds: [u64; 2],
    capacity: u32,
    sites: Arc<Sites>,
    /// Which store sites are delayed, where not all are.
    swarm: Option<Swarm>,
    /// Lanes of a warp share the buffers of its first one.
    lockstep: bool,
    /// What the hooks that look at all lanes at once are compiled for.
    isa: Isa,
}

/// What is told of the launch in the end.
#[derive(Debug)]
struct Tally {
    delayed: u64,
    flushes: [Vec<u64>; 2],
}

impl StoreBuffer {
    /// The model for one launch of a program with these sites.
    pub fn new(settings: &StoreBufferSettings, sites: Arc<Sites>) -> StoreBuffer {
        let (seed, launch) = settings.seed;
        StoreBuffer {
            coins: Coins::new(launch_key(seed, launch), sites.store_sites),
            given: Given {
                thresholds: settings.pw.map(threshold),
                capacity: settings.capacity.clamp(1, MOST),
                sites,
                swarm: None,
                lockstep: false,
                isa: Isa::detect(),
            },
            shape: Shape::default(),
            warps: Vec::new(),
            ctas: Vec::new(),
            draws: Rng::new(launch_key(seed, launch)),
            counts: Tally { delayed: 0, flushes: [Vec::new(), Vec::new()] },
        }
    }

    /// The same, where the stores of some instructions are delayed each time, and others never, by the seed.
    #[must_use]
    pub fn by_swarm(self) -> StoreBuffer {
        let thresholds = self.given.thresholds.map(|less| if less == 0 { 0 } else { threshold(1.0) });
        let given = Given { swarm: Some(Swarm::new(self.coins.key())), thresholds, ..self.given };
        StoreBuffer { given, ..self }
    }

    /// Whose buffers a lane uses: its own, or, in lockstep, those of its warp.
    fn owner(&self, lane: usize) -> usize {
        if self.given.lockstep { 0 } else { lane }
    }

    /// Lanes that the entries of one concern.
    fn sharing(&self, lane: usize) -> u32 {
        if self.given.lockstep { !0 } else { 1 << lane }
    }

    fn warp(&mut self, at: &At) -> &mut Warp {
        &mut self.warps[at.warp as usize]
    }

    /// Those of the lanes with entries.
    fn loaded(&self, at: &At) -> u32 {
        self.warps[at.warp as usize].loaded & at.lanes
    }

    /// The lanes whose access can have to do with a delayed store.
    fn concerned(&self, at: &At) -> u32 {
        match self.ctas[at.cta as usize].held {
            0 => self.loaded(at),
            _ => at.lanes,
        }
    }

    /// Slots of the CTA that have some of these bytes.
    fn held(&self, at: &At, space: Space, address: u64, bytes: u32) -> u32 {
        let slots = &self.ctas[at.cta as usize];
        if space == Space::Shared || slots.held == 0 { 0 } else { slots.overlapping(address, bytes) }
    }

    /// What comes before an access whatever it is: a step for slots whose while is over. Answers whether there was one.
    fn begin_access(&mut self, at: &At, world: &mut World<'_>) -> bool {
        let expired = self.ctas[at.cta as usize].expired;
        expired != 0 && self.leave(at, expired, world)
    }
}

impl MemoryModel for StoreBuffer {
    fn in_lockstep(&mut self) -> bool {
        self.given.lockstep = true;
        // A warp's buffers take what those of its lanes would.
        self.given.capacity = (32 * self.given.capacity).min(MOST);
        true
    }

    fn begin(&mut self, shape: &Shape) {
        self.shape = *shape;
        self.warps = vec![Warp::default(); shape.warps as usize];
        self.ctas = vec![Slots::default(); shape.ctas as usize];
        self.coins.begin(shape.warps);
    }

    fn start_block(&mut self, cta: u32, _block: u64) {
        // Buffers are empty: the threads of the block that was here before have ended.
        self.ctas[cta as usize] = Slots::default();
        let first = cta * self.shape.warps_per_cta;
        (first..first + self.shape.warps_per_cta).for_each(|warp| self.coins.reset(warp));
    }

    fn end_block(&mut self, cta: u32, world: &mut World<'_>) {
        let at = At { warp: 0, cta, block: 0, first_thread: 0, lanes: 0, pc: 0 };
        while self.leave(&at, u32::MAX, world) {}
    }

    fn turn_begins(&self, warp: u32) {
        self.warps[warp as usize].fetch();
        self.coins.fetch(warp);
    }

    fn passes_load(&self, at: &At) -> bool {
        self.loaded(at) == 0 && self.ctas[at.cta as usize].held == 0
    }

    fn polls(&mut self, at: &At, _poll: &Poll, _times: u32) -> bool {
        self.passes_load(at)
    }

    fn load(&mut self, at: &At, access: &Accessed<'_>, world: &mut World<'_>) -> NextOperation {
        if self.begin_access(at, world) {
            return NextOperation::Again;
        }
        if let Some(step) = self.load_together(at, access, world) {
            return step;
        }
        self.load_each(at, access, world)
    }

    fn store(&mut self, at: &At, access: &Accessed<'_>, world: &mut World<'_>) -> NextOperation {
        if self.begin_access(at, world) {
            return NextOperation::Again;
        }
        let site = self.given.sites.at(at.pc);
        if !drains(access.semantics) {
            return self.store_some(at, site, access, world);
        }
        if self.drain_for_device(at, at.lanes, world) {
            return NextOperation::Again;
        }
        if site.slot != NONE {
            self.coins.count(at, site.slot);
        }
        NextOperation::run(at.lanes)
    }

    fn atomic(&mut self, at: &At, access: &Accessed<'_>, world: &mut World<'_>) -> NextOperation {
        if self.begin_access(at, world) {
            return NextOperation::Again;
        }
        let mut stepped = false;
        if drains(access.semantics) {
            stepped = self.drain_for_device(at, at.lanes, world);
        } else {
            self.warp(at).enlist();
            for lane in lanes(self.concerned(at)) {
                let (address, bytes) = (access.address(lane), access.bytes());
                let Some(space) = space_of(address) else { continue };
                let held = self.held(at, space, address, bytes);
                stepped |= held != 0 && self.leave(at, held, world)
                    || self.tick(at, lane, world)
                    || self.drain_overlapping(at, lane, (space, address, bytes), world);
            }
        }
        if stepped {
            return NextOperation::Again;
        }
        self.count_calls(at, at.lanes);
        self.ctas[at.cta as usize].age(at.lanes.count_ones());
        NextOperation::run(at.lanes)
    }

    fn fence(&mut self, at: &At, fence: Fence, world: &mut World<'_>) -> NextOperation {
        let stepped = if fence.scope == Scope::Cta && fence.kind != FenceKind::Proxy {
            self.ctas[at.cta as usize].age(at.lanes.count_ones());
            self.empty_both(at, at.lanes, Towards::Fence, world)
        } else {
            self.drain_for_device(at, at.lanes, world)
        };
        if stepped { NextOperation::Again } else { NextOperation::run(at.lanes) }
    }

    fn event(&mut self, at: &At, event: ModelEvent, world: &mut World<'_>) -> NextOperation {
        let stepped = match event {
            ModelEvent::Collective => {
                let loaded = self.loaded(at);
                let mut stepped = false;
                for lane in lanes(loaded) {
                    // A step of each lane's.
                    stepped |= self.drain_strong(at, lane, world);
                }
                stepped
            }
            ModelEvent::Barrier | ModelEvent::WarpBarrier => {
                self.ctas[at.cta as usize].age(at.lanes.count_ones());
                self.empty_both(at, at.lanes, Towards::Cta, world)
            }
            ModelEvent::Opaque => self.drain_for_device(at, at.lanes, world),
            ModelEvent::Exit => self.exit(at, world),
        };
        if stepped { NextOperation::Again } else { NextOperation::run(at.lanes) }
    }

    fn is_restless(&self) -> bool {
        self.ages()
    }

    fn holds_back(&self, cta: u32, address: u64, bytes: u32) -> bool {
        self.has(cta, address, bytes)
    }

    fn counts(&self) -> ModelCounts {
        let warps: u64 = self.warps.iter().map(Warp::bytes).sum();
        let bytes = size_of_val(&self.ctas[..]) as u64 + warps + self.coins.bytes();
        ModelCounts {
            delayed: self.counts.delayed,
            flushes: self.counts.flushes.clone(),
            bytes,
            forgotten: 0,
        }
    }
}
