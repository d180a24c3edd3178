//! What the detectors of one trial told, summed up as it comes in: each message tells what is new since the last.

use std::collections::{BTreeMap, BTreeSet};

use bugaroo_protocol::{Named, Race, Races};
use serde::{Deserialize, Serialize};

use super::place::RaceKey;
use super::words::one_line;

/// Different races that are kept of a trial; how often there were others is counted.
pub const MOST_RACES: usize = 1000;
/// Different warnings that are kept of a trial.
const MOST_WARNINGS: usize = 100;

/// The races of one trial.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrialRaces {
    /// Each once, in the order in which they were first told; the example is the first one.
    pub races: Vec<Race>,
    /// How often there was one that is not among these, as there were too many.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more: u64,
    /// What could not be looked at: a sentence each without its end, and how often.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<(String, u64)>,
    /// What of the settings' names something was found for.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub met: BTreeSet<Named>,
    /// Accesses that were looked at, in warps.
    #[serde(default)]
    pub accesses: u64,
    /// Host memory that the detectors took at most, bytes.
    #[serde(default)]
    pub bytes: u64,
}

/// Puts together what the messages of one trial tell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gathered {
    /// What they told so far.
    pub all: TrialRaces,
    /// Places in its races, by key.
    known: BTreeMap<RaceKey, usize>,
}

/// Whether nothing was counted.
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Gathered {
    /// Takes what is new.
    pub fn take(&mut self, races: Races) {
        // Taken apart, so that nothing is ever forgotten here.
        let Races { races, warnings, met, accesses, bytes } = races;
        self.all.met.extend(met);
        for race in races {
            let key = RaceKey::of(&race);
            match self.known.get(&key) {
                Some(&at) => {
                    let known = &mut self.all.races[at];
                    known.count = known.count.saturating_add(race.count);
                    known.proven |= race.proven;
                }
                None if self.all.races.len() < MOST_RACES => {
                    self.known.insert(key, self.all.races.len());
                    self.all.races.push(race);
                }
                None => self.all.more = self.all.more.saturating_add(race.count),
            }
        }
        for (what, count) in warnings {
            match self.all.warnings.iter().position(|(known, _)| *known == what) {
                Some(at) => {
                    let known = &mut self.all.warnings[at].1;
                    *known = known.saturating_add(count);
                }
                None if self.all.warnings.len() < MOST_WARNINGS => self.all.warnings.push((what, count)),
                None => {}
            }
        }
        self.all.accesses = self.all.accesses.saturating_add(accesses);
        self.all.bytes = self.all.bytes.max(bytes);
    }
}

impl TrialRaces {
    /// Whether both trials showed the same races, as often, between the same threads.
    pub fn agrees_with(&self, other: &TrialRaces) -> bool {
        (&self.races, self.more, &self.warnings, self.accesses)
            == (&other.races, other.more, &other.warnings, other.accesses)
    }

    /// What differs, in one line each: races that only one of them has, and others that came more or less often.
    pub fn differences(&self, now: &TrialRaces) -> Vec<String> {
        let by_key = |races: &TrialRaces| -> BTreeMap<RaceKey, Race> {
            races.races.iter().map(|race| (RaceKey::of(race), race.clone())).collect()
        };
        let (then, again) = (by_key(self), by_key(now));
        let mut lines = Vec::new();
        for (key, race) in &then {
            let name = one_line(race);
            match again.get(key) {
                None => lines.push(format!("{name}: {} times then, not now", race.count)),
                Some(other) if other.count != race.count => {
                    lines.push(format!("{name}: {} times then, {} times now", race.count, other.count));
                }
                Some(other) if other != race => lines.push(format!("{name}: by other threads or elsewhere")),
                Some(_) => {}
            }
        }
        for (_, race) in again.iter().filter(|(key, _)| !then.contains_key(key)) {
            lines.push(format!("{}: not then, {} times now", one_line(race), race.count));
        }
        if lines.is_empty() && !self.agrees_with(now) {
            lines.push(format!("accesses looked at: {} then, {} now", self.accesses, now.accesses));
        }
        lines
    }
}
