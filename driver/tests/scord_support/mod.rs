//! Launches that ScoRD's device code looks at, looked at by the native detector as well: it is told what the program's own instructions do,
//! by the engine that runs the very same launch.
//!
//! Device code has memory of the tool here, where no other warp gets its turn, and a warp whose turn has ended in the midst of it has the
//! next one, too. So in lockstep what it does before an instruction is done together with that. What it does behind a
//! compare-and-swap is done before whatever its warp does next: that is when the native detector is told. Threads that run apart
//! are another matter: some of those that are looked at together may go on before others have been.

pub mod random;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use bugaroo_detectors::scord::device::FromDevice;
use bugaroo_detectors::scord::{LayoutChoice, ScordOptions};
use bugaroo_detectors::watched::Watched;
use bugaroo_detectors::{RaceDetector, RaceFinding, Scord, Warning};
use bugaroo_device::trial::logging::session::sites;
use bugaroo_device::trial::looking::Sizes;
use bugaroo_device::trial::scord::{Looking, ScordLaunch};
use bugaroo_injector::logging::{Logged, LoggingError};
use bugaroo_injector::scord::detect;
use bugaroo_ptx::op::AtomOp;
use bugaroo_semantics::event::{
    Access, AccessKind, Addresses, Event, Lanes, SiteNumber, Values, WhoseBytes as Where, WorkId,
};
use bugaroo_semantics::scope::Strength;
use bugaroo_semantics::{Observer, Wants};
use bugaroo_simulator::{
    Candidate, DeviceConfig, End, Grid, LaunchSpec, LaunchWatch, Memory, PctScheduler, Program,
    RandomScheduler, SchedulerStrategy, Turn,
};

use crate::logging_support::own::{Own, sites_of_lines};

const WORK: WorkId = 3;

struct Nothing;

impl Values for Nothing {
    fn value(&self, _lane: u32, _element: u32) -> u128 {
        0
    }
}

/// A compare-and-swap that is not told yet.
struct Swap {
    by: Lanes,
    site: SiteNumber,
    strength: Strength,
    acquire: bool,
    release: bool,
    memory: Where,
    size: u32,
    at: Box<[u64; 32]>,
    wrote: u32,
}

/// Gives turns of one operation as another scheduler does, and another one to a warp in whose turn nothing has happened: it was too long.
struct Steady {
    inner: Box<dyn SchedulerStrategy>,
    /// What has happened in all, and by the last turn's beginning.
    happened: Rc<Cell<u64>>,
    by_then: u64,
    last: Option<u64>,
}

impl SchedulerStrategy for Steady {
    fn begin(&mut self, warps: u64) {
        self.inner.begin(warps);
    }

    fn next(&mut self, candidates: &[Candidate]) -> Turn {
        let happened = self.happened.get();
        let again = candidates.iter().position(|candidate| Some(candidate.warp) == self.last);
        let turn = match again.filter(|_| happened == self.by_then) {
            Some(candidate) => Turn { candidate, operations: 1 },
            None => Turn { operations: 1, ..self.inner.next(candidates) },
        };
        self.by_then = happened;
        self.last = Some(candidates[turn.candidate].warp);
        turn
    }

    fn random(&mut self) -> u64 {
        self.inner.random()
    }
}

/// Counts what ends a turn, the device code's own doings as well.
struct Counting<O> {
    inner: O,
    happened: Rc<Cell<u64>>,
}

impl<O: Observer> Observer for Counting<O> {
    fn wants(&self) -> Wants {
        self.inner.wants()
    }

    fn access(&mut self, access: &Access<'_>) {
        self.happened.set(self.happened.get() + 1);
        self.inner.access(access);
    }

    fn event(&mut self, event: &Event<'_>) {
        // Other events end no turn.
        self.happened.set(self.happened.get() + u64::from(matches!(event, Event::Fence { .. })));
        self.inner.event(event);
    }
}

/// Tells the native detector, of compare-and-swaps later.
struct Late {
    native: Scord,
    swaps: Vec<Swap>,
    told: u64,
}

impl Late {
    /// Lanes do something: what their warp has swapped is told first.
    fn comes(&mut self, by: &Lanes) {
        self.tell(|swap| swap.by.warp == by.warp);
    }

    fn tell(&mut self, which: impl Fn(&Swap) -> bool) {
        let all = std::mem::take(&mut self.swaps);
        for swap in all {
            if !which(&swap) {
                self.swaps.push(swap);
                continue;
            }
            self.native.access(&Access {
                by: swap.by,
                site: swap.site,
                kind: AccessKind::Atomic(AtomOp::Cas),
                strength: swap.strength,
                acquire: swap.acquire,
                release: swap.release,
                memory: swap.memory,
                size: swap.size,
                elements: 1,
                at: Addresses::Each(&swap.at),
                wrote: swap.wrote,
                held: 0,
                own: 0,
                sourced: 0,
                numbers: None,
                values: &Nothing,
            });
        }
    }
}

impl Observer for Late {
    fn wants(&self) -> Wants {
        Wants::default()
    }

