//! A session: one program under fixed settings, its baseline done, that any trials can be asked of.

mod ahead;
mod check;
mod each;
mod sites;
mod start;
mod undisturbed;
mod verdict;

use std::collections::{BTreeMap, BTreeSet};
use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use bugaroo_protocol::{Insertion, Placed, Site, Variation};
use tokio::sync::OnceCell;
use tokio::task::{AbortHandle, JoinSet};

use crate::baseline::Baseline;
use crate::capture::Output;
use crate::error::Error;
use crate::fork_server::ForkServerUse;
use crate::interrupt::Interrupt;
use crate::library::DriverLibrary;
use crate::limits;
use crate::outcome::{Exit, Outcome};
use crate::progress::{ProgressEvent, Reporter};
use crate::record::TrialRecord;
use crate::report::KernelUse;
use crate::seeds::Seeds;
use crate::settings::Settings;
use crate::target::Target;
use crate::trial::{Ground, Plan, Ran};

pub use sites::{SiteList, list_sites};

/// What insertions become, as far as it was asked.
type Known = Mutex<BTreeMap<Insertion, Placed>>;

/// When to stop before all trials are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Not at all.
    Never,
    /// When a trial has failed or shown a race, and none before it. Trials after it that run are killed.
    AtFirstFailure,
}

/// A trial with all that its program printed, as far as it is kept.
#[derive(Clone, Debug)]
pub struct FullTrial {
    /// Its record.
    pub record: TrialRecord,
    /// Kernels that it launched, and what they executed.
    pub kernels: BTreeMap<String, KernelUse>,
    /// Standard output.
    pub stdout: Output,
    /// Standard error.
    pub stderr: Output,
    /// What of its threads' communication it has shown, where its variation asks for it: a hash each, the same in every trial.
    pub coverage: BTreeSet<u32>,
    /// How often there was something for which these have no room.
    pub more_coverage: u64,
    /// Instructions whose accesses met those of other threads, told with [`Self::coverage`]: a hash each, the same in every trial.
    pub meetings: BTreeSet<u32>,
}

/// A program whose trials can be run.
#[derive(Debug)]
pub struct Session {
    shared: Arc<Shared>,
    sites: OnceCell<Vec<Site>>,
    placed: Known,
    interrupt: Interrupt,
    told_of_limit: AtomicBool,
}

#[derive(Debug)]
struct Shared {
    ground: Ground,
    seeds: Seeds,
    baseline: Baseline,
}

impl Session {
    /// Is ready for trials with a baseline that was run before.
    pub fn resume(
        target: Target,
        settings: Settings,
        library: DriverLibrary,
        interrupt: Interrupt,
        baseline: Baseline,
    ) -> Self {
        let seeds = Seeds::new(settings.seed);
        let shared = Arc::new(Shared { ground: Ground::new(target, settings, library), seeds, baseline });
        let (placed, told_of_limit) = (Known::default(), AtomicBool::new(false));
        Self { shared, sites: OnceCell::new(), placed, interrupt, told_of_limit }
    }

    /// The program.
    pub fn target(&self) -> &Target {
        &self.shared.ground.target
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.shared.ground.settings
    }

    /// What the program does without injection.
    pub fn baseline(&self) -> &Baseline {
        &self.shared.baseline
    }

    /// Whether trials were forks of one process so far, and if not, why.
    pub fn fork_server(&self) -> ForkServerUse {
        self.shared.ground.fork_server()
    }

    /// Runs that were repeated because a signal from outside had ended them.
    pub fn repeated(&self) -> u64 {
        self.shared.ground.repeated()
    }

    /// Trials that run at the same time, as [`Settings::jobs`] gives them; fewer where the limit of open files is low, which is
    /// told once.
    fn jobs(&self, reporter: &dyn Reporter) -> [usize; 2] {
        let Some((most, limit)) = limits::trials_at_a_time() else {
            return self.settings().jobs(self.baseline(), usize::MAX);
        };
        let jobs = self.settings().jobs(self.baseline(), most);
        let wanted = self.settings().jobs(self.baseline(), usize::MAX);
        if jobs != wanted && !self.told_of_limit.swap(true, Ordering::Relaxed) {
            let note = format!(
                "{most} trials run at the same time, and not {}: this shell's limit of {limit} open files (ulimit -n) \
                 allows no more",
                wanted[1]
            );
            reporter.report(ProgressEvent::Note(&note));
        }
        jobs
    }

    /// Seed of the trial with this index.
    pub fn seed(&self, index: u64) -> u64 {
        self.shared.seeds.trial(index)
    }

    /// The sites of all modules that the program loads, in order.
    ///
    /// # Errors
    /// When they are not known yet and the program cannot be run for them.
    pub async fn sites(&self) -> Result<&[Site], Error> {
        let ask = || async { Ok::<_, Error>(self.shared.ground.list_sites(self.shared.seeds).await?.sites) };
        self.sites.get_or_try_init(ask).await.map(Vec::as_slice)
    }

    /// Runs one trial.
    ///
    /// # Errors
    /// When it cannot be run at all; a failing trial is no error.
    pub async fn trial(&self, variation: &Variation, index: u64) -> Result<TrialRecord, Error> {
        Ok(self.full_trial(variation, index).await?.record)
    }

    /// Runs one trial, and keeps what it printed.
    ///
    /// # Errors
    /// When it cannot be run at all; a failing trial is no error.
    pub async fn full_trial(&self, variation: &Variation, index: u64) -> Result<FullTrial, Error> {
        self.admit(variation).await?;
        let mut stop = self.interrupt.clone();
        tokio::select! {
            done = self.shared.trial(variation, index) => done,
            () = stop.wait() => Err(Error::Interrupted),
        }
    }

