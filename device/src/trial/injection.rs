//! What the orders want done to kernels: instrumentation at the load of a module, and the launch state before each launch.
//!
//! One instrumented module serves every configuration. Probability, seed, spaces, kernels and fence sites are data: a flags table
//! that is written once, before a module's first launch, and the state that each launch reads. Kernels that the orders do not
//! name run the same code with probability 0.
//!
//! Model `store-buffer` needs no instrumentation on the virtual GPU, which simulates the buffers itself
//! ([`crate::trial::native`]) unless the orders ask for the handlers.
//!
//! **Seeds.** Everything random stems from the orders' seed and the launch's ordinal in the process
//! (0 without orders): coins are a hash of both (see `bugaroo_device_handlers::coin`), and the
//! scheduler of a launch starts from [`scheduler_seed`]. So a launch does not depend on how long the
//! ones before it ran.

mod asked;

use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;

use bugaroo_device_handlers::constants::CHUNK;
use bugaroo_device_handlers::{CHUNK_BYTES, LAUNCH_VARIABLE, LaunchState, Layout};
use bugaroo_injector::Instrumented;
use bugaroo_injector::collect_sites::SiteTable;
use bugaroo_protocol as protocol;
use bugaroo_protocol::{DelayedSpace, ForkServer, Message, Model, Orders, Placed, Site, SiteId, Variation};
use bugaroo_simulator::{
    AllocationKind, DeviceConfig, Memory, MemoryModel, PctScheduler, Places, Program, RandomScheduler,
    SchedulerStrategy,
};
use regex::Regex;

use crate::digest::Digest;
use crate::error::{CallResult, Status};
use crate::images::refusal::ImageRefusal;
use crate::seeds::scheduler_seed;
use crate::trial::delays::Delays;
use crate::trial::handler_model::handler_model;
use crate::trial::logging::Logs;
use crate::trial::logging::launched::LoggingKit;
use crate::trial::native::{LoadedText, Native};
use crate::trial::site_flags::{site_flags, write_flags};
use crate::trial::{cache, report};

/// The orders, as far as they concern kernels.
#[derive(Debug)]
pub struct Injection {
    pub(crate) orders: Option<Orders>,
    /// Which kernels have their stores delayed; None: all.
    kernels: Option<Regex>,
    /// Device memory for store buffers, kept from launch to launch.
    buffers: Vec<Buffers>,
    /// Whether the user was told that buffers are smaller than asked for.
    told_of_small_buffers: bool,
}

/// Device memory for the store buffers of one launch at a time.
#[derive(Clone, Copy, Debug)]
struct Buffers {
    address: u64,
    size: u64,
    taken: bool,
}

/// A module's text, ready to be decoded.
#[derive(Debug)]
pub struct Prepared {
    /// The instrumented text, if it is to run.
    instrumented: Option<Instrumented>,
    /// The module that logs, if that is to run.
    logs: Option<Logs>,
}

/// What a launch has to know of an instrumented module.
#[derive(Debug)]
pub struct Injected {
    /// The module's number in sites.
    module: u32,
    form: Form,
}

/// How a module's stores are delayed.
#[derive(Debug)]
enum Form {
    /// By handlers that its text calls.
    Handlers(Box<Handlers>),
    /// By the virtual GPU.
    Native(Native),
    /// Not at all: it logs, for race detectors.
    Logs(Arc<Logs>),
}

/// An instrumented module.
#[derive(Debug)]
struct Handlers {
    instrumented: Instrumented,
    /// Address of the launch state.
    variable: u64,
    /// Address of the site flags table, where one is set; known from the first launch on. Until then nothing
    /// depends on the orders but that there is a model (see [`crate::trial::fork_server`]).
    flags: OnceCell<Option<u64>>,
}

/// What delays a launch's stores: the launch state of handlers, or a memory model.
#[derive(Default)]
pub struct Arms {
    /// The state.
    pub armed: Option<Armed>,
    /// The model.
    pub model: Option<Box<dyn MemoryModel>>,
    /// The program to run, where it is not the one that was loaded.
    pub program: Option<Arc<Program>>,
}