    fn access(&mut self, access: &Access<'_>) {
        self.comes(&access.by);
        self.told += u64::from(access.by.mask.count_ones());
        if access.kind != AccessKind::Atomic(AtomOp::Cas) {
            self.native.access(access);
            return;
        }
        let at = std::array::from_fn(|lane| {
            if access.by.mask >> lane & 1 != 0 { access.address(lane as u32) } else { 0 }
        });
        self.swaps.push(Swap {
            by: access.by,
            site: access.site,
            strength: access.strength,
            acquire: access.acquire,
            release: access.release,
            memory: access.memory,
            size: access.size,
            at: Box::new(at),
            wrote: access.wrote,
        });
    }

    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Fence { by, .. } | Event::Arrive { by, .. } | Event::WarpBarrier { by, .. } => {
                self.comes(by)
            }
            Event::Leave { by, .. } | Event::Exit(by) => self.comes(by),
            Event::GridEnd { .. } => self.tell(|_| true),
            _ => {}
        }
        self.native.event(event);
    }
}

/// How to launch.
#[derive(Clone, Debug)]
pub struct Setup {
    pub seed: u64,
    pub pct: bool,
    pub lockstep: bool,
    pub sizes: Sizes,
    pub layout: LayoutChoice,
    /// What is looked at; None: everything.
    pub watched: Option<Watched>,
}

/// What came of a launch.
pub struct Ran {
    pub end: End,
    pub device: (Vec<RaceFinding>, Vec<Warning>),
    pub native: (Vec<RaceFinding>, Vec<Warning>),
    /// Accesses of lanes.
    pub told: u64,
}

/// A module that looks at itself, loaded.
pub struct Device {
    pub memory: Memory,
    program: Arc<Program>,
    original: Arc<Program>,
    logged: Logged,
    sites: Vec<SiteNumber>,
    own: Vec<Option<SiteNumber>>,
}

impl Device {
    pub fn new(source: &str) -> Result<Device, LoggingError> {
        let logged = detect(source)?.whole()?;
        let load = |text: &str, memory: &mut Memory| {
            let module = bugaroo_ptx::parse(text).expect("what is printed parses");
            let program = Program::load(&module, memory, &DeviceConfig::default());
            Arc::new(program.unwrap_or_else(|error| panic!("{error:?}")))
        };
        let mut memory = Memory::new(1 << 30).expect("room");
        let original = load(source, &mut Memory::new(1 << 30).expect("room"));
        let program = load(&logged.ptx, &mut memory);
        let (own, _) = sites_of_lines(source, &original, &logged, &program);
        let sites = sites(&original, &logged.places, 0);
        Ok(Device { memory, program, original, logged, sites, own })
    }

    pub fn launch(&mut self, spec: &LaunchSpec<'_>, setup: &Setup) -> Ran {
        let scheduler: Box<dyn SchedulerStrategy> = if setup.pct {
            Box::new(PctScheduler::new(setup.seed, PctScheduler::DEPTH, None))
        } else {
            Box::new(RandomScheduler::new(setup.seed))
        };
        let config = DeviceConfig { lockstep: setup.lockstep, ..DeviceConfig::default() };
        let late = Late { native: Scord::default(), swaps: Vec::new(), told: 0 };
        let happened = Rc::new(Cell::new(0));
        let scheduler =
            Box::new(Steady { inner: scheduler, happened: happened.clone(), by_then: 0, last: None });
        let own = Own::new(late, self.own.clone(), &self.program);
        let ear = Rc::new(RefCell::new(Counting { inner: own, happened }));
        let watch = LaunchWatch { observer: ear.clone(), grid: WORK, first_site: 0 };
        // The shape is known once there is a grid; and it tells of itself when it is made.
        let shape = {
            let scheduler = Box::new(RandomScheduler::new(0));
            let grid = Grid::with_model(self.program.clone(), &config, spec, None, scheduler, None, None);
            grid.unwrap_or_else(|error| panic!("{error}")).shape()
        };
        let places = (&self.logged.places[..], &self.sites[..]);
        let wanted = (setup.layout, setup.watched.clone());
        let counted = self.logged.waited.get(spec.kernel);
        let counted = counted.filter(|waited| waited.may_be_below(shape.threads_per_cta));
        let launch = ScordLaunch::new(WORK, (shape, setup.lockstep), (&self.original, 0), places, wanted)
            .with_counted(counted.map(|_| spec.kernel.to_owned()));
        let options =
            ScordOptions { layout: LayoutChoice::Given(launch.device.layout), ..ScordOptions::default() };
        let mut native = Scord::new(options);
        native.learn_program(0, &self.original.roles());
        if let Some(watched) = &setup.watched {
            native.watch(WORK, watched.clone());
        }
        ear.borrow_mut().inner.inner.native = native;
        let grid = Grid::with_model(self.program.clone(), &config, spec, None, scheduler, None, Some(watch));
        let mut grid = grid.unwrap_or_else(|error| panic!("{error}"));
        let mut from_device = FromDevice::default();
        let nobody =
            LaunchWatch { observer: Rc::new(RefCell::new(FromDevice::default())), grid: WORK, first_site: 0 };
        let told = from_device.told();
        let looking = Looking::new(launch, setup.sizes, &self.program, told, nobody, &mut self.memory);
        let looking = looking.unwrap_or_else(|error| panic!("{error}"));
        looking.enter(&mut self.memory);
        let end = loop {
            if let Some(end) = grid.advance(&mut self.memory, 1 << 20) {
                break end;
            }
        };
        drop(grid);
        looking.end(&mut self.memory);
        let Ok(ear) = Rc::try_unwrap(ear) else { panic!("the grid is gone") };
        let mut late = ear.into_inner().inner.inner;
        late.tell(|_| true);
        let native = (late.native.take_findings(), late.native.take_warnings());
        let device = (from_device.take_findings(), from_device.take_warnings());
        Ran { end, device, native, told: late.told }
    }
}
