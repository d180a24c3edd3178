//! Values that options take.

use clap::ValueEnum;

/// Trials where a time bounds them and no number is given.
pub const MOST_TRIALS: &str = "4611686018427387903";

/// How findings are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    Human,
    /// One JSON object on standard output
    Json,
}

/// Which memory's stores are delayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Space {
    /// Shared and global
    Both,
    /// Shared only
    Shared,
    /// Global only
    Global,
}

impl From<Space> for bugaroo_protocol::DelayedSpace {
    fn from(space: Space) -> Self {
        match space {
            Space::Both => Self::Both,
            Space::Shared => Self::Shared,
            Space::Global => Self::Global,
        }
    }
}

/// Which memory behaviour is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Model {
    /// The paper's algorithm to the letter
    Bugaroo,
    /// Sound store buffers
    StoreBuffer,
    /// The PTX memory model (virtual GPU only)
    Ptx,
}

impl From<Model> for bugaroo_protocol::Model {
    fn from(model: Model) -> Self {
        match model {
            Model::Bugaroo => Self::Bugaroo,
            Model::StoreBuffer => Self::StoreBuffer,
            Model::Ptx => Self::Ptx,
        }
    }
}

/// Which memory behaviour litmus tests are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LitmusModel {
    /// Interleavings of whole instructions
    Sc,
    /// The paper's algorithm to the letter
    Bugaroo,
    /// Sound store buffers
    StoreBuffer,
    /// The PTX memory model
    Ptx,
}

/// Who runs next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Scheduler {
    /// Anyone, at any time
    Random,
    /// Random priorities with few changes (probabilistic concurrency testing)
    Pct,
}

impl From<Scheduler> for bugaroo_protocol::Scheduler {
    fn from(scheduler: Scheduler) -> Self {
        match scheduler {
            Scheduler::Random => Self::Random,
            Scheduler::Pct => Self::Pct,
        }
    }
}

/// What executes the kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Backend {
    /// The virtual GPU: only there a trial can be replayed exactly
    Auto,
    /// The virtual GPU
    Sim,
    /// A real GPU: modules are rewritten on their way to its driver
    Cuda,
}

pub fn probability(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(p) if (0.0..=1.0).contains(&p) => Ok(p),
        Ok(_) => Err("a probability is from 0 to 1".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

pub fn share(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(share) if share > 0.0 && share < 1.0 => Ok(share),
        Ok(_) => Err("a tolerance is between 0 and 1, as 1e-5".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

pub fn one_probability(text: &str) -> Result<f64, String> {
    if text.contains(',') { Err("profile takes one --pw".to_owned()) } else { probability(text) }
}

pub fn pattern(text: &str) -> Result<String, regex::Error> {
    regex::Regex::new(text).map(|_| text.to_owned())
}
