//! One trial: orders out, one process, its report and outcome back.
//!
//! **Time.** Unless the user sets a limit, it is a minute, or fifty times what the program takes without injection, or
//! ten times the longest trial of the same model and scheduler that has ended by itself, whichever is most. A trial that
//! is at work on the device then gets more, up to ten times the limit; if it is still at work when that is up, it is slow,
//! which is no failure. One that is not at work is killed at the limit: its host waits or computes for ever, which
//! injection slows down no more than it does a kernel that spins.
//!
//! **Signals from outside.** A trial that such a signal has ended is run again, once.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bugaroo_protocol::{
    Backend, ForkServer as Wanted, Insertion, LaunchEnd, ORDERS_VARIABLE, Orders, StaleRead, VERSION,
    Variation, notice,
};

use crate::capture::Output;
use crate::classify::{by_oracle, without_oracle};
use crate::error::Error;
use crate::findings::SeenIncident;
use crate::fork_server::{self, ForkServer, ForkServerUse, Keeper, Keepers, NotDone, Start};
use crate::gpu;
use crate::incident::Incident;
use crate::library::DriverLibrary;
use crate::oracle::reference::Reference;
use crate::oracle::{Oracle, reference};
use crate::outcome::{Exit, Outcome};
use crate::process::{Ended, Ends, Patience, ProgramCall};
use crate::record::{Failure, TrialRecord};
use crate::report::{Report, ReportReader};
use crate::settings::Settings;
use crate::target::{Target, TargetError};

/// Lines, and bytes, of each output that a failure's record keeps.
const KEPT_LINES: usize = 10;
const KEPT_BYTES: usize = 2000;
/// Kinds of stale reads that it keeps.
const KEPT_STALE: usize = 16;

/// Where trials run: what they have in common.
#[derive(Debug)]
pub(crate) struct Ground {
    pub(crate) target: Target,
    pub(crate) settings: Settings,
    pub(crate) library: DriverLibrary,
    /// The fork servers, once a trial has asked for them.
    servers: Keepers,
    /// The longest runs that ended by themselves, by what slows a run down.
    longest: Mutex<BTreeMap<String, Duration>>,
    /// Runs that were repeated because a signal from outside had ended them.
    repeated: AtomicU64,
}

/// One run of the program to be made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan<'a> {
    /// Seed of scheduler and coin flips.
    pub(crate) seed: u64,
    /// None: without injection.
    pub(crate) variation: Option<&'a Variation>,
    /// Whether to ask for the modules' sites.
    pub(crate) report_sites: bool,
    /// Insertions to ask the modules about.
    pub(crate) check_insert: &'a [Insertion],
    /// Whether to ask for the conflicts of its launches.
    pub(crate) conflicts: bool,
    /// What the run without injection did, once it is known.
    pub(crate) reference: Option<&'a Reference>,
    /// Warp instructions that one launch may execute, once it is known.
    pub(crate) step_budget: Option<u64>,
    /// How long it took without injection.
    pub(crate) passed_in: Option<Duration>,
    /// Errors of launches that the program has without injection, once they are known: none of them makes a trial fail.
    pub(crate) known: Option<&'a [SeenIncident]>,
    /// Why it has to be a process of its own, in one line, if it has.
    pub(crate) cannot_fork: Option<&'a str>,
    /// Whether warps run in lockstep.
    pub(crate) warp_synchronous: bool,
}

/// A run of the program that was made.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) exit: Exit,
    pub(crate) outcome: Outcome,
    /// Why, where it did not pass.
    pub(crate) reason: Option<String>,
    pub(crate) report: Report,
    /// Whether detectors looked for races.
    pub(crate) looked: bool,
    pub(crate) stdout: Output,
    pub(crate) stderr: Output,
    pub(crate) duration_ms: f64,
}

/// How long a trial may take, unless the user says otherwise.
const MINUTE: Duration = Duration::from_secs(60);
/// How many times slower than without injection it may be all the same.
const SLOWER: u32 = 50;
/// How many times slower than the longest of its kind so far it may be.
const SLOWER_THAN_OTHERS: u32 = 10;
/// How many times longer one may take that is at work.
const AT_WORK: u32 = 10;

