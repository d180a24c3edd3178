//! Random executions.

use bugaroo_ptx::op::AtomOp;
use bugaroo_ptx::types::Scope;
use bugaroo_semantics::event::{AccessKind, Addresses, WhoseBytes, WorkId, WorkKind};

use crate::world::{How, LOAD, STORE, Thread, World};

/// A small generator of numbers (SplitMix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
    pub fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }
}

/// A store that is held.
pub struct Held {
    memory: WhoseBytes,
    address: u64,
    size: u32,
    number: u64,
    strong: bool,
}

/// A barrier under way.
pub struct Episode {
    pub grid: WorkId,
    pub block: u64,
    pub barrier: u32,
    /// First thread of the warp, lanes, whether they wait, whether they have arrived.
    pub parties: Vec<(u32, u32, bool, bool)>,
    pub arrived: Vec<usize>,
}

pub struct Actor {
    pub thread: Thread,
    pub held: Vec<Held>,
    pub exited: bool,
}

/// A cluster's barrier under way: who has arrived, who has left.
pub struct Meeting {
    pub arrived: Vec<usize>,
    pub parties: Vec<(Thread, u32, u8)>,
}

pub struct Generator {
    pub random: Random,
    pub world: World,
    pub actors: Vec<Actor>,
    pub episodes: Vec<Episode>,
    pub meetings: Vec<Meeting>,
    pub exits: Vec<((WorkId, u64), Vec<usize>, u32)>,
    /// Writes that a read may name: memory, address, size, number.
    pub named: Vec<(WhoseBytes, u64, u32, u64, bool)>,
    pub bases: Vec<u64>,
    pub strong_bias: u64,
    pub sources: bool,
    pub hold: bool,
    pub several: bool,
    /// Mostly strong accesses that do not race, and `fence.sc`.
    pub fenced: bool,
    /// Grids, and whether each has ended.
    pub grids: Vec<(WorkId, bool)>,
}

pub const SCOPES: [Scope; 4] = [Scope::Cta, Scope::Cluster, Scope::Gpu, Scope::Sys];

impl Generator {
    pub fn new(seed: u64) -> Generator {
        let mut random = Random(seed);
        let mut world = World::new();
        let several = random.chance(25);
        let grids: u32 = if several { 2 + random.below(2) as u32 } else { 1 };
        let mut actors = Vec::new();
        for grid in 1..=grids {
            let after: Vec<WorkId> = (1..grid).filter(|_| random.chance(30)).collect();
            world.work(grid, WorkKind::Grid, random.below(3) as u32, &after);
            let blocks = 1 + random.below(4);
            let threads = random.of(&[2, 4, 34, 36, 33]);
            let cluster = if blocks == 4 && random.chance(60) { 2 } else { 1 };
            world.begin(grid, blocks, threads, cluster);
            for block in 0..blocks {
                for thread in [0, 1, 32, 33].into_iter().filter(|thread| *thread < threads) {
                    actors.push(Actor { thread: (grid, block, thread), held: Vec::new(), exited: false });
                }
            }
        }
        let most = 3 + random.below(10) as usize;
        while actors.len() > most {
            let at = random.below(actors.len() as u64) as usize;
            actors.remove(at);
        }
        let bases = (0..1 + random.below(3)).map(|i| 0x1000 + i * 8).collect();
        let strong_bias = random.of(&[20, 50, 80]);
        let (sources, hold) = (random.chance(40), random.chance(30));
        world.numbered = sources || random.chance(10);
        let fenced = !several && !world.numbered && random.chance(50);
        Generator {
            random,
            world,
            actors,
            episodes: Vec::new(),
            meetings: Vec::new(),
            exits: Vec::new(),
            named: Vec::new(),
            bases,
            strong_bias,
            sources,
            hold,
            several,
            fenced,
            grids: (1..=grids).map(|grid| (grid, false)).collect(),
        }
    }

    pub fn run(&mut self) {
        let steps = 10 + self.random.below(50);
        for _ in 0..steps {
            self.step();
        }
        for actor in 0..self.actors.len() {
            self.drain(actor);
        }
    }

    pub fn busy(&self, thread: Thread) -> bool {
        self.episodes.iter().any(|episode| {
            (episode.grid, episode.block) == (thread.0, thread.1)
                && episode.parties.iter().any(|party| {
                    party.0 == (thread.2 & !31) && party.1 >> (thread.2 & 31) & 1 != 0 && party.2 && party.3
                })
        })
    }

    fn step(&mut self) {
        if self.actors.is_empty() {
            return;
        }
        let actor = self.random.below(self.actors.len() as u64) as usize;
        let thread = self.actors[actor].thread;
        if self.several && self.random.chance(5) {
            return self.end(thread.0);
        }
        if !self.ready(thread.0) {
            return;
        }
        if self.actors[actor].exited || self.busy(thread) {
            return self.advance();
        }
        match self.random.below(100) {
            0..=59 => self.access(actor),
            60..=64 => self.burst(thread),
            65..=79 => self.fence(actor),
            80..=84 => self.begin_episode(thread),
            85..=91 => self.advance(),
            92..=93 => self.warp_barrier(thread),
            94 => self.exit(actor),
            95..=96 => self.cluster(thread),
            _ => self.land(actor),
        }
    }

