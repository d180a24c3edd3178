//! Launches that log, told twice over: by the device's own records, and by the engine that runs the very same launch.

#![allow(dead_code, reason = "each test binary uses a part of it")]

pub mod own;
pub mod random;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use bugaroo_device::trial::logging::LoggedLaunch;
use bugaroo_device::trial::logging::session::{Allocated, LoggingSession};
use bugaroo_device_handlers::logging::Queues;
use bugaroo_injector::logging::{LogOptions, Logged};
use bugaroo_semantics::effect::Fence;
use bugaroo_semantics::event::{Access, AccessKind, Event, Lanes, Shape, SiteNumber, WhoseBytes as Where};
use bugaroo_semantics::scope::Strength;
use bugaroo_semantics::{Observer, Wants};
use bugaroo_simulator::{
    DeviceConfig, End, Grid, LaunchSpec, LaunchWatch, Memory, PctScheduler, Program, RandomScheduler,
    SchedulerStrategy,
};

/// A thing that a lane does, where the place is a line of the original text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Did {
    Access {
        line: u32,
        kind: AccessKind,
        strength: Strength,
        acquire: bool,
        release: bool,
        shared: bool,
        address: u64,
        size: u32,
        elements: u32,
        wrote: bool,
    },
    Fence(u32, Fence),
    ProxyFence(u32),
    Arrive(u32, u32, bool),
    Leave(u32),
    Meet,
    Exit,
}

/// A thread: block, and linear index in it.
pub type Thread = (u64, u32);

/// What is told, by thread and over all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Heard {
    pub threads: BTreeMap<Thread, Vec<Did>>,
    /// Accesses in the order in which they are told.
    pub accesses: Vec<(Thread, Did)>,
    pub blocks: Vec<(u64, bool)>,
    pub shape: Option<Shape>,
    pub splits: u64,
    pub ended: u32,
    /// Addresses that several lanes of one store write: where all agree, and where not.
    pub agree: (u64, u64),
}

/// Writes down what it is told, of the lines that are known.
pub struct Ear {
    pub heard: Heard,
    /// The line of each site; None: not of the program.
    lines: Vec<Option<u32>>,
}

impl Ear {
    pub fn new(lines: Vec<Option<u32>>) -> Ear {
        Ear { heard: Heard::default(), lines }
    }

    fn line(&self, site: u32) -> Option<u32> {
        self.lines.get(site as usize).copied().flatten()
    }

    fn note(&mut self, by: Lanes, did: Did) {
        for lane in by.each() {
            self.heard.threads.entry((by.block, by.first + lane)).or_default().push(did);
        }
    }
}

impl Observer for Ear {
    fn wants(&self) -> Wants {
        Wants { branches: true, sources: false, before: false }
    }

    fn access(&mut self, access: &Access<'_>) {
        let Some(line) = self.line(access.site) else { return };
        for lane in access.by.each() {
            let did = Did::Access {
                line,
                kind: access.kind,
                strength: access.strength,
                acquire: access.acquire,
                release: access.release,
                shared: access.memory != Where::Global,
                address: access.address(lane),
                size: access.size,
                elements: access.elements,
                wrote: access.wrote >> lane & 1 != 0,
            };
            let thread = (access.by.block, access.by.first + lane);
            self.heard.threads.entry(thread).or_default().push(did);
            self.heard.accesses.push((thread, did));
        }
        if access.kind != AccessKind::Store {
            return;
        }
        // Addresses that several lanes store to: whether all agree.
        let mut met: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
        access.by.each().for_each(|lane| met.entry(access.address(lane)).or_default().push(lane));
        for lanes in met.values().filter(|lanes| lanes.len() > 1) {
            let value = |lane: u32, element| access.values.value(lane, element);
            let alike = |lane: &u32| (0..access.elements).all(|e| value(*lane, e) == value(lanes[0], e));
            let agree = lanes.iter().all(alike);
            self.heard.agree.0 += u64::from(agree);
            self.heard.agree.1 += u64::from(!agree);
        }
    }

