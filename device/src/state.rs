//! The virtual GPU as a whole: its memory, and every object that the program made.

use bugaroo_cuda_abi::{CUcontext, CUfunction};
use bugaroo_simulator::{DeviceConfig, Memory, Rng};

use crate::devices;
use crate::error::{CallResult, Status};
use crate::objects::context::Context;
use crate::objects::function::LoadedKernel;
use crate::objects::module::LoadedModule;
use crate::objects::parts::{Code, Held, Ordered, Owners, Running};
use crate::objects::queue::Queue;
use crate::seeds::mix;
use crate::trial::injection::Injection;
use crate::trial::race::ProcessRaces;
use crate::trial::report::ReportPipe;
use crate::trial::state::Trial;

/// Memory of the virtual GPU, in bytes. Host memory is only used for what the program touches.
pub const DEVICE_MEMORY: u64 = 16 << 30;
/// What is left of it where the host refuses that much address space.
const LESS_MEMORY: [u64; 3] = [4 << 30, 1 << 30, 1 << 28];

/// What makes the seed of the queue's picks of the trial's, apart from those of launches.
const PICKS: u64 = 0x0071_7565_7565;

/// The virtual GPU; see the modules of the parts.
#[derive(Debug)]
pub struct Gpu {
    /// The virtual GPU's shape.
    pub config: DeviceConfig,
    /// Its memory, shared by all contexts.
    pub memory: Memory,
    /// What the trial wants, and what it is told.
    pub trial: Trial,
    /// What runs, and in which order.
    pub running: Running,
    /// What owns the rest, and who is told of it.
    pub owners: Owners,
    /// What was loaded.
    pub code: Code,
    /// What puts work in order.
    pub ordered: Ordered,
    /// What the program holds of memory, and how it is to be seen.
    pub held: Held,
}

/// What the picks of the queue stem from.
fn picks_seed(injection: &Injection) -> u64 {
    mix(injection.seed(), PICKS)
}

// SAFETY: the raw pointers inside are handles, numbers in truth, which are never followed; but the logs of a
// link, which are written under the lock and belong to no thread.
unsafe impl Send for Gpu {}

impl Gpu {
    /// A fresh one.
    ///
    /// # Errors
    /// `OutOfMemory` when the host refuses the address space.
    pub fn new(injection: Injection, report: ReportPipe) -> CallResult<Box<Self>> {
        devices::set_count(injection.devices());
        let owners = Owners::new(devices::count());
        let memory = Memory::new(DEVICE_MEMORY).or_else(|error| {
            eprintln!("bugaroo: {error}");
            let smaller = LESS_MEMORY.iter().find_map(|bytes| Memory::new(*bytes).ok());
            smaller.ok_or(Status::OutOfMemory)
        })?;
        let mut queue = Queue::new(picks_seed(&injection));
        let trial = Trial::new(injection, report);
        queue.order = trial.race.as_ref().map(ProcessRaces::order);
        let mut gpu = Box::new(Gpu {
            config: DeviceConfig::default(),
            memory,
            trial,
            running: Running::new(queue),
            owners,
            code: Code::default(),
            ordered: Ordered::default(),
            held: Held::default(),
        });
        gpu.tell_peers();
        for pool in gpu.held.pools.all.find(|pool| !pool.managed) {
            gpu.tell_pool(pool);
        }
        Ok(gpu)
    }

    /// Takes other orders, before anything that depends on what they say of a launch.
    pub fn take_orders(&mut self, injection: Injection) {
        let same = injection.race() == self.trial.injection.race()
            && injection.race_settings() == self.trial.injection.race_settings();
        if !same {
            // What they should have seen is past.
            let _ = self
                .trial.report
                .unsupported("a trial has other race detectors, or other settings of them, than the process that it was forked from");
        }
        self.running.queue.rng = Rng::new(picks_seed(&injection));
        self.trial.injection = injection;
    }

    /// A live context.
    ///
    /// # Errors
    /// `InvalidContext` when there is none of that handle, or it was destroyed.
    pub fn context(&self, context: CUcontext) -> CallResult<&Context> {
        let found = self.owners.contexts.get(context).map_err(|_| Status::InvalidContext)?;
        if self.owners.primaries.iter().any(|primary| primary.handle == context && !primary.active()) {
            return Err(Status::InvalidContext);
        }
        Ok(found)
    }

    /// A live context, to change it.
    ///
    /// # Errors
    /// As [`Self::context`].
    pub fn context_mut(&mut self, context: CUcontext) -> CallResult<&mut Context> {
        self.context(context)?;
        self.owners.contexts.get_mut(context)
    }

    /// Reports the context's fault, now and from now on, if it has one.
    ///
    /// # Errors
    /// The fault.
    pub fn surface(&mut self, context: CUcontext) -> CallResult {
        match &mut self.context_mut(context)?.fault {
            None => Ok(()),
            Some(fault) => {
                fault.reported = true;
                Err(fault.status)
            }
        }
    }

    /// Whether the context's work is dropped because of a fault before.
    pub fn is_broken(&self, context: CUcontext) -> bool {
        self.context(context).is_ok_and(|context| context.fault.is_some())
    }

    /// Whether an address lies in memory that the host and the device both see.
    pub fn is_host_visible(&self, address: u64) -> bool {
        self.host_block(address as usize).is_some() || self.memory.covers_host_visible(address)
    }

    /// Whether the program has memory that device and host share, so that the host may watch what kernels do.
    pub fn shares_memory(&self) -> bool {
        !self.held.host_blocks.is_empty() || self.memory.has_host_visible()
    }

    /// A function with the module that it belongs to.
    ///
    /// # Errors
    /// `InvalidHandle`.
    pub fn function(&self, function: CUfunction) -> CallResult<(&LoadedKernel, &LoadedModule)> {
        let function = self.code.functions.get(function)?;
        Ok((function, self.code.modules.get(function.module)?))
    }
}