    /// All that a grid comes behind has ended, and it has not.
    pub fn ready(&self, grid: WorkId) -> bool {
        self.grids.iter().all(|(other, ended)| {
            if *other == grid { !*ended } else { *ended || !self.world.behind(grid, *other) }
        })
    }

    fn end(&mut self, grid: WorkId) {
        if !self.ready(grid) {
            return;
        }
        (0..self.actors.len())
            .filter(|actor| self.actors[*actor].thread.0 == grid)
            .collect::<Vec<_>>()
            .into_iter()
            .for_each(|actor| self.drain(actor));
        self.episodes.retain(|episode| episode.grid != grid);
        self.meetings.retain(|meeting| meeting.parties[0].0.0 != grid);
        self.grids.iter_mut().filter(|other| other.0 == grid).for_each(|other| other.1 = true);
        self.world.end(grid);
    }

    pub fn drain(&mut self, actor: usize) {
        while !self.actors[actor].held.is_empty() {
            self.land(actor);
        }
    }

    fn land(&mut self, actor: usize) {
        if self.actors[actor].held.is_empty() {
            return;
        }
        let held = self.actors[actor].held.remove(0);
        let thread = self.actors[actor].thread;
        let Held { memory, address, size, number, strong } = held;
        if size > 1 && self.random.chance(20) {
            self.world.landed(thread, memory, address, size / 2, number, true);
            self.world.landed(thread, memory, address + u64::from(size / 2), size / 2, number, true);
        } else {
            let last = !self.random.chance(10);
            self.world.landed(thread, memory, address, size, number, last);
        }
        self.named.push((memory, address, size, number, strong));
    }

    pub fn memory(&mut self, thread: Thread) -> (WhoseBytes, u64) {
        let base = self.random.of(&self.bases);
        if self.random.chance(25) {
            (WhoseBytes::Shared(thread.1 as u32), 0x400 + (base & 0xff))
        } else {
            (WhoseBytes::Global, base)
        }
    }

    fn access(&mut self, actor: usize) {
        let thread = self.actors[actor].thread;
        let (mut memory, mut base) = self.memory(thread);
        let mut how = match self.random.below(10) {
            0..=3 => LOAD,
            4..=7 => STORE,
            _ => How { kind: AccessKind::Atomic(AtomOp::Add), wrote: true, ..LOAD },
        };
        if how.kind != LOAD.kind && how.kind != STORE.kind && self.random.chance(30) {
            how = How { kind: AccessKind::Atomic(AtomOp::Cas), wrote: false, ..how };
        }
        let atomic = matches!(how.kind, AccessKind::Atomic(_));
        let calm = self.fenced && (atomic || self.random.chance(92));
        let apart = self.fenced && !calm;
        if apart {
            (memory, base) = (WhoseBytes::Global, 0x8000);
        }
        how.size = if calm || self.random.chance(60) { 4 } else { self.random.of(&[1, 2, 4, 8]) };
        if atomic && how.size < 4 {
            how.size = 4;
        }
        if atomic || calm || (!apart && self.random.chance(self.strong_bias)) {
            let wide = self.random.of(&[Scope::Gpu, Scope::Gpu, Scope::Gpu, Scope::Sys]);
            let any = self.random.of(&SCOPES);
            how.scope = Some(if calm || self.random.chance(60) { wide } else { any });
            let often = if self.fenced { 5 } else { 40 };
            how.acquire = how.kind != AccessKind::Store && self.random.chance(often);
            how.release = how.kind != AccessKind::Load && self.random.chance(often);
        }
        // Grids side by side that synchronise through memory are not compared.
        let own = if self.several && how.scope.is_some() && memory == WhoseBytes::Global {
            0x4000 * u64::from(thread.0)
        } else {
            0
        };
        let slots = 8 / u64::from(how.size);
        let at = base + own + u64::from(how.size) * self.random.below(slots);
        if how.size <= 4 && !atomic && !how.acquire && !how.release && self.random.chance(10) {
            how.elements = if how.size == 4 { 2 } else { self.random.of(&[2, 4]) };
        }
        let at = at & !u64::from(how.size * how.elements - 1);
        let end = at + u64::from(how.size * how.elements);
        let meets = |held: &Held| {
            held.memory == memory
                && held.address / 4 * 4 < end.div_ceil(4) * 4
                && at / 4 * 4 < (held.address + u64::from(held.size)).div_ceil(4) * 4
        };
        let exact = |held: &Held| held.memory == memory && held.address == at && held.size == how.size;
        let position = self.actors[actor].held.iter().rposition(meets);
        if let Some(position) = position {
            let is_exact = exact(&self.actors[actor].held[position]);
            if how.kind == AccessKind::Load && is_exact && how.elements == 1 && self.random.chance(50) {
                how.own = true;
            } else {
                self.drain(actor);
            }
        }
        if how.release {
            self.drain(actor);
        }
        if how.kind == AccessKind::Store
            && !how.release
            && how.elements == 1
            && self.hold
            && self.random.chance(40)
        {
            how.held = true;
        }
        if self.sources
            && how.kind != AccessKind::Store
            && !how.own
            && how.elements == 1
            && self.random.chance(40)
        {
            let fits: Vec<u64> = self
                .named
                .iter()
                .filter(|write| write.0 == memory && write.1 <= at && end <= write.1 + u64::from(write.2))
                .map(|write| write.3)
                .collect();
            // What a failed compare has read, if it is not strong, is taken for what memory holds: in doubt.
            let failed = atomic && !how.wrote;
            let (size, here) = (how.size, memory);
            let fits: Vec<u64> = if failed {
                let fit = |write: &&(WhoseBytes, u64, u32, u64, bool)| {
                    write.4 && (write.0, write.1, write.2) == (here, at, size)
                };
                self.named.iter().filter(fit).map(|write| write.3).collect()
            } else {
                fits
            };
            how.source = if failed && fits.is_empty() {
                None
            } else {
                Some(if fits.is_empty() || (!failed && self.random.chance(5)) {
                    0
                } else {
                    self.random.of(&fits)
                })
            };
        }
        // A few lanes together, now and then: in a row, at one address, or spread.
        let lane = thread.2 & 31;
        let bytes = u64::from(how.size * how.elements);
        let free = how.source.is_none() && !how.held && !how.own;
        let shape = self.world.shape(thread.0);
        let there = (shape.threads_per_cta - (thread.2 & !31)).min(32);
        let neighbours = self.neighbours(thread);
        let together = free && !self.fenced && neighbours.count_ones() > 1 && self.random.chance(30);
        let whole = free
            && !self.fenced
            && !how.acquire
            && !how.release
            && there == 32
            && self.quiet(thread)
            && self.random.chance(15);
        if whole {
            self.whole(thread, memory, at, how);
            return;
        }
        let mut all = [at; 32];
        let mut mask = 1 << lane;
        if together {
            mask |= neighbours;
            let stride = self.random.of(&[0, 0, bytes, bytes, 8, 2 * bytes, 16]);
            all = std::array::from_fn(|i| {
                at.wrapping_add(stride * i as u64).wrapping_sub(stride * u64::from(lane))
            });
            all.iter_mut().for_each(|at| *at &= !(bytes - 1));
        }
        let (_, number) = self.world.access(thread, mask, memory, Addresses::Each(&all), how);
        if how.held {
            self.actors[actor].held.push(Held {
                memory,
                address: at,
                size: how.size,
                number,
                strong: how.scope.is_some(),
            });
        } else if how.kind.writes() && how.wrote | (how.kind == AccessKind::Store) && mask.count_ones() == 1 {
            self.named.push((memory, at, how.size * how.elements, number, how.scope.is_some()));
        }
    }