    fn event(&mut self, event: &Event<'_>) {
        match *event {
            Event::GridBegin { shape, .. } => self.heard.shape = Some(shape),
            Event::GridEnd { .. } => self.heard.ended += 1,
            Event::BlockBegin { block, .. } => self.heard.blocks.push((block, true)),
            Event::BlockEnd { cta, .. } => self.heard.blocks.push((cta.into(), false)),
            Event::Exit(by) => self.note(by, Did::Exit),
            Event::Fence { by, site, fence } => {
                if let Some(line) = self.line(site) {
                    self.note(by, Did::Fence(line, fence));
                }
            }
            Event::ProxyFence { by, site } => {
                if let Some(line) = self.line(site) {
                    self.note(by, Did::ProxyFence(line));
                }
            }
            Event::Arrive { by, site, barrier, waits } => {
                if let Some(line) = self.line(site) {
                    self.note(by, Did::Arrive(line, barrier, waits));
                }
            }
            Event::Leave { by, barrier } => self.note(by, Did::Leave(barrier)),
            // Of one of the lanes' places, whichever.
            Event::WarpBarrier { by, site } if self.line(site).is_some() => self.note(by, Did::Meet),
            Event::Split { .. } => self.heard.splits += 1,
            _ => {}
        }
    }
}

/// What to launch, and how.
#[derive(Clone, Debug)]
pub struct Setup {
    pub queues: Queues,
    pub options: LogOptions,
    pub seed: u64,
    pub pct: bool,
    pub lockstep: bool,
    /// Turns between two looks of the reader.
    pub turns: u64,
}

/// What came of it.
pub struct Told {
    pub end: End,
    /// By records.
    pub device: Heard,
    /// By the engine.
    pub engine: Heard,
    pub records: usize,
    /// The most records that were found at one look.
    pub most: usize,
}

/// How a launch went.
pub struct Ran {
    pub end: End,
    pub records: usize,
    /// The most records that were found at one look.
    pub most: usize,
}

/// A device with a module that logs.
pub struct Device {
    pub memory: Memory,
    pub program: Arc<Program>,
    pub logged: Logged,
    config: DeviceConfig,
    queues: Queues,
    lines: Vec<Option<u32>>,
}

impl Heard {
    /// The same where global addresses count from `base`.
    pub fn counted_from(&self, base: u64) -> BTreeMap<Thread, Vec<Did>> {
        let count = |did: &Did| match *did {
            Did::Access {
                line,
                kind,
                strength,
                acquire,
                release,
                shared: false,
                address,
                size,
                elements,
                wrote,
            } => {
                let address = address.wrapping_sub(base);
                Did::Access {
                    line,
                    kind,
                    strength,
                    acquire,
                    release,
                    shared: false,
                    address,
                    size,
                    elements,
                    wrote,
                }
            }
            other => other,
        };
        self.threads.iter().map(|(thread, all)| (*thread, all.iter().map(count).collect())).collect()
    }
}