impl Ground {
    /// A place without a fork server yet.
    pub(crate) fn new(target: Target, settings: Settings, library: DriverLibrary) -> Self {
        Self {
            target,
            settings,
            library,
            servers: Keepers::default(),
            longest: Mutex::default(),
            repeated: AtomicU64::new(0),
        }
    }

    /// Whether trials were forks of one process.
    pub(crate) fn fork_server(&self) -> ForkServerUse {
        self.servers.used()
    }

    /// Runs that were repeated because a signal from outside had ended them.
    pub(crate) fn repeated(&self) -> u64 {
        self.repeated.load(Ordering::Relaxed)
    }

    /// How long a run may take: see the head of this file.
    fn patience(&self, plan: Plan<'_>) -> Patience {
        if let Some(limit) = self.settings.timeout {
            return Patience::exactly(limit);
        }
        let baseline = plan.passed_in.and_then(|passed| passed.checked_mul(SLOWER)).unwrap_or_default();
        let longest = self.longest.lock().unwrap_or_else(PoisonError::into_inner);
        let others = longest.get(&plan.pace()).and_then(|longest| longest.checked_mul(SLOWER_THAN_OTHERS));
        let limit = MINUTE.max(baseline).max(others.unwrap_or_default());
        Patience { limit, most: limit.saturating_mul(AT_WORK) }
    }

    /// Runs the program once; again, if a signal from outside ends it.
    pub(crate) async fn run(&self, plan: Plan<'_>) -> Result<Ran, Error> {
        let ran = self.run_once(plan).await?;
        if ran.outcome != Outcome::Killed {
            return Ok(ran);
        }
        self.repeated.fetch_add(1, Ordering::Relaxed);
        let mut again = self.run_once(plan).await?;
        if again.outcome == Outcome::Killed
            && let Some(reason) = &mut again.reason
        {
            reason.push_str(", for the second time");
        }
        Ok(again)
    }

    async fn run_once(&self, plan: Plan<'_>) -> Result<Ran, Error> {
        let oracle = &self.settings.oracle;
        let patience = self.patience(plan);
        let (ended, mut report) = match self.served(plan, patience).await? {
            Some(done) => done,
            None => self.process(plan, patience).await?,
        };
        if let Some(theirs) = report.driver.filter(|&version| version != VERSION) {
            return Err(Error::DriverVersion { ours: VERSION, theirs });
        }
        if let Some(what) = report.panicked {
            return Err(Error::Panicked { what, seed: plan.seed });
        }
        if let Some(what) = report.unsupported.take_if(|_| !self.settings.record_launches) {
            return Err(Error::Unsupported { what });
        }
        if has_closed_report(&report, &ended.stderr) {
            return Err(Error::ReportClosed { app: self.target.app.clone() });
        }
        if self.settings.ignore_faults {
            report.incidents.ignore_faults();
        }
        let is_news = |incident: &&Incident| {
            let key = incident.key();
            let known = plan.known.is_none_or(|known| known.iter().any(|seen| seen.incident.key() == key));
            !known && !incident.is_deadlock()
        };
        let news = report.incidents.kept.iter().find(is_news).map(|incident| incident.launch.clone());
        let blamed = news.is_some();
        // Threads that wait for ever outrank a fault.
        if report.failed_launch.as_ref().is_some_and(|first| matches!(first.end, LaunchEnd::Fault(_))) {
            report.failed_launch = news.or(report.failed_launch);
        }
        let launch = report.failed_launch.as_ref();
        let took = if ended.slow { ended.duration } else { patience.limit };
        let by_signal = without_oracle(ended.exit, ended.slow, launch, took);
        let (outcome, reason) = match by_signal.filter(|_| !oracle.takes_abort(ended.exit, launch)) {
            Some((outcome, reason)) => (outcome, Some(reason)),
            None if matches!(oracle, Oracle::Race) => {
                by_oracle(self.settings.race_verdict(plan.variation, &report.races.all), launch, blamed)
            }
            None if matches!(oracle, Oracle::Memory) => {
                by_oracle(reference::of_memory(plan.reference, ended.exit, &report.ends), launch, blamed)
            }
            None => {
                let verdict = oracle
                    .judge(ended.exit, &ended.stdout, plan.reference, &self.target.directory, patience.limit)
                    .await
                    .map_err(|source| Error::Process { what: "the oracle's command".into(), source })?;
                by_oracle(verdict, launch, blamed)
            }
        };
        if matches!(ended.exit, Exit::Code(_)) {
            let mut longest = self.longest.lock().unwrap_or_else(PoisonError::into_inner);
            let longest = longest.entry(plan.pace()).or_default();
            *longest = ended.duration.max(*longest);
        }
        Ok(Ran {
            exit: ended.exit,
            outcome,
            reason,
            report,
            looked: plan.variation.is_some_and(|variation| !variation.race.is_empty()),
            stdout: ended.stdout,
            stderr: ended.stderr,
            duration_ms: ended.duration.as_secs_f64() * 1e3,
        })
    }

