//! An execution under construction: told to the detector as it grows, and kept for the axioms.

use bugaroo_detectors::{ExactDetector, RaceDetector, RaceFinding, Who};
use bugaroo_ptx::op::{AtomOp, FenceKind};
use bugaroo_ptx::types::Scope;
use bugaroo_semantics::Observer;
use bugaroo_semantics::effect::Fence;
use bugaroo_semantics::event::{
    Access, AccessKind, Addresses, Event, Lanes, Range, Shape, SiteNumber, Values, WhoseBytes, WorkId,
    WorkKind,
};
use bugaroo_semantics::scope::Strength;

use crate::axioms::{Agent, Axioms, Node, Order, Race, What};

struct Nothing;
impl Values for Nothing {
    fn value(&self, _: u32, _: u32) -> u128 {
        0
    }
}

/// A thread: grid, block, index.
pub type Thread = (WorkId, u64, u32);

/// The shared memory of a slot of a grid, told apart from that of others.
fn of_grid(grid: WorkId, memory: WhoseBytes) -> WhoseBytes {
    match memory {
        WhoseBytes::Global => WhoseBytes::Global,
        WhoseBytes::Shared(slot) => WhoseBytes::Shared(grid << 16 | slot),
    }
}

/// How an access is made.
#[derive(Clone, Copy, Debug)]
pub struct How {
    pub kind: AccessKind,
    /// None: weak.
    pub scope: Option<Scope>,
    pub acquire: bool,
    pub release: bool,
    pub size: u32,
    pub elements: u32,
    /// Of an atomic: it writes.
    pub wrote: bool,
    /// A store that is held back.
    pub held: bool,
    /// The source is told, by the number of a write, or 0.
    pub source: Option<u64>,
    pub own: bool,
}

pub const LOAD: How = How {
    kind: AccessKind::Load,
    scope: None,
    acquire: false,
    release: false,
    size: 4,
    elements: 1,
    wrote: false,
    held: false,
    source: None,
    own: false,
};
pub const STORE: How = How { kind: AccessKind::Store, ..LOAD };
pub const RMW: How =
    How { kind: AccessKind::Atomic(AtomOp::Add), scope: Some(Scope::Gpu), wrote: true, ..LOAD };

pub fn strong(how: How, scope: Scope) -> How {
    How { scope: Some(scope), ..how }
}
pub fn acquire(scope: Scope) -> How {
    How { acquire: true, ..strong(LOAD, scope) }
}
pub fn release(scope: Scope) -> How {
    How { release: true, ..strong(STORE, scope) }
}

pub struct World {
    pub ptx: ExactDetector,
    pub axioms: Axioms,
    pub shapes: Vec<(WorkId, Shape)>,
    pub site: SiteNumber,
    pub number: u64,
    /// The detector is told the writes' numbers.
    pub numbered: bool,
    /// Findings that need another Fence-SC order than that as executed.
    pub beyond: usize,
    works: Vec<(WorkId, u32, Vec<WorkId>)>,
    pub told: Vec<String>,
}

impl World {
    pub fn new() -> World {
        World {
            ptx: ExactDetector::new(),
            axioms: Axioms::default(),
            shapes: Vec::new(),
            site: 100,
            number: 0,
            numbered: false,
            beyond: 0,
            works: Vec::new(),
            told: Vec::new(),
        }
    }

    /// One grid of so many blocks of so many threads.
    pub fn grid(blocks: u64, threads: u32) -> World {
        let mut world = World::new();
        world.work(1, WorkKind::Grid, 0, &[]);
        world.begin(1, blocks, threads, 1);
        world
    }

    /// Whether one piece of work comes behind another.
    pub fn behind(&self, later: WorkId, earlier: WorkId) -> bool {
        self.axioms.works_ordered(earlier, later)
    }

    fn event(&mut self, event: &Event<'_>) {
        self.told.push(format!("{event:?}"));
        self.ptx.event(event);
    }

    pub fn work(&mut self, id: WorkId, kind: WorkKind, chain: u32, after: &[WorkId]) {
        self.work_of(id, kind, chain, after, None);
    }

