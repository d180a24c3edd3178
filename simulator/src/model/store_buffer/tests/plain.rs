//! The model as its doc has it, plain and slow: per lane a list of entries, per store an entry, one after another.

use bugaroo_device_handlers::coin;
use rustc_hash::FxHashMap;

use super::super::buffers::{Entry, Phase};
use super::super::delay::FULL_STEPS;
use super::super::drain::{Towards, range, space_of};
use super::super::slots::Slots;
use super::super::*;

#[derive(Clone, Default)]
struct Thread {
    /// By space, oldest first.
    entries: [Vec<Entry>; 2],
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

    fn write(at: &At, entry: &Entry, world: &mut World<'_>) {
        world.write(at.cta, entry.address, entry.bytes.into(), entry.value());
        StoreBuffer::landed(at, (entry.address, entry.bytes), entry.number, true, world);
    }

    fn leave(&mut self, at: &At, among: u32, world: &mut World<'_>) -> bool {
        let left = self.ctas[at.cta as usize].leave(among);
        left.iter().for_each(|entry| Self::write(at, entry, world));
        left.is_some()
    }

    fn expire(&mut self, at: &At, world: &mut World<'_>) -> bool {
        let expired = self.ctas[at.cta as usize].expired;
        expired != 0 && self.leave(at, expired, world)
    }

    fn empty(&mut self, at: &At, lane: usize, space: Space, to: Towards, world: &mut World<'_>) -> bool {
        let thread = self.thread(at, lane);
        let (length, out) = (thread.entries[space as usize].len(), thread.out);
        if length == 0 {
            return false;
        }
        thread.out = if length == 1 { 0 } else { (out + 1).min(255) };
        let newest = thread.take(space, length - 1);
        if out == 0 {
            let flushes = &mut self.counted.flushes[space as usize];
            flushes.resize(flushes.len().max(length + 1), 0);
            flushes[length] += 1;
        }
        let held = space == Space::Global
            && match to {
                Towards::Device => false,
                Towards::Cta => !newest.strong && out < HOLDS,
                Towards::Fence => !newest.strong || self.draws.next() & 1 != 0,
            };
        if held {
            let older = self.held(at, space, newest.address, newest.bytes.into());
            while older != 0 && self.leave(at, older, world) {}
        }
        let goes =
            if held { self.ctas[at.cta as usize].hold(newest, out, self.draws.next()) } else { Some(newest) };
        goes.iter().for_each(|entry| Self::write(at, entry, world));
        true
    }

    fn empty_both(&mut self, at: &At, to: Towards, world: &mut World<'_>) -> bool {
        let loaded = self.loaded(at);
        for lane in lanes(loaded) {
            let _ = SPACES.into_iter().any(|space| self.empty(at, lane, space, to, world));
            while to == Towards::Fence
                && self.ctas[at.cta as usize].held != u32::MAX
                && self.draws.next() & 7 != 0
                && self.empty(at, lane, Space::Global, to, world)
            {}
        }
        loaded != 0
    }

    fn drain_for_device(&mut self, at: &At, world: &mut World<'_>) -> bool {
        let held = self.ctas[at.cta as usize].held;
        let begun = lanes(at.lanes).any(|lane| self.progress(at, lane).phase != Phase::Idle);
        if held == 0 && self.loaded(at) == 0 && !begun {
            return false;
        }
        let mut leaving = 0;
        for lane in lanes(at.lanes) {
            let thread = self.progress(at, lane);
            if thread.phase == Phase::Idle {
                (thread.phase, thread.leaving) = (Phase::Leaving, held);
            }
            if thread.phase == Phase::Leaving {
                leaving |= thread.leaving;
            }
        }
        if self.leave(at, leaving, world) {
            return true;
        }
        lanes(at.lanes).for_each(|lane| self.progress(at, lane).phase = Phase::Emptying);
        if self.empty_both(at, Towards::Device, world) {
            return true;
        }
        lanes(at.lanes).for_each(|lane| self.progress(at, lane).phase = Phase::Idle);
        false
    }

    fn drain_strong(&mut self, at: &At, lane: usize, world: &mut World<'_>) -> bool {
        let thread = self.thread(at, lane);
        for space in SPACES {
            if let Some(found) = thread.entries[space as usize].iter().position(|entry| entry.strong) {
                let entry = thread.take(space, found);
                Self::write(at, &entry, world);
                return true;
            }
        }
        false
    }

    fn tick(&mut self, at: &At, lane: usize, world: &mut World<'_>) -> bool {
        self.thread(at, lane).calls + 1 >= STRONG_CALLS && self.drain_strong(at, lane, world)
    }

    fn drain_overlapping(
        &mut self,
        at: &At,
        lane: usize,
        place: (Space, u64, u32),
        world: &mut World<'_>,
    ) -> bool {
        let thread = self.thread(at, lane);
        let Some(found) = thread.find(place.0, place.1, place.2) else { return false };
        let entry = thread.take(place.0, found);
        Self::write(at, &entry, world);
        true
    }

    fn count_calls(&mut self, at: &At) {
        let loaded = self.loaded(at);
        for lane in lanes(loaded).take(if self.lockstep { 1 } else { 32 }) {
            let thread = self.thread(at, lane);
            thread.calls += u64::from(thread.strong());
        }
    }

