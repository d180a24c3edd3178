//! What a trial is run under: memory model, memory, scheduler, and what executes its kernels.

use serde::{Deserialize, Serialize};

/// Which memory behaviour the injector shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Model {
    /// The paper's Algorithm 1 to the letter, quirks included.
    Bugaroo,
    /// Sound store buffers.
    StoreBuffer,
    /// The operational machine for the PTX memory model (simulator only).
    Ptx,
}

/// Which space's stores are delayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DelayedSpace {
    /// Shared and global.
    Both,
    /// Only shared memory.
    Shared,
    /// Only global memory.
    Global,
}

impl DelayedSpace {
    /// A probability for global and for shared memory: this one where stores are delayed, and 0 elsewhere.
    pub fn each(self, probability: f64) -> (f64, f64) {
        match self {
            DelayedSpace::Both => (probability, probability),
            DelayedSpace::Global => (probability, 0.0),
            DelayedSpace::Shared => (0.0, probability),
        }
    }
}

/// Who runs next on the virtual GPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scheduler {
    /// Any runnable warp, at any time.
    #[default]
    Random,
    /// Random priorities with few changes (probabilistic concurrency testing).
    Pct,
}

impl Scheduler {
    /// Whether it is the default.
    pub fn is_random(&self) -> bool {
        *self == Self::Random
    }
}

/// What executes the kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Backend {
    /// The virtual GPU.
    Sim,
    /// A real GPU.
    Cuda,
}