    /// A piece that a thread of a grid may have asked for. (The axioms take it as behind all of that.)
    pub fn work_of(
        &mut self,
        id: WorkId,
        kind: WorkKind,
        chain: u32,
        after: &[WorkId],
        asked: Option<(WorkId, u32)>,
    ) {
        self.event(&Event::Work { id, kind, chain, after, asked, site: id });
        let mut before: Vec<WorkId> = after.to_vec();
        if let Some(last) = self.works.iter().rev().find(|work| work.1 == chain) {
            before.push(last.0);
        }
        self.axioms.work(id, &before, kind);
        self.works.push((id, chain, before));
    }

    pub fn begin(&mut self, grid: WorkId, blocks: u64, threads: u32, cluster: u32) {
        let warps_per_cta = threads.div_ceil(32);
        let shape = Shape {
            warps: blocks as u32 * warps_per_cta,
            ctas: blocks as u32,
            warps_per_cta,
            threads_per_cta: threads,
            blocks,
            cluster,
            shared_bytes: 1024,
        };
        self.shapes.push((grid, shape));
        self.axioms.cluster.insert(grid, cluster);
        self.event(&Event::GridBegin { grid, shape, lockstep: false, first_site: 0 });
        for block in 0..blocks {
            self.event(&Event::BlockBegin { grid, cta: block as u32, block });
        }
    }

    /// A grid that begins next runs on this device.
    pub fn on(&mut self, grid: WorkId, device: u32) {
        self.axioms.devices.insert(grid, device);
        self.event(&Event::OnDevice { work: grid, device });
    }

    pub fn end(&mut self, grid: WorkId) {
        let blocks = self.shape(grid).blocks;
        for block in 0..blocks {
            self.event(&Event::BlockEnd { grid, cta: block as u32 });
        }
        self.event(&Event::GridEnd { grid });
    }

    pub fn shape(&self, grid: WorkId) -> Shape {
        self.shapes.iter().find(|shape| shape.0 == grid).expect("it has begun").1
    }

    pub fn lanes(&self, (grid, block, thread): Thread, mask: u32) -> Lanes {
        let shape = self.shape(grid);
        Lanes {
            grid,
            warp: block as u32 * shape.warps_per_cta + thread / 32,
            cta: block as u32,
            block,
            first: thread & !31,
            mask,
        }
    }

    fn one(&self, thread: Thread) -> Lanes {
        self.lanes(thread, 1 << (thread.2 & 31))
    }

    /// One thread accesses global memory. Gives the site, and the number of the write.
    pub fn at(&mut self, thread: Thread, address: u64, how: How) -> (SiteNumber, u64) {
        let mut all = [0; 32];
        all[thread.2 as usize & 31] = address;
        self.access(thread, 1 << (thread.2 & 31), WhoseBytes::Global, Addresses::Each(&all), how)
    }

    /// Lanes of the warp of a thread access memory.
    pub fn access(
        &mut self,
        thread: Thread,
        mask: u32,
        memory: WhoseBytes,
        at: Addresses<'_>,
        how: How,
    ) -> (SiteNumber, u64) {
        self.site += 1;
        let by = self.lanes(thread, mask);
        let mut numbers = [0; 32];
        let first_number = self.number + 1;
        if how.kind.writes() {
            for number in &mut numbers {
                self.number += 1;
                *number = self.number;
            }
        }
        let wrote = match how.kind {
            AccessKind::Load => 0,
            AccessKind::Store => mask,
            AccessKind::Atomic(_) => {
                if how.wrote {
                    mask
                } else {
                    0
                }
            }
        };
        let all = |flag: bool| if flag { mask } else { 0 };
        let access = Access {
            by,
            site: self.site,
            kind: how.kind,
            strength: how.scope.map_or(Strength::Weak, Strength::Strong),
            acquire: how.acquire,
            release: how.release,
            memory,
            size: how.size,
            elements: how.elements,
            at,
            wrote,
            held: all(how.held),
            own: all(how.own),
            sourced: all(how.source.is_some()),
            numbers: (how.kind.writes() && self.numbered).then_some(&numbers),
            values: &Nothing,
        };
        let places: Vec<u64> = by.each().take(4).map(|lane| access.address(lane)).collect();
        self.told.push(
            format!(
                "{by:?} {} {places:?} {} {how:?} {memory:?}",
                self.site,
                first_number + u64::from(mask.trailing_zeros())
            )
            .replace("acquire: false, release: false, ", ""),
        );
        self.ptx.access(&access);
        for lane in by.each() {
            for element in 0..how.elements {
                let address = access.address(lane) + u64::from(element * how.size);
                let agent = Agent::Thread(by.grid, by.block, by.first + lane);
                self.axioms.access(
                    agent,
                    of_grid(by.grid, memory),
                    address,
                    self.site,
                    numbers[lane as usize],
                    &how,
                );
                if let Some(number) = how.source {
                    let range = Range { memory, address, bytes: u64::from(how.size) };
                    let by = Lanes { mask: 1 << lane, ..by };
                    if how.scope.is_some() {
                        self.event(&Event::ReadFrom { by, range, write: number });
                    }
                }
            }
        }
        (self.site, first_number + u64::from(mask.trailing_zeros()))
    }

