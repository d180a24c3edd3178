//! Whether trials bear it out that a program counts on warps in lockstep: programs from before Volta, most often reductions
//! whose last warp has no `__syncwarp()`.
//!
//! Pairs of runs, one of each with warps in lockstep, seed by seed. That the program passes in lockstep must not be luck:
//! where lockstep made no difference, a failure would be as likely in either run of a pair. So given `f`
//! failures in all, none of them falls to lockstep with probability `2^-f`, and [`ENOUGH`] of them make that less than 1 %.
//! One failure in lockstep ends it. Where each group of threads has one thread, there is nothing that lockstep
//! could order.

use std::time::{Duration, Instant};

use bugaroo_protocol::Backend;

use crate::error::Error;
use crate::outcome::Outcome;
use crate::report::Report;
use crate::trial::{Ground, Plan, Ran};

/// Failures without lockstep that say so, where there is none in lockstep.
const ENOUGH: u32 = 7;

/// Pairs of runs at most.
const PAIRS: u64 = 32;

/// It is a hint: programs that take longer go without.
const LONGEST: Duration = Duration::from_secs(60);

/// Warp instructions of a launch in lockstep: those who wait for a lane of their own warp never end there.
const BUDGET: u64 = 200_000_000;

/// What pairs of runs have shown.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    pairs: u64,
    failures: u32,
    in_lockstep: u32,
}

impl Seen {
    /// What is concluded; None: not yet.
    fn verdict(self) -> Option<bool> {
        // What no longer can come to enough need not go on.
        let possible = u64::from(self.failures) + PAIRS - self.pairs.min(PAIRS);
        if self.in_lockstep > 0 || possible < u64::from(ENOUGH) {
            return Some(false);
        }
        (self.failures >= ENOUGH).then_some(true)
    }
}

/// Whether any group of threads had more than one thread.
fn has_warps(report: &Report) -> bool {
    report.kernels.values().any(|kernel| kernel.counts.thread_instructions > kernel.counts.warp_instructions)
}

/// Whether a program that has failed, as `ran` tells, counts on warps in lockstep.
pub(crate) async fn counts_on_it(ground: &Ground, plan: Plan<'_>, ran: &Ran) -> Result<bool, Error> {
    // A wrong rank or offset makes it crash.
    let might = matches!(ran.outcome, Outcome::WrongResult | Outcome::Crash | Outcome::Deadlock);
    let simulated = ground.settings.backend == Backend::Sim;
    if !might || !simulated || plan.warp_synchronous || !has_warps(&ran.report) {
        return Ok(false);
    }
    let step_budget = plan.step_budget.or(Some(BUDGET));
    let began = Instant::now();
    let mut seen = Seen::default();
    for pair in 0..PAIRS {
        let seed = plan.seed.wrapping_add(pair);
        let again = Plan { seed, warp_synchronous: true, step_budget, ..plan };
        seen.in_lockstep += u32::from(ground.run(again).await?.outcome.is_failure());
        // The first of these is the run that failed.
        let failed = pair == 0 || ground.run(Plan { seed, step_budget, ..plan }).await?.outcome.is_failure();
        seen.failures += u32::from(failed);
        seen.pairs += 1;
        match seen.verdict() {
            Some(verdict) => return Ok(verdict),
            None if began.elapsed() > LONGEST => break,
            None => {}
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests;
