//! A campaign: all trials of all cells of one `bugaroo run`, recorded as they end, and summed up.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use bugaroo_protocol::{Model, Variation};

use crate::baseline::{BaselineFailure, LOCKSTEP_NOTE};
use crate::error::Error;
use crate::findings::{Findings, Share};
use crate::fork_server::ForkServerUse;
use crate::interrupt::Interrupt;
use crate::library::DriverLibrary;
use crate::outcome::Outcome;
use crate::progress::{ProgressEvent, Reporter};
use crate::race::RaceSummary;
use crate::record::TrialRecord;
use crate::rundir::error::RunDirError;
use crate::rundir::{Configuration, RecordedRun, RunDir, RunFile, SCHEMA};
use crate::seeds::random_run_seed;
use crate::session::{Session, Stop};
use crate::settings::Settings;
use crate::summary::CellSummary;
use crate::target::Target;

/// What to run.
#[derive(Clone, Debug)]
pub struct Campaign {
    /// The program.
    pub target: Target,
    /// Settings; `seed` is overruled by [`Self::seed`].
    pub settings: Settings,
    /// The run's seed; None: that of the run which the directory holds, or else a random one.
    pub seed: Option<u64>,
    /// What all cells have in common; `pw` is overruled by [`Self::pw`].
    pub variation: Variation,
    /// The cells' probabilities.
    pub pw: Vec<f64>,
    /// Trials of each cell, at most.
    pub trials: u64,
    /// No trial begins after this time, which all cells share alike; None: however long they take.
    pub time: Option<Duration>,
    /// When to stop before.
    pub stop: Stop,
    /// Where to keep the records; None: a new directory under the user's state folder.
    pub out: Option<PathBuf>,
}

/// What a campaign came to.
#[derive(Clone, Debug)]
pub struct RunSummary {
    /// Where its records are.
    pub run_dir: PathBuf,
    /// What was run.
    pub configuration: Configuration,
    /// The cells, in the order of their probabilities.
    pub cells: Vec<CellSummary>,
    /// Trials that this campaign ran itself, and did not find recorded.
    pub ran: u64,
    /// Time that those took, together.
    pub elapsed: Duration,
    /// Whether the user stopped it.
    pub interrupted: bool,
    /// Whether trials were forks of one process.
    pub fork_server: ForkServerUse,
    /// The program fails without injection: in so many of so many runs, which the cells are.
    pub without_injection: Option<Share>,
    /// Errors of launches, each once, whatever the trials' outcomes.
    pub findings: Findings,
    /// What detectors found, where trials had such.
    pub races: Option<RaceSummary>,
    /// What the user should know, one line each.
    pub warnings: Vec<String>,
}

impl RunSummary {
    /// Failures in all cells.
    pub fn failures(&self) -> u64 {
        self.cells.iter().map(|cell| cell.failures).sum()
    }

    /// Trials per second of wall-clock time; None where none ran.
    pub fn trials_per_second(&self) -> Option<f64> {
        (self.ran > 0 && !self.elapsed.is_zero()).then(|| self.ran as f64 / self.elapsed.as_secs_f64())
    }

    /// Trials in all cells that say nothing of the program: slow ones, and killed ones.
    pub fn untold(&self) -> u64 {
        let of = |cell: &CellSummary| cell.outcomes.of(Outcome::Slow) + cell.outcomes.of(Outcome::Killed);
        self.cells.iter().map(of).sum()
    }

    /// The cell with a failure that comes first, with that failure.
    pub fn first_failure(&self) -> Option<(usize, &TrialRecord)> {
        self.cells.iter().enumerate().find_map(|(at, cell)| Some((at, cell.first_failure.as_ref()?)))
    }

    /// How `replay` is told which trial is meant: the index alone where there is but one cell.
    pub fn address(&self, cell: usize, trial: u64) -> String {
        address(self.cells.len(), cell, trial)
    }
}

impl Campaign {
    /// Runs it.
    ///
    /// # Errors
    /// When the program cannot be run or fails without injection, when the directory cannot be used, or
    /// when the user stops it before the first trial. When it is stopped later, what was found comes
    /// back as a summary.
    pub async fn run(
        self,
        library: DriverLibrary,
        interrupt: Interrupt,
        reporter: &dyn Reporter,
    ) -> Result<RunSummary, Error> {
        let path = match &self.out {
            Some(path) => path.clone(),
            None => fresh_path(self.target.name()),
        };
        let (directory, recorded) = RunDir::open(&path)?;
        match recorded {
            Some(recorded) => self.resume(directory, recorded, library, interrupt, reporter).await,
            None => self.start(directory, library, interrupt, reporter).await,
        }
    }

