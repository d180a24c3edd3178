//! A batch in the making: trials are counted as they end, and what they found is put by its fingerprint.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::time::Instant;

use bugaroo_harness::{Outcome, Suppressions, TrialRecord};

use crate::finding;
use crate::hides::Hides;
use crate::history::{Batch, Example, Sighting, Tally, TrialRow};
use crate::shard::Shard;

/// Records that are kept of trials of a cell that show the same.
const KEPT: u64 = 20;

/// What of a cell is known to be in the database: how often each finding was seen.
pub type Known = HashMap<String, u64>;

/// Trials that are running, of one cell.
pub struct Making<'a> {
    program: &'a str,
    cell: &'a str,
    shard: Shard,
    /// Place of the first among the shard's trials of the cell.
    first: u64,
    rules: &'a Suppressions,
    folder: &'a Path,
    started: Instant,
    records: BTreeMap<u64, TrialRecord>,
}

impl<'a> Making<'a> {
    /// None have ended yet.
    pub fn new(
        (program, cell): (&'a str, &'a str),
        shard: Shard,
        first: u64,
        rules: &'a Suppressions,
        folder: &'a Path,
    ) -> Self {
        Self { program, cell, shard, first, rules, folder, started: Instant::now(), records: BTreeMap::new() }
    }

    /// A trial has ended.
    pub fn take(&mut self, record: &TrialRecord) {
        self.records.insert(record.trial, record.clone());
    }

    /// The batch of all that have ended, up to the first one that has not: others are run again.
    pub fn finish(self, known: &mut Known) -> Batch {
        let mut tally = Tally::default();
        let mut trials = Vec::new();
        let mut sightings: BTreeMap<String, Sighting> = BTreeMap::new();
        let mut unseen = BTreeSet::new();
        let mut hides: Option<Hides> = None;
        let whole = (self.first..).map(|place| self.shard.trial(place)).map_while(|at| self.records.get(&at));
        for record in whole {
            tally.add(record);
            let warnings = record.races.iter().flat_map(|races| &races.warnings);
            unseen.extend(warnings.map(|(what, _)| what.clone()));
            match (&mut hides, Hides::of(self.cell, record)) {
                (Some(sum), Some(more)) => sum.merge(more),
                (none, more) => *none = none.take().or(more),
            }
            let found = finding::of_trial(record, self.rules, self.folder);
            let mut few = false;
            for finding in &found {
                let seen = known.entry(finding.fingerprint.clone()).or_default();
                few |= *seen < KEPT;
                *seen += 1;
                let first = *seen == 1;
                let sighting = sightings
                    .entry(finding.fingerprint.clone())
                    .or_insert(Sighting { trials: 0, example: None });
                sighting.trials += 1;
                if first {
                    sighting.example = Some(Example { trial: record.trial, finding: finding.clone() });
                }
            }
            if found.is_empty() && record.outcome == Outcome::Pass {
                continue;
            }
            trials.push(TrialRow {
                trial: record.trial,
                seed: record.seed,
                outcome: record.outcome,
                variation: record.variation.as_deref().cloned(),
                record: few.then(|| record.clone()),
            });
        }
        Batch {
            program: self.program.to_owned(),
            cell: self.cell.to_owned(),
            first: self.shard.trial(self.first),
            step: u64::from(self.shard.of),
            tally,
            trials,
            sightings,
            unseen,
            hides,
            milliseconds: u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX),
        }
    }
}
