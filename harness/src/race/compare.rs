//! What several detectors say of the same executions, and where one differs from the memory model: by which rule of its own.
//!
//! [`Detector::Ptx`] says what the model says of an execution, so every difference is told as one from it. Compared are pairs of places in one
//! memory. HiRace and ScoRD do not always keep the earlier access of a race: a report without it counts for each pair that its later access
//! is part of.

use std::collections::{BTreeMap, BTreeSet};

use bugaroo_protocol::{Detector, Race, Variation};

use super::look::Look;
use super::place::RacePlace;
use super::rule::{self, Besides, Rule};
use super::scope::RaceScope;
use crate::record::TrialRecord;
use crate::suppressions::Suppressions;

/// Pairs that are compared at most.
const MOST: usize = 1000;

/// Two places in one memory: the earlier access's (None: the detector has not kept it) and the later one's, but for the schedule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Pair {
    places: [Option<RacePlace>; 2],
    shared: bool,
}

impl Pair {
    fn of(race: &Race) -> Pair {
        let mut places = [Some(RacePlace::of(&race.first)), Some(RacePlace::of(&race.second))];
        places.sort();
        Pair { places, shared: race.shared }
    }

    /// Of a race whose earlier access is not known.
    fn of_later(race: &Race) -> Pair {
        Pair { places: [None, Some(RacePlace::of(&race.second))], shared: race.shared }
    }

    fn has(&self, place: &RacePlace) -> bool {
        self.places.iter().flatten().any(|known| known == place)
    }
}

/// What a detector says of a pair.
#[derive(Clone, Debug, PartialEq)]
pub struct DetectorSays {
    /// Trials in which it reported the pair.
    pub trials: u64,
    /// An example.
    pub race: Race,
}

/// A detector that differs from the memory model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Which.
    pub detector: Detector,
    /// Whether it is the one that reports.
    pub reports: bool,
    /// By what rule of its own; None: no rule of its explains it.
    pub rule: Option<Rule>,
}

/// A pair of places of which some detector reports a race.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Who reports it.
    pub said: BTreeMap<Detector, DetectorSays>,
    /// Who differs from the memory model.
    pub differences: Vec<Difference>,
}

impl Row {
    /// An example: the model's, if it reports the pair.
    pub fn example(&self) -> Option<&Race> {
        // Of `Ptx` first: it is the first detector.
        self.said.values().next().map(|said| &said.race)
    }
}

/// What several detectors say of the same executions.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Who looked.
    pub detectors: Vec<Detector>,
    /// Trials at which all of them looked.
    pub trials: u64,
    /// Pairs of places.
    pub rows: Vec<Row>,
    /// How many more there were.
    pub more: u64,
}

impl Comparison {
    /// Of the trials of a cell; None where no trial has several detectors, the model's own among them.
    pub fn new<'a>(
        variation: &Variation,
        records: impl IntoIterator<Item = &'a TrialRecord>,
    ) -> Option<Comparison> {
        let asked = &variation.turns.as_ref()?.detectors;
        if asked.len() < 2 || !asked.contains(&Detector::Ptx) {
            return None;
        }
        let scope = RaceScope::of(variation);
        let counts = |race: &&Race| scope.takes_in(race);
        let all_look = |record: &&TrialRecord| {
            let look = Look::of(&variation.of_trial(record.trial));
            asked.iter().all(|detector| look.detectors.contains(detector))
        };
        let trials: Vec<Vec<&Race>> = records
            .into_iter()
            .filter(all_look)
            .map(|record| record.races.iter().flat_map(|races| &races.races).filter(counts).collect())
            .collect();
        let mut pairs = Pairs::default();
        for races in &trials {
            let certain = races.iter().filter(|race| is_certain(race));
            pairs.take(certain.map(|race| (Pair::of(race), *race)));
        }
        for races in &trials {
            let others: Vec<(Pair, &Race)> = races
                .iter()
                .filter(|race| !is_certain(race))
                .flat_map(|race| pairs.of_later(race).into_iter().map(|pair| (pair, *race)))
                .collect();
            pairs.take(others.into_iter());
        }
        let detectors = asked.clone();
        let rows = pairs.rows(&detectors);
        Some(Comparison { detectors, trials: trials.len() as u64, rows, more: pairs.more })
    }

    /// Leaves out what rules suppress.
    pub fn suppress(&mut self, rules: &Suppressions) {
        for row in &mut self.rows {
            let gone: Vec<Detector> = row
                .said
                .iter()
                .filter(|(_, said)| rules.of(&said.race).is_some())
                .map(|(detector, _)| *detector)
                .collect();
            row.said.retain(|detector, _| !gone.contains(detector));
            row.differences.retain(|difference| !gone.contains(&difference.detector));
        }
        self.rows.retain(|row| !row.said.is_empty());
    }

    /// Whether all of them say the same.
    pub fn agree(&self) -> bool {
        self.rows.iter().all(|row| row.differences.is_empty())
    }
}