    pub fn landed(
        &mut self,
        thread: Thread,
        memory: WhoseBytes,
        address: u64,
        size: u32,
        number: u64,
        last: bool,
    ) {
        let range = Range { memory, address, bytes: u64::from(size) };
        let by = self.one(thread);
        let write = if self.numbered { number } else { 0 };
        self.event(&Event::Landed { by, range, write, last });
        if last {
            self.axioms.landed(of_grid(thread.0, memory), address, size, number);
        }
    }

    pub fn fence(&mut self, thread: Thread, scope: Scope, sc: bool, acquire: bool, release: bool) {
        let by = self.one(thread);
        self.fence_of(thread, by.mask, scope, sc, acquire, release);
    }

    pub fn fence_of(
        &mut self,
        thread: Thread,
        mask: u32,
        scope: Scope,
        sc: bool,
        acquire: bool,
        release: bool,
    ) {
        let by = self.lanes(thread, mask);
        let kind = match (sc, acquire, release) {
            (true, ..) => FenceKind::Sc,
            (_, true, true) => FenceKind::AcqRel,
            (_, true, false) => FenceKind::Acquire,
            (_, false, _) => FenceKind::Release,
        };
        self.event(&Event::Fence { by, site: 1, fence: Fence { kind, scope } });
        for lane in by.each() {
            let agent = Agent::Thread(by.grid, by.block, by.first + lane);
            self.axioms.add(Node::new(agent, What::Fence { sc, acquire, release, scope }));
        }
    }

    /// `fence.acq_rel`
    pub fn membar(&mut self, thread: Thread, scope: Scope) {
        self.fence(thread, scope, false, true, true);
    }

    pub fn arrive(&mut self, thread: Thread, mask: u32, barrier: u32, waits: bool) -> Vec<usize> {
        let by = self.lanes(thread, mask);
        self.event(&Event::Arrive { by, site: 2, barrier, waits });
        self.points(by)
    }

    pub fn leave(&mut self, thread: Thread, mask: u32, barrier: u32) -> Vec<usize> {
        let by = self.lanes(thread, mask);
        self.event(&Event::Leave { by, barrier });
        self.points(by)
    }

    pub fn completed(&mut self, thread: Thread, barrier: u32) {
        self.event(&Event::Completed { grid: thread.0, cta: thread.1 as u32, barrier });
    }

    pub fn exit(&mut self, thread: Thread, mask: u32) -> Vec<usize> {
        let by = self.lanes(thread, mask);
        self.event(&Event::Exit(by));
        self.points(by)
    }

    fn points(&mut self, by: Lanes) -> Vec<usize> {
        by.each()
            .map(|lane| {
                self.axioms.add(Node::new(Agent::Thread(by.grid, by.block, by.first + lane), What::Point))
            })
            .collect()
    }

    /// Everything of one list comes before everything of the other.
    pub fn edges(&mut self, from: &[usize], to: &[usize]) {
        for from in from {
            to.iter().for_each(|to| self.axioms.sync.push((*from, *to)));
        }
    }

    /// A whole block meets.
    pub fn barrier(&mut self, grid: WorkId, block: u64) {
        let threads = self.shape(grid).threads_per_cta;
        let masks: Vec<(u32, u32)> = (0..threads.div_ceil(32))
            .map(|warp| {
                let count = (threads - warp * 32).min(32);
                (warp * 32, if count == 32 { u32::MAX } else { (1 << count) - 1 })
            })
            .collect();
        let mut arrived = Vec::new();
        for (first, mask) in &masks {
            arrived.extend(self.arrive((grid, block, *first), *mask, 0, true));
        }
        for (first, mask) in &masks {
            let left = self.leave((grid, block, *first), *mask, 0);
            self.edges(&arrived, &left);
        }
    }

