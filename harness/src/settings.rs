//! What all trials of a session have in common, as the user says it.

use std::time::Duration;

use bugaroo_protocol::Backend;

use crate::baseline::{BUDGET_FACTOR, BUDGET_FLOOR, Baseline};
use crate::input::StandardInput;
use crate::oracle::Oracle;
use crate::suppressions::Suppressions;

/// A program is short that takes less without injection, from its start to its end.
const SHORT: Duration = Duration::from_millis(50);

/// What all trials of a session have in common.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The run's seed, which all trials' seeds stem from.
    pub seed: u64,
    /// Trials that run at the same time, at least 1; None: as many as there are processors, and where they are forked and short
    /// three times as many, as a processor would else wait for the next one a sixth of its time.
    pub jobs: Option<usize>,
    /// Wall-clock time that a trial may take; None: a minute, or far longer than without injection, or than others under the
    /// same model, whichever is most; and more for one that is at work on the device then.
    pub timeout: Option<Duration>,
    /// What says whether a trial did right.
    pub oracle: Oracle,
    /// What executes the kernels.
    pub backend: Backend,
    /// Virtual GPUs that the program finds, at least 1.
    pub devices: u32,
    /// Warp instructions that one launch may execute; None: [`BUDGET_FACTOR`] times what the baseline's
    /// largest launch took, and [`BUDGET_FLOOR`] more.
    pub step_budget: Option<u64>,
    /// Warps run in lockstep, as before Volta.
    pub warp_synchronous: bool,
    /// Whether trials report a digest of device memory.
    pub digest: bool,
    /// Whether faults of kernels are no findings, for programs that provoke them. Deadlocks are.
    pub ignore_faults: bool,
    /// Whether a program that fails without injection is run under other schedules.
    pub schedules: bool,
    /// A program that fails under some schedules without injection, and passes under others, is taken all the same: for who
    /// looks for the reason. Its own output is no measure then.
    pub take_failing: bool,
    /// Whether trials are forks of one process, where the program allows it; otherwise each is a process
    /// of its own. Nothing but their speed depends on it.
    pub fork_server: bool,
    /// What the program finds on its standard input; None: nothing.
    pub input: Option<StandardInput>,
    /// Races that count for nothing.
    pub suppressions: Suppressions,
    /// Whether launches are recorded as they are ([`crate::launches`]); what the driver cannot do is told beside them then.
    pub record_launches: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            seed: 0,
            jobs: None,
            timeout: None,
            oracle: Oracle::Exit,
            backend: Backend::Sim,
            devices: 1,
            step_budget: None,
            warp_synchronous: false,
            digest: true,
            ignore_faults: false,
            schedules: true,
            take_failing: false,
            fork_server: true,
            input: None,
            suppressions: Suppressions::default(),
            record_launches: false,
        }
    }
}

impl Settings {
    /// Trials that run at the same time: as long as each is a process, and when they are forked.
    pub(crate) fn jobs(&self, baseline: &Baseline, most: usize) -> [usize; 2] {
        let processors = || std::thread::available_parallelism().map_or(1, usize::from);
        let wanted = match self.jobs {
            Some(jobs) => [jobs.max(1); 2],
            None if baseline.duration() < SHORT => [processors(), 3 * processors()],
            None => [processors(); 2],
        };
        wanted.map(|jobs| jobs.min(most))
    }

    /// Warp instructions that one launch of a trial may execute.
    pub fn step_budget(&self, baseline: &Baseline) -> u64 {
        let default = || baseline.largest_launch.saturating_mul(BUDGET_FACTOR).saturating_add(BUDGET_FLOOR);
        self.step_budget.unwrap_or_else(default)
    }
}
