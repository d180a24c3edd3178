//! Small executions as the events that a detector is told.

use bugaroo_detectors::scord::ScordOptions;
use bugaroo_detectors::{MissingOrder, RaceDetector, RaceFinding, Scord};
use bugaroo_ptx::op::{AtomOp, FenceKind};
use bugaroo_ptx::types::Scope;
use bugaroo_semantics::Observer;
use bugaroo_semantics::effect::Fence;
use bugaroo_semantics::event::{Access, AccessKind, Addresses, Event, Lanes, Shape, Values, WhoseBytes};
use bugaroo_semantics::inferred::Role;
use bugaroo_semantics::scope::Strength;

pub const GRID: u32 = 7;
/// The site of a program's first instruction.
pub const FIRST: u32 = 100;
/// Some data, and locks.
pub const X: u64 = 0x1000;
pub const LOCK: u64 = 0x3000;
pub const OTHER: u64 = 0x3100;

struct Zero;

impl Values for Zero {
    fn value(&self, _: u32, _: u32) -> u128 {
        0
    }
}

/// Where lanes access.
#[derive(Clone, Debug)]
pub enum At {
    Row(u64),
    Same(u64),
    Each(Box<[u64; 32]>),
}

/// An access.
#[derive(Clone, Debug)]
pub struct Does {
    pub kind: AccessKind,
    pub strength: Strength,
    pub acquire: bool,
    pub release: bool,
    pub lanes: u32,
    pub size: u32,
    pub elements: u32,
    pub at: At,
    pub wrote: u32,
    pub shared: bool,
}

fn does(kind: AccessKind, strength: Strength, at: u64) -> Does {
    let wrote = if kind.writes() { u32::MAX } else { 0 };
    Does {
        kind,
        strength,
        acquire: false,
        release: false,
        lanes: 1,
        size: 4,
        elements: 1,
        at: At::Row(at),
        wrote,
        shared: false,
    }
}

/// Volatile, unless the program says otherwise.
pub fn load(at: u64) -> Does {
    does(AccessKind::Load, Strength::Strong(Scope::Sys), at)
}

pub fn store(at: u64) -> Does {
    does(AccessKind::Store, Strength::Strong(Scope::Sys), at)
}

pub fn atomic(op: AtomOp, scope: Scope, at: u64) -> Does {
    does(AccessKind::Atomic(op), Strength::Strong(scope), at)
}

pub fn add(scope: Scope, at: u64) -> Does {
    atomic(AtomOp::Add, scope, at)
}

pub fn cas(scope: Scope, at: u64) -> Does {
    atomic(AtomOp::Cas, scope, at)
}

pub fn exch(scope: Scope, at: u64) -> Does {
    atomic(AtomOp::Exch, scope, at)
}

impl Does {
    pub fn weak(self) -> Does {
        Does { strength: Strength::Weak, ..self }
    }

    pub fn of(self, scope: Scope) -> Does {
        Does { strength: Strength::Strong(scope), ..self }
    }

    pub fn lanes(self, lanes: u32) -> Does {
        Does { lanes, ..self }
    }

    pub fn bytes(self, size: u32, elements: u32) -> Does {
        Does { size, elements, ..self }
    }

    pub fn at(self, at: At) -> Does {
        Does { at, ..self }
    }

    pub fn failed(self) -> Does {
        Does { wrote: 0, ..self }
    }

    pub fn acquire(self) -> Does {
        Does { acquire: true, ..self }
    }

    pub fn release(self) -> Does {
        Does { release: true, ..self }
    }
}

/// Blocks of so many threads.
#[derive(Clone, Copy)]
pub struct Size {
    pub blocks: u32,
    pub threads: u32,
    pub cluster: u32,
}

/// Two blocks of four warps: warps 0 to 3, and 4 to 7.
pub const TWO: Size = Size { blocks: 2, threads: 128, cluster: 1 };

/// A grid in a detector.
pub struct Run {
    pub detector: Scord,
    size: Size,
    alive: Vec<u32>,
}

impl Run {
    pub fn new() -> Run {
        Run::with(ScordOptions::default())
    }

    pub fn with(options: ScordOptions) -> Run {
        Run::of(TWO, options, None)
    }

    /// Of a program in which no strong access is volatile.
    pub fn modern() -> Run {
        Run::of(TWO, ScordOptions::default(), Some(vec![Role::default(); 64]))
    }