    fn before_load(
        &mut self,
        at: &At,
        lane: usize,
        access: &Accessed<'_>,
        world: &mut World<'_>,
    ) -> (bool, bool) {
        let first = access.address(lane);
        let Some(space) = space_of(first) else { return (false, false) };
        let mut concerned = false;
        for element in 0..access.elements {
            let (address, bytes) = (first + u64::from(element * access.size), access.size);
            let held = self.held(at, space, address, bytes);
            let thread = self.thread(at, lane);
            let own = thread.find(space, address, bytes).map(|found| thread.entries[space as usize][found]);
            let from = own.or_else(|| self.ctas[at.cta as usize].holder(address, bytes).copied());
            let from = if space == Space::Shared { own } else { from };
            let Some(from) = from else { continue };
            if !drains(access.semantics) && from.part(address, bytes).is_some() {
                concerned = true;
                continue;
            }
            let stepped = held != 0 && self.leave(at, held, world)
                || self.drain_overlapping(at, lane, (space, address, bytes), world);
            return (stepped, true);
        }
        (false, concerned)
    }

    fn forward(&mut self, at: &At, lane: usize, access: &Accessed<'_>, world: &mut World<'_>) {
        let first = access.address(lane);
        let Some(space) = space_of(first) else { return };
        for element in 0..access.elements {
            let (address, bytes) = (first + u64::from(element * access.size), access.size);
            let thread = self.thread(at, lane);
            let own = thread.find(space, address, bytes).map(|found| thread.entries[space as usize][found]);
            let held = self.ctas[at.cta as usize].holder(address, bytes).copied();
            let from = own.or(held.filter(|_| space == Space::Global));
            if let (Some(from), Some(notes)) = (from, &mut world.notes) {
                let thread = at.warp * 32 + lane as u32;
                if notes.owner(from.number) == Some(thread) {
                    notes.push(Note::Own(1 << element));
                } else {
                    notes.push(Note::Sourced(1 << element));
                    let range = range(at.cta, address, bytes.into());
                    notes.push(Note::Read { thread, range, write: from.number.into(), own: true });
                }
            }
            let value = from.and_then(|from| from.part(address, bytes));
            access.supply(lane, element, value.unwrap_or_else(|| access.read(lane, element)));
        }
        if let Some(notes) = &mut world.notes {
            notes.push(Note::Did(lane as u32));
        }
    }

    fn before_store(
        &mut self,
        at: &At,
        lane: usize,
        (space, address, bytes): (Space, u64, u32),
        coin: bool,
        world: &mut World<'_>,
    ) -> bool {
        let (capacity, held) = (self.capacity, self.held(at, space, address, bytes));
        if held != 0 && self.leave(at, held, world) {
            return true;
        }
        if !self.thread(at, lane).loaded() {
            return false;
        }
        if self.tick(at, lane, world) {
            return true;
        }
        if coin && self.thread(at, lane).exact(space, address, bytes).is_some() {
            return false;
        }
        if self.drain_overlapping(at, lane, (space, address, bytes), world) {
            return true;
        }
        let thread = self.thread(at, lane);
        let full = thread.entries[space as usize].len() >= capacity || thread.out != 0;
        let mut stepped = false;
        for _ in 0..capacity.div_ceil(FULL_STEPS as usize) {
            stepped |= coin && full && self.empty(at, lane, space, Towards::Device, world);
            if self.thread(at, lane).out == 0 {
                break;
            }
        }
        stepped
    }

    fn delay(&mut self, at: &At, lane: usize, space: Space, mut entry: Entry, world: &mut World<'_>) {
        if let Some(notes) = &mut world.notes {
            entry.number = notes.hold(at.warp * 32 + lane as u32);
            notes.push(Note::Held(entry.number.into()));
        }
        self.counted.delayed += 1;
        let thread = self.thread(at, lane);
        match thread.exact(space, entry.address, entry.bytes.into()) {
            Some(found) => {
                let older = &mut thread.entries[space as usize][found];
                StoreBuffer::landed(at, (older.address, older.bytes), older.number, false, world);
                entry.strong |= older.strong;
                *older = entry;
            }
            None => thread.entries[space as usize].push(entry),
        }
        if let Some(notes) = &mut world.notes {
            notes.push(Note::Did(lane as u32));
        }
    }

    fn coin(&self, at: &At, lane: usize, site: super::super::sites::Site, access: &Accessed<'_>) -> bool {
        let Some(space) = space_of(access.address(lane)) else { return false };
        let thread = at.first_thread + lane as u64;
        let count = self.counts.get(&(thread, site.slot)).copied().unwrap_or(0) * access.elements;
        let (seed, launch) = self.settings.seed;
        let coin = coin(seed, launch, thread as u32, site.number, count);
        site.slot != NONE
            && access.bytes() <= WIDEST
            && u64::from(coin) < threshold(self.settings.pw[space as usize])
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
        NextOperation::Do { run: at.lanes & !taken, taken, again: false }
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
            let mut stepped = false;
            for lane in lanes(self.concerned(at)) {
                let Some(space) = space_of(access.address(lane)) else { continue };
                let place = (space, access.address(lane), bytes);
                stepped |= self.before_store(at, lane, place, coins >> lane & 1 != 0, world);
            }
            if stepped {
                return NextOperation::Again;
            }
            self.count_calls(at);
        }
        for lane in lanes(at.lanes) {
            *self.counts.entry((at.first_thread + lane as u64, site.slot)).or_default() += 1;
        }
        for lane in lanes(coins) {
            let Some(space) = space_of(access.address(lane)) else { continue };
            let entry = Entry::new(access.address(lane), bytes, access.whole_value(lane), strong);
            self.delay(at, lane, space, entry, world);
        }
        NextOperation::Do { run: at.lanes & !coins, taken: coins, again: false }
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