/// Whether a report has the place of the earlier access.
fn is_certain(race: &Race) -> bool {
    race.first.at.as_ref().is_none_or(|at| !at.instruction.is_empty())
}

/// What was said of each pair.
#[derive(Default)]
struct Pairs {
    said: BTreeMap<Pair, BTreeMap<Detector, DetectorSays>>,
    more: u64,
}

impl Pairs {
    /// The races of one trial.
    fn take<'a>(&mut self, races: impl Iterator<Item = (Pair, &'a Race)>) {
        let mut counted: BTreeSet<(Pair, Detector)> = BTreeSet::new();
        for (pair, race) in races {
            if !counted.insert((pair.clone(), race.detector)) {
                continue;
            }
            if !self.said.contains_key(&pair) && self.said.len() >= MOST {
                self.more += 1;
                continue;
            }
            let said = self.said.entry(pair).or_default().entry(race.detector);
            said.or_insert_with(|| DetectorSays { trials: 0, race: race.clone() }).trials += 1;
        }
    }

    /// The pairs that a report without its earlier access may mean.
    fn of_later(&self, race: &Race) -> Vec<Pair> {
        let place = RacePlace::of(&race.second);
        let mut pairs: Vec<Pair> = self
            .said
            .iter()
            .filter(|(pair, said)| {
                let other = said.keys().any(|detector| *detector != race.detector);
                other && pair.shared == race.shared && pair.places[0].is_some() && pair.has(&place)
            })
            .map(|(pair, _)| pair.clone())
            .collect();
        if pairs.is_empty() {
            pairs.push(Pair::of_later(race));
        }
        pairs
    }

    /// What a detector reports besides a pair.
    fn besides(&self, pair: &Pair, detector: Detector) -> Besides {
        let others = || {
            self.said.iter().filter(|(other, said)| {
                *other != pair && other.shared == pair.shared && said.contains_key(&detector)
            })
        };
        let shares = |other: &Pair| other.places.iter().flatten().any(|place| pair.has(place));
        Besides { place: others().any(|(other, _)| shares(other)), memory: others().next().is_some() }
    }

    fn rows(&self, detectors: &[Detector]) -> Vec<Row> {
        let row = |(pair, said): (&Pair, &BTreeMap<Detector, DetectorSays>)| {
            let by_model = said.get(&Detector::Ptx).map(|said| &said.race);
            let differences =
                detectors.iter().filter(|detector| **detector != Detector::Ptx).filter_map(|one| {
                    let own = said.get(one).map(|said| &said.race);
                    let rule = match (by_model, own) {
                        (Some(_), Some(_)) | (None, None) => return None,
                        (Some(model), None) => rule::of_silence(*one, model, self.besides(pair, *one)),
                        (None, Some(own)) => rule::of_report(own, self.besides(pair, Detector::Ptx)),
                    };
                    Some(Difference { detector: *one, reports: own.is_some(), rule })
                });
            Row { differences: differences.collect(), said: said.clone() }
        };
        let mut rows: Vec<Row> = self.said.iter().map(row).collect();
        // What the model bears out comes first, and then what the most say.
        rows.sort_by_key(|row| (!row.said.contains_key(&Detector::Ptx), std::cmp::Reverse(row.said.len())));
        rows
    }
}

#[cfg(test)]
mod tests;
