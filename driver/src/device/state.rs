//! What the driver knows: the device's memory, and every object that the program made.

use std::collections::{BTreeMap, BTreeSet};

use bugaroo_cuda_abi::{CUcontext, CUdeviceptr, CUfunction};
use bugaroo_simulator::{DeviceConfig, Memory, Others, Rng};

use crate::device::objects::advice::Advices;
use crate::device::objects::array::Array;
use crate::device::objects::clock::Clock;
use crate::device::objects::context::Context;
use crate::device::objects::event::Event;
use crate::device::objects::function::Function;
use crate::device::objects::graph::Graphs;
use crate::device::objects::green::Greens;
use crate::device::objects::library::Library;
use crate::device::objects::memory::{Allocation, HostBlock};
use crate::device::objects::module::Module;
use crate::device::objects::notices::Listeners;
use crate::device::objects::pool::Pools;
use crate::device::objects::primary::Primary;
use crate::device::objects::queue::Queue;
use crate::device::objects::stream::Stream;
use crate::device::objects::virtual_memory::Chunks;
use crate::error::{Outcome, Status};
use crate::handles::{Handles, Kind};
use crate::images::link::Link;
use crate::images::numbers::ModuleNumbers;
use crate::lane::Ticket;
use crate::seeds::mix;
use crate::trial::injection::Injection;
use crate::trial::origins::Origins;
use crate::trial::progress::Pulse;
use crate::trial::race::Race;
use crate::trial::recorded::Recorder;
use crate::trial::report::Report;

/// Memory of the virtual GPU, in bytes. Host memory is only used for what the program touches.
pub const DEVICE_MEMORY: u64 = 16 << 30;
/// What is left of it where the host refuses that much address space.
const LESS_MEMORY: [u64; 3] = [4 << 30, 1 << 30, 1 << 28];

/// What makes the seed of the queue's picks of the trial's, apart from those of launches.
const PICKS: u64 = 0x0071_7565_7565;

/// Everything; see the modules of the parts.
#[derive(Debug)]
pub struct Driver {
    /// The virtual GPU's shape.
    pub config: DeviceConfig,
    /// Its memory, shared by all contexts.
    pub memory: Memory,
    /// What the orders want done to kernels.
    pub injection: Injection,
    /// The pipe to the harness.
    pub report: Report,
    /// What looks for races, where the orders want that.
    pub race: Option<Race>,
    /// What records launches, where the orders want that.
    pub recorder: Option<Recorder>,
    /// Device time.
    pub clock: Clock,
    /// Work that was submitted and is not done.
    pub queue: Queue,
    /// Work that the submitting call waits for, and what it has to tell, once that is known.
    pub awaited: BTreeMap<Ticket, Option<Status>>,
    /// Contexts and threads whose default stream has been used.
    pub default_threads: BTreeSet<(usize, u64)>,
    /// Who else may write memory while the kernel that goes on next runs.
    pub others: Others,
    /// Turns that a kernel gets when it is alone: few where the call may come back before it has ended.
    pub limited: bool,
    /// A kernel goes round for ever, if nobody else writes memory.
    pub suspects: bool,
    /// How often the program has asked in vain whether work is done.
    pub asked: u32,
    /// The kernel whose launch state is in its module's variable.
    pub entered: Option<Ticket>,
    /// Workspaces of cooperative launches that nobody uses.
    pub workspaces: Vec<CUdeviceptr>,
    /// Whether device work goes on.
    pub pulse: Pulse,
    /// Launches so far, over the whole process.
    pub launches: u64,
    /// Digest of device memory, chained over launches.
    pub digest: u64,
    /// What allocations held at their end, where the orders want that.
    pub ends: crate::trial::ends::Ends,
    /// The device's primary context.
    pub primary: Primary,
    /// Contexts, the primary one among them.
    pub contexts: Handles<Context>,
    /// Loaded modules.
    pub modules: Handles<Module>,
    /// Numbers of distinct modules.
    pub module_numbers: ModuleNumbers,
    /// Libraries (modules of no context).
    pub libraries: Handles<Library>,
    /// Kernels of the loaded modules.
    pub functions: Handles<Function>,
    /// Streams that the program made.
    pub streams: Handles<Stream>,
    /// Events that the program made.
    pub events: Handles<Event>,
    /// Attributes of streams.
    pub stream_attributes: crate::device::objects::stream_attributes::Attributes,
    /// What was set for launches of the old kind, by function.
    pub legacy_launches: BTreeMap<usize, crate::device::objects::legacy_launch::Settings>,
    /// Who wants to be told of what happens.
    pub listeners: Listeners,
    /// Green contexts.
    pub green: Greens,
    /// Graphs, and captures of them.
    pub graphs: Graphs,
    /// Memory pools.
    pub pools: Pools,
    /// Links in progress.
    pub links: Handles<Link>,
    /// Device memory of the program by its first address.
    pub allocations: BTreeMap<CUdeviceptr, Allocation>,
    /// Who asked for it.
    pub origins: Origins,
    /// Host memory of the program by its first address.
    pub host_blocks: BTreeMap<usize, HostBlock>,
    /// Arrays.
    pub arrays: Handles<Array>,
    /// Mipmapped arrays.
    pub mipmapped: Handles<crate::device::objects::mipmap::Mipmapped>,
    /// Textures and surfaces.
    pub textures: crate::device::objects::texture::Objects,
    /// Chunks of memory that are mapped to reserved addresses.
    pub chunks: Chunks,
    /// What the program said about the use of managed memory.
    pub advice: Advices,
}

