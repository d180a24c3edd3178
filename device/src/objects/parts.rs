//! The parts of a driver's state. Who needs one of them takes that, and not the whole.

use std::collections::{BTreeMap, BTreeSet};

use bugaroo_cuda_abi::{CUdevice, CUdeviceptr};
use bugaroo_simulator::Others;

use crate::devices;
use crate::error::Status;
use crate::handles::{HandleKind, Handles};
use crate::images::link::Link;
use crate::images::numbers::ModuleNumbers;
use crate::lane::Ticket;
use crate::objects::advice::Advices;
use crate::objects::array::Array;
use crate::objects::clock::Clock;
use crate::objects::context::Context;
use crate::objects::event::EventObject;
use crate::objects::function::LoadedKernel;
use crate::objects::graph::Graphs;
use crate::objects::green::Greens;
use crate::objects::interprocess::Shares;
use crate::objects::known::KnownModules;
use crate::objects::library::Library;
use crate::objects::memory::{Allocation, HostBlock};
use crate::objects::module::LoadedModule;
use crate::objects::notices::Listeners;
use crate::objects::pool::Pools;
use crate::objects::primary::Primary;
use crate::objects::queue::Queue;
use crate::objects::stream::Stream;
use crate::objects::virtual_memory::Chunks;
use crate::objects::{legacy_launch, mipmap, stream_attributes, texture};
use crate::trial::origins::Origins;

/// What runs, and in which order.
#[derive(Debug)]
pub struct Running {
    /// Device time.
    pub clock: Clock,
    /// Work that was submitted and is not done.
    pub queue: Queue,
    /// Work that the submitting call waits for, and what it has to tell, once that is known.
    pub awaited: BTreeMap<Ticket, Option<Status>>,
    /// What the program does while work goes on.
    pub wait: HostWait,
    /// A kernel goes round for ever, if nobody else writes memory.
    pub suspects: bool,
    /// How often the program has asked in vain whether work is done.
    pub asked: u32,
    /// The kernel whose launch state is in its module's variable.
    pub entered: Option<Ticket>,
    /// The kernel that had the last turn, and in which of the program's waits.
    pub flown: Option<(Ticket, u64)>,
    /// Workspaces of cooperative launches that nobody uses.
    pub workspaces: Vec<CUdeviceptr>,
}

impl Running {
    /// Nothing, and this queue.
    pub fn new(queue: Queue) -> Self {
        Running {
            clock: Clock::default(),
            queue,
            awaited: BTreeMap::new(),
            wait: HostWait::default(),
            suspects: false,
            asked: 0,
            entered: None,
            flown: None,
            workspaces: Vec::new(),
        }
    }
}

/// What the program does while work goes on: it waits in a call.
#[derive(Clone, Copy, Debug)]
pub struct HostWait {
    /// Who else may write memory while the kernel that goes on next runs.
    pub others: Others,
    /// Turns that a kernel gets when it is alone: few where the call may come back before it has ended.
    pub limited: bool,
    /// Which of its waits it is.
    pub number: u64,
    /// Threads of it run meanwhile.
    pub runs: bool,
}

impl Default for HostWait {
    fn default() -> HostWait {
        HostWait { others: Others::MayWrite, limited: false, number: 0, runs: false }
    }
}

/// What owns the rest, and who is told of it.
#[derive(Debug)]
pub struct Owners {
    /// The primary contexts, by device.
    pub primaries: Vec<Primary>,
    /// Contexts, the primary ones among them.
    pub contexts: Handles<Context>,
    /// Green contexts.
    pub green: Greens,
    /// Who wants to be told of what happens.
    pub listeners: Listeners,
}

impl Owners {
    /// The primary contexts of so many devices, which are not alive.
    pub fn new(devices: CUdevice) -> Self {
        let mut contexts = Handles::new(HandleKind::Context);
        let primaries = (0..devices).map(|device| Primary::new(&mut contexts, device)).collect();
        Owners { primaries, contexts, green: Greens::new(), listeners: Listeners::new() }
    }
}

/// What was loaded.
#[derive(Debug)]
pub struct Code {
    /// Loaded modules.
    pub modules: Handles<LoadedModule>,
    /// Modules that need no translation any more.
    pub known: KnownModules,
    /// Numbers of distinct modules.
    pub module_numbers: ModuleNumbers,
    /// Libraries (modules of no context).
    pub libraries: Handles<Library>,
    /// Kernels of the loaded modules.
    pub functions: Handles<LoadedKernel>,
    /// What was set for launches of the old kind, by function.
    pub legacy_launches: BTreeMap<usize, legacy_launch::LegacyLaunch>,
    /// Links in progress.
    pub links: Handles<Link>,
}

impl Default for Code {
    /// Nothing yet.
    fn default() -> Self {
        Code {
            modules: Handles::new(HandleKind::Module),
            known: KnownModules::default(),
            module_numbers: ModuleNumbers::default(),
            libraries: Handles::new(HandleKind::Library),
            functions: Handles::new(HandleKind::Function),
            legacy_launches: BTreeMap::new(),
            links: Handles::new(HandleKind::Link),
        }
    }
}

/// What puts work in order.
#[derive(Debug)]
pub struct Ordered {
    /// Streams that the program made.
    pub streams: Handles<Stream>,
    /// Events that the program made.
    pub events: Handles<EventObject>,
    /// Attributes of streams.
    pub stream_attributes: stream_attributes::Attributes,
    /// Contexts and threads whose default stream has been used.
    pub default_threads: BTreeSet<(usize, u64)>,
    /// Graphs, and captures of them.
    pub graphs: Graphs,
}

impl Default for Ordered {
    /// Nothing yet.
    fn default() -> Self {
        Ordered {
            streams: Handles::new(HandleKind::Stream),
            events: Handles::new(HandleKind::Event),
            stream_attributes: BTreeMap::new(),
            default_threads: BTreeSet::new(),
            graphs: Graphs::new(),
        }
    }
}

/// What the program holds of memory, and how it is to be seen.
#[derive(Debug)]
pub struct Held {
    /// Memory pools.
    pub pools: Pools,
    /// Device memory of the program by its first address.
    pub allocations: BTreeMap<CUdeviceptr, Allocation>,
    /// Who asked for it.
    pub origins: Origins,
    /// Host memory of the program by its first address.
    pub host_blocks: BTreeMap<usize, HostBlock>,
    /// Arrays.
    pub arrays: Handles<Array>,
    /// Mipmapped arrays.
    pub mipmapped: Handles<mipmap::Mipmapped>,
    /// Textures and surfaces.
    pub textures: texture::Objects,
    /// Chunks of memory that are mapped to reserved addresses.
    pub chunks: Chunks,
    /// What the program said about the use of managed memory.
    pub advice: Advices,
    /// What other processes of the program have, too.
    pub shares: Shares,
}

impl Default for Held {
    /// Nothing yet.
    fn default() -> Self {
        Held {
            pools: Pools::new(devices::count()),
            allocations: BTreeMap::new(),
            origins: Origins::default(),
            host_blocks: BTreeMap::new(),
            arrays: Handles::new(HandleKind::Array),
            mipmapped: Handles::new(HandleKind::Mipmapped),
            textures: texture::Objects::default(),
            chunks: Chunks::default(),
            advice: Advices::default(),
            shares: Shares::default(),
        }
    }
}