    async fn start(
        self,
        mut directory: RunDir,
        library: DriverLibrary,
        interrupt: Interrupt,
        reporter: &dyn Reporter,
    ) -> Result<RunSummary, Error> {
        let configuration = self.configuration(self.seed.unwrap_or_else(random_run_seed));
        let settings = Settings { seed: configuration.seed, digest: true, ..self.settings.clone() };
        let ready = async {
            let session = Session::start(self.target.clone(), settings, library, interrupt, reporter).await?;
            session.check(&self.variation).await?;
            Ok(session)
        };
        let session = match ready.await {
            Ok(session) => session,
            Err(Error::Baseline(failure)) if failure.is_finding() && failure.schedules.total() > 0 => {
                return self.failing(directory, configuration, *failure);
            }
            Err(error) => {
                directory.discard();
                return Err(error);
            }
        };
        let run = RunFile {
            schema: SCHEMA,
            bugaroo: env!("CARGO_PKG_VERSION").to_owned(),
            configuration,
            trials: self.trials,
            baseline: session.baseline().clone(),
            schedules: false,
        };
        if let Some(input) = &self.settings.input {
            directory.keep_input(input)?;
        }
        directory.state(&run)?;
        if self.time.is_none() {
            let trials = self.trials.saturating_mul(run.cells().len() as u64);
            for line in session.ahead(trials).await {
                reporter.report(ProgressEvent::Note(&line));
            }
        }
        let nothing = RecordedRun { run, trials: Default::default(), torn: false };
        self.all_trials(directory, nothing, &session, reporter).await
    }

    /// Records the runs of a program that fails without injection, as the trials that it has.
    fn failing(
        &self,
        mut directory: RunDir,
        configuration: Configuration,
        failure: BaselineFailure,
    ) -> Result<RunSummary, Error> {
        let run = RunFile {
            schema: SCHEMA,
            bugaroo: env!("CARGO_PKG_VERSION").to_owned(),
            configuration,
            trials: failure.schedules.cells.iter().map(|cell| cell.len() as u64).max().unwrap_or(0),
            baseline: failure.baseline.clone(),
            schedules: true,
        };
        directory.state(&run)?;
        let trials = failure.schedules.by_address();
        for (&(cell, _), record) in &trials {
            directory.append(cell, record)?;
        }
        let ran = trials.len() as u64;
        let mut warnings = Vec::new();
        if failure.counts_on_lockstep {
            warnings.push(LOCKSTEP_NOTE.to_owned());
        }
        let done =
            Done { ran, elapsed: Duration::ZERO, interrupted: false, fork_server: ForkServerUse::default() };
        Ok(summary(&directory, run, &trials, done, warnings))
    }

    async fn resume(
        mut self,
        mut directory: RunDir,
        mut recorded: RecordedRun,
        library: DriverLibrary,
        interrupt: Interrupt,
        reporter: &dyn Reporter,
    ) -> Result<RunSummary, Error> {
        let there = &recorded.run.configuration;
        if self.settings.input.is_none() {
            self.settings.input = RunDir::kept_input(directory.path(), there)?;
        }
        let configuration = self.configuration(self.seed.unwrap_or(there.seed));
        if let Some(differences) = configuration.differences(there) {
            return Err(RunDirError::Differs { path: directory.path().to_owned(), differences }.into());
        }
        if recorded.torn {
            reporter.report(ProgressEvent::Note(
                "the last line of trials.jsonl was cut off; its trial runs again",
            ));
        }
        if recorded.run.schedules {
            let done = Done {
                ran: 0,
                elapsed: Duration::ZERO,
                interrupted: false,
                fork_server: ForkServerUse::default(),
            };
            return Ok(summary(&directory, recorded.run, &recorded.trials, done, Vec::new()));
        }
        let note = format!("going on with the run in {}", directory.path().display());
        reporter.report(ProgressEvent::Note(&note));
        if recorded.run.trials != self.trials {
            recorded.run.trials = self.trials;
            directory.state(&recorded.run)?;
        }
        let settings = Settings { seed: configuration.seed, digest: true, ..self.settings.clone() };
        let baseline = recorded.run.baseline.clone();
        let session = Session::resume(self.target.clone(), settings, library, interrupt, baseline);
        self.all_trials(directory, recorded, &session, reporter).await
    }

