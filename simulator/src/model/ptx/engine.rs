//! The machine behind the engine's hooks: model `ptx` on the virtual GPU.
//!
//! Addresses become locations. A vector of up to sixteen bytes is one access, as the hardware does it (the model
//! would allow each element to be one of its own). Loads whose thread knows the last write there are left to the engine;
//! everything else goes through the machine: what lanes do alike as a row ([`rows`]), the rest lane by lane.
//!
//! What no hook tells of (asynchronous copies, `mbarrier`, matrices, `malloc`; memory of other blocks of a cluster)
//! orders: what the thread holds back happens, and everything written so far becomes known to all. Where memory has
//! changed without the machine, it believes memory, and everything is known to all, too. That forbids more
//! than the model does.

mod accesses;
mod bytes;
mod late;
mod meetings;
mod rows;

use std::sync::Arc;

use bugaroo_ptx::op::FenceKind;

use super::PlainMemory;
use super::barriers::Barriers;
use super::patience::Together;
use super::until::{NEVER, until};
use super::{Chances, MemorySpace, PtxMachine, Scope, ThreadKey};
use crate::exec::lanes;
use crate::load::Program;
use crate::model::notes::Note;
use crate::model::swarm::Swarm;
use crate::model::{
    Accessed, At, Fence, MemoryModel, ModelCounts, ModelEvent, NextOperation, Poll, Shape, Split, World,
};
pub(crate) use bytes::order;
use bytes::{Seen, Where, address, find};
use late::{Often, Pending};
use meetings::lanes_of;

/// Lanes by which what the machine keeps of an atomic's granule is fetched ahead.
const AHEAD: usize = 4;

/// What a launch is to show.
#[derive(Clone, Debug)]
pub struct PtxSettings {
    /// Probability with which stores to global and to shared memory wait.
    pub pw: [f64; 2],
    /// Probability with which loads from them read older values than they have to.
    pub pr: [f64; 2],
    /// The trial's seed, and the launch's number.
    pub seed: (u64, u64),
    /// Bytes that may be kept of what was written, about.
    pub memory: u64,
}

/// What the model has to know of a program.
#[derive(Debug)]
pub struct Facts {
    /// For loads that may be late: the instruction at which they have to be resolved.
    until: Vec<u32>,
}

impl Facts {
    /// Finds them.
    pub fn new(program: &Program) -> Facts {
        Facts { until: until(program) }
    }
}

/// The model of one launch.
#[derive(Debug)]
pub struct PtxModel {
    given: Given,
    shape: Shape,
    machine: PtxMachine,
    warps: Warps,
    /// Draws for whole warps.
    random: u64,
    tokens: u64,
    barriers: Vec<Barriers>,
    /// Blocks that have begun.
    begun: u64,
    bytes: u64,
}

/// What the launch is to show, and what is known of its program. Nothing of it changes.
#[derive(Debug)]
struct Given {
    chances: [Chances; 2],
    /// That some lanes of a warp load late from global and from shared memory, in units of 2^-32.
    late: [u32; 2],
    seed: u64,
    /// Which instructions are delayed or read older values, where not all do.
    swarm: Option<Swarm>,
    facts: Arc<Facts>,
    /// What the machine may take.
    memory: u64,
}

/// What is kept of the warps, by warp slot.
#[derive(Debug)]
struct Warps {
    /// By warp slot: lanes whose threads have not ended.
    alive: Vec<u32>,
    /// By warp slot: lanes that have done the instruction at which they are, and stay for a late load.
    staying: Vec<u32>,
    /// By warp slot: loads that are late.
    pending: Vec<Vec<Pending>>,
    /// By warp slot: how often loads have been late.
    often: Vec<Often>,
}

/// What has become of the lanes of a load. The others read what memory holds.
#[derive(Clone, Copy, Debug)]
struct LoadedRow {
    /// Those that have been given their values.
    given: u32,
    /// Those whose values are to be drawn.
    to_draw: u32,
}

