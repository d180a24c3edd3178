//! Runs a program once, and has its launches told.

use bugaroo_protocol::LaunchEnd;

use super::collected::Collected;
use crate::baseline::measure::{self, Failing};
use crate::error::Error;
use crate::incident::Incident;
use crate::interrupt::Interrupt;
use crate::library::DriverLibrary;
use crate::names::{demangled, readable};
use crate::oracle::Oracle;
use crate::outcome::Outcome;
use crate::schedules::Schedules;
use crate::seeds::Seeds;
use crate::settings::Settings;
use crate::target::Target;
use crate::trial::{Ground, Plan};

/// A run of the program.
#[derive(Debug)]
pub struct Recording {
    /// Its launches.
    pub launches: Collected,
    /// Why its end was none that is right, if so: the launches are those until then.
    pub failed: Option<(Outcome, String)>,
    /// A kernel faulted, or waited for ever: an error of its own, whatever the program made of it.
    pub is_finding: bool,
    /// The end of what it wrote to its standard error, if it failed.
    pub stderr: String,
    /// What the driver could not do, in its words, each once.
    pub refused: Vec<String>,
    /// Lines of the driver's report that could not be read: launches may be among them.
    pub lost: u64,
}

/// Lines, and bytes, of the program's standard error that are kept.
const KEPT: (usize, usize) = (10, 2000);

/// A kernel's error in a line.
fn told(incident: &Incident) -> String {
    let what = match &incident.launch.end {
        LaunchEnd::Fault(fault) => readable(&fault.summary),
        LaunchEnd::Deadlock(found) | LaunchEnd::StepBudget(found) => readable(&found.summary),
        LaunchEnd::Complete => String::new(),
    };
    format!("kernel {}: {what}", demangled(&incident.launch.kernel))
}

/// Runs the program once without injection, whether it passes or not, and records its launches.
///
/// # Errors
/// When it cannot be run, or never uses the driver.
pub async fn record(
    target: Target,
    settings: Settings,
    library: DriverLibrary,
    mut interrupt: Interrupt,
) -> Result<Recording, Error> {
    let seed = Seeds::new(settings.seed).baseline(0);
    let settings = Settings {
        oracle: Oracle::Exit,
        digest: false,
        fork_server: false,
        record_launches: true,
        ..settings
    };
    let plan = Plan {
        seed,
        variation: None,
        report_sites: false,
        check_insert: &[],
        conflicts: false,
        reference: None,
        step_budget: settings.step_budget,
        passed_in: None,
        known: None,
        cannot_fork: None,
        warp_synchronous: settings.warp_synchronous,
    };
    let ground = Ground::new(target, settings, library);
    let ran = tokio::select! {
        done = ground.run(plan) => done?,
        () = interrupt.wait() => return Err(Error::Interrupted),
    };
    if ran.report.driver.is_none() {
        return Err(match ran.outcome.is_failure() {
            true => measure::failure(&ground, Failing::without_driver(ran), Schedules::default()),
            false => Error::DriverUnused { app: ground.target.app.clone() },
        });
    }
    let failed = match ran.outcome {
        // A fault ends the launches of a context, whatever the program makes of it.
        Outcome::Pass => ran.report.incidents.kept.first().map(|incident| (Outcome::Crash, told(incident))),
        outcome => Some((outcome, ran.reason.unwrap_or_default())),
    };
    let stderr = failed.as_ref().map(|_| ran.stderr.last_lines(KEPT.0, KEPT.1)).unwrap_or_default();
    let is_finding = !ran.report.incidents.kept.is_empty();
    let mut launches = ran.report.recorded;
    let refused = std::mem::take(&mut launches.refused);
    Ok(Recording { launches, failed, is_finding, stderr, refused, lost: ran.report.unreadable_lines })
}
