//! What a run is: `run.json`.

use std::collections::BTreeSet;
use std::time::Duration;

use bugaroo_protocol::{Backend, Detector, Insertion, Model, RaceSettings, Scheduler, SiteId, Space};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::baseline::Baseline;
use crate::digest;
use crate::input::InputFacts;
use crate::oracle::error::ParseOracleError;
use crate::oracle::{Comparison, ComparisonText, Oracle};
use crate::race::turns::Turns;
use crate::schedules;
use crate::settings::Settings;
use crate::suppressions::{RuleText, Suppressions};
use crate::target::Target;
use crate::variation::Variation;

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
    /// Which memory behaviour is shown.
    pub model: Model,
    /// The cells: the probabilities with which a store is delayed.
    pub pw: Vec<f64>,
    /// Model `ptx`: the probability with which a load reads an older value than it has to.
    #[serde(default = "crate::variation::pr")]
    pub pr: f64,
    /// Model `ptx`: bytes that a launch's histories may take.
    #[serde(default = "crate::variation::model_memory")]
    pub model_memory: u64,
    /// Entries of each per-thread store buffer.
    pub buffer: u32,
    /// Which space's stores are delayed.
    pub space: Space,
    /// Who runs next on the virtual GPU.
    #[serde(default)]
    pub scheduler: Scheduler,
    /// Scheduler `pct`: ordering constraints of the bugs that are looked for.
    #[serde(default = "crate::variation::pct_depth", skip_serializing_if = "crate::variation::is_pct_depth")]
    pub pct_depth: u32,
    /// Every other trial is scheduled by the other one.
    #[serde(default)]
    pub by_turns: bool,
    /// Which kernels' stores are delayed.
    pub kernel: Option<String>,
    /// Fences omitted.
    pub without_fence: BTreeSet<SiteId>,
    /// Fences inserted.
    pub with_fence: BTreeSet<SiteId>,
    /// Fences narrowed to CTA scope.
    #[serde(default)]
    pub narrow_fence: BTreeSet<SiteId>,
    /// What is put in beside stretches of the source.
    #[serde(default)]
    pub insert: BTreeSet<Insertion>,
    /// Fences and accesses widened to GPU scope.
    #[serde(default)]
    pub widen: BTreeSet<SiteId>,
    /// Stores delayed by injected handlers, where the virtual GPU could do it itself.
    #[serde(default)]
    pub handlers: bool,
    /// Detectors that look for races in all trials.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub race: Vec<Detector>,
    /// What HiRace and ScoRD look at, and how much they keep.
    #[serde(default, skip_serializing_if = "RaceSettings::is_default")]
    pub race_settings: RaceSettings,
    /// Detectors, model and scheduler that take turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<Turns>,
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
            model: variation.model,
            pw,
            pr: variation.pr,
            model_memory: variation.model_memory,
            buffer: variation.buffer,
            space: variation.space,
            scheduler: variation.scheduler,
            pct_depth: variation.pct_depth,
            by_turns: variation.by_turns,
            kernel: variation.kernel.clone(),
            without_fence: variation.without_fence.clone(),
            with_fence: variation.with_fence.clone(),
            narrow_fence: variation.narrow_fence.clone(),
            insert: variation.insert.clone(),
            widen: variation.widen.clone(),
            handlers: variation.handlers,
            race: variation.race.clone(),
            race_settings: variation.race_settings.clone(),
            turns: variation.turns.clone(),
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
        self.pw
            .iter()
            .map(|&pw| Variation {
                model: self.model,
                pw,
                pr: self.pr,
                model_memory: self.model_memory,
                buffer: self.buffer,
                space: self.space,
                scheduler: self.scheduler,
                pct_depth: self.pct_depth,
                by_turns: self.by_turns,
                kernel: self.kernel.clone(),
                without_fence: self.without_fence.clone(),
                with_fence: self.with_fence.clone(),
                narrow_fence: self.narrow_fence.clone(),
                insert: self.insert.clone(),
                widen: self.widen.clone(),
                handlers: self.handlers,
                race: self.race.clone(),
                race_settings: self.race_settings.clone(),
                // Asked for by searches alone, which have no cells.
                within_blocks: false,
                turns: self.turns.clone(),
                // No part of what a trial does.
                coverage: false,
                // Chosen by trials alone.
                hold: None,
                switches: Vec::new(),
                swarm: false,
            })
            .collect()
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
