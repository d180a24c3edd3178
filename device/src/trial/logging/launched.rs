//! Modules and launches that log, in a process whose detectors are fed with what its device code tells.
//!
//! Queues are read between turns ([`TURNS`]), so device code that waits for room waits for few of them. Detectors know
//! the program as it was written: it is decoded beside the one that runs, and is what sites are of.
//!
//! What differs from detectors that look at the engine: an access that faults is told all the same, as it is told before it is done; and
//! a launch that spins for ever ends by its budget, as its threads change the queues all the while.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use bugaroo_device_handlers::logging::{LOG_VARIABLE, LogState, Queues};
use bugaroo_injector::collect_sites::{InjectionPoint, SiteTable, collect_sites};
use bugaroo_injector::logging::{Loads, LogOptions, Logged, RecordPlace, Unknown, log};
use bugaroo_injector::{hirace, scord};
use bugaroo_protocol::Detector;
use bugaroo_semantics::Observer;
use bugaroo_semantics::event::SiteNumber;
use bugaroo_simulator::{DeviceConfig, End, GLOBAL_BASE, Grid, LaunchWatch, LoadError, Memory, Program};

use super::stream::LoggedLaunch;
use crate::images::refusal::ImageRefusal;
use crate::names::demangled;
use crate::trial::logging::broken::Broken;
use crate::trial::logging::session::{Allocated, LoggingSession, queues_for, sites};

/// What is told: all of it, as what is left out changes what is reported.
const OPTIONS: LogOptions = LogOptions { loads: Loads::Before, branches: true, prune: false };
/// Records of a queue. A warp makes a handful in a turn.
const CAPACITY: u32 = 1024;
/// Turns between two looks into the queues.
const TURNS: u64 = 64;

/// What device code does for detectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoggingKit {
    /// It tells what threads do.
    Log,
    /// It looks for races itself, as HiRace.
    Hirace,
    /// As ScoRD.
    Scord,
}

impl LoggingKit {
    /// That of detectors that are asked for; orders for those of several kits are refused.
    pub fn of(detectors: &[Detector]) -> LoggingKit {
        match detectors {
            [Detector::Hirace, ..] => LoggingKit::Hirace,
            [Detector::Scord, ..] => LoggingKit::Scord,
            _ => LoggingKit::Log,
        }
    }
}

/// A module whose launches log, or look for races.
#[derive(Debug)]
pub struct Logs {
    kit: LoggingKit,
    /// The program as it was written: decoded, and never run.
    original: Arc<Program>,
    table: Arc<SiteTable>,
    /// The text that logs, or why there is none.
    logged: Result<Logged, String>,
    /// By place: the instruction of the original.
    sites: Vec<SiteNumber>,
}

impl Logs {
    /// Makes a text log, for a device with so many bytes of memory. Where that cannot be, [`Self::refused`] says why: the module loads, and its kernels are not launched.
    ///
    /// # Errors
    /// Where the text cannot be loaded as it stands.
    pub fn new(
        source: &str,
        config: &DeviceConfig,
        capacity: u64,
        kit: LoggingKit,
    ) -> Result<Logs, ImageRefusal> {
        let ast = bugaroo_ptx::parse(source).map_err(|error| ImageRefusal::syntax(source, &error))?;
        // Its variables are nowhere else.
        let elsewhere = Memory::new(capacity);
        let mut elsewhere = elsewhere.map_err(|error| ImageRefusal::load(LoadError::Memory(error), Some))?;
        let original = Program::load(&ast, &mut elsewhere, config);
        let original = Arc::new(original.map_err(|error| ImageRefusal::load(error, Some))?);
        let logged = match kit {
            LoggingKit::Log => log(source, OPTIONS),
            LoggingKit::Hirace => hirace::detect(source),
            LoggingKit::Scord => scord::detect(source),
        };
        let logged = logged.map_err(|error| error.to_string());
        let sites = logged.as_ref().map_or_else(|_| Vec::new(), |logged| sites(&original, &logged.places, 0));
        Ok(Logs { kit, original, table: Arc::new(collect_sites(&ast)), logged, sites })
    }

    /// What its device code does.
    pub fn kit(&self) -> LoggingKit {
        self.kit
    }

    /// What is told, by the number of its place.
    pub fn places(&self) -> &[Option<RecordPlace>] {
        self.logged.as_ref().map_or(&[], |logged| &logged.places)
    }

    /// The same, as far as threads of a kernel may come to them.
    pub fn places_of(&self, kernel: &str) -> Vec<Option<RecordPlace>> {
        self.logged.as_ref().map_or_else(|_| Vec::new(), |logged| logged.places_of(kernel))
    }

    /// The instruction of the original of each.
    pub fn sites(&self) -> &[SiteNumber] {
        &self.sites
    }

    /// The text to run.
    pub fn text(&self) -> Option<&str> {
        self.logged.as_ref().ok().map(|logged| logged.ptx.as_str())
    }