/// A launch that may delay stores.
#[derive(Clone, Copy, Debug)]
pub struct Armed {
    /// Address of the launch state.
    variable: u64,
    /// What the module's variable holds while the launch runs; None: what it held before.
    state: Option<[u8; LaunchState::BYTES]>,
    /// The buffers and where they lie, if the launch has any.
    buffers: Option<(Layout, u64)>,
}

impl Injection {
    /// What these orders want.
    ///
    /// # Errors
    /// When the kernels' regular expression is none.
    pub fn new(orders: Option<Orders>) -> Result<Self, regex::Error> {
        let kernels = orders.as_ref().and_then(|orders| orders.variation.kernel.as_deref());
        let kernels = kernels.map(Regex::new).transpose()?;
        Ok(Injection { orders, kernels, buffers: Vec::new(), told_of_small_buffers: false })
    }

    /// What the orders want of the fork server, once.
    pub fn take_fork_server(&mut self) -> Option<ForkServer> {
        self.orders.as_mut().and_then(|orders| orders.fork_server.take())
    }

    /// Whether the orders have a fork server at the call of the first launch.
    pub fn forks_at_the_call(&self) -> bool {
        let wanted = self.orders.as_ref().and_then(|orders| orders.fork_server.as_ref());
        wanted.is_some_and(|wanted| wanted.sooner)
    }

    /// The trial's seed.
    pub fn seed(&self) -> u64 {
        self.orders.as_ref().map_or(0, |orders| orders.seed)
    }

    /// The schedule of a launch. The baseline's is random.
    pub fn schedule(&self, ordinal: u64) -> Box<dyn SchedulerStrategy> {
        let seed = scheduler_seed(self.seed(), ordinal);
        match self.orders.as_ref().map(|orders| &orders.variation) {
            Some(Variation { scheduler: protocol::Scheduler::Pct, pct_depth, .. }) => {
                Box::new(PctScheduler::new(seed, *pct_depth, None))
            }
            _ => Box::new(RandomScheduler::new(seed)),
        }
    }

    /// Most warp instructions of a launch.
    pub fn step_budget(&self) -> Option<u64> {
        self.orders.as_ref().and_then(|orders| orders.step_budget)
    }

    /// Whether warps run in lockstep.
    pub fn warp_synchronous(&self) -> bool {
        self.orders.as_ref().is_some_and(|orders| orders.warp_synchronous)
    }

    /// Whether modules are reported with their sites.
    pub fn report_sites(&self) -> bool {
        self.orders.as_ref().is_some_and(|orders| orders.report_sites)
    }

    /// Whether it is reported what allocations hold at their end.
    pub fn ends(&self) -> bool {
        self.orders.as_ref().is_some_and(|orders| orders.ends)
    }

    /// Whether launches are reported with a digest of memory.
    pub fn digest(&self) -> bool {
        self.orders.as_ref().is_some_and(|orders| orders.digest)
    }

    /// The model that the virtual GPU simulates itself, if it does: modules run as they stand then.
    fn native_model(&self) -> Option<Model> {
        let orders = self.orders.as_ref()?;
        orders.model().filter(|model| match model {
            Model::StoreBuffer => !orders.variation.handlers,
            Model::Ptx => true,
            Model::Bugaroo => false,
        })
    }

    /// What the insertions that the orders ask about become in a module; None where they ask about none.
    pub fn placed(&self, program: &Program, table: Option<&SiteTable>) -> Option<Vec<Placed>> {
        let orders = self.orders.as_ref().filter(|orders| !orders.check_insert.is_empty())?;
        let places = Places::new(program, table?);
        let placed = orders.check_insert.iter().map(|insertion| {
            let placement = places.place(insertion);
            let count = u32::try_from(placement.places()).unwrap_or(u32::MAX);
            Placed { places: count, sites: placement.sites, refused: placement.refused }
        });
        Some(placed.collect())
    }

