//! The start of a session: the program without injection.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tokio::sync::OnceCell;

use super::ahead;
use super::undisturbed::{compare_output, examine};
use super::{Known, Session, Shared};
use crate::baseline::Baseline;
use crate::baseline::measure::{self, Ended};
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::library::DriverLibrary;
use crate::oracle::Oracle;
use crate::outcome::Exit;
use crate::progress::Reporter;
use crate::schedules::Schedules;
use crate::seeds::Seeds;
use crate::settings::Settings;
use crate::target::Target;
use crate::trial::Ground;

impl Session {
    /// Runs the baseline, and is ready for trials.
    ///
    /// # Errors
    /// When the program cannot be run, fails without injection, or never uses the driver.
    pub async fn start(
        target: Target,
        settings: Settings,
        library: DriverLibrary,
        interrupt: Interrupt,
        reporter: &dyn Reporter,
    ) -> Result<Self, Error> {
        let seeds = Seeds::new(settings.seed);
        let ground = Ground::new(target, settings, library);
        let mut stop = interrupt.clone();
        let ended = tokio::select! {
            done = measure::run(&ground, seeds, reporter) => done?,
            () = stop.wait() => return Err(Error::Interrupted),
            never = ahead::while_it_runs(&ground, ahead::SILENT, reporter) => match never {},
        };
        let session = |baseline, sites| {
            let shared = Arc::new(Shared { ground, seeds, baseline });
            Self {
                shared,
                sites: OnceCell::new_with(Some(sites)),
                placed: Known::default(),
                interrupt,
                told_of_limit: AtomicBool::new(false),
            }
        };
        match ended {
            Ended::Passes(baseline, sites, stdout) => {
                let session = session(*baseline, sites);
                if matches!(session.settings().oracle, Oracle::Reference(_)) {
                    compare_output(&session, &stdout, reporter).await?;
                }
                Ok(session)
            }
            Ended::Fails(failing) => {
                // Its faults, too, make a run fail here: there is none that would have to be passed over.
                let known = Baseline { incidents: Vec::new(), ..failing.baseline.clone() };
                let session = session(known, failing.sites.clone());
                let ran = &failing.ran;
                // What never came to a kernel does not depend on who runs next; one that hangs has no launch that ended.
                let launches = ran.report.launches > 0 || ran.exit == Exit::Killed;
                let schedules = if session.settings().schedules && launches && ran.report.driver.is_some() {
                    examine(&session, ran.exit == Exit::Killed, reporter).await?
                } else {
                    Schedules::default()
                };
                let settings = session.settings();
                if settings.take_failing && schedules.some_pass() && !settings.oracle.compares() {
                    return Ok(session);
                }
                Err(measure::failure(&session.shared.ground, *failing, schedules))
            }
        }
    }
}