impl PtxModel {
    /// The model for one launch of a program with these sites.
    pub fn new(settings: &PtxSettings, facts: Arc<Facts>) -> PtxModel {
        let (seed, launch) = settings.seed;
        let chances = [0, 1].map(|space| Chances::new(settings.pw[space], settings.pr[space]));
        PtxModel {
            given: Given {
                chances,
                late: settings.pr.map(|pr| (pr * 0.25 * f64::from(u32::MAX)) as u32),
                seed: bugaroo_device_handlers::launch_key(seed, launch),
                swarm: None,
                facts,
                memory: settings.memory,
            },
            shape: Shape::default(),
            machine: PtxMachine::new(0, chances[0], 0, settings.memory),
            warps: Warps { alive: Vec::new(), staying: Vec::new(), pending: Vec::new(), often: Vec::new() },
            random: 0,
            tokens: 0,
            barriers: Vec::new(),
            begun: 0,
            bytes: 0,
        }
    }

    /// The same, where some instructions' stores wait and their loads read older values each time, and others' never, by the seed.
    #[must_use]
    pub fn by_swarm(self) -> PtxModel {
        let chances = self.given.chances.map(Chances::always);
        let given = Given { swarm: Some(Swarm::new(self.given.seed)), chances, ..self.given };
        PtxModel { given, ..self }
    }

    /// What may happen at an access of this space.
    fn chances(&self, at: &At, space: MemorySpace, weak: bool) -> Chances {
        match self.given.swarm.is_none_or(|swarm| swarm.has(at.pc, weak)) {
            true => self.given.chances[space as usize],
            false => Chances::default(),
        }
    }

    fn slot(at: &At, lane: usize) -> usize {
        at.warp as usize * 32 + lane
    }

    /// A lane has done something: loads of it that have been resolved get their values.
    #[inline]
    fn settle(&mut self, at: &At, lane: usize) {
        if !self.warps.pending[at.warp as usize].is_empty() {
            self.deliver(at, lane);
        }
    }

    /// Lanes with stores that wait or loads that are late.
    #[inline]
    fn busy(&self, at: &At) -> u32 {
        self.machine.holding(at.warp as usize)
    }

    /// Everything that the lanes hold back happens.
    fn order(&mut self, at: &At, among: u32, memory: &mut Seen<'_, '_>) {
        let busy = self.busy(at) & among;
        self.machine.order_lanes(memory, at.warp as usize, busy);
        lanes(busy).for_each(|lane| self.settle(at, lane));
    }

    /// The answer for an instruction that the lanes `fresh` have come to, and the model has done for `taken`.
    fn done(&mut self, at: &At, fresh: u32, taken: u32, memory: &mut Seen<'_, '_>) -> NextOperation {
        let again = self.stay(at, memory);
        let lanes = Split::new(fresh & !taken, taken);
        if again { NextOperation::DoAndStay(lanes) } else { NextOperation::Do(lanes) }
    }

    /// The lanes that have not done the instruction yet.
    fn fresh(&self, at: &At) -> u32 {
        at.lanes & !self.warps.staying[at.warp as usize]
    }

    /// An access by these lanes, one after another. `access` answers whether it has done the lane's; this, whose have been.
    fn each_lane(
        &mut self,
        among: u32,
        addresses: &[u64; 32],
        memory: &mut Seen<'_, '_>,
        access: impl Fn(&mut Self, (usize, u64), &mut Seen<'_, '_>) -> bool,
    ) -> u32 {
        let mut taken = 0;
        for lane in lanes(among) {
            let done = access(self, (lane, addresses[lane]), memory);
            taken |= u32::from(done) << lane;
            if done && let Some(notes) = memory.notes() {
                notes.push(Note::Did(lane as u32));
            }
        }
        taken
    }

    /// Something that the machine knows nothing about.
    fn opaque(&mut self, at: &At, among: u32, memory: &mut Seen<'_, '_>) {
        self.order(at, among, memory);
        self.machine.all_known();
    }

    fn fence_all(&mut self, at: &At, among: u32, reach: Scope, kind: FenceKind, memory: &mut Seen<'_, '_>) {
        if kind.releases() {
            self.machine.drain_for_release(memory, at.warp as usize, among);
        }
        for lane in lanes(among) {
            self.machine.fence(memory, Self::slot(at, lane), reach, kind);
            self.settle(at, lane);
        }
    }