    /// Whether detectors are fed by device code.
    pub fn device_looks(&self) -> bool {
        self.orders.as_ref().is_some_and(|orders| orders.variation.handlers) && !self.race().is_empty()
    }

    /// Instruments a module, if the orders have a model that needs it, or has it log, if detectors are fed with that. The device has
    /// so many bytes of memory. From the cache, if it is there.
    ///
    /// # Errors
    /// When the text is not PTX, or cannot be instrumented.
    pub fn prepare(
        &self,
        source: &str,
        digest: Digest,
        (config, memory): (&DeviceConfig, u64),
    ) -> Result<Prepared, ImageRefusal> {
        if self.device_looks() {
            let kit = LoggingKit::of(self.race());
            return Ok(Prepared { instrumented: None, logs: Some(Logs::new(source, config, memory, kit)?) });
        }
        let wanted =
            self.orders.as_ref().filter(|orders| orders.model().is_some() && self.native_model().is_none());
        let Some(orders) = wanted else {
            return Ok(Prepared { instrumented: None, logs: None });
        };
        let instrumented = cache::instrument(orders.cache.as_deref(), source, digest)?;
        Ok(Prepared { instrumented: Some(instrumented), logs: None })
    }

    /// What launches have to know of a loaded module, if its stores are to be delayed; `loaded` is of a text that runs as it stands,
    /// where that was wanted.
    pub fn install(
        &self,
        prepared: Prepared,
        loaded: Option<Rc<LoadedText>>,
        module: u32,
        program: &Arc<Program>,
    ) -> Option<Injected> {
        if let Some(logs) = prepared.logs {
            return Some(Injected { module, form: Form::Logs(Arc::new(logs)) });
        }
        let form = match (prepared.instrumented, loaded) {
            (Some(instrumented), _) => {
                // The injector leaves a module without any site alone.
                let (variable, _) = program.variable(LAUNCH_VARIABLE)?;
                Form::Handlers(Box::new(Handlers { instrumented, variable, flags: OnceCell::new() }))
            }
            (None, Some(loaded)) => Form::Native(Native::new(loaded)),
            (None, None) => return None,
        };
        Some(Injected { module, form })
    }

    /// Whether asynchronous copies of a kernel may complete late: where stores to shared memory, which they
    /// go to for the most part, are delayed. The paper's model knows no such copies.
    pub fn late_copies(&self, kernel: &str) -> bool {
        let selected = self.kernels.as_ref().is_none_or(|kernels| kernels.is_match(kernel));
        self.orders.as_ref().is_some_and(|orders| {
            let delays = orders.variation.pw > 0.0 && orders.variation.space != DelayedSpace::Global;
            selected && delays && matches!(orders.model(), Some(Model::StoreBuffer | Model::Ptx))
        })
    }