    pub fn warp_barrier(&mut self, thread: Thread, mask: u32) {
        let by = self.lanes(thread, mask);
        let before = self.points(by);
        self.event(&Event::WarpBarrier { by, site: 3 });
        let behind = self.points(by);
        self.edges(&before, &behind);
    }

    pub fn cluster_arrive(&mut self, thread: Thread, mask: u32, relaxed: bool) -> Vec<usize> {
        let by = self.lanes(thread, mask);
        self.event(&Event::ClusterArrive { by, relaxed });
        let points = self.points(by);
        if !relaxed {
            return points;
        }
        // What comes before a fence does all the same.
        let fences = |node: &usize| {
            let wide = |scope: Scope| scope != Scope::Cta || self.shape(by.grid).cluster == 1;
            let node = &self.axioms.nodes[*node];
            let own = |agent| {
                matches!(agent, Agent::Thread(grid, block, thread)
                if (grid, block) == (by.grid, by.block) && thread & !31 == by.first && mask >> (thread & 31) & 1 != 0)
            };
            own(node.agent) && matches!(node.what, What::Fence { release: true, scope, .. } if wide(scope))
        };
        (0..self.axioms.nodes.len()).filter(fences).collect()
    }

    pub fn cluster_leave(&mut self, thread: Thread, mask: u32) -> Vec<usize> {
        let by = self.lanes(thread, mask);
        self.event(&Event::ClusterLeave(by));
        self.points(by)
    }

    pub fn host(&mut self, work: WorkId, address: u64, bytes: u64, writes: bool) -> SiteNumber {
        self.site += 1;
        let range = Range { memory: WhoseBytes::Global, address, bytes };
        self.event(&Event::HostAccess { work, range, writes, site: self.site });
        self.axioms.host(work, address, bytes, writes, self.site);
        self.site
    }

    /// What only the detector is told.
    pub fn tell(&mut self, event: &Event<'_>) {
        self.event(event);
    }

    pub fn findings(&mut self) -> Vec<RaceFinding> {
        self.ptx.take_findings()
    }

    /// The law: what is found races with some Fence-SC order that is allowed, and whatever races with that as executed is found.
    pub fn check(&mut self) -> Vec<RaceFinding> {
        self.checked(true)
    }

    /// Half of the law: what is found races.
    pub fn check_found(&mut self) -> Vec<RaceFinding> {
        self.checked(false)
    }

    fn checked(&mut self, all: bool) -> Vec<RaceFinding> {
        let findings = self.ptx.take_findings();
        let races = self.axioms.races(Order::Executed);
        let allowed = self.axioms.races(Order::Forced);
        let fail = |why: String| -> ! {
            panic!("{why}\n{}\nfindings: {findings:#?}", self.told.join("\n"));
        };
        let agent = |who: Who| match who {
            Who::Thread { grid, block, thread } => Agent::Thread(grid, block, thread),
            Who::Host(work) => Agent::Host(work),
            who => panic!("a detector that keeps all names no {who:?}"),
        };
        let grid = |who: Who| match who {
            Who::Thread { grid, .. } => grid,
            Who::Host(_) => 0,
            who => panic!("a detector that keeps all names no {who:?}"),
        };
        for finding in &findings {
            let of = |race: &Race| {
                (race.first_site, race.second_site) == (finding.first.site, finding.second.site)
                    && (race.first, race.second) == (agent(finding.first.who), agent(finding.second.who))
                    && race
                        .bytes
                        .contains(&(of_grid(grid(finding.first.who), finding.memory), finding.address))
            };
            self.beyond += usize::from(!races.iter().any(of));
            if !allowed.iter().any(of) {
                fail(format!("not a race: {finding:?}"));
            }
        }
        for race in races.iter().filter(|race| all && !race.covered) {
            let by_site = findings.iter().any(|finding| finding.second.site == race.second_site);
            if !by_site {
                fail(format!("missed: {race:?}"));
            }
        }
        findings
    }
}
