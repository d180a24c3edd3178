//! The trial runner: starts the program under test again and again, each time as a process of its
//! own with Bugaroo's `libcuda.so.1` and a seed of its own, and says how it ended.
//!
//! A program that allows it is started but once, and its trials are forked off before its first launch
//! (`fork_server`).
//!
//! Bottom up: [`outcome`] is how trials end, [`settings`] what they share; [`process`] runs one program and captures what it says; [`report`] reads what the driver
//! inside it says; [`oracle`] and [`classify`] turn both into an outcome; [`session`] runs the baseline
//! and then any trials asked for, many at once; [`rundir`] keeps their records; [`campaign`] is all of
//! `bugaroo run`, and [`profile`] of `bugaroo profile`. Nothing in here prints but [`progress`].
//!
//! A program can escape: a process that moves to a session or process group of its own outlives its
//! trial. Everything else that a trial starts is killed when the trial ends.

pub mod baseline;
pub mod campaign;
pub mod capture;
pub mod classify;
pub mod conflicts;
mod digest;
pub mod error;
pub mod findings;
mod fork_server;
pub mod gpu;
pub mod hidden;
pub mod incident;
pub mod input;
pub mod interrupt;
pub mod interval;
pub mod launches;
pub mod library;
pub mod limits;
mod lockstep;
pub mod names;
pub mod oracle;
pub mod outcome;
pub mod process;
pub mod profile;
pub mod progress;
pub mod race;
pub mod record;
pub mod replay;
pub mod report;
pub mod rundir;
pub mod sarif;
pub mod schedules;
pub mod seeds;
pub mod session;
pub mod settings;
pub mod summary;
pub mod suppressions;
pub mod target;
mod trial;
pub mod user_file;
mod waiting;
pub mod words;

pub use bugaroo_protocol::{Turns, Variation};
pub use waiting::block_on;

pub use baseline::{Baseline, BaselineFailure};
pub use campaign::{Campaign, RunSummary};
pub use conflicts::Conflicts;
pub use error::Error;
pub use findings::{Finding, Findings};
pub use fork_server::ForkServerUse;
pub use hidden::Hidden;
pub use input::StandardInput;
pub use interrupt::Interrupt;
pub use interval::clopper_pearson;
pub use library::{DriverLibrary, Embedded};
pub use oracle::Oracle;
pub use outcome::{Exit, Outcome};
pub use profile::{KernelProfile, Profile};
pub use progress::{ProgressEvent, Reporter};
pub use race::{FoundRace, RaceSummary, TrialRaces};
pub use record::{Failure, TrialRecord};
pub use rundir::RunDir;
pub use session::{FullTrial, Session, Stop};
pub use settings::Settings;
pub use summary::CellSummary;
pub use suppressions::Suppressions;
pub use target::Target;