    pub fn of(size: Size, options: ScordOptions, roles: Option<Vec<Role>>) -> Run {
        let mut detector = Scord::new(options);
        if let Some(roles) = roles {
            detector.learn_program(FIRST, &roles);
        }
        let mut run = Run { detector, size, alive: Vec::new() };
        run.begin();
        run
    }

    /// The grid begins, perhaps again.
    pub fn begin(&mut self) {
        let Size { blocks, threads, cluster } = self.size;
        let shape = Shape {
            warps: blocks * self.warps(),
            ctas: blocks,
            warps_per_cta: self.warps(),
            threads_per_cta: threads,
            blocks: u64::from(blocks),
            cluster,
            shared_bytes: 1024,
        };
        let event = Event::GridBegin { grid: GRID, shape, lockstep: true, first_site: FIRST };
        self.detector.event(&event);
        for cta in 0..blocks {
            self.detector.event(&Event::BlockBegin { grid: GRID, cta, block: u64::from(cta) });
        }
        self.alive = vec![u32::MAX; (blocks * self.warps()) as usize];
    }

    pub fn warps(&self) -> u32 {
        self.size.threads / 32
    }

    pub fn lanes(&self, warp: u32, mask: u32) -> Lanes {
        let (cta, index) = (warp / self.warps(), warp % self.warps());
        Lanes { grid: GRID, warp, cta, block: u64::from(cta), first: index * 32, mask }
    }

    pub fn event(&mut self, event: Event<'_>) {
        self.detector.event(&event);
    }

    pub fn access(&mut self, site: u32, warp: u32, does: &Does) {
        let by = self.lanes(warp, does.lanes);
        self.detector.access(&Access {
            by,
            site: FIRST + site,
            kind: does.kind,
            strength: does.strength,
            acquire: does.acquire,
            release: does.release,
            memory: if does.shared { WhoseBytes::Shared(by.cta) } else { WhoseBytes::Global },
            size: does.size,
            elements: does.elements,
            at: match &does.at {
                At::Row(first) => Addresses::Consecutive(*first),
                At::Same(all) => Addresses::Same(*all),
                At::Each(each) => Addresses::Each(each),
            },
            wrote: does.wrote & does.lanes,
            held: 0,
            own: 0,
            sourced: 0,
            numbers: None,
            values: &Zero,
        });
    }

    /// At the site that is the warp's number.
    pub fn go(&mut self, warp: u32, does: Does) -> &mut Run {
        self.access(warp, warp, &does);
        self
    }

    pub fn fence(&mut self, warp: u32, scope: Scope) -> &mut Run {
        self.fence_of(warp, scope, u32::MAX)
    }

    pub fn fence_of(&mut self, warp: u32, scope: Scope, lanes: u32) -> &mut Run {
        let by = self.lanes(warp, lanes);
        self.event(Event::Fence { by, site: FIRST, fence: Fence { kind: FenceKind::AcqRel, scope } });
        self
    }

    pub fn exit(&mut self, warp: u32, lanes: u32) {
        self.alive[warp as usize] &= !lanes;
        let by = self.lanes(warp, lanes);
        self.event(Event::Exit(by));
    }

    /// `__syncthreads()` of a block.
    pub fn barrier(&mut self, block: u32) -> &mut Run {
        let warps: Vec<u32> = (block * self.warps()..(block + 1) * self.warps()).collect();
        self.barrier_of(&warps)
    }

    /// A barrier of these warps.
    pub fn barrier_of(&mut self, warps: &[u32]) -> &mut Run {
        let alive = warps.iter().filter(|warp| self.alive[**warp as usize] != 0);
        let there: Vec<Lanes> = alive.map(|warp| self.lanes(*warp, self.alive[*warp as usize])).collect();
        for by in &there {
            self.event(Event::Arrive { by: *by, site: FIRST, barrier: 0, waits: true });
        }
        for by in there {
            self.event(Event::Leave { by, barrier: 0 });
        }
        self
    }

    pub fn findings(&mut self) -> Vec<RaceFinding> {
        self.detector.take_findings()
    }

    /// What is missing, finding by finding.
    pub fn missing(&mut self) -> Vec<MissingOrder> {
        self.findings().iter().map(|finding| finding.missing).collect()
    }

    pub fn warnings(&mut self) -> Vec<String> {
        self.detector.take_warnings().into_iter().map(|warning| warning.what).collect()
    }
}
