//! The model as its doc has it, plain and slow: per lane a list of entries, per store an entry, one after another.

mod accesses;
mod drains;

use rustc_hash::FxHashMap;

use super::super::buffers::{Entry, Phase};
use super::super::drain::{Towards, space_of};
use super::super::slots::Slots;
use super::super::*;

#[derive(Clone, Default)]
struct Thread {
    /// By space, oldest first.
    entries: [Vec<Entry>; 2],
    /// Which store of the warp's each came by.
    rows: [Vec<u64>; 2],
    calls: u64,
    phase: Phase,
    leaving: u32,
    out: u32,
}

impl Thread {
    fn strong(&self) -> bool {
        self.entries.iter().flatten().any(|entry| entry.strong)
    }

    fn loaded(&self) -> bool {
        self.entries.iter().any(|list| !list.is_empty())
    }

    fn find(&self, space: Space, address: u64, bytes: u32) -> Option<usize> {
        self.entries[space as usize].iter().position(|entry| entry.overlaps(address, bytes))
    }

    fn exact(&self, space: Space, address: u64, bytes: u32) -> Option<usize> {
        let at = self.find(space, address, bytes)?;
        let entry = &self.entries[space as usize][at];
        (entry.address == address && u32::from(entry.bytes) == bytes).then_some(at)
    }

    fn take(&mut self, space: Space, at: usize) -> Entry {
        let entry = self.entries[space as usize].remove(at);
        self.rows[space as usize].remove(at);
        if !self.strong() {
            self.calls = 0;
        }
        entry
    }
}

pub(super) struct Plain {
    settings: StoreBufferSettings,
    sites: Arc<Sites>,
    capacity: usize,
    lockstep: bool,
    shape: Shape,
    threads: Vec<Thread>,
    ctas: Vec<Slots>,
    /// By thread in the grid and store site.
    counts: FxHashMap<(u64, u32), u32>,
    draws: Rng,
    /// Where each row's stores go: step, base, bytes.
    places: Vec<(Option<u64>, u64, u32)>,
    counted: ModelCounts,
}

impl Plain {
    pub fn new(settings: &StoreBufferSettings, sites: Arc<Sites>) -> Plain {
        Plain {
            capacity: settings.capacity as usize,
            draws: Rng::new(launch_key(settings.seed.0, settings.seed.1)),
            settings: settings.clone(),
            sites,
            lockstep: false,
            shape: Shape::default(),
            threads: Vec::new(),
            ctas: Vec::new(),
            counts: FxHashMap::default(),
            places: Vec::new(),
            counted: ModelCounts::default(),
        }
    }

    /// The thread whose entries a lane uses.
    fn thread(&mut self, at: &At, lane: usize) -> &mut Thread {
        let lane = if self.lockstep { 0 } else { lane };
        &mut self.threads[at.warp as usize * 32 + lane]
    }

    /// The thread itself.
    fn progress(&mut self, at: &At, lane: usize) -> &mut Thread {
        &mut self.threads[at.warp as usize * 32 + lane]
    }

    fn loaded(&mut self, at: &At) -> u32 {
        lanes(at.lanes).filter(|lane| self.thread(at, *lane).loaded()).fold(0, |all, lane| all | 1 << lane)
    }

    fn concerned(&mut self, at: &At) -> u32 {
        if self.ctas[at.cta as usize].held == 0 { self.loaded(at) } else { at.lanes }
    }

    fn held(&self, at: &At, space: Space, address: u64, bytes: u32) -> u32 {
        if space == Space::Shared { 0 } else { self.ctas[at.cta as usize].overlapping(address, bytes) }
    }
}

impl MemoryModel for Plain {
    fn in_lockstep(&mut self) -> bool {
        self.lockstep = true;
        self.capacity *= 32;
        true
    }

    fn begin(&mut self, shape: &Shape) {
        self.shape = *shape;
        self.threads = vec![Thread::default(); shape.warps as usize * 32];
        self.ctas = vec![Slots::default(); shape.ctas as usize];
    }

    fn start_block(&mut self, cta: u32, _block: u64) {
        self.ctas[cta as usize] = Slots::default();
    }

    fn end_block(&mut self, cta: u32, world: &mut World<'_>) {
        let at = At { warp: 0, cta, block: 0, first_thread: 0, lanes: 0, pc: 0 };
        while self.leave(&at, u32::MAX, world) {}
    }

