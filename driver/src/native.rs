//! Memory models that the virtual GPU simulates itself: nothing is injected, the program's own text runs.

use std::cell::OnceCell;
use std::sync::Arc;

use bugaroo_injector::collect_sites::SiteTable;
use bugaroo_protocol::{Model, Orders, Space};
use bugaroo_simulator::model::ptx::{self, Ptx};
use bugaroo_simulator::model::store_buffer::{Settings, Sites, StoreBuffer};
use bugaroo_simulator::{MemoryModel, Program};

use crate::injection::site_flags;

/// What launches have to know of a module.
#[derive(Debug)]
pub struct Native {
    /// For both models: which one it is, a trial's orders say, and trials are forked from one process.
    sites: Arc<Sites>,
    facts: Arc<ptx::Facts>,
    /// Numbered sites.
    count: usize,
    /// The words of the sites, empty where none is set; known from the first launch on, as before it nothing
    /// may depend on the orders (see [`crate::fork_server`]).
    flags: OnceCell<Arc<[u32]>>,
}

impl Native {
    /// For a program that was loaded from the text that the table is of.
    pub fn new(program: &Program, table: &SiteTable) -> Native {
        let sites = Arc::new(Sites::new(program, table));
        let facts = Arc::new(ptx::Facts::new(program, table));
        Native { sites, facts, count: table.sites.len(), flags: OnceCell::new() }
    }

    /// The model of a launch; None where it would change nothing. The kernel is one that the orders name, or not; `pw` is by space.
    pub fn model(
        &self,
        orders: &Orders,
        module: u32,
        (selected, pw): (bool, (f64, f64)),
        ordinal: u64,
    ) -> Option<Box<dyn MemoryModel>> {
        let flags = self.flags.get_or_init(|| {
            let table = site_flags(orders, module, self.count);
            if table.iter().all(|word| *word == 0) { Arc::default() } else { table.into() }
        });
        if orders.model == Some(Model::Ptx) {
            let pr = match (selected, orders.space) {
                (false, _) => [0.0, 0.0],
                (true, Space::Both) => [orders.pr, orders.pr],
                (true, Space::Global) => [orders.pr, 0.0],
                (true, Space::Shared) => [0.0, orders.pr],
            };
            // Without anything to draw, memory is sequentially consistent, whatever fences there are.
            if pw == (0.0, 0.0) && pr == [0.0, 0.0] {
                return None;
            }
            let flags = Arc::clone(flags);
            let settings = ptx::Settings { pw: [pw.0, pw.1], pr, seed: (orders.seed, ordinal), flags, memory: orders.model_memory };
            return Some(Box::new(Ptx::new(&settings, Arc::clone(&self.facts))));
        }
        if pw == (0.0, 0.0) && flags.is_empty() {
            return None;
        }
        let settings = Settings {
            pw: [pw.0, pw.1],
            seed: (orders.seed, ordinal),
            capacity: orders.buffer,
            flags: Arc::clone(flags),
        };
        Some(Box::new(StoreBuffer::new(&settings, Arc::clone(&self.sites))))
    }
}
