//! A launch in progress: several of them can take turns on one memory, each with a schedule of its own.
//!
//! Who gets how many turns is the caller's choice. A grid that has all turns to itself does what
//! [`crate::launch`] does, turn by turn. All grids in progress have their resident blocks, as if the device
//! had room for all of them at once: an order of events that hardware with enough room can show.

use std::sync::Arc;

use bugaroo_semantics::event::Shape;

use crate::config::DeviceConfig;
use crate::exec::{DeviceWork, LaunchWatch, Machine, Others};
use crate::launch::{Counts, End, LaunchError, LaunchSpec, plan};
use crate::load::Program;
use crate::memory::Memory;
use crate::model::MemoryModel;
use crate::schedule::SchedulerStrategy;

/// A launch in progress.
pub struct Grid {
    // First, so that it is dropped before what it borrows.
    machine: Machine<'static>,
    scheduler: Box<dyn SchedulerStrategy>,
    held: Held,
}

/// What the machine borrows, at addresses that do not change.
#[allow(dead_code, reason = "held for the machine, which reads it")]
struct Held {
    program: Arc<Program>,
    config: Box<DeviceConfig>,
    kernel: Box<str>,
    params: Box<[u8]>,
}

impl std::fmt::Debug for Grid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Grid").field("kernel", &self.held.kernel).field("counts", &self.counts()).finish()
    }
}

impl Grid {
    /// Checks a launch and lays its state out. A cooperative launch names its workspace: eight bytes of device
    /// memory, zero, which its kernel finds by `%envreg1` and `%envreg2`.
    ///
    /// # Errors
    /// [`LaunchError`] when the launch is not legal.
    pub fn new(
        program: Arc<Program>,
        config: &DeviceConfig,
        spec: &LaunchSpec<'_>,
        workspace: Option<u64>,
        scheduler: Box<dyn SchedulerStrategy>,
    ) -> Result<Grid, LaunchError> {
        Grid::with_model(program, config, spec, workspace, scheduler, None, None)
    }

    /// As [`Grid::new`], under a memory model, and with somebody looking on.
    ///
    /// # Errors
    /// As [`Grid::new`].
    pub fn with_model(
        program: Arc<Program>,
        config: &DeviceConfig,
        spec: &LaunchSpec<'_>,
        workspace: Option<u64>,
        mut scheduler: Box<dyn SchedulerStrategy>,
        model: Option<Box<dyn MemoryModel>>,
        watch: Option<LaunchWatch>,
    ) -> Result<Grid, LaunchError> {
        let held = Held {
            program,
            config: Box::new(config.clone()),
            kernel: spec.kernel.into(),
            params: spec.params.into(),
        };
        // SAFETY: these live on the heap at addresses that moving `held` does not change; nobody gets a mutable
        // reference to them; and `held` goes with the grid, after the machine.
        let (program, config, kernel, params) = unsafe {
            (
                &*Arc::as_ptr(&held.program),
                &*std::ptr::from_ref::<DeviceConfig>(&held.config),
                &*std::ptr::from_ref::<str>(&held.kernel),
                &*std::ptr::from_ref::<[u8]>(&held.params),
            )
        };
        let spec = LaunchSpec { kernel, params, ..*spec };
        let plan = plan(program, config, &spec, workspace)?;
        let mut machine = Machine::new(program, config, plan, model, watch)?;
        machine.set_others(Others::MayWrite);
        machine.begin(&mut *scheduler);
        Ok(Grid { machine, scheduler, held })
    }

    /// Says who else may write the memory that it uses from now on; at first, everybody may. Only where nobody does a
    /// launch that goes round for ever is told as a deadlock.
    pub fn set_others(&mut self, others: Others) {
        self.machine.set_others(others);
    }

    /// Whether it would be a deadlock if really nobody else writes: see [`Others::Suspected`]. It does not go on before
    /// [`Self::set_others`] has said more.
    pub fn suspects(&self) -> bool {
        self.machine.suspects()
    }

    /// Runs for so many of the scheduler's turns; answers how the launch ended, once it has. It must then not
    /// be advanced any more.
    pub fn advance(&mut self, memory: &mut Memory, turns: u64) -> Option<End> {
        self.machine.advance(memory, &mut *self.scheduler, turns)
    }

    /// Another grid of its device goes on next: what its threads hold back from beyond
    /// the device only becomes visible to all. See [`crate::model::held_from_beyond`].
    pub fn settle(&mut self, memory: &mut Memory) {
        self.machine.settle(memory);
    }

    /// Other grids or transfers have run since its last turn, and may have handed on what its threads have told them.
    pub fn others_ran(&mut self) {
        self.machine.others_ran();
    }

    /// Says whether others run at the same time as it from now on, who may hand on what its threads have told them.
    pub fn others_run(&mut self, run: bool) {
        self.machine.others_run(run);
    }

    /// What its device code has asked the device-side runtime for, in order: to be done when the grid has ended, and
    /// before what comes after it.
    pub fn take_asked(&mut self) -> Vec<DeviceWork> {
        self.machine.take_asked()
    }

    /// Its size, as an observer is told it.
    pub fn shape(&self) -> Shape {
        self.machine.shape()
    }

    /// Its memory model, if it has one.
    pub fn model(&self) -> Option<&dyn MemoryModel> {
        self.machine.model()
    }

    /// How much it has executed so far.
    pub fn counts(&self) -> Counts {
        self.machine.counts()
    }
}