    fn measure(&mut self) {
        self.bytes = self.bytes.max(self.machine.size().1 as u64);
    }
}

impl MemoryModel for PtxModel {
    fn begin(&mut self, shape: &Shape) {
        self.shape = *shape;
        self.machine = PtxMachine::new(
            shape.warps as usize * 32,
            self.given.chances[0],
            self.given.seed,
            self.given.memory,
        );
        self.machine.set_lonely(shape.threads_per_cta == 1);
        self.machine.set_more_to_come(true);
        self.begun = 0;
        self.warps.pending = (0..shape.warps).map(|_| Vec::new()).collect();
        self.warps.often = vec![Often::default(); shape.warps as usize];
        self.warps.alive = vec![0; shape.warps as usize];
        self.warps.staying = vec![0; shape.warps as usize];
        self.random = self.given.seed;
        self.barriers = (0..shape.ctas).map(|_| Barriers::default()).collect();
    }

    fn start_block(&mut self, cta: u32, block: u64) {
        let shape = self.shape;
        self.begun += 1;
        self.machine.set_more_to_come(self.begun < shape.blocks);
        self.machine.shared_is_known(cta);
        self.machine.name_nothing_of(cta);
        for warp in 0..shape.warps_per_cta {
            let lanes = lanes_of(&shape, warp);
            let count = lanes.count_ones();
            let slot = cta * shape.warps_per_cta + warp;
            self.warps.staying[slot as usize] = 0;
            self.warps.often[slot as usize].clear();
            self.warps.alive[slot as usize] = lanes;
            for lane in 0..count {
                let key = ThreadKey::new(block as u32, warp * 32 + lane);
                self.machine.start((slot * 32 + lane) as usize, key);
            }
        }
        self.barriers[cta as usize] = Barriers::default();
    }

    fn end_block(&mut self, cta: u32, _world: &mut World<'_>) {
        let first = (cta * self.shape.warps_per_cta * 32) as usize;
        let key = self.machine.key(first);
        self.measure();
        self.machine.end_cta(key.cta());
        self.machine.shared_is_known(cta);
    }

    fn passes_load(&self, at: &At) -> bool {
        (self.busy(at) | self.warps.staying[at.warp as usize]) & at.lanes == 0
            && self.machine.is_quiet()
            && (self.given.late == [0; 2] || self.given.facts.until[at.pc as usize] == NEVER)
    }

    fn passes_quiet_load(&self, at: &At) -> bool {
        let warp = at.warp as usize;
        // A load before it may be late until here.
        (self.busy(at) | self.warps.staying[warp]) & at.lanes == 0 && self.warps.pending[warp].is_empty()
    }

    fn polls(&mut self, at: &At, poll: &Poll, times: u32) -> bool {
        if poll.atomic { self.polls_by_atomic(at, poll, times) } else { self.passes_load(at) }
    }

    fn load(&mut self, at: &At, access: &Accessed<'_>, world: &mut World<'_>) -> NextOperation {
        let late = self.late_lanes(at, access, self.fresh(at));
        if late == [0; 2] && self.nothing_known(at, access) {
            return NextOperation::run(at.lanes);
        }
        let memory = &mut Seen { world };
        let fresh = self.fresh(at);
        let row = if late == [0; 2] { self.load_row(at, fresh, access, memory) } else { None };
        let stays = if late == [0; 2] { 0 } else { self.stays_at(at) };
        let addresses = access.addresses();
        if row.is_none() {
            lanes(fresh).for_each(|lane| self.begin_load(at, (lane, addresses[lane]), access, memory));
        }
        let LoadedRow { given, to_draw } = row.unwrap_or(LoadedRow { given: 0, to_draw: fresh });
        let drawn = self.each_lane(to_draw, &addresses, memory, |model, lane, memory| {
            let late = late.map(|late| (late >> lane.0 & 1 != 0).then_some(stays));
            model.load_lane(at, lane, late, access, memory)
        });
        self.done(at, fresh, given | drawn, memory)
    }

