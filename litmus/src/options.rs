//! How tests are run.

use crate::model::TestModel;
use crate::schedule::Strategy;

/// How tests are run.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Which memory behaviour is shown.
    pub model: TestModel,
    /// Trials of each test.
    pub trials: u64,
    /// Probabilities with which a store is delayed, for a launch each in turn; at least one.
    pub pw: Vec<f64>,
    /// Probability with which a load reads an older value than it has to, under model `ptx`.
    pub pr: f64,
    /// Who runs next.
    pub strategy: Strategy,
    /// What all that is random stems from.
    pub seed: u64,
    /// Trials at the same time, at least 1.
    pub jobs: usize,
    /// All locations lie in shared memory: for tests of one CTA only.
    pub shared: bool,
    /// Between their instructions threads load memory that nobody writes.
    pub untouched: bool,
    /// The models `store-buffer` and `ptx` delay an instruction each time or never, drawn for each launch.
    pub swarm: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            model: TestModel::StoreBuffer,
            trials: 1000,
            pw: vec![0.5, 1.0],
            pr: 0.5,
            strategy: Strategy::Random,
            seed: 0,
            jobs: std::thread::available_parallelism().map_or(1, usize::from),
            shared: false,
            untouched: false,
            swarm: false,
        }
    }
}
