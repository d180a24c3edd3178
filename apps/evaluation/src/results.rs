//! All that an evaluation has measured: `evaluation.json`, written anew whenever a piece is done.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use bugaroo_protocol::{FlushLengths, Model};
use serde::{Deserialize, Serialize};

use crate::races::asked::{AppAsked, Asked};

/// Version of the file.
pub const SCHEMA: u32 = 2;

const FILE: &str = "evaluation.json";

/// What the results of one directory have in common. A later run with the same goes on with them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// Trials of each cell of Table IV.
    pub trials: u64,
    /// Seed of all runs.
    pub seed: u64,
    /// Whether this is the short form, with smaller sizes.
    pub short: bool,
    /// Times that each program is timed; fewer where a run takes long.
    pub timings: u64,
    /// Injected trials that flush lengths are of; fewer where one takes long.
    pub profile_trials: u64,
    /// SHA-256 of `bugaroo`, `libcuda.so` and the programs.
    pub built: BTreeMap<String, String>,
}

/// Everything measured so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// [`SCHEMA`].
    pub schema: u32,
    /// What was to be measured.
    pub settings: Settings,
    /// Processors of the machine.
    pub processors: usize,
    /// By `bugaroo profile`.
    pub profiles: Vec<Profiled>,
    /// Run times.
    pub timings: Vec<Timed>,
    /// By `bugaroo run`.
    pub rates: Vec<Rated>,
    /// By `bugaroo race`, of the programs of `apps/race_suite`.
    pub races: Vec<Asked>,
    /// By `bugaroo race`, of the programs of `apps/`.
    pub apps: Vec<AppAsked>,
}

/// A program and variant, as the results name them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// Program.
    pub program: String,
    /// Variant.
    pub variant: String,
}

impl Row {
    /// Names one.
    pub fn new(program: &str, variant: &str) -> Self {
        Self { program: program.to_owned(), variant: variant.to_owned() }
    }

    /// Whether it is this one.
    pub fn is(&self, program: &str, variant: &str) -> bool {
        (self.program.as_str(), self.variant.as_str()) == (program, variant)
    }
}

/// One profile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Profiled {
    /// Of what.
    #[serde(flatten)]
    pub row: Row,
    /// The model that delayed stores. The counts are without.
    pub model: Model,
    /// All kernels together.
    pub total: Counts,
}

/// What `bugaroo profile` says of all kernels together, as far as it is shown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    /// Thread instructions (PTX).
    pub dynamic_instructions: u64,
    /// Executions of fences by threads.
    pub fences: u64,
    /// Fences in the launched kernels.
    pub static_fences: u64,
    /// Executions of shared stores.
    pub shared_stores: u64,
    /// Executions of global stores.
    pub global_stores: u64,
    /// Stores that were delayed.
    pub delayed_stores: u64,
    /// How many stores a buffer held whenever it drained.
    pub flush_lengths: FlushLengths,
    /// Most device memory that the buffers of a launch took, bytes.
    pub buffer_bytes: u64,
}

/// Times of one program's process, milliseconds, taken in turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timed {
    /// Of what.
    #[serde(flatten)]
    pub row: Row,
    /// Without injection.
    pub native_ms: Vec<f64>,
    /// With every store delayed (p_w 1), by model.
    pub instrumented_ms: BTreeMap<String, Vec<f64>>,
}

/// Failures of one program, variant and model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rated {
    /// Of what.
    #[serde(flatten)]
    pub row: Row,
    /// The model.
    pub model: Model,
    /// A cell for each p_w, in the paper's order.
    pub cells: Vec<Cell>,
}

/// Failures at one p_w.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Probability with which a store was delayed.
    pub pw: f64,
    /// Trials.
    pub trials: u64,
    /// Those that failed.
    pub failures: u64,
    /// 95 % Clopper–Pearson interval of the failure probability.
    pub ci95: [f64; 2],
    /// Trials by outcome.
    pub outcomes: BTreeMap<String, u64>,
}

impl Cell {
    /// Share of the trials that failed.
    pub fn rate(&self) -> f64 {
        self.failures as f64 / self.trials.max(1) as f64
    }
}

impl Rated {
    /// Whether any trial failed.
    pub fn fails(&self) -> bool {
        self.cells.iter().any(|cell| cell.failures > 0)
    }
}

/// A model, as options and results name it.
pub fn model_name(model: Model) -> &'static str {
    match model {
        Model::StoreBuffer => "store-buffer",
        Model::Bugaroo => "bugaroo",
        Model::Ptx => "ptx",
    }
}

