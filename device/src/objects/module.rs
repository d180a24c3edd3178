//! Loaded modules.

use std::rc::Rc;
use std::sync::Arc;

use bugaroo_cuda_abi::{CUcontext, CUfunction};
use bugaroo_simulator::Program;

use crate::trial::injection::Injected;
use crate::trial::recorded::ModuleSource;

/// A loaded module.
#[derive(Debug)]
pub struct LoadedModule {
    /// Whose it is; None for a library's.
    pub context: Option<CUcontext>,
    /// The code.
    pub program: Arc<Program>,
    /// What the injector did, if it did anything.
    pub injected: Option<Rc<Injected>>,
    /// What its launches are recorded with, where they are.
    pub recorded: Option<ModuleSource>,
    /// Handles of its kernels, in the order of the text.
    pub functions: Vec<CUfunction>,
}

impl LoadedModule {
    /// The code that launches run: with the fences that the orders want.
    pub fn running(&self) -> &Program {
        self.injected.as_deref().and_then(Injected::program).unwrap_or(&self.program)
    }

    /// The code that race detectors are told of: what runs, or what it was before it was made to log.
    pub fn looked_at(&self) -> &Program {
        self.injected.as_deref().and_then(Injected::logs).map_or(self.running(), |logs| logs.original())
    }
}
