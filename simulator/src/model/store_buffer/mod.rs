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
//! the stores come one by one.
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
mod drain;
mod forward;
mod sites;
mod slots;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use bugaroo_device_handlers::constants::{STRONG_CALLS, cta::HOLDS};
use bugaroo_device_handlers::{launch_key, threshold};
use bugaroo_ptx::op::FenceKind;
use bugaroo_ptx::types::{Scope, Semantics};

use super::notes::Note;
use super::{Accessed, At, Event, Fence, MemoryModel, ModelCounts, Shape, Step, World, is_elsewhere};
use crate::address::{Window, window};
use crate::exec::lanes;
use crate::schedule::Rng;
use buffers::{Entry, Phase, Pool, Thread};
use bugaroo_semantics::effect::drains;
use coins::Coins;
use drain::{Towards, space_of};
use sites::NONE;
pub use sites::Sites;
use slots::Slots;

/// A buffer's space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Space {
    Global = 0,
    Shared = 1,
}

/// Both, in the order in which they drain.
const SPACES: [Space; 2] = [Space::Global, Space::Shared];

/// Largest store that is delayed.
const WIDEST: u32 = 16;

/// What a launch is to show.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Probability with which global and shared stores are delayed.
    pub pw: [f64; 2],
    /// The trial's seed, and the launch's number.
    pub seed: (u64, u64),
    /// Entries of each buffer, 1 to 65,535; more or less is taken to the nearer end.
    pub capacity: u32,
}

/// Lanes of a warp slot, by state of their threads.
#[derive(Clone, Copy, Debug, Default)]
struct Busy {
    /// Those with entries.
    loaded: u32,
    /// Those that have a phase, or have begun to empty a buffer.
    draining: u32,
}

/// The model of one launch.
#[derive(Debug)]
pub struct StoreBuffer {
    thresholds: [u64; 2],
    capacity: u16,
    sites: Arc<Sites>,
    /// Lanes of a warp share the buffers of its first one.
    lockstep: bool,
    coins: Coins,
    shape: Shape,
    /// By warp slot and lane.
    threads: Vec<Thread>,
    busy: Vec<Busy>,
    ctas: Vec<Slots>,
    pool: Pool,
    /// What slots hold.
    draws: Rng,
    delayed: u64,
    flushes: [Vec<u64>; 2],
}

impl StoreBuffer {
    /// The model for one launch of a program with these sites.
    pub fn new(settings: &Settings, sites: Arc<Sites>) -> StoreBuffer {
        let (seed, launch) = settings.seed;
        StoreBuffer {
            thresholds: settings.pw.map(threshold),
            capacity: settings.capacity.clamp(1, u16::MAX.into()) as u16,
            coins: Coins::new(launch_key(seed, launch), sites.store_sites),
            sites,
            lockstep: false,
            shape: Shape::default(),
            threads: Vec::new(),
            busy: Vec::new(),
            ctas: Vec::new(),
            pool: Pool::default(),
            draws: Rng::new(launch_key(seed, launch)),
            delayed: 0,
            flushes: [Vec::new(), Vec::new()],
        }
    }

    /// Whose buffers a lane uses: its own, or, in lockstep, those of its warp.
    fn index(&self, at: &At, lane: usize) -> usize {
        at.warp as usize * 32 + if self.lockstep { 0 } else { lane }
    }

    fn thread(&mut self, at: &At, lane: usize) -> &mut Thread {
        let index = self.index(at, lane);
        &mut self.threads[index]
    }

    /// What a lane has of its own even in lockstep: how far it is in draining.
    fn progress(&mut self, at: &At, lane: usize) -> &mut Thread {
        &mut self.threads[at.warp as usize * 32 + lane]
    }

    /// Lanes that the entries of one concern.
    fn sharing(&self, lane: usize) -> u32 {
        if self.lockstep { !0 } else { 1 << lane }
    }