    /// Has the fork server run it, if that may and can; another one, where one dies.
    async fn served(&self, plan: Plan<'_>, patience: Patience) -> Result<Option<(Ended, Report)>, Error> {
        let keeper = self.servers.of(plan.variation.map_or(&[], |variation| &variation.race));
        while let Some(server) = self.server(plan, patience, &keeper).await? {
            match server.trial(&self.orders(plan, -1), self.settings.oracle.keep(), patience).await {
                Ok(done) => {
                    keeper.done();
                    return Ok(Some(done));
                }
                Err(NotDone::Died) => keeper.died(&server).await,
                Err(NotDone::Refused(why)) => {
                    keeper.trouble(why);
                    break;
                }
            }
        }
        Ok(None)
    }

    /// Runs the program as a process of its own.
    async fn process(&self, plan: Plan<'_>, patience: Patience) -> Result<(Ended, Report), Error> {
        let arguments = self.arguments();
        let mut reader = ReportReader::default();
        let environment = |ends: Ends<'_>| {
            let mut orders = self.orders(plan, ends.report);
            if plan.variation.is_none() && self.settings.fork_server {
                // Where that cannot be asked, trials are processes each.
                orders.fork_server = fork_server::wanted(ends, None).ok();
            }
            self.environment(&orders)
        };
        let ended = self
            .program(&arguments, patience)?
            .run_with_report(environment, |bytes| reader.push(bytes))
            .await
            .map_err(|source| self.cannot_start(source))?;
        Ok((ended, reader.finish()))
    }

    /// The fork server, if this run may be a fork; started by the first that asks.
    async fn server(
        &self,
        plan: Plan<'_>,
        patience: Patience,
        keeper: &Keeper,
    ) -> Result<Option<Arc<ForkServer>>, Error> {
        // A GPU's state is not copied by a fork.
        let simulated = self.settings.backend == Backend::Sim;
        if plan.variation.is_none() || !self.settings.fork_server || !simulated {
            return Ok(None);
        }
        let mut place = keeper.place().await;
        // As late as may be; where the program must not be forked there any more, where it calls for its first launch.
        let mut sooner = false;
        loop {
            if let Some(known) = place.known() {
                return Ok(known);
            }
            if let Some(why) = plan.cannot_fork {
                place.put(Start::Cannot(why.to_owned()));
                continue;
            }
            let arguments = self.arguments();
            let environment = |ends: Ends<'_>, wanted: Wanted| {
                // Should it go on as a process, nothing is delayed in it.
                let orders = self.orders(plan, ends.report);
                self.environment(&Orders {
                    fork_server: Some(Wanted { sooner, ..wanted }),
                    variation: Variation { pw: 0.0, ..orders.variation.clone() },
                    ..orders
                })
            };
            let started = fork_server::start(self.program(&arguments, patience)?, environment).await;
            let started = started.map_err(|source| self.cannot_start(source))?;
            if matches!(started, Start::Cannot(_)) && !std::mem::replace(&mut sooner, true) {
                continue;
            }
            place.put(started);
        }
    }

    fn arguments(&self) -> Vec<OsString> {
        self.target.args.iter().map(Into::into).collect()
    }

    fn program<'a>(
        &'a self,
        arguments: &'a [OsString],
        patience: Patience,
    ) -> Result<ProgramCall<'a>, Error> {
        let input = self.settings.input.as_ref().map(|input| input.open()).transpose();
        let input = input.map_err(|source| Error::Process { what: "standard input".into(), source })?;
        Ok(ProgramCall {
            path: self.target.app.clone(),
            arguments,
            directory: self.target.directory.clone(),
            variables: &self.target.variables,
            input,
            patience,
            keep: self.settings.oracle.keep(),
        })
    }

    fn environment(&self, orders: &Orders) -> Vec<(&'static str, OsString)> {
        let mut environment = self.library.environment(self.settings.backend, &self.target.variables);
        environment.push((ORDERS_VARIABLE, orders.to_json().into()));
        environment
    }

    fn orders(&self, plan: Plan<'_>, report_fd: i32) -> Orders {
        Orders {
            version: VERSION,
            seed: plan.seed,
            injects: plan.variation.is_some(),
            variation: plan.variation.cloned().unwrap_or_else(undisturbed),
            check_insert: plan.check_insert.to_vec(),
            warp_synchronous: plan.warp_synchronous,
            backend: self.settings.backend,
            devices: self.settings.devices,
            real_driver: if self.settings.backend == Backend::Cuda { gpu::real_driver().ok() } else { None },
            step_budget: plan.step_budget,
            report_sites: plan.report_sites,
            conflicts: plan.conflicts,
            launches: self.settings.record_launches,
            ends: matches!(self.settings.oracle, Oracle::Memory),
            digest: self.settings.digest,
            cache: Some(self.library.module_cache()),
            report_fd,
            fork_server: None,
        }
    }

    fn cannot_start(&self, source: io::Error) -> Error {
        let what = self.target.app.display().to_string();
        let refused =
            [io::ErrorKind::NotFound, io::ErrorKind::PermissionDenied, io::ErrorKind::ExecutableFileBusy];
        if source.raw_os_error() == Some(libc::ENOEXEC) || refused.contains(&source.kind()) {
            Error::Target(TargetError::Start { app: what, source })
        } else {
            Error::Process { what, source }
        }
    }
}