    fn load(&mut self, at: &At, access: &Accessed<'_>, world: &mut World<'_>) -> NextOperation {
        if self.expire(at, world) {
            return NextOperation::Again;
        }
        let concerned = self.concerned(at);
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
            return NextOperation::Again;
        }
        lanes(taken).for_each(|lane| self.forward(at, lane, access, world));
        self.count_calls(at);
        self.ctas[at.cta as usize].age(concerned.count_ones());
        NextOperation::split(at.lanes & !taken, taken)
    }

    fn store(&mut self, at: &At, access: &Accessed<'_>, world: &mut World<'_>) -> NextOperation {
        if self.expire(at, world) {
            return NextOperation::Again;
        }
        let site = self.sites.at(at.pc);
        let (bytes, strong) = (access.bytes(), access.semantics != Semantics::Weak);
        let mut coins = 0;
        if drains(access.semantics) {
            if self.drain_for_device(at, world) {
                return NextOperation::Again;
            }
        } else {
            coins = lanes(at.lanes)
                .filter(|lane| self.coin(at, *lane, site, access))
                .fold(0, |all, lane| all | 1u32 << lane);
            let emptying = lanes(at.lanes).filter(|lane| self.thread(at, *lane).out != 0);
            let emptying = emptying.fold(0, |all, lane| all | 1u32 << lane);
            let (mut stepped, mut full) = (0, 0);
            for lane in lanes(self.concerned(at) & !emptying) {
                let Some(space) = space_of(access.address(lane)) else { continue };
                let (address, coin) = (access.address(lane), coins >> lane & 1 != 0);
                if self.before_store(at, lane, (space, address, bytes), coin, world) {
                    stepped |= 1u32 << lane;
                    continue;
                }
                let capacity = self.capacity;
                let thread = self.thread(at, lane);
                let has_room = thread.entries[space as usize].len() < capacity
                    || thread.exact(space, address, bytes).is_some();
                full |= u32::from(coin && !has_room) << lane;
            }
            if self.make_room(at, access, (stepped, full, emptying), world) || stepped != 0 {
                return NextOperation::Again;
            }
            self.count_calls(at);
        }
        for lane in lanes(at.lanes) {
            *self.counts.entry((at.first_thread + lane as u64, site.slot)).or_default() += 1;
        }
        let rows = self.rows(at, access);
        for lane in lanes(coins) {
            let Some(space) = space_of(access.address(lane)) else { continue };
            let entry = Entry::new(access.address(lane), bytes, access.whole_value(lane), strong);
            self.delay(at, (lane, rows[space as usize]), space, entry, world);
        }
        NextOperation::split(at.lanes & !coins, coins)
    }

    fn atomic(&mut self, at: &At, access: &Accessed<'_>, world: &mut World<'_>) -> NextOperation {
        if self.expire(at, world) {
            return NextOperation::Again;
        }
        let mut stepped = false;
        if drains(access.semantics) {
            stepped = self.drain_for_device(at, world);
        } else {
            for lane in lanes(at.lanes) {
                let Some(space) = space_of(access.address(lane)) else { continue };
                let place = (space, access.address(lane), access.bytes());
                let held = self.held(at, place.0, place.1, place.2);
                stepped |= held != 0 && self.leave(at, held, world)
                    || self.tick(at, lane, world)
                    || self.drain_overlapping(at, lane, place, world);
            }
        }
        if stepped {
            return NextOperation::Again;
        }
        self.count_calls(at);
        self.ctas[at.cta as usize].age(at.lanes.count_ones());
        NextOperation::run(at.lanes)
    }

    fn fence(&mut self, at: &At, fence: Fence, world: &mut World<'_>) -> NextOperation {
        let stepped = if fence.scope == Scope::Cta && fence.kind != FenceKind::Proxy {
            self.ctas[at.cta as usize].age(at.lanes.count_ones());
            self.empty_both(at, Towards::Fence, world)
        } else {
            self.drain_for_device(at, world)
        };
        if stepped { NextOperation::Again } else { NextOperation::run(at.lanes) }
    }

    fn event(&mut self, at: &At, event: ModelEvent, world: &mut World<'_>) -> NextOperation {
        let slot = at.cta as usize;
        let stepped = match event {
            ModelEvent::Collective => {
                let loaded = self.loaded(at);
                lanes(loaded).filter(|lane| self.drain_strong(at, *lane, world)).count() != 0
            }
            ModelEvent::Barrier | ModelEvent::WarpBarrier => {
                self.ctas[slot].age(at.lanes.count_ones());
                self.empty_both(at, Towards::Cta, world)
            }
            ModelEvent::Opaque => self.drain_for_device(at, world),
            ModelEvent::Exit => {
                let gone = self.ctas[slot].exited + at.lanes.count_ones();
                let last = gone == self.shape.threads_per_cta;
                let stepped =
                    self.empty_both(at, Towards::Device, world) || last && self.leave(at, u32::MAX, world);
                self.ctas[slot].exited += if stepped { 0 } else { at.lanes.count_ones() };
                stepped
            }
        };
        if stepped { NextOperation::Again } else { NextOperation::run(at.lanes) }
    }

    fn is_restless(&self) -> bool {
        self.threads.iter().any(Thread::strong) || self.ctas.iter().any(|slots| slots.held != 0)
    }

    fn counts(&self) -> ModelCounts {
        self.counted.clone()
    }
}