impl Evaluation {
    /// One with nothing measured.
    pub fn new(settings: Settings) -> Self {
        Self {
            schema: SCHEMA,
            settings,
            processors: std::thread::available_parallelism().map_or(1, usize::from),
            profiles: Vec::new(),
            timings: Vec::new(),
            rates: Vec::new(),
            races: Vec::new(),
            apps: Vec::new(),
        }
    }

    /// Reads what a directory holds; a new one where it holds none.
    ///
    /// # Errors
    /// When the file cannot be read, or is of other settings or another build.
    pub fn open(directory: &Path, settings: Settings) -> anyhow::Result<Self> {
        let path = directory.join(FILE);
        if !path.exists() {
            return Ok(Self::new(settings));
        }
        let at = || path.display().to_string();
        let text = fs::read(&path).with_context(at)?;
        let found: Self = serde_json::from_slice(&text).with_context(at)?;
        if found.schema != SCHEMA {
            bail!("{} is of schema {}; this version reads schema {SCHEMA}", at(), found.schema);
        }
        if found.settings != settings {
            bail!(
                "{} is of an evaluation with other settings, or of another build: {}. Name another --out, or \
                 remove this one",
                at(),
                found.settings.differences(&settings)
            );
        }
        Ok(found)
    }

    /// Writes the file, in one step.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save(&self, directory: &Path) -> anyhow::Result<()> {
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        replace(&directory.join(FILE), &text)
    }

    /// The profile of a row under a model.
    pub fn profile(&self, program: &str, variant: &str, model: Model) -> Option<&Counts> {
        let profile = self.profiles.iter().find(|it| it.row.is(program, variant) && it.model == model)?;
        Some(&profile.total)
    }

    /// A row's counts, which are the same under every model.
    pub fn counts(&self, program: &str, variant: &str) -> Option<&Counts> {
        Some(&self.profiles.iter().find(|it| it.row.is(program, variant))?.total)
    }

    /// The times of a row.
    pub fn timed(&self, program: &str, variant: &str) -> Option<&Timed> {
        self.timings.iter().find(|it| it.row.is(program, variant))
    }

    /// The failures of a row under a model.
    pub fn rated(&self, program: &str, variant: &str, model: Model) -> Option<&Rated> {
        self.rates.iter().find(|it| it.row.is(program, variant) && it.model == model)
    }

    /// What was said about a program of a suite.
    pub fn asked(&self, suite: &str, program: &str) -> Option<&Asked> {
        self.races.iter().find(|it| (it.suite.as_str(), it.program.as_str()) == (suite, program))
    }

    /// What BARRACUDA said about a program of `apps/`.
    pub fn app(&self, program: &str, variant: &str) -> Option<&AppAsked> {
        self.apps.iter().find(|it| (it.program.as_str(), it.variant.as_str()) == (program, variant))
    }

    /// The models that something was measured under, the default first.
    pub fn models(&self) -> Vec<Model> {
        let used = |model: &Model| {
            self.profiles.iter().any(|it| it.model == *model)
                || self.rates.iter().any(|it| it.model == *model)
        };
        [Model::StoreBuffer, Model::Bugaroo, Model::Ptx].into_iter().filter(used).collect()
    }
}

impl Settings {
    fn differences(&self, other: &Self) -> String {
        let mut differences = Vec::new();
        let mut compare = |what: &str, ours: String, theirs: String| {
            if ours != theirs {
                differences.push(format!("{what} {ours} instead of {theirs}"));
            }
        };
        compare("trials", self.trials.to_string(), other.trials.to_string());
        compare("seed", self.seed.to_string(), other.seed.to_string());
        compare("short form", self.short.to_string(), other.short.to_string());
        compare("timings", self.timings.to_string(), other.timings.to_string());
        compare("profiled trials", self.profile_trials.to_string(), other.profile_trials.to_string());
        let files: std::collections::BTreeSet<_> = self.built.keys().chain(other.built.keys()).collect();
        for file in files {
            if self.built.get(file) != other.built.get(file) {
                differences.push(format!("another {file}"));
            }
        }
        differences.join(", ")
    }
}

/// Writes a file beside its place, and moves it there.
///
/// # Errors
/// When it cannot be written.
pub fn replace(path: &Path, content: &[u8]) -> anyhow::Result<()> {
    let new = PathBuf::from(format!("{}.new", path.display()));
    fs::write(&new, content).with_context(|| new.display().to_string())?;
    fs::rename(&new, path).with_context(|| path.display().to_string())
}

#[cfg(test)]
mod tests;
