//! What counts as found: races that nobody has suppressed, in the kernels and the memory asked for, beside failures.

use bugaroo_protocol::{Race, Variation};

use super::Settings;
use crate::oracle::verdict::OracleVerdict;
use crate::race::trial::TrialRaces;
use crate::race::{RaceScope, one_line};
use crate::record::TrialRecord;

impl Settings {
    /// Whether a trial of this variation has shown something: it failed, or has a race that counts.
    pub fn finds(&self, variation: &Variation, record: &TrialRecord) -> bool {
        let races = || record.races.as_ref().is_some_and(|races| !self.counting(variation, races).is_empty());
        record.outcome.is_failure() || races()
    }

    /// What the oracle `race` says.
    pub(crate) fn race_verdict(&self, variation: Option<&Variation>, races: &TrialRaces) -> OracleVerdict {
        let counting = variation.map(|variation| self.counting(variation, races)).unwrap_or_default();
        match counting.as_slice() {
            [] => OracleVerdict::Content,
            [race] => OracleVerdict::Discontent(one_line(race)),
            [race, more @ ..] => {
                OracleVerdict::Discontent(format!("{}, and {} more", one_line(race), more.len()))
            }
        }
    }

    /// The races of a trial of this variation that count.
    pub fn counting<'a>(&self, variation: &Variation, races: &'a TrialRaces) -> Vec<&'a Race> {
        let scope = RaceScope::of(variation);
        let counts = |race: &&Race| scope.takes_in(race) && self.suppressions.of(race).is_none();
        races.races.iter().filter(counts).collect()
    }
}