/// What the picks of the queue stem from.
fn picks_seed(injection: &Injection) -> u64 {
    mix(injection.seed(), PICKS)
}

// SAFETY: the raw pointers inside are handles, numbers in truth, which are never followed; but the logs of a
// link, which are written under the lock and belong to no thread.
unsafe impl Send for Driver {}

impl Driver {
    /// A driver on a fresh virtual GPU.
    ///
    /// # Errors
    /// `OutOfMemory` when the host refuses the address space.
    pub fn new(injection: Injection, report: Report) -> Outcome<Box<Self>> {
        let mut contexts = Handles::new(Kind::Context);
        let primary = Primary::new(&mut contexts);
        let memory = Memory::new(DEVICE_MEMORY).or_else(|error| {
            eprintln!("bugaroo: {error}");
            let smaller = LESS_MEMORY.iter().find_map(|bytes| Memory::new(*bytes).ok());
            smaller.ok_or(Status::OutOfMemory)
        })?;
        let mut queue = Queue::new(picks_seed(&injection));
        let race = Race::new(injection.race(), &injection.race_settings(), injection.device_looks());
        queue.order = race.as_ref().map(Race::order);
        let recorded = injection.orders.as_ref().is_some_and(|orders| orders.launches);
        let recorder = recorded.then(Recorder::default);
        Ok(Box::new(Driver {
            config: DeviceConfig::default(),
            memory,
            race,
            recorder,
            queue,
            awaited: BTreeMap::new(),
            default_threads: BTreeSet::new(),
            others: Others::MayWrite,
            limited: false,
            suspects: false,
            asked: 0,
            entered: None,
            workspaces: Vec::new(),
            injection,
            report,
            clock: Clock::default(),
            pulse: Pulse::default(),
            launches: 0,
            digest: 0,
            ends: crate::trial::ends::Ends::default(),
            primary,
            contexts,
            modules: Handles::new(Kind::Module),
            module_numbers: ModuleNumbers::default(),
            libraries: Handles::new(Kind::Library),
            functions: Handles::new(Kind::Function),
            streams: Handles::new(Kind::Stream),
            events: Handles::new(Kind::Event),
            stream_attributes: BTreeMap::new(),
            legacy_launches: BTreeMap::new(),
            listeners: Listeners::new(),
            green: Greens::new(),
            graphs: Graphs::new(),
            pools: Pools::new(),
            links: Handles::new(Kind::Link),
            allocations: BTreeMap::new(),
            origins: Origins::default(),
            host_blocks: BTreeMap::new(),
            arrays: Handles::new(Kind::Array),
            mipmapped: Handles::new(Kind::Mipmapped),
            textures: crate::device::objects::texture::Objects::default(),
            chunks: Chunks::default(),
            advice: Advices::default(),
        }))
    }

    /// Takes other orders, before anything that depends on what they say of a launch.
    pub fn take_orders(&mut self, injection: Injection) {
        let same = injection.race() == self.injection.race()
            && injection.race_settings() == self.injection.race_settings();
        if !same {
            // What they should have seen is past.
            let _ = self
                .report
                .unsupported("a trial has other race detectors, or other settings of them, than the process that it was forked from");
        }
        self.queue.rng = Rng::new(picks_seed(&injection));
        self.injection = injection;
    }

    /// A live context.
    ///
    /// # Errors
    /// `InvalidContext` when there is none of that handle, or it was destroyed.
    pub fn context(&self, context: CUcontext) -> Outcome<&Context> {
        let found = self.contexts.get(context).map_err(|_| Status::InvalidContext)?;
        if context == self.primary.handle && !self.primary.active() {
            return Err(Status::InvalidContext);
        }
        Ok(found)
    }

    /// A live context, to change it.
    ///
    /// # Errors
    /// As [`Self::context`].
    pub fn context_mut(&mut self, context: CUcontext) -> Outcome<&mut Context> {
        self.context(context)?;
        self.contexts.get_mut(context)
    }

    /// Reports the context's fault, now and from now on, if it has one.
    ///
    /// # Errors
    /// The fault.
    pub fn surface(&mut self, context: CUcontext) -> Outcome {
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

    /// A function with the module that it belongs to.
    ///
    /// # Errors
    /// `InvalidHandle`.
    pub fn function(&self, function: CUfunction) -> Outcome<(&Function, &Module)> {
        let function = self.functions.get(function)?;
        Ok((function, self.modules.get(function.module)?))
    }
}
