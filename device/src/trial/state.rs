//! What the driver has for the trial that it is.

use crate::trial::ends::EndsTold;
use crate::trial::injection::Injection;
use crate::trial::progress::Pulse;
use crate::trial::race::ProcessRaces;
use crate::trial::recorded::Recorder;
use crate::trial::report::ReportPipe;

/// What the trial wants, and what it is told.
#[derive(Debug)]
pub struct Trial {
    /// What the orders want done to kernels.
    pub injection: Injection,
    /// The pipe to the harness.
    pub report: ReportPipe,
    /// What looks for races, where the orders want that.
    pub race: Option<ProcessRaces>,
    /// What records launches, where the orders want that.
    pub recorder: Option<Recorder>,
    /// Whether device work goes on.
    pub pulse: Pulse,
    /// Launches so far, over the whole process.
    pub launches: u64,
    /// Whether any kernel has begun.
    pub begun: bool,
    /// Digest of device memory, chained over launches.
    pub digest: u64,
    /// What allocations held at their end, where the orders want that.
    pub ends: EndsTold,
}

impl Trial {
    /// Of these orders, before the first launch.
    pub fn new(injection: Injection, report: ReportPipe) -> Self {
        let race = ProcessRaces::new(injection.race(), &injection.race_settings(), injection.device_looks());
        let recorded = injection.orders.as_ref().is_some_and(|orders| orders.launches);
        let recorder = recorded.then(Recorder::default);
        Trial {
            injection,
            report,
            race,
            recorder,
            pulse: Pulse::default(),
            launches: 0,
            begun: false,
            digest: 0,
            ends: EndsTold::default(),
        }
    }
}
