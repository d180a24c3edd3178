//! A recorded trial, run again exactly: same program and arguments, same working directory, same seed,
//! same settings, same standard input. What the program reads from its environment and from files is as it is now.

use std::path::Path;

use bugaroo_protocol::Variation;

use crate::digest;
use crate::error::Error;
use crate::input::StandardInput;
use crate::interrupt::Interrupt;
use crate::library::DriverLibrary;
use crate::record::TrialRecord;
use crate::rundir::error::RunDirError;
use crate::rundir::{RecordedRun, RunDir, RunFile};
use crate::session::{FullTrial, Session};
use crate::settings::Settings;
use crate::target::Target;

/// A trial to be run again.
#[derive(Debug)]
pub struct Replay {
    run: RunFile,
    input: Option<StandardInput>,
    cell: usize,
    record: TrialRecord,
}

impl Replay {
    /// Finds a trial among the recorded ones of the run in `directory`.
    ///
    /// # Errors
    /// When it is not there, or its program cannot be run any more.
    pub fn new(directory: &Path, mut recorded: RecordedRun, cell: usize, trial: u64) -> Result<Self, Error> {
        let path = directory.to_owned();
        let cells = recorded.run.cells().len();
        if cell >= cells {
            return Err(RunDirError::NoCell { path, cell, cells }.into());
        }
        let Some(record) = recorded.trials.remove(&(cell, trial)) else {
            return Err(RunDirError::NoTrial { path, cell, trial }.into());
        };
        recorded.run.configuration.target.check()?;
        let input = RunDir::kept_input(directory, &recorded.run.configuration)?;
        Ok(Self { run: recorded.run, input, cell, record })
    }

    /// The program.
    pub fn target(&self) -> &Target {
        &self.run.configuration.target
    }

    /// What was recorded.
    pub fn record(&self) -> &TrialRecord {
        &self.record
    }

    /// How it was run: what its turn was, where trials take turns.
    pub fn variation(&self) -> Variation {
        if let Some(own) = &self.record.variation {
            return (**own).clone();
        }
        self.run.cells()[self.cell].of_trial(self.record.trial).into_owned()
    }

    /// Whether the program's file is another than at the time of the run.
    pub fn app_changed(&self) -> bool {
        let then = &self.run.configuration.app_sha256;
        *then != digest::of_file(&self.run.configuration.target.app).ok()
    }

    /// Runs it.
    ///
    /// # Errors
    /// When it cannot be run at all.
    pub async fn run(self, library: DriverLibrary, interrupt: Interrupt) -> Result<FullTrial, Error> {
        let variation = self.variation();
        let Self { run, input, record, .. } = self;
        let configuration = run.configuration;
        let settings = Settings { input, ..configuration.settings(Some(1))? };
        let session = Session::resume(configuration.target, settings, library, interrupt, run.baseline);
        session.full_trial(&variation, record.trial).await
    }
}