    /// Runs the trials of these indices, as many at a time as the settings allow, and returns their
    /// records in the order of the indices. With [`Stop::AtFirstFailure`] these are, whatever the
    /// number of jobs, those up to the first failure, included.
    ///
    /// # Errors
    /// When a trial cannot be run at all, or on the user's wish to stop.
    pub async fn trials(
        &self,
        variation: &Variation,
        indices: impl IntoIterator<Item = u64>,
        stop: Stop,
        reporter: &dyn Reporter,
    ) -> Result<Vec<TrialRecord>, Error> {
        self.trials_with(variation, indices, stop, reporter, |_| Ok(())).await
    }

    /// The same, with each trial's record given to `on_end` as the trial ends. Trials after the first
    /// failure that had ended before it are given to `on_end`, too.
    ///
    /// # Errors
    /// When a trial cannot be run at all, on the user's wish to stop, and when `on_end` fails.
    pub async fn trials_with(
        &self,
        variation: &Variation,
        indices: impl IntoIterator<Item = u64>,
        stop: Stop,
        reporter: &dyn Reporter,
        mut on_end: impl FnMut(&TrialRecord) -> Result<(), Error>,
    ) -> Result<Vec<TrialRecord>, Error> {
        self.full_trials_with(variation, indices, stop, reporter, |full| on_end(&full.record)).await
    }

    /// The same, with all that is known of a trial given to `on_end`.
    ///
    /// # Errors
    /// When a trial cannot be run at all, on the user's wish to stop, and when `on_end` fails.
    pub async fn full_trials_with(
        &self,
        variation: &Variation,
        indices: impl IntoIterator<Item = u64>,
        stop: Stop,
        reporter: &dyn Reporter,
        mut on_end: impl FnMut(&FullTrial) -> Result<(), Error>,
    ) -> Result<Vec<TrialRecord>, Error> {
        self.admit(variation).await?;
        let variation = Arc::new(variation.clone());
        let mut indices = indices.into_iter().enumerate();
        let mut interrupt = self.interrupt.clone();
        let mut records = BTreeMap::new();
        let jobs = self.jobs(reporter);
        // No trial at a later place than this is of interest.
        let mut last = usize::MAX;
        let mut running: BTreeMap<usize, AbortHandle> = BTreeMap::new();
        // Dropped, it aborts its tasks, and those kill their processes.
        let mut tasks = JoinSet::new();
        loop {
            if interrupt.is_set() {
                return Err(Error::Interrupted);
            }
            let at_a_time = jobs[usize::from(self.fork_server().used)];
            while last == usize::MAX && running.len() < at_a_time {
                let Some((place, index)) = indices.next() else { break };
                let (shared, variation) = (Arc::clone(&self.shared), Arc::clone(&variation));
                let task = async move { (place, shared.trial(&variation, index).await) };
                running.insert(place, tasks.spawn(task));
            }
            let ended = tokio::select! {
                ended = tasks.join_next() => ended,
                () = interrupt.wait() => continue,
            };
            let (place, full) = match ended {
                None => break,
                Some(Ok((place, full))) => (place, full?),
                Some(Err(error)) if error.is_cancelled() => continue,
                Some(Err(error)) => panic::resume_unwind(error.into_panic()),
            };
            running.remove(&place);
            if place > last {
                continue;
            }
            on_end(&full)?;
            let record = full.record;
            reporter.report(ProgressEvent::TrialEnded(&record));
            if stop == Stop::AtFirstFailure && self.settings().finds(&variation, &record) {
                last = place;
                running.split_off(&place).values().for_each(AbortHandle::abort);
            }
            records.insert(place, record);
        }
        Ok(records.into_iter().take_while(|&(place, _)| place <= last).map(|(_, record)| record).collect())
    }
}

impl Shared {
    async fn trial(&self, variation: &Variation, index: u64) -> Result<FullTrial, Error> {
        let (seed, ran) = self.run(variation, index, false).await?;
        // Where races alone are asked for, a trial passes whatever its exit code is.
        let passes = ran.outcome == Outcome::Pass && ran.exit == Exit::Code(0);
        let usual = self.baseline.usual.as_ref().filter(|_| passes);
        let record = TrialRecord {
            hides: usual.and_then(|usual| usual.hidden(&ran.stdout)),
            ..ran.record(index, seed)
        };
        Ok(FullTrial {
            record,
            kernels: ran.report.kernels,
            stdout: ran.stdout,
            stderr: ran.stderr,
            coverage: ran.report.coverage,
            more_coverage: ran.report.more_coverage,
            meetings: ran.report.meetings,
        })
    }

    /// Runs the trial with this index, and tells its seed.
    async fn run(&self, variation: &Variation, index: u64, conflicts: bool) -> Result<(u64, Ran), Error> {
        let seed = self.seeds.trial(index);
        let variation = variation.of_trial(index);
        let plan = Plan {
            seed,
            variation: Some(&variation),
            report_sites: false,
            check_insert: &[],
            conflicts,
            reference: Some(&self.baseline.reference),
            step_budget: Some(self.ground.settings.step_budget(&self.baseline)),
            passed_in: Some(self.baseline.duration()),
            known: Some(&self.baseline.incidents),
            cannot_fork: self.baseline.cannot_fork.as_deref(),
            warp_synchronous: self.ground.settings.warp_synchronous,
        };
        Ok((seed, self.ground.run(plan).await?))
    }
}

mod conflicts;
#[cfg(test)]
mod tests;