/// What the engine tells of the program as it was written.
pub fn plain(source: &str, spec: &LaunchSpec<'_>, setup: &Setup, out: u64) -> Heard {
    let module = bugaroo_ptx::parse(source).expect("the test's PTX parses");
    let config = DeviceConfig { lockstep: setup.lockstep, ..DeviceConfig::default() };
    let mut memory = Memory::new(1 << 28).expect("address space");
    let buffer = memory.alloc(1 << 16, 256, bugaroo_simulator::AllocationKind::Program).expect("room");
    let program = Program::load(&module, &mut memory, &config).unwrap_or_else(|error| panic!("{error}"));
    let lines = (0..program.spans().len() as u32).map(|pc| Some(program.place(pc).ptx_line)).collect();
    let ear = Rc::new(RefCell::new(Ear::new(lines)));
    let watch = LaunchWatch { observer: ear.clone(), grid: 3, first_site: 0 };
    let params = buffer.to_le_bytes();
    let spec = LaunchSpec { params: &params, ..*spec };
    let scheduler = Box::new(RandomScheduler::new(setup.seed));
    let grid = Grid::with_model(Arc::new(program), &config, &spec, None, scheduler, None, Some(watch));
    let mut grid = grid.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(grid.advance(&mut memory, u64::MAX), Some(End::Complete));
    drop(grid);
    let heard = Rc::into_inner(ear).expect("the grid is gone").into_inner().heard;
    Heard { threads: heard.counted_from(buffer.wrapping_sub(out)), ..heard }
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Device {
    pub fn new(source: &str, logged: Logged, setup: &Setup) -> Device {
        let module = bugaroo_ptx::parse(&logged.ptx).expect("the output parses");
        let config = DeviceConfig { lockstep: setup.lockstep, ..DeviceConfig::default() };
        let mut memory = Memory::new(1 << 28).expect("address space");
        let program = Program::load(&module, &mut memory, &config).unwrap_or_else(|error| panic!("{error}"));
        let original: Vec<String> = source.lines().map(words).collect();
        let line = |pc: u32| {
            let place = program.place(pc);
            let line = logged.lines.original(place.ptx_line)?;
            // Constants are not logged: within a grid nobody writes them.
            if original.get(line as usize - 1).is_some_and(|text| text.contains("ld.const")) {
                return None;
            }
            let ours = place.function.starts_with("__bugaroo_") || place.instruction.contains("bugaroo_");
            let stood = original.get(line as usize - 1)?.contains(&place.instruction);
            (!ours && stood).then_some(line)
        };
        let lines = (0..program.spans().len() as u32).map(line).collect();
        Device { memory, program: Arc::new(program), logged, config, queues: setup.queues, lines }
    }

    pub fn launch(&mut self, spec: &LaunchSpec<'_>, setup: &Setup) -> Told {
        let engine = Rc::new(RefCell::new(Ear::new(self.lines.clone())));
        // A place is its own site.
        let lines = self.logged.places.iter().map(|place| place.map(|place| place.line)).collect();
        let mut device = Ear::new(lines);
        let sites = (0..self.logged.places.len() as u32).collect();
        let ran = self.launch_before(spec, setup, (engine.clone(), &mut device), sites);
        let engine = Rc::into_inner(engine).expect("the grid is gone").into_inner();
        let Ran { end, records, most } = ran;
        Told { end, device: device.heard, engine: engine.heard, records, most }
    }

    /// One launch before two observers: the engine tells the first, the device's records the second. `sites`: what the second knows
    /// the places by.
    pub fn launch_before(
        &mut self,
        spec: &LaunchSpec<'_>,
        setup: &Setup,
        (engine, device): (Rc<RefCell<dyn Observer>>, &mut dyn Observer),
        sites: Vec<SiteNumber>,
    ) -> Ran {
        let allocated = Allocated::new(self.queues, &mut self.memory).expect("room for queues");
        allocated.arm(&self.program, &mut self.memory).expect("the module logs");
        let scheduler: Box<dyn SchedulerStrategy> = if setup.pct {
            Box::new(PctScheduler::new(setup.seed, PctScheduler::DEPTH, None))
        } else {
            Box::new(RandomScheduler::new(setup.seed))
        };
        let watch = LaunchWatch { observer: engine, grid: 3, first_site: 0 };
        let config = DeviceConfig { lockstep: setup.lockstep, ..self.config.clone() };
        let grid = Grid::with_model(self.program.clone(), &config, spec, None, scheduler, None, Some(watch));
        let mut grid = grid.unwrap_or_else(|error| panic!("{error}"));
        let launch = LoggedLaunch {
            grid: 3,
            shape: grid.shape(),
            lockstep: setup.lockstep,
            first_site: 0,
            global_from: bugaroo_simulator::GLOBAL_BASE,
            places: self.logged.places.clone(),
            sites,
        };
        let mut session = LoggingSession::new(&allocated, launch, device).expect("a session");
        let (mut records, mut most) = (0, 0);
        let end = loop {
            let end = grid.advance(&mut self.memory, setup.turns);
            let read = session.pump(&mut self.memory, device).expect("whole records");
            (records, most) = (records + read, most.max(read));
            if let Some(end) = end {
                break end;
            }
        };
        drop(grid);
        session.finish(&mut self.memory, device).expect("no record is missing");
        Ran { end, records, most }
    }
}
