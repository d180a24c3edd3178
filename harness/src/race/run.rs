//! The races of a run: those of all its trials, each once, with how often and in how many trials it showed.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use bugaroo_protocol::{Detector, Named, Race, Variation};
use serde::Serialize;

use super::compare::Comparison;
use super::look::Look;
use super::place::{RaceKey, RacePlace};
use super::scope::RaceScope;
use crate::findings::Share;
use crate::outcome::Exit;
use crate::record::TrialRecord;
use crate::suppressions::Suppressions;

/// Different races that are told of a run.
const MOST: usize = 1000;

/// A race, over all trials.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundRace {
    /// The first trial's example; of `proven` and `count` the sum over all.
    pub race: Race,
    /// Trials that showed it, of those in which its detector looked.
    pub trials: Share,
    /// The first of them, as `replay` is told.
    pub first_trial: String,
    /// The rule that suppresses it, by its place among the rules.
    pub suppressed: Option<usize>,
    key: RaceKey,
}

impl FoundRace {
    /// Its two places, in an order that does not depend on the schedule.
    pub fn pair(&self) -> [RacePlace; 2] {
        self.key.pair()
    }
}

/// Something that detectors could not look at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RaceWarning {
    /// One sentence without its end.
    pub what: String,
    /// How often.
    pub count: u64,
    /// In how many trials.
    pub trials: u64,
}

/// Trials that looked the same way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Looked {
    /// Detectors.
    pub detectors: Vec<Detector>,
    /// `none`, `store-buffer`, `ptx`.
    pub model: &'static str,
    /// `random`, `pct`.
    pub scheduler: &'static str,
    /// How many.
    pub trials: u64,
}

/// What a run's trials showed of races.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RaceSummary {
    /// The most telling first.
    pub races: Vec<FoundRace>,
    /// How often there were others, as there were too many kinds.
    pub more: u64,
    /// Different races of other kernels, or in other memory, than was asked for.
    pub outside: u64,
    /// What could not be looked at.
    pub warnings: Vec<RaceWarning>,
    /// How the trials looked.
    pub looked: Vec<Looked>,
    /// Accesses that were looked at, in warps.
    pub accesses: u64,
    /// Most host memory that detectors took in a trial, bytes.
    pub bytes: u64,
    /// What several detectors say of the same trials.
    pub comparison: Option<Comparison>,
    /// How the program's processes ended, and how many of them.
    pub exits: Vec<(Exit, u64)>,
}

impl RaceSummary {
    /// Sums up the trials of a cell, whose turns `variation` has; `address` is how `replay` is told which trial is meant.
    pub fn new<'a>(
        variation: &Variation,
        records: impl IntoIterator<Item = &'a TrialRecord> + Clone,
        address: impl Fn(u64) -> String,
    ) -> Self {
        let mut all: BTreeMap<RaceKey, FoundRace> = BTreeMap::new();
        let mut looks: BTreeMap<Look, u64> = BTreeMap::new();
        let mut warnings: BTreeMap<String, RaceWarning> = BTreeMap::new();
        let mut outside: BTreeSet<RaceKey> = BTreeSet::new();
        let comparison = Comparison::new(variation, records.clone());
        let mut sum = RaceSummary { comparison, ..RaceSummary::default() };
        let scope = RaceScope::of(variation);
        let mut unmet: BTreeSet<Named> = variation.race_settings.watch.named().collect();
        for record in records {
            *looks.entry(Look::of(&variation.of_trial(record.trial))).or_default() += 1;
            match sum.exits.iter_mut().find(|(exit, _)| *exit == record.exit) {
                Some((_, count)) => *count += 1,
                None => sum.exits.push((record.exit, 1)),
            }
            let Some(of_trial) = &record.races else { continue };
            unmet.retain(|name| !of_trial.met.contains(name));
            sum.accesses = sum.accesses.saturating_add(of_trial.accesses);
            sum.bytes = sum.bytes.max(of_trial.bytes);
            sum.more = sum.more.saturating_add(of_trial.more);
            for (what, count) in &of_trial.warnings {
                let none = || RaceWarning { what: what.clone(), count: 0, trials: 0 };
                let known = warnings.entry(what.clone()).or_insert_with(none);
                known.count = known.count.saturating_add(*count);
                known.trials += 1;
            }
            for race in &of_trial.races {
                let key = RaceKey::of(race);
                if !scope.takes_in(race) {
                    outside.insert(key);
                } else if let Some(known) = all.get_mut(&key) {
                    known.trials.seen += 1;
                    known.race.count = known.race.count.saturating_add(race.count);
                    known.race.proven |= race.proven;
                } else if all.len() < MOST {
                    let first_trial = address(record.trial);
                    let trials = Share { seen: 1, of: 0 };
                    let race = race.clone();
                    all.insert(key.clone(), FoundRace { race, trials, first_trial, suppressed: None, key });
                } else {
                    sum.more = sum.more.saturating_add(race.count);
                }
            }
        }
        for found in all.values_mut() {
            let has = |look: &&Look| look.detectors.contains(&found.key.detector);
            found.trials.of = looks.iter().filter(|(look, _)| has(look)).map(|(_, trials)| trials).sum();
        }
        sum.outside = outside.len() as u64;
        sum.races = all.into_values().collect();
        // They come in the order of their keys, which decides where all else is equal.
        sum.races.sort_by_key(telling);
        let trials: u64 = looks.values().sum();
        let vain =
            |name: Named| RaceWarning { what: format!("detector settings: {name}"), count: trials, trials };
        sum.warnings = warnings.into_values().chain(unmet.into_iter().map(vain)).collect();
        let looked = |(look, trials)| {
            let Look { detectors, model, scheduler } = look;
            Looked { detectors, model, scheduler, trials }
        };
        sum.looked = looks.into_iter().map(looked).collect();
        sum
    }

    /// Marks what rules suppress.
    pub fn suppress(&mut self, rules: &Suppressions) {
        for found in &mut self.races {
            found.suppressed = rules.of(&found.race);
        }
        if let Some(comparison) = &mut self.comparison {
            comparison.suppress(rules);
        }
    }

    /// The races that no rule suppresses.
    pub fn open(&self) -> impl Iterator<Item = &FoundRace> {
        self.races.iter().filter(|found| found.suppressed.is_none())
    }

    /// Trials.
    pub fn trials(&self) -> u64 {
        self.looked.iter().map(|look| look.trials).sum()
    }
}

/// The more telling come first: what is proven, what shows in more trials, and of writes before reads.
fn telling(found: &FoundRace) -> impl Ord + use<> {
    let Share { seen, of } = found.trials;
    // Of detectors with different numbers of trials the shares count; in thousandths, so that they can be compared.
    let share = seen.saturating_mul(1000).checked_div(of).unwrap_or(0);
    (!found.race.proven, Reverse(share), found.race.kind, found.race.class)
}
