//! Launches whose detectors are fed by device code: with a log of what threads do ([`crate::trial::logging`]), or with the races that it has
//! found itself ([`crate::trial::hirace`], [`crate::trial::scord`]).

use std::cell::RefCell;
use std::rc::Rc;

use bugaroo_detectors::hirace::device::{self, Missed};
use bugaroo_detectors::scord::device as scord_device;
use bugaroo_simulator::{DeviceConfig, End, Grid, LaunchWatch, Memory, Others, Program};

use crate::trial::logging::broken::Broken;
use crate::trial::logging::launched::{LoggingKit, Logs};
use crate::trial::looking::Sizes;
use crate::trial::{hirace, logging, scord};

/// Who takes the races that device code has found.
#[derive(Clone, Debug)]
pub enum FeedsTold {
    /// As HiRace.
    Hirace(Rc<RefCell<device::HiraceTold>>),
    /// As ScoRD.
    Scord(Rc<RefCell<scord_device::ScordTold>>),
}

/// What feeds the detectors of a launch.
#[derive(Debug)]
pub enum Feed {
    /// Its log.
    Log(Box<logging::LoggingLaunch>),
    /// Its own detector, HiRace.
    Hirace(Box<hirace::Looking>),
    /// ScoRD.
    Scord(Box<scord::Looking>),
}

impl Feed {
    /// For a grid of a kernel of this name that has not begun, of the program that feeds. `watch`: who is told, and what the original's first site is; `told`: who
    /// takes the device's races. None where nobody can look at the launch, and a warning says so.
    ///
    /// # Errors
    /// Where there is no room for what it needs.
    pub fn new(
        logs: &Logs,
        (name, grid, program): (&str, &Grid, &Program),
        config: &DeviceConfig,
        (watch, told): (LaunchWatch, Option<&FeedsTold>),
        memory: &mut Memory,
    ) -> Result<Option<Feed>, Broken> {
        let feed = match (logs.kit(), told) {
            (LoggingKit::Hirace, Some(FeedsTold::Hirace(told))) => {
                Feed::hirace(logs, (name, grid, program), config, (watch, told), memory)?
            }
            (LoggingKit::Scord, Some(FeedsTold::Scord(told))) => {
                // What the word needs room for is what this kernel may do.
                let reached = logs.places_of(name);
                let places = (&reached[..], logs.sites());
                let of = (&**logs.original(), watch.first_site);
                let options = told.borrow().options;
                let wanted = (options.layout, told.borrow_mut().take_watched(watch.grid));
                let shape = (grid.shape(), config.lockstep);
                let counted = logs.counted(name, grid.shape().threads_per_cta);
                let launch =
                    scord::ScordLaunch::new(watch.grid, shape, of, places, wanted).with_counted(counted);
                let most = options.most_bytes.unwrap_or(scord::MOST_BYTES);
                let sizes = Sizes::for_device(memory.available(), most);
                let looking = scord::Looking::new(launch, sizes, program, Rc::clone(told), watch, memory)?;
                Some(Feed::Scord(Box::new(looking)))
            }
            _ => {
                let recording = logging::LoggingLaunch::new(logs, (grid, program), config, watch, memory)?;
                Some(Feed::Log(Box::new(recording)))
            }
        };
        Ok(feed)
    }

    fn hirace(
        logs: &Logs,
        (name, grid, program): (&str, &Grid, &Program),
        config: &DeviceConfig,
        (watch, told): (LaunchWatch, &Rc<RefCell<device::HiraceTold>>),
        memory: &mut Memory,
    ) -> Result<Option<Feed>, Broken> {
        let shape = grid.shape();
        let LaunchWatch { grid: work, first_site, .. } = watch;
        let settings = told.borrow().settings.clone();
        let watched = told.borrow_mut().take_watched(work);
        let Some(layout) = hirace::layout(&shape, logs.original(), settings.widths) else {
            told.borrow_mut().missed(&Missed { too_large: true, ..Missed::default() });
            return Ok(None);
        };
        let launch = hirace::HiraceLaunch {
            device: device::HiraceLooked { grid: work, layout, lockstep: config.lockstep, first_site },
            shape,
            places: logs.places().to_vec(),
            sites: logs.sites().to_vec(),
            watched,
            counted: logs.counted(name, shape.threads_per_cta),
        };
        let sizes = Sizes::for_device(memory.available(), settings.most_bytes);
        let looking = hirace::Looking::new(launch, sizes, program, Rc::clone(told), watch, memory)?;
        Ok(Some(Feed::Hirace(Box::new(looking))))
    }

    /// Puts what it needs where the module finds it. There is one place for all launches of a module.
    pub fn enter(&self, memory: &mut Memory) {
        match self {
            Feed::Log(recording) => recording.enter(memory),
            Feed::Hirace(looking) => looking.enter(memory),
            Feed::Scord(looking) => looking.enter(memory),
        }
    }

    /// Takes it away.
    pub fn leave(&self, memory: &mut Memory) {
        match self {
            Feed::Log(recording) => recording.leave(memory),
            Feed::Hirace(looking) => looking.leave(memory),
            Feed::Scord(looking) => looking.leave(memory),
        }
    }

    /// Runs the grid for so many turns. Answers how it ended, once it has.
    pub fn advance(
        &mut self,
        grid: &mut Grid,
        memory: &mut Memory,
        (others, turns): (Others, u64),
    ) -> Option<End> {
        match self {
            // Whoever reads the queues writes them, too.
            Feed::Log(recording) => {
                grid.set_others(Others::MayWrite);
                recording.advance(grid, memory, turns)
            }
            Feed::Hirace(_) | Feed::Scord(_) => {
                grid.set_others(others);
                grid.advance(memory, turns)
            }
        }
    }

    /// Whether the launch was given up, as what feeds is damaged.
    pub fn is_broken(&self) -> bool {
        matches!(self, Feed::Log(recording) if recording.is_broken())
    }

    /// The launch is over: tells the rest, gives memory back, and answers how many accesses of warps nobody was told of.
    ///
    /// # Errors
    /// Where what feeds was damaged.
    pub fn end(self, memory: &mut Memory) -> Result<u64, Broken> {
        match self {
            Feed::Log(recording) => recording.end(memory).map(|()| 0),
            Feed::Hirace(looking) => Ok(looking.end(memory)),
            Feed::Scord(looking) => Ok(looking.end(memory)),
        }
    }
}