impl Plan<'_> {
    /// What slows a run down: equal for runs that take about as long.
    fn pace(&self) -> String {
        self.variation.map_or_else(String::new, |v| {
            format!("{:?} {} {:?} {} {:?}", v.model, v.handlers, v.scheduler, self.conflicts, v.race)
        })
    }
}

/// With nothing delayed, and no older value read.
fn undisturbed() -> Variation {
    Variation { pw: 0.0, pr: 0.0, ..Variation::default() }
}

/// Whether the program has closed the pipe that the driver reports to: then nothing is known of what it did.
fn has_closed_report(report: &Report, stderr: &Output) -> bool {
    // What it executes may have been started without it, and say so.
    let says =
        |text: &str| stderr.last_lines(usize::MAX, usize::MAX).lines().any(|line| line.ends_with(text));
    says(notice::CLOSED) || report.driver.is_none() && says(notice::CLOSED_BEFORE)
}

impl Ran {
    /// What is kept of it in a run's records.
    pub(crate) fn record(&self, trial: u64, seed: u64) -> TrialRecord {
        TrialRecord {
            trial,
            seed,
            outcome: self.outcome,
            duration_ms: (self.duration_ms * 1e3).round() / 1e3,
            exit: self.exit,
            launches: self.report.launches,
            delayed_stores: self.report.delayed_stores,
            forgotten: self.report.forgotten,
            digest: self.report.digest.clone(),
            failure: (self.outcome != Outcome::Pass).then(|| self.failure()),
            incidents: self.report.incidents.kept.clone(),
            more_incidents: self.report.incidents.more,
            races: self.looked.then(|| self.report.races.all.clone()),
            hides: None,
            variation: None,
        }
    }

    /// Its stale reads: between accesses that do not synchronise first.
    fn stale_reads(&self) -> Vec<StaleRead> {
        let mut all = self.report.stale_reads.clone();
        all.sort_by_key(|read| read.synchronising);
        all.truncate(KEPT_STALE);
        all
    }

    /// What is known of its failure.
    pub(crate) fn failure(&self) -> Failure {
        Failure {
            reason: self.reason.clone().unwrap_or_default(),
            launch: self.report.failed_launch.clone(),
            stale_reads: self.stale_reads(),
            stdout: self.stdout.last_lines(KEPT_LINES, KEPT_BYTES),
            stderr: self.stderr.last_lines_and_notices(KEPT_LINES, KEPT_BYTES),
        }
    }
}

#[cfg(test)]
mod tests;