    fn configuration(&self, seed: u64) -> Configuration {
        let settings = Settings { seed, ..self.settings.clone() };
        Configuration::of(&self.target, &settings, &self.variation, self.pw.clone())
    }

    async fn all_trials(
        self,
        mut directory: RunDir,
        recorded: RecordedRun,
        session: &Session,
        reporter: &dyn Reporter,
    ) -> Result<RunSummary, Error> {
        let RecordedRun { mut run, mut trials, .. } = recorded;
        let mut ran = 0;
        let mut interrupted = false;
        let started = Instant::now();
        let cells = run.cells();
        for (at, variation) in cells.iter().enumerate() {
            let failed = trials.iter().any(|(&(_, trial), record)| {
                trial < self.trials && session.settings().finds(variation, record)
            });
            if interrupted || (self.stop == Stop::AtFirstFailure && failed) {
                break;
            }
            let present: BTreeSet<u64> =
                trials.range((at, 0)..(at, self.trials)).map(|(&(_, trial), _)| trial).collect();
            let left = self.trials - present.len() as u64;
            let missing = (0..self.trials).filter(|trial| !present.contains(trial));
            let what = match variation.turns {
                Some(_) => "looking for races".to_owned(),
                None => format!("p_w {}", variation.pw),
            };
            let time = self.time.map(|time| {
                let cells = u32::try_from(cells.len() - at).unwrap_or(u32::MAX);
                time.saturating_sub(started.elapsed()) / cells
            });
            match time {
                Some(time) => reporter.report(ProgressEvent::TimeStarted { what: &what, time }),
                None => reporter.report(ProgressEvent::BatchStarted { what: &what, trials: left }),
            }
            // Each cell has one trial at least: otherwise a long trial of the first would leave nothing to tell of the others.
            let (begun, mut first) = (Instant::now(), true);
            let missing = missing
                .take_while(|_| std::mem::take(&mut first) || time.is_none_or(|time| begun.elapsed() < time));
            let on_end = |record: &TrialRecord| {
                directory.append(at, record)?;
                trials.insert((at, record.trial), record.clone());
                ran += 1;
                Ok(())
            };
            let result = session.trials_with(variation, missing, self.stop, reporter, on_end).await;
            reporter.report(ProgressEvent::BatchEnded);
            match result {
                Ok(_) => {}
                Err(Error::Interrupted) => interrupted = true,
                Err(error) => return Err(error),
            }
        }
        let done = Done { ran, elapsed: started.elapsed(), interrupted, fork_server: session.fork_server() };
        trials.retain(|&(_, trial), _| trial < self.trials);
        if self.time.is_some() {
            // How many there would be was not known before.
            run.trials = trials.keys().map(|&(_, trial)| trial + 1).max().unwrap_or(0);
            directory.state(&run)?;
        }
        let mut summary = summary(&directory, run, &trials, done, Vec::new());
        let loads_vary =
            summary.configuration.variation.model == Model::Ptx && summary.configuration.variation.pr > 0.0;
        let expects_delays = !loads_vary && summary.findings.is_empty() && summary.races.is_none();
        summary.warnings = warnings(session, &summary.cells, expects_delays);
        Ok(summary)
    }
}

/// What was done now.
struct Done {
    ran: u64,
    elapsed: Duration,
    interrupted: bool,
    fork_server: ForkServerUse,
}

fn summary(
    directory: &RunDir,
    run: RunFile,
    trials: &BTreeMap<(usize, u64), TrialRecord>,
    done: Done,
    warnings: Vec<String>,
) -> RunSummary {
    let variations = run.cells();
    let cell = |(at, variation)| {
        CellSummary::new(variation, trials.range((at, 0)..=(at, u64::MAX)).map(|(_, record)| record))
    };
    let cells: Vec<CellSummary> = variations.iter().enumerate().map(cell).collect();
    let mut findings = Findings::without_injection(&run.baseline.incidents, run.baseline.runs);
    findings.add_trials(trials, |cell, trial| address(cells.len(), cell, trial));
    let looks = variations.first().filter(|variation| !run.schedules && variation.turns.is_some());
    let races = looks.map(|variation| {
        RaceSummary::new(variation, trials.values(), |trial| address(cells.len(), 0, trial))
    });
    let failures = || Share {
        seen: cells.iter().map(|cell| cell.failures).sum(),
        of: cells.iter().map(|cell| cell.trials).sum(),
    };
    let without_injection = run.schedules.then(failures);
    let Done { ran, elapsed, interrupted, fork_server } = done;
    RunSummary {
        run_dir: directory.path().to_owned(),
        configuration: run.configuration,
        cells,
        ran,
        elapsed,
        interrupted,
        fork_server,
        without_injection,
        findings,
        races,
        warnings,
    }
}

