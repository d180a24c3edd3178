//! Cells: what of a program is counted by itself, as a rate of its own.

use std::time::Duration;

use bugaroo_harness::{Turns, Variation};
use bugaroo_protocol::{Detector, Model, Scheduler};
use serde::{Deserialize, Serialize};

use super::words;

/// What the trials of a cell look for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CellKind {
    /// Failures, under one way of delaying stores.
    Trials,
    /// Data races.
    Races,
    /// Failures, under what trials have chosen by what those before have shown.
    Explore,
}

/// What is run many times.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Its name, the same each night: `store-buffer pw=0.75`. No other cell of the program has it.
    pub key: String,
    /// What its trials look for.
    pub kind: CellKind,
    /// How its trials run.
    pub variation: Variation,
    /// Trials; None: as many as its time allows.
    pub trials: Option<u64>,
    /// Time for it alone; None: its trials, or a share of the night's.
    pub budget: Option<Duration>,
    /// What its trials choose among, where they explore.
    pub space: Option<PlanGrid>,
}

/// Ways of delaying stores, each list at least one long.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanGrid {
    /// Memory models.
    pub models: Vec<Model>,
    /// Probabilities with which a store is delayed.
    pub pw: Vec<f64>,
    /// Model `ptx`: probabilities with which a load reads an older value.
    pub pr: Vec<f64>,
    /// Entries of the store buffers.
    pub buffer: Vec<u32>,
    /// Who runs next.
    pub schedulers: Vec<Scheduler>,
}

impl PlanGrid {
    /// What explorations choose among where the plan says nothing: 48 ways.
    pub fn to_explore() -> PlanGrid {
        PlanGrid {
            models: vec![Model::StoreBuffer, Model::Ptx],
            pw: vec![0.1, 0.5, 0.75, 0.95],
            pr: vec![0.1, 0.5, 0.9],
            buffer: vec![1, 8, 256],
            schedulers: vec![Scheduler::Random, Scheduler::Pct],
        }
    }

    /// All ways that differ: `pr` is the model `ptx`'s alone, and `buffer` that of the others.
    pub fn variations(&self, base: &Variation) -> Vec<(String, Variation)> {
        let mut all: Vec<(String, Variation)> = Vec::new();
        for &model in &self.models {
            let ptx = model == Model::Ptx;
            let pr = if ptx { &self.pr[..] } else { &self.pr[..1] };
            let buffer = if ptx { &self.buffer[..1] } else { &self.buffer[..] };
            for &pw in &self.pw {
                for &pr in pr {
                    for &buffer in buffer {
                        for &scheduler in &self.schedulers {
                            let variation = Variation { model, pw, pr, buffer, scheduler, ..base.clone() };
                            let key = self.key(&variation);
                            // A value that was given twice is one cell.
                            if all.iter().all(|(known, _)| *known != key) {
                                all.push((key, variation));
                            }
                        }
                    }
                }
            }
        }
        all
    }

    /// What a way is called: model and p_w, and the rest where the plan names other values than the default.
    fn key(&self, variation: &Variation) -> String {
        let default = Variation::default();
        let Variation { model, pw, pr, buffer, scheduler, .. } = variation;
        let mut key = format!("{} pw={pw}", words::model(*model));
        if *model == Model::Ptx && *pr != default.pr {
            key += &format!(" pr={pr}");
        }
        if *model != Model::Ptx && *buffer != default.buffer {
            key += &format!(" buffer={buffer}");
        }
        if *scheduler != default.scheduler {
            key += &format!(" {}", words::scheduler(*scheduler));
        }
        key
    }
}

/// The cell that looks for races by these detectors, which take turns.
pub fn races(detectors: Vec<Detector>, base: &Variation, trials: u64) -> Cell {
    let names: Vec<&str> = detectors.iter().map(|detector| detector.name()).collect();
    let key = format!("races {}", names.join("+"));
    let turns = Turns { detectors, model: None, scheduler: None };
    let variation = Variation { turns: Some(turns), ..base.clone() };
    Cell { key, kind: CellKind::Races, variation, trials: Some(trials), budget: None, space: None }
}

/// The cell whose trials choose among these ways.
pub fn explore(space: PlanGrid, base: &Variation, trials: Option<u64>, budget: Option<Duration>) -> Cell {
    let variation = Variation { coverage: true, ..base.clone() };
    Cell { key: "explore".to_owned(), kind: CellKind::Explore, variation, trials, budget, space: Some(space) }
}
