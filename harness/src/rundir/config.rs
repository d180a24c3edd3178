//! What a run is: `run.json`.

use std::collections::BTreeSet;
use std::time::Duration;

use bugaroo_protocol::{Backend, Variation};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::baseline::Baseline;
use crate::digest;
use crate::input::InputFacts;
use crate::oracle::error::ParseOracleError;
use crate::oracle::{Comparison, ComparisonText, Oracle};
use crate::schedules;
use crate::settings::Settings;
use crate::suppressions::{RuleText, Suppressions};
use crate::target::Target;

/// All that the outcome of a trial depends on besides its index and the environment's variables. Two
/// runs that agree in it agree in every trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Configuration {
    /// The program.
    #[serde(flatten)]
    pub target: Target,
    /// SHA-256 of its file; None where it cannot be read.
    pub app_sha256: Option<String>,
    /// What it finds on its standard input; None: nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdin: Option<InputFacts>,
    /// The run's seed.
    pub seed: u64,
    /// What executes the kernels.
    pub backend: Backend,
    /// Virtual GPUs that the program finds.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub devices: u32,
    /// The cells: the probabilities with which a store is delayed.
    pub pw: Vec<f64>,
    /// What they have in common. Its own probability, and what is no part of a cell, do not count.
    #[serde(flatten, with = "common")]
    pub variation: Variation,
    /// Where races say which trial fails: those that count for nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suppressions: Vec<RuleText>,
    /// Warps run in lockstep.
    #[serde(default)]
    pub warp_synchronous: bool,
    /// Faults of kernels are no findings.
    #[serde(default)]
    pub ignore_faults: bool,
    /// The oracle, as it was given.
    pub oracle: String,
    /// What it passes over, where it compares outputs.
    #[serde(default, skip_serializing_if = "ComparisonText::is_exact")]
    pub comparison: ComparisonText,
    /// Wall-clock time that a trial may take, in milliseconds; None: by the baseline.
    pub timeout_ms: Option<u64>,
    /// Warp instructions that one launch may execute; None: by the baseline.
    pub step_budget: Option<u64>,
}

/// A variation without what cells do not have in common or do not have at all: the probability, and what only searches and
/// single trials ask for.
fn of_all_cells(variation: Variation) -> Variation {
    Variation {
        pw: 0.0,
        within_blocks: false,
        coverage: false,
        hold: None,
        switches: Vec::new(),
        swarm: false,
        ..variation
    }
}

/// A variation beside the cells' probabilities, which stand under the same name.
mod common {
    use bugaroo_protocol::Variation;
    use serde::de::{Deserialize, Deserializer, Error as _};
    use serde::ser::{Error as _, Serialize, Serializer};
    use serde_json::{Map, Value};

    const PW: &str = "pw";

    pub(super) fn serialize<S: Serializer>(variation: &Variation, to: S) -> Result<S::Ok, S::Error> {
        let mut fields = match serde_json::to_value(variation).map_err(S::Error::custom)? {
            Value::Object(fields) => fields,
            _ => unreachable!("a struct is a JSON object"),
        };
        fields.remove(PW);
        fields.serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Variation, D::Error> {
        let mut fields = Map::<String, Value>::deserialize(from)?;
        fields.insert(PW.to_owned(), 0.0.into());
        let variation = serde_json::from_value(Value::Object(fields)).map_err(D::Error::custom)?;
        Ok(super::of_all_cells(variation))
    }
}

fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_one(devices: &u32) -> bool {
    *devices == 1
}

/// `run.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunFile {
    /// [`super::SCHEMA`].
    pub schema: u32,
    /// Version of Bugaroo that began the run.
    pub bugaroo: String,
    /// What the run is.
    #[serde(flatten)]
    pub configuration: Configuration,
    /// Trials of each cell. A run can be extended.
    pub trials: u64,
    /// What the program did without injection.
    pub baseline: Baseline,
    /// The program fails without injection: the cells are its runs under other schedules, with nothing delayed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub schedules: bool,
}

impl RunFile {
    /// What each cell runs.
    pub fn cells(&self) -> Vec<Variation> {
        if self.schedules { schedules::variations() } else { self.configuration.cells() }
    }
}

impl Configuration {
    /// What a session with these settings runs; `pw` are the cells, whatever the variation says.
    pub fn of(target: &Target, settings: &Settings, variation: &Variation, pw: Vec<f64>) -> Self {
        Self {
            target: target.clone(),
            app_sha256: digest::of_file(&target.app).ok(),
            stdin: settings.input.as_ref().map(|input| input.facts.clone()),
            seed: settings.seed,
            backend: settings.backend,
            devices: settings.devices,
            pw,
            variation: of_all_cells(variation.clone()),
            suppressions: match settings.oracle {
                Oracle::Race => settings.suppressions.texts().cloned().collect(),
                _ => Vec::new(),
            },
            warp_synchronous: settings.warp_synchronous,
            ignore_faults: settings.ignore_faults,
            oracle: settings.oracle.to_string(),
            comparison: settings.oracle.comparison().map(Comparison::text).unwrap_or_default(),
            timeout_ms: settings.timeout.map(|limit| u64::try_from(limit.as_millis()).unwrap_or(u64::MAX)),
            step_budget: settings.step_budget,
        }
    }

    /// The cells' variations.
    pub fn cells(&self) -> Vec<Variation> {
        self.pw.iter().map(|&pw| Variation { pw, ..self.variation.clone() }).collect()
    }

    /// The settings of a session that runs it.
    ///
    /// # Errors
    /// When its oracle is none, which shows only where the file was written by another hand.
    pub fn settings(&self, jobs: Option<usize>) -> Result<Settings, ParseOracleError> {
        Ok(Settings {
            seed: self.seed,
            jobs,
            timeout: self.timeout_ms.map(Duration::from_millis),
            oracle: self.oracle.parse::<Oracle>()?.passing_over(&self.comparison)?,
            backend: self.backend,
            devices: self.devices,
            step_budget: self.step_budget,
            warp_synchronous: self.warp_synchronous,
            ignore_faults: self.ignore_faults,
            schedules: true,
            take_failing: false,
            digest: true,
            // For a replay, which is one trial.
            fork_server: false,
            // In the directory, if there is one.
            input: None,
            // What is told of races does not depend on them.
            suppressions: Suppressions::default(),
            record_launches: false,
        })
    }

    /// What differs from the configuration `there`, in one line; None where nothing does.
    pub fn differences(&self, there: &Configuration) -> Option<String> {
        let (Ok(Value::Object(here)), Ok(Value::Object(there))) =
            (serde_json::to_value(self), serde_json::to_value(there))
        else {
            unreachable!("a configuration is a JSON object");
        };
        let names: BTreeSet<&String> = here.keys().chain(there.keys()).collect();
        let of = |all: &Map<String, Value>, name: &str| all.get(name).cloned().unwrap_or(Value::Null);
        let differences: Vec<String> = names
            .into_iter()
            .map(|name| (name, of(&here, name), of(&there, name)))
            .filter(|(_, here, there)| here != there)
            .map(|(name, here, there)| format!("{name} is {there} there, {here} here"))
            .collect();
        (!differences.is_empty()).then(|| differences.join("; "))
    }
}