    /// Why a launch of a kernel is not looked at, if it is not: it does what the device's code does not know.
    pub fn blind(&self, kernel: &str) -> Option<String> {
        let logged = self.logged.as_ref().ok()?;
        let blind = logged.blind.iter().find(|blind| blind.kernel == kernel)?;
        let why = Unknown { function: demangled(&blind.why.function), ..blind.why.clone() };
        Some(format!("kernel {} is not looked at: {why}", demangled(kernel)))
    }

    /// The name of a kernel for people, where it has barriers that need not wait for all of so many threads of a block.
    pub fn counted(&self, kernel: &str, threads: u32) -> Option<String> {
        let waited = self.logged.as_ref().ok()?.waited.get(kernel)?;
        waited.may_be_below(threads).then(|| demangled(kernel))
    }

    /// Why its kernels cannot log, if they cannot.
    pub fn refused(&self) -> Option<&str> {
        self.logged.as_ref().err().map(String::as_str)
    }

    /// The program as it was written.
    pub fn original(&self) -> &Arc<Program> {
        &self.original
    }

    /// The sites of that.
    pub fn table(&self) -> &Arc<SiteTable> {
        &self.table
    }

    /// The site at an instruction of that.
    pub fn site(&self, pc: u32) -> Option<u32> {
        let span = self.original.spans().nth(pc as usize)?;
        let at = |point: &&InjectionPoint| (point.span.start, point.span.end) == span && point.site.is_some();
        self.table.points.iter().find(at)?.site
    }

    /// The line of the program's own text that a line of [`Self::text`] stems from.
    pub fn original_line(&self, line: u32) -> Option<u32> {
        self.logged.as_ref().map_or(Some(line), |logged| logged.lines.original(line))
    }
}

/// A launch that logs.
pub struct LoggingLaunch {
    allocated: Allocated,
    /// Address of the module's variable.
    variable: u64,
    session: LoggingSession,
    observer: Rc<RefCell<dyn Observer>>,
    broken: Option<Broken>,
}

impl std::fmt::Debug for LoggingLaunch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recording").field("allocated", &self.allocated).finish_non_exhaustive()
    }
}

impl LoggingLaunch {
    /// For a grid that has not begun, of the program that logs. `watch`: who is told, and what the original's first site is.
    ///
    /// # Errors
    /// [`Broken::Room`], [`Broken::Warps`], [`Broken::NoLogger`].
    pub fn new(
        logs: &Logs,
        (grid, program): (&Grid, &Program),
        config: &DeviceConfig,
        watch: LaunchWatch,
        memory: &mut Memory,
    ) -> Result<LoggingLaunch, Broken> {
        let LaunchWatch { observer, grid: work, first_site } = watch;
        let (variable, _) = program.variable(LOG_VARIABLE).ok_or(Broken::NoLogger)?;
        let shape = grid.shape();
        let blocks = u32::try_from(shape.blocks).unwrap_or(u32::MAX);
        let queues = Queues { count: queues_for(config.sm_count).min(blocks).max(1), capacity: CAPACITY };
        let places = logs.places().to_vec();
        let launch = LoggedLaunch {
            grid: work,
            shape,
            lockstep: config.lockstep,
            first_site,
            global_from: GLOBAL_BASE,
            places,
            sites: logs.sites.iter().map(|site| first_site.wrapping_add(*site)).collect(),
        };
        let allocated = Allocated::new(queues, memory)?;
        let session = LoggingSession::new(&allocated, launch, &mut *observer.borrow_mut());
        let session = session.inspect_err(|_| allocated.free(memory))?;
        Ok(LoggingLaunch { allocated, variable, session, observer, broken: None })
    }

    /// Puts the queues where the module finds them. There is one place for all launches of a module.
    pub fn enter(&self, memory: &mut Memory) {
        // They are no larger than what could be allocated; the variable lives as long as its module.
        let state = self.allocated.state().unwrap_or_default();
        let _ = memory.write(self.variable, &state.to_bytes());
    }

    /// Takes them away.
    pub fn leave(&self, memory: &mut Memory) {
        // As above.
        let _ = memory.write(self.variable, &LogState::default().to_bytes());
    }

    /// Runs the grid for so many turns, and tells what it logs. Answers how it ended, once it has; it has ended, too, when queues were
    /// damaged.
    pub fn advance(&mut self, grid: &mut Grid, memory: &mut Memory, turns: u64) -> Option<End> {
        let mut left = turns;
        loop {
            let some = left.min(TURNS);
            let end = grid.advance(memory, some);
            if let Err(broken) = self.session.pump(memory, &mut *self.observer.borrow_mut()) {
                self.broken = Some(broken);
                return Some(End::Complete);
            }
            left -= some;
            if end.is_some() || left == 0 {
                return end;
            }
        }
    }

    /// Whether the launch was given up, as its queues are damaged.
    pub fn is_broken(&self) -> bool {
        self.broken.is_some()
    }

    /// The launch is over: tells the rest, and gives the queues back.
    ///
    /// # Errors
    /// Where the queues were damaged.
    pub fn end(self, memory: &mut Memory) -> Result<(), Broken> {
        self.leave(memory);
        let mut observer = self.observer.borrow_mut();
        let told = self.session.finish(memory, &mut *observer);
        self.allocated.free(memory);
        self.broken.map_or(told, Err)
    }
}
