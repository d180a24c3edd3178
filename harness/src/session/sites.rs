//! Which sites a program has.

use bugaroo_protocol::Site;

use crate::baseline::measure;
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::library::DriverLibrary;
use crate::outcome::Exit;
use crate::schedules::Schedules;
use crate::seeds::Seeds;
use crate::settings::Settings;
use crate::target::Target;
use crate::trial::{Ground, Plan};

/// The sites of a program, found by running it once without injection.
#[derive(Clone, Debug)]
pub struct SiteList {
    /// The sites of all modules that it loaded, in order.
    pub sites: Vec<Site>,
    /// How the run ended. The list is what was loaded by then.
    pub exit: Exit,
}

/// Lists the sites of a program by running it once without injection, whether it passes or not.
///
/// # Errors
/// When it cannot be run, or never uses the driver.
pub async fn list_sites(
    target: Target,
    settings: Settings,
    library: DriverLibrary,
    mut interrupt: Interrupt,
) -> Result<SiteList, Error> {
    let seeds = Seeds::new(settings.seed);
    let ground = Ground::new(target, settings, library);
    tokio::select! {
        done = ground.list_sites(seeds) => done,
        () = interrupt.wait() => Err(Error::Interrupted),
    }
}

impl Ground {
    pub(super) async fn list_sites(&self, seeds: Seeds) -> Result<SiteList, Error> {
        let seed = seeds.baseline(0);
        let plan = Plan {
            seed,
            variation: None,
            report_sites: true,
            check_insert: &[],
            conflicts: false,
            reference: None,
            step_budget: None,
            passed_in: None,
            known: None,
            cannot_fork: None,
            warp_synchronous: false,
        };
        let mut ran = self.run(plan).await?;
        match ran.report.driver {
            None if ran.outcome.is_failure() => {
                Err(measure::failure(self, measure::Failing::without_driver(ran), Schedules::default()))
            }
            None => Err(Error::DriverUnused { app: self.target.app.clone() }),
            Some(_) => Ok(SiteList { exit: ran.exit, sites: measure::sites(&mut ran.report) }),
        }
    }
}
