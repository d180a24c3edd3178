//! One trial: orders out, one process, its report and outcome back.

use std::ffi::OsString;
use std::io;
use std::time::Duration;

use bugaroo_protocol::{Backend, LaunchEnd, ORDERS_VARIABLE, Orders, Scheduler, Space, StaleRead, VERSION};
use serde::Serialize;
use tokio::sync::OnceCell;

use crate::capture::Output;
use crate::classify::{by_oracle, without_oracle};
use crate::error::Error;
use crate::findings::Seen;
use crate::fork_server::{self, ForkServer, Start};
use crate::gpu;
use crate::incident::Incident;
use crate::library::DriverLibrary;
use crate::oracle::Reference;
use crate::process::{Ended, Ends, Program};
use crate::record::{Exit, Failure, Outcome, TrialRecord};
use crate::report::{Reader, Report};
use crate::session::Settings;
use crate::target::{Target, TargetError};
use crate::variation::Variation;

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
    /// The fork server, once a trial has asked for it; or why there is none.
    server: OnceCell<Result<Box<ForkServer>, String>>,
}

/// Whether trials are forks of one process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ForkServerUse {
    /// Whether any is.
    pub used: bool,
    /// Why not, or why not all of them, in one line; None also where no trial has run.
    pub why_not: Option<String>,
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
    /// What the run without injection did, once it is known.
    pub(crate) reference: Option<&'a Reference>,
    /// Warp instructions that one launch may execute, once it is known.
    pub(crate) step_budget: Option<u64>,
    /// How long it took without injection.
    pub(crate) passed_in: Option<Duration>,
    /// Errors of launches that the program has without injection, once they are known: none of them makes a trial fail.
    pub(crate) known: Option<&'a [Seen]>,
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
    pub(crate) reason: Option<String>,
    pub(crate) report: Report,
    pub(crate) stdout: Output,
    pub(crate) stderr: Output,
    pub(crate) duration_ms: f64,
}

/// How long a trial may take, unless the user says otherwise.
const MINUTE: Duration = Duration::from_secs(60);
/// How many times slower than without injection it may be all the same.
const SLOWER: u32 = 50;

impl Ground {
    /// A place without a fork server yet.
    pub(crate) fn new(target: Target, settings: Settings, library: DriverLibrary) -> Self {
        Self { target, settings, library, server: OnceCell::new() }
    }

    /// Whether trials were forks of one process.
    pub(crate) fn fork_server(&self) -> ForkServerUse {
        match self.server.get() {
            None => ForkServerUse::default(),
            Some(Ok(server)) => ForkServerUse { used: true, why_not: server.trouble() },
            Some(Err(why)) => ForkServerUse { used: false, why_not: Some(why.clone()) },
        }
    }

    /// How long a run may take: what the user says, else a minute, or far longer than without injection,
    /// whichever is more. Injection is some ten times slower, and a program is not at fault for that.
    fn timeout(&self, plan: Plan<'_>) -> Duration {
        self.settings.timeout.unwrap_or_else(|| {
            let slow = plan.passed_in.and_then(|passed| passed.checked_mul(SLOWER)).unwrap_or_default();
            MINUTE.max(slow)
        })
    }

    /// Runs the program once.
    pub(crate) async fn run(&self, plan: Plan<'_>) -> Result<Ran, Error> {
        let oracle = &self.settings.oracle;
        let timeout = self.timeout(plan);
        let served = match self.server(plan).await? {
            Some(server) => server.trial(&self.orders(plan, -1), oracle.keep(), timeout).await,
            None => None,
        };
        let (ended, mut report) = match served {
            Some(done) => done,
            None => self.process(plan).await?,
        };
        if let Some(theirs) = report.driver.filter(|&version| version != VERSION) {
            return Err(Error::DriverVersion { ours: VERSION, theirs });
        }
        if let Some(what) = report.unsupported {
            return Err(Error::Unsupported { what });
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
        let (outcome, reason) = match without_oracle(ended.exit, launch, timeout) {
            Some((outcome, reason)) => (outcome, Some(reason)),
            None => {
                let verdict = oracle
                    .judge(ended.exit, &ended.stdout, plan.reference, &self.target.directory, timeout)
                    .await
                    .map_err(|source| Error::Process { what: "the oracle's command".into(), source })?;
                by_oracle(verdict, launch, blamed)
            }
        };
        Ok(Ran {
            exit: ended.exit,
            outcome,
            reason,
            report,
            stdout: ended.stdout,
            stderr: ended.stderr,
            duration_ms: ended.duration.as_secs_f64() * 1e3,
        })
    }

    /// Runs the program as a process of its own.
    async fn process(&self, plan: Plan<'_>) -> Result<(Ended, Report), Error> {
        let arguments = self.arguments();
        let mut reader = Reader::default();
        let environment = |ends: Ends<'_>| {
            let mut orders = self.orders(plan, ends.report);
            if plan.variation.is_none() && self.settings.fork_server {
                // Where that cannot be asked, trials are processes each.
                orders.fork_server = fork_server::wanted(ends, None).ok();
            }
            self.environment(&orders)
        };
        let ended = self
            .program(&arguments, plan)
            .run_with_report(environment, |bytes| reader.push(bytes))
            .await
            .map_err(|source| self.cannot_start(source))?;
        Ok((ended, reader.finish()))
    }

