//! Runs a night, or a shard of one, on this machine, and writes its results as they come.
//!
//! [`build`] builds programs, [`ready`] makes them ready, [`units`] says which cell gets time, [`batch`] counts, [`studies`] does what is no trial. A batch is
//! written whole: killed at any moment, the night goes on with the first trial that is not written, under the same seed.

mod batch;
mod build;
mod exploring;
mod known;
mod machine;
mod ready;
mod studies;
pub mod units;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use bugaroo_harness::progress::Silent;
use bugaroo_harness::rundir::{Configuration, RunFile, SCHEMA};
use bugaroo_harness::{DriverLibrary, Error, ForkServerUse, Interrupt, Session, Stop};
use jiff::Timestamp;
use regex::Regex;
use sha2::{Digest as _, Sha256};

use crate::history::resume::RUN;
use crate::history::rows::CellFacts;
use crate::history::{Key, ProgramFacts, Store, StoreError};
use crate::night::{NotRun, Stage};
use crate::plan::{Cell, CellKind, Plan, PlanProgram};
use crate::shard::Shard;
use batch::Making;
use known::{Cells, Programs, Spending};
use ready::Ready;
pub use ready::absent;
use units::{CellTurn, Unit};

/// Time after which a batch is written, about: what a kill costs at most, and what writing costs at least.
const BATCH: Duration = Duration::from_secs(3);
/// Trials of a batch, at most.
const MOST: u64 = 1000;

/// A night to be run, or a shard of one.
#[derive(Debug)]
pub struct Job<'a> {
    /// What is to be done.
    pub plan: &'a Plan,
    /// Which night; the database knows it already.
    pub key: Key,
    /// Seed of the night.
    pub seed: u64,
    /// Which part.
    pub shard: Shard,
    /// Trials at a time, over what the plan says.
    pub jobs: Option<usize>,
    /// Where results go.
    pub store: &'a Store,
    /// When the night before it began that files are compared with: before this.
    pub began: i64,
    /// File that says how far it is, as JSON; None: nowhere.
    pub progress: Option<PathBuf>,
}

/// Who is told how it goes.
pub trait Tell {
    /// Something was begun or has ended, in a line.
    fn line(&self, text: &str);
    /// So many trials are done, of so many, where that is known.
    fn trials(&self, done: u64, planned: Option<u64>);
}

/// Why a night cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum WorkError {
    /// Results cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Somebody else runs the same night, or the same shard of it.
    #[error(
        "night {night}: another bugaroo writes the trials of {program}; one is enough, and this one stops"
    )]
    Taken {
        /// Name of the night.
        night: String,
        /// Name of the program.
        program: String,
    },
    /// Trials cannot be run at all.
    #[error(transparent)]
    Harness(#[from] Error),
}

/// How a night ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    /// All of the plan, or of the shard, is done.
    pub complete: bool,
}

/// A night that is being run.
struct Work<'a> {
    job: &'a Job<'a>,
    library: DriverLibrary,
    interrupt: Interrupt,
    tell: &'a dyn Tell,
    programs: Programs,
    cells: Cells,
    session: Option<(usize, bool, Session)>,
    time: Spending,
}

/// Runs a night to its end, or until the user wants to stop: then what is done is there, and `complete` is not.
///
/// # Errors
/// When results cannot be written, or trials cannot be run for reasons that are not their program's.
pub async fn run(
    job: &Job<'_>,
    library: DriverLibrary,
    interrupt: Interrupt,
    tell: &dyn Tell,
) -> Result<Done, WorkError> {
    let before = job.store.files_before(&job.key.plan, job.began).await?;
    let mut work = Work {
        job,
        library,
        interrupt,
        tell,
        programs: Programs { before, ..Programs::default() },
        cells: Cells::default(),
        session: None,
        time: Spending::begin(),
    };
    let ended = work.all().await;
    let notes = work.notes();
    let complete = match ended {
        Ok(()) => true,
        Err(WorkError::Harness(Error::Interrupted)) => false,
        Err(error) => return Err(error),
    };
    drop(work.session.take());
    let now = Timestamp::now().as_millisecond();
    job.store.end(&job.key, job.shard.index, complete, now, &notes).await?;
    Ok(Done { complete })
}