    /// Lanes of a thread's warp that could do something with it.
    fn neighbours(&self, thread: Thread) -> u32 {
        self.actors
            .iter()
            .filter(|other| {
                let of = other.thread;
                (of.0, of.1, of.2 & !31) == (thread.0, thread.1, thread.2 & !31)
                    && !other.exited
                    && other.held.is_empty()
            })
            .map(|other| other.thread)
            .filter(|other| !self.busy(*other))
            .fold(0, |mask, other| mask | 1 << (other.2 & 31))
    }

    /// Nothing of a warp waits, has ended or holds back.
    fn quiet(&self, thread: Thread) -> bool {
        let same = |of: Thread| (of.0, of.1, of.2 & !31) == (thread.0, thread.1, thread.2 & !31);
        self.actors
            .iter()
            .filter(|actor| same(actor.thread))
            .all(|actor| !actor.exited && actor.held.is_empty())
            && !self.episodes.iter().any(|episode| (episode.grid, episode.block) == (thread.0, thread.1))
            && !self.exits.iter().any(|exit| exit.0 == (thread.0, thread.1))
            && !self
                .meetings
                .iter()
                .any(|meeting| !meeting.parties.is_empty() && meeting.parties[0].0.0 == thread.0)
    }

    fn fence(&mut self, actor: usize) {
        self.drain(actor);
        let scope = if self.random.chance(if self.fenced { 85 } else { 50 }) {
            Scope::Gpu
        } else {
            self.random.of(&SCOPES)
        };
        let (sc, acquire, release) = self.random.of(&[
            (true, true, true),
            (false, true, true),
            (false, true, true),
            (false, true, false),
            (false, false, true),
        ]);
        // Nor those that synchronise by fences.
        let sc = (sc || (self.fenced && self.random.chance(70))) && !self.several;
        let (acquire, release) = (acquire | sc, release | sc);
        let thread = self.actors[actor].thread;
        let there = (self.world.shape(thread.0).threads_per_cta - (thread.2 & !31)).min(32);
        let mask = match self.random.below(10) {
            0..=1 if there == 32 && self.quiet(thread) => u32::MAX,
            0..=4 => self.neighbours(thread) | 1 << (thread.2 & 31),
            _ => 1 << (thread.2 & 31),
        };
        self.world.fence_of(thread, mask, scope, sc, acquire, release);
    }
}