    /// The fork server, if this run may be a fork; started by the first that asks.
    async fn server(&self, plan: Plan<'_>) -> Result<Option<&ForkServer>, Error> {
        // A GPU's state is not copied by a fork.
        let simulated = self.settings.backend == Backend::Sim;
        if plan.variation.is_none() || !self.settings.fork_server || !simulated {
            return Ok(None);
        }
        let server = self.server.get_or_try_init(|| async {
            if let Some(why) = plan.cannot_fork {
                return Ok::<_, Error>(Err(why.to_owned()));
            }
            let arguments = self.arguments();
            let environment = |ends: Ends<'_>, wanted| {
                // Should it go on as a process, nothing is delayed in it.
                let orders = self.orders(plan, ends.report);
                self.environment(&Orders { fork_server: Some(wanted), pw: 0.0, ..orders })
            };
            let started = fork_server::start(self.program(&arguments, plan), environment).await;
            Ok(match started.map_err(|source| self.cannot_start(source))? {
                Start::Serves(server) => Ok(server),
                Start::Cannot(why) => Err(why),
            })
        });
        Ok(server.await?.as_deref().ok())
    }

    fn arguments(&self) -> Vec<OsString> {
        self.target.args.iter().map(Into::into).collect()
    }

    fn program<'a>(&self, arguments: &'a [OsString], plan: Plan<'_>) -> Program<'a> {
        Program {
            path: self.target.app.clone(),
            arguments,
            directory: self.target.directory.clone(),
            input: None,
            timeout: self.timeout(plan),
            keep: self.settings.oracle.keep(),
        }
    }

    fn environment(&self, orders: &Orders) -> Vec<(&'static str, OsString)> {
        let mut environment = self.library.environment(self.settings.backend);
        environment.push((ORDERS_VARIABLE, orders.to_json().into()));
        environment
    }

    fn orders(&self, plan: Plan<'_>, report_fd: i32) -> Orders {
        let variation = plan.variation;
        Orders {
            version: VERSION,
            seed: plan.seed,
            model: variation.map(|v| v.model),
            pw: variation.map_or(0.0, |v| v.pw),
            pr: variation.map_or(0.0, |v| v.pr),
            model_memory: variation.map_or_else(crate::variation::model_memory, |v| v.model_memory),
            buffer: variation.map_or(1, |v| v.buffer),
            space: variation.map_or(Space::Both, |v| v.space),
            kernel: variation.and_then(|v| v.kernel.clone()),
            without_fence: variation.map(|v| v.without_fence.clone()).unwrap_or_default(),
            with_fence: variation.map(|v| v.with_fence.clone()).unwrap_or_default(),
            narrow_fence: variation.map(|v| v.narrow_fence.clone()).unwrap_or_default(),
            handlers: variation.is_some_and(|v| v.handlers),
            warp_synchronous: plan.warp_synchronous,
            backend: self.settings.backend,
            real_driver: if self.settings.backend == Backend::Cuda { gpu::real_driver().ok() } else { None },
            step_budget: plan.step_budget,
            scheduler: variation.map_or(Scheduler::Random, |v| v.scheduler),
            report_sites: plan.report_sites,
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
            failure: self.outcome.is_failure().then(|| self.failure()),
            incidents: self.report.incidents.kept.clone(),
            more_incidents: self.report.incidents.more,
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

/// The first reference of a run: what its first run without injection did.
impl From<&Ran> for Reference {
    fn from(ran: &Ran) -> Self {
        Self { exit: ran.exit, stdout_sha256: ran.stdout.digest.clone() }
    }
}