impl Work<'_> {
    fn program(&self, at: usize) -> &PlanProgram {
        &self.job.plan.programs[at]
    }

    async fn all(&mut self) -> Result<(), WorkError> {
        let mut units = self.units().await?;
        self.time.earlier = units.iter().map(|unit| unit.spent).sum();
        self.tell_progress(&units);
        loop {
            let turns = units::round(&units, self.left());
            if turns.is_empty() {
                break;
            }
            for turn in turns {
                self.turn(&mut units, turn).await?;
            }
        }
        drop(self.session.take());
        self.studies(&units).await
    }

    /// What is left of the night's time; None: it has no limit.
    fn left(&self) -> Option<Duration> {
        let budget = self.job.plan.budget?;
        Some(budget.saturating_sub(self.time.spent()))
    }

    /// All cells of this shard, with what of them is there already.
    async fn units(&mut self) -> Result<Vec<Unit>, WorkError> {
        let Job { plan, store, key, shard, .. } = self.job;
        let done = store.done(key).await?;
        // What an earlier start of this night has found out is not found out again where nothing is left to run.
        let mut earlier = store.program_facts(key, shard.index).await?;
        let row = store.night_row(key).await?;
        let past = match &row {
            Some(row) => store.before(&key.plan, row).await?,
            None => BTreeMap::new(),
        };
        let mut units = Vec::new();
        for (at, program) in plan.programs.iter().enumerate() {
            let mut facts = Vec::new();
            for (place, cell) in program.cells.iter().enumerate() {
                let name = (program.name.clone(), cell.key.clone());
                let there = done.get(&name).cloned().unwrap_or_default();
                self.cells.known.insert((at, place), there.seen);
                let failed =
                    |past: &crate::history::CellPast| past.nights.iter().any(|night| night.failures > 0);
                units.push(Unit {
                    program: at,
                    cell: place,
                    done: there.tally.trials(),
                    most: cell.trials.map(|trials| shard.share(trials)),
                    failures: there.tally.failures(),
                    spent: there.spent,
                    budget: cell.budget.map(|budget| budget / shard.of),
                    failed_before: past.get(&name).is_some_and(failed),
                    changed: false,
                    open: true,
                });
                let (kind, variation) = (cell.kind, cell.variation.clone());
                facts.push((cell.key.clone(), CellFacts { place, kind, variation, planned: cell.trials }));
            }
            store.tell_cells(key, &program.name, &facts).await?;
            let earlier = earlier.remove(&program.name).unwrap_or_default();
            let facts = ProgramFacts { place: at, run: program.run.clone(), ..earlier };
            store.tell_program(key, shard.index, &program.name, &facts).await?;
            self.programs.facts.insert(at, facts);
        }
        Ok(units)
    }

    /// Gives a cell its turn.
    async fn turn(&mut self, units: &mut [Unit], turn: CellTurn) -> Result<(), WorkError> {
        let Unit { program: at, cell: place, done, .. } = units[turn.unit];
        if !self.prepare(at).await? {
            units.iter_mut().filter(|unit| unit.program == at).for_each(|unit| unit.open = false);
            return Ok(());
        }
        let changed = self.has_changed(at);
        units.iter_mut().filter(|unit| unit.program == at).for_each(|unit| unit.changed = changed);
        let began = Instant::now();
        let mut trials = 0;
        loop {
            let unit = &units[turn.unit];
            let over = turn.time.is_some_and(|time| began.elapsed() >= time);
            let enough = turn.trials.is_some_and(|most| trials >= most);
            // Where it ran out of time before its first trial, it has one all the same.
            if unit.most.is_some_and(|most| unit.done >= most) || enough || over && (done > 0 || trials > 0) {
                return Ok(());
            }
            let left = unit.most.map_or(u64::MAX, |most| most - unit.done);
            let left = left.min(turn.trials.map_or(u64::MAX, |most| most - trials));
            let time = turn.time.map_or(BATCH, |time| time.saturating_sub(began.elapsed()).min(BATCH));
            let pace = self.cells.pace.get(&(at, place)).copied();
            let fit = pace.map_or(4, |pace| (pace * time.as_secs_f64()) as u64).clamp(1, MOST);
            let first = unit.done;
            match self.batch((at, place), first, fit.min(left)).await {
                Ok((count, failures, spent)) => {
                    let unit = &mut units[turn.unit];
                    unit.done += count;
                    unit.failures += failures;
                    unit.spent += spent;
                    trials += count;
                    self.cells.pace.insert((at, place), count as f64 / spent.as_secs_f64().max(1e-3));
                    self.tell_progress(units);
                }
                Err(WorkError::Harness(error)) => {
                    if matches!(error, Error::Interrupted) {
                        return Err(error.into());
                    }
                    self.cannot_go_on(at, &error).await?;
                    units.iter_mut().filter(|unit| unit.program == at).for_each(|unit| unit.open = false);
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Makes a program ready, if it was not tried yet. Whether trials of it can be run.
    async fn prepare(&mut self, at: usize) -> Result<bool, WorkError> {
        if self.programs.tried.insert(at) {
            let program = &self.job.plan.programs[at];
            self.tell.line(&format!("{}: {}", program.name, first_words(program)));
            let jobs = self.job.jobs.or(self.job.plan.jobs);
            let made = match build::build(program, &self.job.plan.path, &self.interrupt).await? {
                Ok(()) => {
                    let seed = self.seed(at);
                    ready::ready(program, seed, jobs, &self.library, &self.interrupt).await?
                }
                Err(error) => Err(error),
            };
            let made = made.and_then(|ready| match no_such_kernel(program, &ready) {
                Some(error) => Err(error),
                None => Ok(ready),
            });
            let facts = self.programs.facts.entry(at).or_default();
            match made {
                Ok(mut ready) => {
                    if ready.settings.jobs.is_none() {
                        ready.settings.jobs = machine::jobs();
                    }
                    let stated = Configuration::of(
                        &ready.target,
                        &ready.settings,
                        &bugaroo_harness::Variation::default(),
                        Vec::new(),
                    );
                    facts.sha256 = stated.app_sha256;
                    facts.baseline_ms = Some(ready.baseline.duration_ms);
                    facts.error = None;
                    self.programs.ready.insert(at, ready);
                }
                Err(error) => {
                    self.tell.line(&format!("{}: {}", program.name, error.message));
                    facts.error = Some(error);
                }
            }
            self.tell_facts(at).await?;
        }
        Ok(self.programs.ready.contains_key(&at))
    }

    async fn tell_facts(&self, at: usize) -> Result<(), StoreError> {
        let Job { store, key, shard, .. } = self.job;
        store.tell_program(key, shard.index, &self.program(at).name, &self.programs.facts[&at]).await
    }

    /// Trials of a program cannot be run any more.
    async fn cannot_go_on(&mut self, at: usize, error: &Error) -> Result<(), StoreError> {
        let message = error.to_string();
        self.tell.line(&format!("{}: {message}", self.program(at).name));
        let facts = self.programs.facts.entry(at).or_default();
        facts.error = Some(NotRun { stage: Stage::Trials, message, expected: None });
        self.session = None;
        self.tell_facts(at).await
    }

    /// Seed of a program's trials.
    fn seed(&self, at: usize) -> u64 {
        program_seed(self.job.seed, &self.program(at).name)
    }

    fn has_changed(&self, at: usize) -> bool {
        let now = self.programs.facts.get(&at).and_then(|facts| facts.sha256.as_ref());
        let before = self.programs.before.get(&self.program(at).name);
        now.is_some() && before.is_some() && now != before
    }

    /// Runs so many trials of a cell, and writes what they come to. How many there were, how many failed, how long they took.
    async fn batch(
        &mut self,
        (at, place): (usize, usize),
        first: u64,
        count: u64,
    ) -> Result<(u64, u64, Duration), WorkError> {
        let Job { plan, store, key, shard, .. } = self.job;
        let program = &plan.programs[at];
        let cell = &program.cells[place];
        if cell.kind == CellKind::Explore {
            return self.explore((at, place), first, count).await;
        }
        let Some(session) = self.session(at, cell.kind) else { return Ok((0, 0, Duration::ZERO)) };
        let began = Instant::now();
        let mut making =
            Making::new((&program.name, &cell.key), *shard, first, &program.suppressions, &program.directory);
        let indices = (first..first + count).map(|place| shard.trial(place));
        let on_end = |record: &bugaroo_harness::TrialRecord| {
            making.take(record);
            Ok(())
        };
        session.trials_with(&cell.variation, indices, Stop::Never, &Silent, on_end).await?;
        let (used, run) = (session.fork_server(), Self::run_file(session, cell));
        let known = self.cells.known.entry((at, place)).or_default();
        let batch = making.finish(known);
        if batch.trials.iter().any(|trial| trial.record.is_some()) {
            self.keep_run(at, cell, &run).await?;
        }
        if !store.count(key, &batch).await? {
            return Err(self.taken(at));
        }
        if cell.kind != CellKind::Races {
            self.tell_fork_server(at, used).await?;
        }
        Ok((batch.tally.trials(), batch.tally.failures(), began.elapsed()))
    }

    /// Somebody else has counted trials of a program.
    fn taken(&self, at: usize) -> WorkError {
        WorkError::Taken { night: self.job.key.label.clone(), program: self.program(at).name.clone() }
    }

    /// The session for cells of a kind, made ready where it is not; None: trials of the program cannot be run.
    fn session(&mut self, at: usize, kind: CellKind) -> Option<&Session> {
        let races = kind == CellKind::Races;
        if self.session.as_ref().is_none_or(|(of, other, _)| (*of, *other) != (at, races)) {
            self.session = None;
            let ready = self.programs.ready.get(&at)?;
            let session = Session::resume(
                ready.target.clone(),
                ready.settings(kind, &self.job.plan.programs[at]),
                self.library.clone(),
                self.interrupt.clone(),
                ready.baseline.clone(),
            );
            self.session = Some((at, races, session));
        }
        self.session.as_ref().map(|(_, _, session)| session)
    }

    /// What the run of a cell is, for replays.
    fn run_file(session: &Session, cell: &Cell) -> RunFile {
        let pw = vec![cell.variation.pw];
        RunFile {
            schema: SCHEMA,
            bugaroo: env!("CARGO_PKG_VERSION").to_owned(),
            configuration: Configuration::of(session.target(), session.settings(), &cell.variation, pw),
            trials: cell.trials.unwrap_or(0),
            baseline: session.baseline().clone(),
            schedules: false,
        }
    }

    async fn keep_run(&self, at: usize, cell: &Cell, run: &RunFile) -> Result<(), StoreError> {
        let Job { store, key, .. } = self.job;
        store.tell_study(key, &self.program(at).name, (&format!("{RUN}{}", cell.key), run), 0).await
    }

    /// Says whether trials are forks of one process, where that is news.
    async fn tell_fork_server(&mut self, at: usize, used: ForkServerUse) -> Result<(), StoreError> {
        let facts = self.programs.facts.entry(at).or_default();
        if facts.fork_server.as_ref() != Some(&used) {
            facts.fork_server = Some(used);
            self.tell_facts(at).await?;
        }
        Ok(())
    }

    /// Tells how far it is, on the terminal and in the file for who watches from outside.
    fn tell_progress(&self, units: &[Unit]) {
        let done = units.iter().map(|unit| unit.done).sum();
        let planned = units.iter().filter(|unit| unit.open).map(|unit| unit.most);
        let planned: Option<u64> = planned.sum::<Option<u64>>().filter(|_| self.job.plan.budget.is_none());
        self.tell.trials(done, planned);
        if let Some(path) = &self.job.progress {
            let text = serde_json::json!({ "done": done, "planned": planned }).to_string();
            let new = path.with_extension("progress.new");
            // Who watches sees the last one that could be written.
            let _ = std::fs::write(&new, text).and_then(|()| std::fs::rename(&new, path));
        }
    }

    /// What the reader should know of the night as a whole.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Seed of a program's trials in a night with this seed.
pub fn program_seed(night: u64, program: &str) -> u64 {
    let digest = Sha256::new().chain_update(night.to_le_bytes()).chain_update(program).finalize();
    let mut first = [0; 8];
    first.copy_from_slice(&digest[..8]);
    // As short to type as a run's own: 32 bits.
    u64::from_le_bytes(first) >> 32
}

/// The error of a program none of whose kernels is what the plan's `kernel` selects: its trials would inject nothing.
fn no_such_kernel(program: &PlanProgram, ready: &Ready) -> Option<NotRun> {
    let loaded = &ready.baseline.kernels;
    let selects = |pattern: &&String| {
        Regex::new(pattern).is_ok_and(|regex| loaded.iter().any(|kernel| regex.is_match(kernel)))
    };
    let mut patterns = program.cells.iter().filter_map(|cell| cell.variation.kernel.as_ref());
    let pattern = patterns.find(|pattern| !selects(pattern))?;
    let names: Vec<&str> = loaded.iter().map(String::as_str).collect();
    let message = format!(
        "no kernel that the program loads matches the plan's `kernel = \"{pattern}\"`; it loads {}",
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    );
    Some(NotRun { stage: Stage::Start, message, expected: None })
}

fn first_words(program: &PlanProgram) -> String {
    let cells = program.cells.len();
    let plural = if cells == 1 { "" } else { "s" };
    format!("{cells} cell{plural}")
}