    fn store(&mut self, at: &At, access: &Accessed<'_>, world: &mut World<'_>) -> NextOperation {
        let together = Together::new(|| self.draw());
        self.machine.set_together(together);
        let memory = &mut Seen { world };
        let fresh = self.fresh(at);
        let taken = if self.store_row(at, fresh, access, memory) {
            fresh
        } else {
            self.each_lane(fresh, &access.addresses(), memory, |model, lane, memory| {
                model.store_lane(at, lane, access, memory)
            })
        };
        self.machine.set_together(Together::Own);
        self.done(at, fresh, taken, memory)
    }

    fn atomic(&mut self, at: &At, access: &Accessed<'_>, world: &mut World<'_>) -> NextOperation {
        let (memory, fresh) = (&mut Seen { world }, self.fresh(at));
        let addresses = access.addresses();
        let taken = self.each_lane(fresh, &addresses, memory, |model, lane, memory| {
            if let Where::Here(ahead, _) = find(at, addresses[(lane.0 + AHEAD) % addresses.len()]) {
                model.machine.fetch(ahead);
            }
            model.atomic_lane(at, lane, access, memory)
        });
        self.done(at, fresh, taken, memory)
    }

    fn fence(&mut self, at: &At, fence: Fence, world: &mut World<'_>) -> NextOperation {
        let memory = &mut Seen { world };
        let fresh = self.fresh(at);
        if fence.kind == FenceKind::Proxy {
            self.order(at, fresh, memory);
            return self.done(at, fresh, 0, memory);
        }
        self.fence_all(at, fresh, fence.scope, fence.kind, memory);
        self.done(at, fresh, 0, memory)
    }

    fn event(&mut self, at: &At, event: ModelEvent, world: &mut World<'_>) -> NextOperation {
        let memory = &mut Seen { world };
        match event {
            ModelEvent::Barrier | ModelEvent::WarpBarrier => {
                self.order(at, at.lanes, memory);
            }
            // Whoever spins on a strong store of a thread that waits gets on.
            ModelEvent::Collective => {
                self.machine.drain_strong(memory, at.warp as usize, at.lanes);
                lanes(at.lanes).for_each(|lane| self.settle(at, lane));
            }
            ModelEvent::Opaque => self.opaque(at, at.lanes, memory),
            ModelEvent::Exit => {
                self.order(at, at.lanes, memory);
                for lane in lanes(at.lanes) {
                    self.machine.exit(memory, Self::slot(at, lane));
                }
                self.warps.alive[at.warp as usize] &= !at.lanes;
            }
        }
        NextOperation::run(at.lanes)
    }

    fn arrived(&mut self, at: &At, barrier: u32) {
        self.barriers[at.cta as usize].arrive(barrier, at.warp, at.lanes);
    }

    fn released(&mut self, at: &At, barrier: Option<u32>) {
        self.meet(at, barrier);
    }

    fn is_restless(&self) -> bool {
        (0..).zip(&self.warps.alive).any(|(warp, alive)| self.machine.holding(warp) & alive != 0)
    }

    fn others_ran(&mut self) {
        self.machine.all_known();
    }

    fn others_run(&mut self, run: bool) {
        self.machine.know_all(run);
    }

    fn stale_reads(&self) -> Vec<crate::model::StaleLoads> {
        let thread = |key: ThreadKey| (u64::from(key.cta()), key.place());
        let told = |read: super::stale::StaleRead| crate::model::StaleLoads {
            reader: thread(read.reader),
            load: read.load,
            writer: thread(read.writer),
            write: read.write,
            address: address(read.location),
            missing: read.missing,
            synchronising: read.synchronising,
            count: read.count,
        };
        self.machine.stale_reads().into_iter().map(told).collect()
    }

    fn counts(&self) -> ModelCounts {
        ModelCounts {
            delayed: self.machine.waited(),
            bytes: self.bytes.max(self.machine.size().1 as u64),
            forgotten: self.machine.forgotten(),
            ..ModelCounts::default()
        }
    }
}
