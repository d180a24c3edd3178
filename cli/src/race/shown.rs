//! What there is to tell of a search for races.

use bugaroo_harness::{Outcome, RaceSummary, RunSummary, Suppressions};

/// What a run showed, and what of it is known to the user.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    /// As it was named on the command line.
    pub detector: &'static str,
    pub summary: &'a RunSummary,
    pub races: &'a RaceSummary,
    pub rules: &'a Suppressions,
    /// Whether the user named an oracle, so that what it is not content with is a finding.
    pub judged: bool,
}

impl Shown<'_> {
    /// Trials whose end is a finding. Where nobody has said what is right, an exit code is none.
    pub fn failures(&self) -> u64 {
        let of = |outcome| self.summary.cells.iter().map(|cell| cell.outcomes.of(outcome)).sum::<u64>();
        match self.judged {
            true => self.summary.failures(),
            false => of(Outcome::Deadlock) + of(Outcome::Timeout),
        }
    }

    /// Whether there is anything that somebody should look at.
    pub fn is_clean(&self) -> bool {
        self.races.open().next().is_none()
            && self.races.more == 0
            && self.failures() == 0
            && self.summary.findings.is_empty()
    }

    /// Whether trials ran of which the detectors were told nothing, as they know nothing of what the program does.
    pub fn is_blind(&self) -> bool {
        self.races.trials() > 0 && self.races.accesses == 0 && !self.races.warnings.is_empty()
    }
}