    /// Prepares the state of a launch, with buffers for its threads, or its model.
    ///
    /// # Errors
    /// `OutOfMemory` when not even the smallest buffers fit; `NotSupported`, which is told, when something is to be inserted for
    /// which the program has no place.
    pub fn arm(
        &mut self,
        injected: &Injected,
        kernel: &str,
        (ctas, cta_threads): (u64, u64),
        ordinal: u64,
        memory: &mut Memory,
    ) -> CallResult<Arms> {
        let Some((orders, model)) = self.orders.as_ref().and_then(|orders| Some((orders, orders.model()?)))
        else {
            return Ok(Arms::default());
        };
        let selected = self.kernels.as_ref().is_none_or(|kernels| kernels.is_match(kernel));
        let variation = &orders.variation;
        let pw = if selected { variation.pw } else { 0.0 };
        let probabilities = variation.space.each(pw);
        let handlers = match &injected.form {
            Form::Handlers(handlers) => handlers,
            Form::Logs(_) => return Ok(Arms::default()),
            Form::Native(native) => {
                let chosen = native.model(orders, injected.module, (selected, probabilities), ordinal);
                let (program, model) = chosen.map_err(|what| {
                    eprintln!("bugaroo: {what}");
                    report::say(&Message::Unsupported { what });
                    Status::NotSupported
                })?;
                return Ok(Arms { armed: None, model, program: Some(program) });
            }
        };
        let flags = match handlers.flags.get() {
            Some(flags) => *flags,
            None => {
                let sites = handlers.instrumented.sites.len();
                let flags = write_flags(&site_flags(orders, injected.module, sites), memory)?;
                *handlers.flags.get_or_init(|| flags)
            }
        };
        let idle = probabilities == (0.0, 0.0) && flags.is_none();
        let (model, seed) = (handler_model(model), orders.seed);
        // Half of what is left: the program may go on allocating.
        let present = self.free().map_or(0, |at| self.buffers[at].size);
        let budget = ((memory.available() + present) / 2).max(present);
        let layout =
            Layout::new((ctas, cta_threads), handlers.instrumented.store_sites, variation.buffer, budget);
        let base = if idle { 0 } else { self.buffers_for(&layout, budget, memory)? };
        let state = LaunchState::new(model, probabilities, (seed, ordinal), &layout, base, flags);
        let state = Some(state.to_bytes());
        let buffers = (!idle).then_some((layout, base));
        let armed = Armed { variable: handlers.variable, state, buffers };
        Ok(Arms { armed: Some(armed), model: None, program: None })
    }

    /// Buffers for a launch, zero where they have to be.
    fn buffers_for(&mut self, layout: &Layout, budget: u64, memory: &mut Memory) -> CallResult<u64> {
        let ample = Layout::ample(layout.threads, layout.capacity);
        if layout.pool_chunks < ample && !self.told_of_small_buffers {
            self.told_of_small_buffers = true;
            eprintln!(
                "bugaroo: {} threads: room for {} delayed stores instead of {} (device memory)",
                layout.threads,
                u64::from(layout.pool_chunks) * u64::from(CHUNK),
                u64::from(ample) * u64::from(CHUNK),
            );
        }
        if layout.total_bytes > budget {
            return Err(Status::OutOfMemory);
        }
        if let Some(at) = self.free() {
            let Buffers { address, size, .. } = self.buffers[at];
            if layout.total_bytes <= size {
                memory.fill(address, layout.zeroed_bytes, &[0]).map_err(|_| Status::Unknown)?;
                self.buffers[at].taken = true;
                return Ok(address);
            }
            self.buffers.remove(at);
            memory.free(address).map_err(|_| Status::Unknown)?;
        }
        let address = memory
            .alloc(layout.total_bytes, Layout::ALIGN, AllocationKind::Tool)
            .map_err(|_| Status::OutOfMemory)?;
        // Chunks are taken in order, and a thread that delays stores mostly needs one.
        let used = u64::from(layout.pool_chunks).min(layout.threads) * CHUNK_BYTES;
        memory.expect_dense(address + layout.pool, used);
        self.buffers.push(Buffers { address, size: layout.total_bytes, taken: true });
        Ok(address)
    }

    /// The largest buffers that no launch in progress has, if there are any.
    fn free(&self) -> Option<usize> {
        let free = self.buffers.iter().enumerate().filter(|(_, buffers)| !buffers.taken);
        free.max_by_key(|(_, buffers)| buffers.size).map(|(at, _)| at)
    }

    /// Takes a launch's state back, and its buffers; tells what these did.
    pub fn disarm(&mut self, armed: Armed, memory: &mut Memory) -> Delays {
        if let Some((_, base)) = armed.buffers
            && let Some(buffers) = self.buffers.iter_mut().find(|buffers| buffers.address == base)
        {
            buffers.taken = false;
        }
        armed.disarm(memory)
    }
}

