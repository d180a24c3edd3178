//! The search on a session of the harness.

use bugaroo_harness::{Error, Reporter, Session, Stop, Variation};

use crate::report::{Report, Step};
use crate::search::{Subject, matches_kernel, search};
use crate::trials::{Tally, Trials};

/// Searches the session's program: `whole` says how stores are delayed and what the search is limited
/// to, `trials` how many one question may take. `tell` hears each step as it is concluded, `reporter`
/// each trial.
///
/// # Errors
/// When trials cannot be run, or on the user's wish to stop.
pub async fn search_session(
    session: &Session,
    whole: Variation,
    trials: u64,
    reporter: &dyn Reporter,
    tell: &dyn Fn(&Step),
) -> Result<Report, Error> {
    session.check(&whole).await?;
    let sites = session.sites().await?.to_vec();
    let chosen =
        |kernel: &&String| whole.kernel.as_ref().is_none_or(|pattern| matches_kernel(pattern, kernel));
    let kernels = session.baseline().launched.keys().filter(chosen).cloned().collect();
    let subject = Subject { sites, kernels, trials, whole };
    search(&SessionTrials { session, reporter }, &subject, tell).await
}

/// A session of the harness, whose progress goes to a reporter.
pub struct SessionTrials<'a> {
    /// The program and its settings.
    pub session: &'a Session,
    /// Who hears of trials as they end.
    pub reporter: &'a dyn Reporter,
}

impl Trials for SessionTrials<'_> {
    type Error = bugaroo_harness::Error;

    async fn run(
        &self,
        variation: &Variation,
        indices: Vec<u64>,
        until_failure: bool,
    ) -> Result<Tally, Self::Error> {
        let stop = if until_failure { Stop::AtFirstFailure } else { Stop::Never };
        let records = self.session.trials(variation, indices, stop, self.reporter).await?;
        let mut failing: Vec<u64> =
            records.iter().filter(|record| record.outcome.is_failure()).map(|record| record.trial).collect();
        failing.sort_unstable();
        Ok(Tally { trials: records.len() as u64, failing })
    }
}