/// How `replay` is told which trial is meant.
fn address(cells: usize, cell: usize, trial: u64) -> String {
    if cells == 1 { trial.to_string() } else { format!("{cell}:{trial}") }
}

/// `expects_delays`: nothing explains that no store was delayed. An error that ends a kernel early does, and where what
/// loads read is drawn, too, trials say something without.
fn warnings(session: &Session, cells: &[CellSummary], expects_delays: bool) -> Vec<String> {
    let mut warnings = Vec::new();
    let selected: Vec<&CellSummary> = cells.iter().filter(|cell| cell.pw > 0.0 && cell.trials > 0).collect();
    if session.baseline().launched.is_empty() {
        warnings.push("the program launches no kernel: there is nothing to inject into".to_owned());
    } else if expects_delays
        && !selected.is_empty()
        && selected.iter().all(|cell| cell.delayed_stores == 0 && cell.failures == 0)
    {
        warnings.push(
            "no store was ever delayed, so that these trials say nothing: its kernels store nothing but by \
             atomics and matrix instructions, or --kernel and --space leave their stores out"
                .to_owned(),
        );
    }
    let forgetful: u64 = selected.iter().map(|cell| cell.forgotten.trials).sum();
    if forgetful > 0 {
        let trials: u64 = selected.iter().map(|cell| cell.trials).sum();
        warnings.push(format!(
            "in {forgetful} of {trials} trials the model's memory was full, and writes were forgotten: what others \
             might have read in place of them did not show; --model-memory gives it more"
        ));
    }
    let all = |outcome| cells.iter().map(|cell| cell.outcomes.of(outcome)).sum::<u64>();
    let trials = |count| if count == 1 { "1 trial was".to_owned() } else { format!("{count} trials were") };
    for (outcome, what) in [
        (Outcome::Slow, "still at work on the device when the time was up (--timeout gives more)"),
        (Outcome::Killed, "ended twice by a signal that Bugaroo did not send (is there memory enough?)"),
    ] {
        match all(outcome) {
            0 => {}
            count => {
                warnings.push(format!("{} {what}: that says nothing, and counts for no rate", trials(count)))
            }
        }
    }
    match session.repeated() {
        0 => {}
        count => {
            warnings.push(format!(
                "{} ended by a signal that Bugaroo did not send, and run again",
                trials(count)
            ));
        }
    }
    warnings
}

/// A directory for a new run under the user's state folder, named by the time and the program.
pub fn fresh_path(app: &str) -> PathBuf {
    let absolute = |name| env::var_os(name).map(PathBuf::from).filter(|path: &PathBuf| path.is_absolute());
    let state = absolute("XDG_STATE_HOME")
        .or_else(|| Some(absolute("HOME")?.join(".local/state")))
        .unwrap_or_else(env::temp_dir);
    let runs = state.join("bugaroo/runs");
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    unused(&runs, &format!("{}-{app}", timestamp(seconds)))
}

fn unused(folder: &Path, name: &str) -> PathBuf {
    let mut path = folder.join(name);
    let mut number = 2;
    while path.exists() {
        path = folder.join(format!("{name}-{number}"));
        number += 1;
    }
    path
}

/// A point in time, in seconds since 1970, as `YYYYMMDDThhmmssZ`.
fn timestamp(seconds: u64) -> String {
    let (mut days, of_day) = (seconds / 86_400, seconds % 86_400);
    let leap = |year: u64| year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    let mut year = 1970;
    while days >= 365 + u64::from(leap(year)) {
        days -= 365 + u64::from(leap(year));
        year += 1;
    }
    let mut month = 1;
    for length in [31, 28 + u64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}{month:02}{:02}T{hour:02}{minute:02}{second:02}Z", days + 1)
}

#[cfg(test)]
mod tests;
