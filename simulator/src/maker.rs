//! What makes the memory models of a program's launches.

use std::sync::Arc;

use bugaroo_injector::collect_sites::SiteTable;

use crate::model::ptx::{Facts, PtxModel, PtxSettings};
use crate::model::store_buffer::{Sites, StoreBuffer, StoreBufferSettings};
use crate::{MemoryModel, Program};

/// A kind of model, with what it has to know of a program.
#[derive(Clone, Debug)]
pub enum ModelMaker {
    /// Store buffers.
    StoreBuffer(Arc<Sites>),
    /// All of the PTX memory model.
    Ptx(Arc<Facts>),
}

/// What a launch is to show.
#[derive(Clone, Copy, Debug)]
pub struct ModelSettings {
    /// Probability with which stores to global and to shared memory are delayed.
    pub pw: [f64; 2],
    /// Probability with which loads from them read older values than they have to; of the PTX memory model alone.
    pub pr: [f64; 2],
    /// The trial's seed, and the launch's number.
    pub seed: (u64, u64),
    /// Entries of each store buffer, 1 to 65,535; of store buffers alone.
    pub capacity: u32,
    /// Bytes that may be kept of what was written, about; of the PTX memory model alone.
    pub memory: u64,
    /// Some instructions are delayed each time, and others never, by the seed.
    pub swarm: bool,
}

impl ModelMaker {
    /// Store buffers, for a program and the sites of the text that it was loaded from.
    pub fn store_buffer(program: &Program, table: &SiteTable) -> Self {
        ModelMaker::StoreBuffer(Arc::new(Sites::new(program, table)))
    }

    /// All of the PTX memory model, for a program.
    pub fn ptx(program: &Program) -> Self {
        ModelMaker::Ptx(Arc::new(Facts::new(program)))
    }

    /// The model of one launch.
    pub fn make(&self, settings: &ModelSettings) -> Box<dyn MemoryModel> {
        let ModelSettings { pw, pr, seed, capacity, memory, swarm } = *settings;
        match self {
            ModelMaker::StoreBuffer(sites) => {
                let settings = StoreBufferSettings { pw, seed, capacity };
                let model = StoreBuffer::new(&settings, Arc::clone(sites));
                Box::new(if swarm { model.by_swarm() } else { model })
            }
            ModelMaker::Ptx(facts) => {
                let model = PtxModel::new(&PtxSettings { pw, pr, seed, memory }, Arc::clone(facts));
                Box::new(if swarm { model.by_swarm() } else { model })
            }
        }
    }
}