    fn busy(&mut self, at: &At) -> &mut Busy {
        &mut self.busy[at.warp as usize]
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

    /// What has to be done before a lane's store, a step of it; None when nothing. `coin`: it is to be delayed.
    fn before_store(
        &mut self,
        at: &At,
        lane: usize,
        (space, address, bytes): (Space, u64, u32),
        coin: bool,
        world: &mut World<'_>,
    ) -> bool {
        let held = self.held(at, space, address, bytes);
        // What the CTA holds of these bytes is older than this store.
        if held != 0 && self.leave(at, held, world) {
            return true;
        }
        if self.busy(at).loaded >> lane & 1 == 0 {
            return false;
        }
        if self.tick(at, lane, world) {
            return true;
        }
        let index = self.index(at, lane);
        let thread = &self.threads[index];
        if coin && self.pool.exact(thread, space, address, bytes).is_some() {
            return false;
        }
        if self.drain_overlapping(at, lane, (space, address, bytes), world) {
            return true;
        }
        let thread = &self.threads[index];
        // Once a full buffer has begun to empty, all of it goes.
        let full = thread.entries[space as usize] >= self.capacity || thread.out != 0;
        coin && full && self.empty(at, lane, space, Towards::Device, world)
    }

    /// Keeps a store, for which there is room.
    #[inline(always)]
    fn delay(&mut self, at: &At, lane: usize, space: Space, mut entry: Entry, world: &mut World<'_>) {
        if let Some(notes) = &mut world.notes {
            entry.number = notes.hold(at.warp * 32 + lane as u32);
            notes.push(Note::Held(entry.number.into()));
        }
        let loaded = self.busy(at).loaded >> lane & 1 != 0;
        let index = self.index(at, lane);
        let thread = &mut self.threads[index];
        let older = match loaded {
            true => self.pool.exact(thread, space, entry.address, entry.bytes.into()),
            false => None,
        };
        match older {
            // Its older value is never seen.
            Some(older) => {
                thread.strong += u16::from(entry.strong && !older.strong);
                Self::landed(at, (entry.address, entry.bytes), older.number, false, world);
                older.number = entry.number;
                older.value = entry.value;
                older.strong |= entry.strong;
            }
            None => self.pool.push(thread, space, entry),
        }
        let sharing = self.sharing(lane);
        self.busy(at).loaded |= sharing;
        self.delayed += 1;
    }
}

impl MemoryModel for StoreBuffer {
    fn in_lockstep(&mut self) -> bool {
        self.lockstep = true;
        // A warp's buffers take what those of its lanes would.
        self.capacity = self.capacity.saturating_mul(32);
        true
    }

