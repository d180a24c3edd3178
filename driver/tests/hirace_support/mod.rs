//! Launches that device code looks at, looked at by the native detector as well: in the order in which the device's words are
//! changed.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use bugaroo_detectors::hirace::device::{self, FromDevice};
use bugaroo_detectors::hirace::{HiraceOptions, Widths};
use bugaroo_detectors::watched::Watched;
use bugaroo_detectors::{Hirace, RaceDetector, RaceFinding, Warning};
use bugaroo_device::trial::hirace::{HiraceLaunch, Looking, layout};
use bugaroo_device::trial::logging::session::sites;
use bugaroo_device::trial::looking::Sizes;
use bugaroo_injector::hirace::detect;
use bugaroo_injector::logging::{Logged, LoggingError};
use bugaroo_ptx::op::AtomOp;
use bugaroo_semantics::event::{
    Access, AccessKind, Addresses, Event, Lanes, SiteNumber, Values, WhoseBytes as Where, WorkId,
};
use bugaroo_semantics::inferred::Role;
use bugaroo_semantics::scope::Strength;
use bugaroo_semantics::{Observer, Wants};
use bugaroo_simulator::{
    DeviceConfig, End, Grid, LaunchSpec, LaunchWatch, Memory, PctScheduler, Program, RandomScheduler,
    SchedulerStrategy,
};

use crate::logging_support::own::sites_of_lines;

const WORK: WorkId = 3;

struct Nothing;

impl Values for Nothing {
    fn value(&self, _lane: u32, _element: u32) -> u128 {
        0
    }
}

/// An access of one lane.
#[derive(Clone, Copy)]
struct One {
    by: Lanes,
    site: SiteNumber,
    kind: AccessKind,
    strength: Strength,
    memory: Where,
    size: u32,
    elements: u32,
    address: u64,
}

/// What the native detector is told once it is known.
enum Item {
    Event(Event<'static>),
    /// The thread's words have changed; its access comes.
    Changed((u64, u32), Option<One>),
    /// More words of the same access.
    More,
}

/// Tells the native detector what the program's own instructions do, an access when the device changes its first word.
struct Ear {
    native: Hirace,
    own: Vec<Option<SiteNumber>>,
    words: (u64, u64),
    items: VecDeque<Item>,
    /// Accesses that have changed words.
    told: u64,
}

impl Ear {
    fn tell(&mut self) {
        while let Some(front) = self.items.front() {
            match front {
                Item::Changed(_, None) => return,
                Item::Event(event) => self.native.event(event),
                Item::More => {}
                Item::Changed(_, Some(one)) => {
                    self.told += 1;
                    let One { by, site, kind, strength, memory, size, elements, address } = *one;
                    self.native.access(&Access {
                        by,
                        site,
                        kind,
                        strength,
                        acquire: false,
                        release: false,
                        memory,
                        size,
                        elements,
                        at: Addresses::Same(address),
                        wrote: 0,
                        held: 0,
                        own: 0,
                        sourced: 0,
                        numbers: None,
                        values: &Nothing,
                    });
                }
            }
            self.items.pop_front();
        }
    }

    fn is_own(&self, site: SiteNumber) -> bool {
        self.own[site as usize].is_some()
    }
}

impl Observer for Ear {
    fn wants(&self) -> Wants {
        Wants::default()
    }

    fn access(&mut self, access: &Access<'_>) {
        let by = access.by;
        let Some(site) = self.own[access.site as usize] else {
            if access.kind == AccessKind::Atomic(AtomOp::Cas) {
                for lane in by.each().filter(|lane| access.wrote >> lane & 1 != 0) {
                    let address = access.address(lane);
                    if address >= self.words.0 && address < self.words.1 {
                        self.items.push_back(Item::Changed((by.block, by.first + lane), None));
                    }
                }
            }
            return;
        };
        for lane in by.each() {
            let thread = (by.block, by.first + lane);
            let one = One {
                by: Lanes { mask: 1 << lane, ..by },
                site,
                kind: access.kind,
                strength: access.strength,
                memory: access.memory,
                size: access.size,
                elements: access.elements,
                address: access.address(lane),
            };
            let waits = |item: &&mut Item| matches!(item, Item::Changed(who, None) if *who == thread);
            let mut first = true;
            for item in self.items.iter_mut().filter(waits) {
                *item =
                    if std::mem::take(&mut first) { Item::Changed(thread, Some(one)) } else { Item::More };
            }
        }
        self.tell();
    }