impl Armed {
    /// Puts the launch's state where its module finds it. There is one place for all launches of a module.
    pub fn enter(&self, memory: &mut Memory) {
        if let Some(state) = &self.state {
            // The variable lives as long as its module.
            let _ = memory.write(self.variable, state);
        }
    }

    /// Takes the state away, so that memory holds nothing of the tester's while others run.
    pub fn leave(&self, memory: &mut Memory) {
        // As above.
        let _ = memory.write(self.variable, &LaunchState::off().to_bytes());
    }

    /// Takes the state away for good; tells what the buffers did.
    fn disarm(self, memory: &mut Memory) -> Delays {
        self.leave(memory);
        let Some((layout, base)) = self.buffers else { return Delays::default() };
        Delays::read(&layout, |offset, bytes| {
            // The buffers were allocated for this launch and are still there.
            let _ = memory.read(base + offset, bytes);
        })
    }
}

impl Prepared {
    /// The text to run.
    pub fn text<'a>(&'a self, source: &'a str) -> &'a str {
        let logs = self.logs.as_ref().and_then(Logs::text);
        self.instrumented.as_ref().map(|instrumented| instrumented.ptx.as_str()).or(logs).unwrap_or(source)
    }

    /// The line of the program's own text that a line of [`Self::text`] stems from.
    pub fn original_line(&self, line: u32) -> Option<u32> {
        match (&self.instrumented, &self.logs) {
            (Some(instrumented), _) => instrumented.lines.original(line),
            (None, Some(logs)) => logs.original_line(line),
            (None, None) => Some(line),
        }
    }

    /// Whether the program's own text is to run.
    pub fn is_plain(&self) -> bool {
        self.instrumented.is_none() && self.logs.as_ref().and_then(Logs::text).is_none()
    }

    /// The module that logs, if that is to run.
    pub fn logs(&self) -> Option<&Logs> {
        self.logs.as_ref()
    }

    /// The sites, named for the module of this number, given the table of the text where it runs as it stands.
    pub fn sites(&self, table: Option<&SiteTable>, module: u32) -> Vec<Site> {
        let instrumented = self.instrumented.as_ref().map(|instrumented| &instrumented.sites);
        let sites = instrumented.or(table.map(|table| &table.sites));
        sites
            .into_iter()
            .flatten()
            .map(|site| Site { id: SiteId { module, ..site.id }, ..site.clone() })
            .collect()
    }
}

impl Injected {
    /// Gives the module's own device memory back, at its unloading.
    pub fn remove(&self, memory: &mut Memory) {
        if let Form::Handlers(handlers) = &self.form
            && let Some(flags) = handlers.flags.get().copied().flatten()
        {
            // It was allocated in `write_flags` and nowhere freed.
            let _ = memory.free(flags);
        }
    }

    /// The program that its launches run, where it is not the one that was loaded.
    pub fn program(&self) -> Option<&Arc<Program>> {
        match &self.form {
            Form::Handlers(_) | Form::Logs(_) => None,
            Form::Native(native) => Some(native.program()),
        }
    }

    /// What it has for logging, if it logs.
    pub fn logs(&self) -> Option<&Arc<Logs>> {
        let Form::Logs(logs) = &self.form else { return None };
        Some(logs)
    }

    /// The module's number, and that of the site at an instruction of the running program, or of the one that was made to log, if
    /// it is one.
    pub fn site(&self, pc: u32) -> Option<(u32, u32)> {
        let site = match &self.form {
            Form::Native(native) => native.site(pc),
            Form::Logs(logs) => logs.site(pc),
            Form::Handlers(_) => None,
        };
        Some((self.module, site?))
    }

    /// The line of the program's own text that a line of the running one stems from.
    pub fn original_line(&self, line: u32) -> Option<u32> {
        match &self.form {
            Form::Handlers(handlers) => handlers.instrumented.lines.original(line),
            Form::Native(_) => Some(line),
            Form::Logs(logs) => logs.original_line(line),
        }
    }
}
