//! The plan as it is written: every table and key, and nothing else.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

/// The whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct File {
    /// What holds for the night.
    #[serde(default)]
    pub night: Night,
    /// What holds for programs that do not say otherwise.
    #[serde(default)]
    pub defaults: Entry,
    /// What explorations choose among.
    pub explore: Option<Explore>,
    /// The programs.
    #[serde(default)]
    pub program: Vec<Spanned<Entry>>,
    /// How the executor `slurm` submits.
    pub slurm: Option<Slurm>,
}

/// `[night]`
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Night {
    pub name: Option<String>,
    pub seed: Option<u64>,
    pub budget: Option<Spanned<String>>,
    pub jobs: Option<Spanned<u16>>,
    pub database: Option<Spanned<String>>,
    pub reports: Option<String>,
    pub disk: Option<Spanned<String>>,
    pub search: Option<bool>,
}

/// `[[program]]`, and `[defaults]`, which names no program.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Entry {
    pub name: Option<Spanned<String>>,
    pub run: Option<Spanned<Vec<String>>>,
    pub directory: Option<Spanned<String>>,
    pub environment: Option<BTreeMap<String, String>>,
    pub build: Option<String>,
    pub build_timeout: Option<Spanned<String>>,
    pub stdin: Option<Spanned<String>>,
    pub models: Option<Vec<Spanned<String>>>,
    pub pw: Option<Vec<Spanned<f64>>>,
    pub pr: Option<Vec<Spanned<f64>>>,
    pub buffer: Option<Vec<Spanned<u32>>>,
    pub schedulers: Option<Vec<Spanned<String>>>,
    pub kernel: Option<Spanned<String>>,
    pub warp_synchronous: Option<bool>,
    pub devices: Option<Spanned<u32>>,
    pub ignore_faults: Option<bool>,
    pub trials: Option<Spanned<u64>>,
    pub budget: Option<Spanned<String>>,
    pub explore: Option<bool>,
    pub detectors: Option<Vec<Spanned<String>>>,
    pub race_trials: Option<Spanned<u64>>,
    pub suppressions: Option<Vec<Spanned<String>>>,
    pub verify: Option<Spanned<Verify>>,
    pub oracle: Option<Spanned<String>>,
    pub ignore_lines: Option<Vec<Spanned<String>>>,
    pub tolerance: Option<Spanned<f64>>,
    pub timeout: Option<Timeout>,
    pub expect: Option<Vec<Spanned<Expect>>>,
}

/// `[explore]`
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Explore {
    pub models: Option<Vec<Spanned<String>>>,
    pub pw: Option<Vec<Spanned<f64>>>,
    pub pr: Option<Vec<Spanned<f64>>>,
    pub buffer: Option<Vec<Spanned<u32>>>,
    pub schedulers: Option<Vec<Spanned<String>>>,
}

/// `verify = true`, or the kernels.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Verify {
    All(bool),
    Kernels(Vec<String>),
}

/// `timeout = { factor = 50, floor = "10s" }`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Timeout {
    pub factor: Option<Spanned<f64>>,
    pub floor: Option<Spanned<String>>,
}

/// `[[program.expect]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Expect {
    pub finding: Spanned<String>,
    pub model: Option<Spanned<String>>,
    pub place: Option<String>,
    pub reason: Spanned<String>,
    pub until: Spanned<toml::value::Datetime>,
}

/// `[slurm]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Slurm {
    pub shards: Spanned<u32>,
    pub partition: Option<String>,
    pub gres: Option<String>,
    pub time: Option<Spanned<String>>,
    pub memory: Option<String>,
    pub cpus: Option<Spanned<u16>>,
    pub account: Option<String>,
    pub qos: Option<String>,
    pub options: Option<Vec<String>>,
    pub at_a_time: Option<Spanned<u32>>,
    pub folder: Option<Spanned<String>>,
}