    fn event(&mut self, event: &Event<'_>) {
        let kept = match *event {
            Event::GridBegin { grid, shape, lockstep, .. } => {
                Event::GridBegin { grid, shape, lockstep, first_site: 0 }
            }
            Event::GridEnd { grid } => Event::GridEnd { grid },
            Event::BlockBegin { grid, cta, block } => Event::BlockBegin { grid, cta, block },
            Event::Exit(by) => Event::Exit(by),
            Event::Arrive { by, site, barrier, waits } if self.is_own(site) => {
                Event::Arrive { by, site, barrier, waits }
            }
            Event::Leave { by, barrier } => Event::Leave { by, barrier },
            Event::Completed { grid, cta, barrier } => Event::Completed { grid, cta, barrier },
            Event::WarpBarrier { by, site } if self.is_own(site) => Event::WarpBarrier { by, site },
            _ => return,
        };
        self.items.push_back(Item::Event(kept));
        self.tell();
    }
}

/// How to launch.
#[derive(Clone, Debug)]
pub struct Setup {
    pub seed: u64,
    pub pct: bool,
    pub lockstep: bool,
    pub sizes: Sizes,
    pub widths: Widths,
    /// What is looked at; None: everything.
    pub watched: Option<Watched>,
}

/// What came of a launch.
pub struct Ran {
    pub end: End,
    pub device: (Vec<RaceFinding>, Vec<Warning>),
    pub native: (Vec<RaceFinding>, Vec<Warning>),
    /// Accesses of lanes that have changed words.
    pub told: u64,
    /// Accesses of warps that the device has counted.
    pub counted: u64,
}

/// A module that looks at itself, loaded.
pub struct Device {
    pub memory: Memory,
    program: Arc<Program>,
    original: Arc<Program>,
    logged: Logged,
    sites: Vec<SiteNumber>,
    own: Vec<Option<SiteNumber>>,
    pub config: DeviceConfig,
}

impl Device {
    pub fn new(source: &str) -> Result<Device, LoggingError> {
        let logged = detect(source)?.whole()?;
        let load = |text: &str, memory: &mut Memory, config: &DeviceConfig| {
            let module = bugaroo_ptx::parse(text).expect("what is printed parses");
            Arc::new(Program::load(&module, memory, config).unwrap_or_else(|error| panic!("{error:?}")))
        };
        let config = DeviceConfig::default();
        let mut memory = Memory::new(1 << 30).expect("room");
        let original = load(source, &mut Memory::new(1 << 30).expect("room"), &config);
        let program = load(&logged.ptx, &mut memory, &config);
        // Calls may take several lines; what accesses or waits does not.
        let (own, _) = sites_of_lines(source, &original, &logged, &program);
        let sites = sites(&original, &logged.places, 0);
        Ok(Device { memory, program, original, logged, sites, own, config })
    }

    pub fn launch(&mut self, spec: &LaunchSpec<'_>, setup: &Setup) -> Ran {
        let scheduler: Box<dyn SchedulerStrategy> = if setup.pct {
            Box::new(PctScheduler::new(setup.seed, PctScheduler::DEPTH, None))
        } else {
            Box::new(RandomScheduler::new(setup.seed))
        };
        let mut native = Hirace::new(HiraceOptions { widths: setup.widths, ..HiraceOptions::default() });
        // The device looks at each access when its turn comes.
        let one_by_one = |role: &Role| Role { led_by: None, ..*role };
        native.learn_program(0, &self.original.roles().iter().map(one_by_one).collect::<Vec<Role>>());
        if let Some(watched) = &setup.watched {
            native.watch(WORK, watched.clone());
        }
        let ear = Ear { native, own: self.own.clone(), words: (0, 0), items: VecDeque::new(), told: 0 };
        let ear = Rc::new(RefCell::new(ear));
        let config = DeviceConfig { lockstep: setup.lockstep, ..self.config.clone() };
        let watch = LaunchWatch { observer: ear.clone(), grid: WORK, first_site: 0 };
        let grid = Grid::with_model(self.program.clone(), &config, spec, None, scheduler, None, Some(watch));
        let mut grid = grid.unwrap_or_else(|error| panic!("{error}"));
        let shape = grid.shape();
        let counted = self.logged.waited.get(spec.kernel);
        let counted = counted.filter(|waited| waited.may_be_below(shape.threads_per_cta));
        let launch = HiraceLaunch {
            device: device::HiraceLooked {
                grid: WORK,
                layout: layout(&shape, &self.original, setup.widths).expect("the word holds it"),
                lockstep: setup.lockstep,
                first_site: 0,
            },
            shape,
            places: self.logged.places.clone(),
            sites: self.sites.clone(),
            watched: setup.watched.clone(),
            counted: counted.map(|_| spec.kernel.to_owned()),
        };
        let mut from_device = FromDevice::default();
        let nobody =
            LaunchWatch { observer: Rc::new(RefCell::new(FromDevice::default())), grid: WORK, first_site: 0 };
        let told = from_device.told();
        let looking = Looking::new(launch, setup.sizes, &self.program, told, nobody, &mut self.memory);
        let looking = looking.unwrap_or_else(|error| panic!("{error}"));
        ear.borrow_mut().words = looking.words();
        looking.enter(&mut self.memory);
        let end = loop {
            if let Some(end) = grid.advance(&mut self.memory, 1 << 20) {
                break end;
            }
        };
        drop(grid);
        let counted = looking.end(&mut self.memory);
        let Ok(ear) = Rc::try_unwrap(ear) else { panic!("the grid is gone") };
        let mut ear = ear.into_inner();
        let native = (ear.native.take_findings(), ear.native.take_warnings());
        let device = (from_device.take_findings(), from_device.take_warnings());
        Ran { end, device, native, told: ear.told, counted }
    }
}