    fn begin(&mut self, shape: &Shape) {
        self.shape = *shape;
        self.threads = (0..shape.warps * 32).map(Thread::new).collect();
        self.busy = vec![Busy::default(); shape.warps as usize];
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

    fn passes_load(&self, at: &At) -> bool {
        self.busy[at.warp as usize].loaded & at.lanes == 0 && self.ctas[at.cta as usize].held == 0
    }

    fn load(&mut self, at: &At, access: &Accessed<'_>, world: &mut World<'_>) -> Step {
        if self.begin_access(at, world) {
            return Step::Again;
        }
        let concerned = match (self.ctas[at.cta as usize].held, self.busy(at).loaded & at.lanes) {
            (0, loaded) => loaded,
            _ => at.lanes,
        };
        let (mut stepped, mut taken) = (false, 0);
        for lane in lanes(concerned) {
            if self.tick(at, lane, world) {
                stepped = true;
                continue;
            }
            let (step, found) = self.before_load(at, lane, access, world);
            stepped |= step;
            taken |= u32::from(found) << lane;
        }
        if stepped {
            return Step::Again;
        }
        for lane in lanes(taken) {
            self.forward(at, lane, access, world);
        }
        self.count_calls(at, at.lanes);
        self.ctas[at.cta as usize].age(concerned.count_ones());
        Step::Do { run: at.lanes & !taken, taken, again: false }
    }

    fn store(&mut self, at: &At, access: &Accessed<'_>, world: &mut World<'_>) -> Step {
        if self.begin_access(at, world) {
            return Step::Again;
        }
        let site = self.sites.at(at.pc);
        let bytes = access.bytes();
        if drains(access.semantics) {
            if self.drain_for_device(at, at.lanes, world) {
                return Step::Again;
            }
            self.count_executions(at, site.slot);
            return Step::run(at.lanes);
        }
        let mut addresses = [0; 32];
        lanes(at.lanes).for_each(|lane| addresses[lane] = access.address(lane));
        let mut coins = 0;
        if site.slot != NONE && bytes <= WIDEST {
            let counts = *self.coins.row(at.warp, site.slot);
            for lane in lanes(at.lanes) {
                let Some(space) = space_of(addresses[lane]) else { continue };
                let threshold = self.thresholds[space as usize];
                let thread = (at.first_thread + lane as u64) as u32;
                let count = counts[lane].wrapping_mul(access.elements);
                let coin = || u64::from(self.coins.toss(thread, site.number, count));
                coins |= u32::from(threshold != 0 && coin() < threshold) << lane;
            }
        }
        let mut stepped = false;
        // Those whose store can have to do with an entry.
        let concerned = match self.ctas[at.cta as usize].held {
            0 => self.busy(at).loaded & at.lanes,
            _ => at.lanes,
        };
        for lane in lanes(concerned) {
            let address = addresses[lane];
            let Some(space) = space_of(address) else { continue };
            stepped |= self.before_store(at, lane, (space, address, bytes), coins >> lane & 1 != 0, world);
        }
        if stepped {
            return Step::Again;
        }
        self.count_executions(at, site.slot);
        self.count_calls(at, at.lanes);
        let strong = access.semantics != Semantics::Weak;
        for lane in lanes(coins) {
            let address = addresses[lane];
            let Some(space) = space_of(address) else { continue };
            let entry = Entry::new(address, bytes, access.whole_value(lane), strong);
            self.delay(at, lane, space, entry, world);
            if let Some(notes) = &mut world.notes {
                notes.push(Note::Did(lane as u32));
            }
        }
        Step::Do { run: at.lanes & !coins, taken: coins, again: false }
    }

    fn atomic(&mut self, at: &At, access: &Accessed<'_>, world: &mut World<'_>) -> Step {
        if self.begin_access(at, world) {
            return Step::Again;
        }
        let mut stepped = false;
        if drains(access.semantics) {
            stepped = self.drain_for_device(at, at.lanes, world);
        } else {
            for lane in lanes(at.lanes) {
                let (address, bytes) = (access.address(lane), access.bytes());
                let Some(space) = space_of(address) else { continue };
                let held = self.held(at, space, address, bytes);
                stepped |= held != 0 && self.leave(at, held, world)
                    || self.tick(at, lane, world)
                    || self.drain_overlapping(at, lane, (space, address, bytes), world);
            }
        }
        if stepped {
            return Step::Again;
        }
        self.count_calls(at, at.lanes);
        self.ctas[at.cta as usize].age(at.lanes.count_ones());
        Step::run(at.lanes)
    }

    fn fence(&mut self, at: &At, fence: Fence, world: &mut World<'_>) -> Step {
        let stepped = if fence.scope == Scope::Cta && fence.kind != FenceKind::Proxy {
            self.ctas[at.cta as usize].age(at.lanes.count_ones());
            self.empty_both(at, at.lanes, Towards::Fence, world)
        } else {
            self.drain_for_device(at, at.lanes, world)
        };
        if stepped { Step::Again } else { Step::run(at.lanes) }
    }

    fn event(&mut self, at: &At, event: Event, world: &mut World<'_>) -> Step {
        let stepped = match event {
            Event::Collective => {
                let loaded = self.busy(at).loaded & at.lanes;
                let mut stepped = false;
                for lane in lanes(loaded) {
                    // A step of each lane's.
                    stepped |= self.drain_strong(at, lane, world);
                }
                stepped
            }
            Event::Barrier | Event::WarpBarrier => {
                self.ctas[at.cta as usize].age(at.lanes.count_ones());
                self.empty_both(at, at.lanes, Towards::Cta, world)
            }
            Event::Opaque => self.drain_for_device(at, at.lanes, world),
            Event::Exit => self.exit(at, world),
        };
        if stepped { Step::Again } else { Step::run(at.lanes) }
    }

    fn is_restless(&self) -> bool {
        self.ages()
    }

    fn holds_back(&self, cta: u32, address: u64, bytes: u32) -> bool {
        self.has(cta, address, bytes)
    }

    fn counts(&self) -> ModelCounts {
        let threads = size_of_val(&self.threads[..]) + size_of_val(&self.ctas[..]);
        let bytes = threads as u64 + self.pool.bytes() + self.coins.bytes();
        ModelCounts { delayed: self.delayed, flushes: self.flushes.clone(), bytes, forgotten: 0 }
    }
}

impl StoreBuffer {
    /// The lanes have come by a store site once more.
    fn count_executions(&mut self, at: &At, slot: u32) {
        if slot != NONE {
            let counts = self.coins.row(at.warp, slot);
            lanes(at.lanes).for_each(|lane| counts[lane] = counts[lane].wrapping_add(1));
        }
    }
}
