//! What a stream or a graph can be told to do: pieces of work, and the steps of graphs that are made of them.

use std::ffi::{c_uint, c_void};
use std::rc::Rc;

use bugaroo_cuda_abi::{
    CUdeviceptr, CUevent, CUfunction, CUgraph, CUgraphNode, CUhostFn, CUstream, CUstreamCallback,
};
use bugaroo_semantics::event::WorkKind;
use bugaroo_simulator::{LaunchSpec, Memory};

use crate::objects::fill::Fill;
use crate::objects::interprocess::SharedEvent;
use crate::objects::library_work::LibraryWork;
use crate::objects::transfer::Transfer;

/// Something that the driver does at once. It may be done again and again, as part of a graph.
#[derive(Clone, Debug)]
pub enum Act {
    /// Words are written, each with its address.
    Write(Rc<[(u64, Vec<u8>)]>),
    /// Memory is freed.
    Free {
        /// Where.
        address: CUdeviceptr,
        /// How much.
        bytes: u64,
    },
    /// A copy within the device that device code asked for.
    AskedCopy(Transfer),
    /// A fill that device code asked for.
    AskedFill(Fill),
    /// A copy from the host, whose bytes were taken before.
    Staged {
        /// The copy.
        copy: Transfer,
        /// What it reads.
        taken: Rc<[u8]>,
    },
    /// Memory of a graph's is allocated from now on, or no longer.
    Allocated {
        /// Which.
        memory: Rc<GraphMemory>,
        /// Whether it is.
        live: bool,
    },
}

/// A piece of work.
#[derive(Clone)]
pub enum Work {
    /// Nothing: a place in the order.
    Nothing,
    /// A kernel, and the ordinal of its launch (0 in a graph, where it has none).
    Kernel(Rc<LaunchRequest>, u64),
    /// A copy. Whoever makes it vouches that its host sides hold what is copied until it is done.
    Copy(Transfer),
    /// A fill.
    Fill(Fill),
    /// Work of a library that stands for one of NVIDIA's.
    Library(Rc<LibraryWork>),
    /// Something else that the driver does at once.
    Act(Act),
    /// A call of a function of the program.
    Call(CUhostFn, *mut c_void),
    /// The older form, told the stream and how things are; also called when the context is broken.
    CallBack(CUstreamCallback, CUstream, *mut c_void),
    /// An event is reached.
    Record(CUevent),
    /// Memory has to hold a value first.
    WaitValue(WaitValue),
    /// A record of an event that other processes have, by its number, has to be reached first.
    WaitShared(Rc<SharedEvent>, u64),
    /// A conditional node of a graph.
    Branch(Rc<BranchChoice>),
}

impl Work {
    /// What race detectors take it for.
    pub fn kind(&self) -> WorkKind {
        match self {
            Work::Kernel(..) => WorkKind::Grid,
            Work::Copy(_) | Work::Fill(_) | Work::Library(_) | Work::Act(_) => WorkKind::Transfer,
            _ => WorkKind::Mark,
        }
    }

    /// Whether the host may watch the effect without asking the driver, so that it cannot wait in the queue.
    pub fn is_watched(&self) -> bool {
        match self {
            Work::Call(..) | Work::CallBack(..) => true,
            Work::Kernel(request, _) => request.watched,
            _ => false,
        }
    }
}

impl std::fmt::Debug for Work {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Work::Nothing => f.write_str("Nothing"),
            Work::Kernel(request, _) => f.debug_tuple("Kernel").field(request).finish(),
            Work::Copy(copy) => copy.fmt(f),
            Work::Fill(fill) => fill.fmt(f),
            Work::Library(work) => work.fmt(f),
            Work::Act(act) => act.fmt(f),
            Work::Call(..) => f.write_str("Call"),
            Work::CallBack(..) => f.write_str("CallBack"),
            Work::Record(event) => f.debug_tuple("Record").field(event).finish(),
            Work::WaitValue(wait) => wait.fmt(f),
            Work::WaitShared(event, number) => {
                f.debug_tuple("WaitShared").field(event).field(number).finish()
            }
            Work::Branch(choice) => choice.fmt(f),
        }
    }
}

/// A condition on a word of memory (`cuStreamWaitValue`).
#[derive(Clone, Copy, Debug)]
pub struct WaitValue {
    /// Where the word is.
    pub address: u64,
    /// What to compare with.
    pub value: u64,
    /// Whether it has 64 bits, not 32.
    pub wide: bool,
    /// How: 0 for at least (cyclically), 1 equal, 2 a common bit, 3 a bit that both lack.
    pub comparison: u32,
}

impl WaitValue {
    /// Whether the condition holds; memory that is not there holds nothing up.
    pub fn holds(&self, memory: &Memory) -> bool {
        let mut bytes = [0; 8];
        let width = if self.wide { 8 } else { 4 };
        if memory.read(self.address, &mut bytes[..width]).is_err() {
            return true;
        }
        let mask = if self.wide { u64::MAX } else { u64::from(u32::MAX) };
        let (found, value) = (u64::from_le_bytes(bytes), self.value & mask);
        match self.comparison {
            0 => found.wrapping_sub(value) & mask <= mask >> 1,
            1 => found == value,
            2 => found & value != 0,
            _ => !(found | value) & mask != 0,
        }
    }
}

/// What a program asks to be launched; the shape was checked.
#[derive(Debug)]
pub struct LaunchRequest {
    /// The kernel.
    pub function: CUfunction,
    /// CTAs.
    pub grid: [u32; 3],
    /// Threads of a CTA.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u32,
    /// The parameter buffer.
    pub parameters: Vec<u8>,
    /// How its blocks belong together.
    pub together: BlocksTogether,
    /// Whether the host may watch what it does to memory.
    pub watched: bool,
    /// How many kernels, each launched by the one before, lead to this one: 0 for the host's own.
    pub depth: u32,
}

/// How a launch's blocks belong together.
#[derive(Clone, Copy, Debug, Default)]
pub struct BlocksTogether {
    /// Whether all of them may wait for each other.
    pub cooperative: bool,
    /// Extent of a cluster in blocks, where the launch says it.
    pub cluster: Option<[u32; 3]>,
}

impl LaunchRequest {
    pub(crate) fn spec<'a>(&'a self, kernel: &'a str, step_budget: Option<u64>) -> LaunchSpec<'a> {
        LaunchSpec {
            kernel,
            grid: self.grid,
            block: self.block,
            dynamic_shared: self.dynamic_shared,
            cluster: self.together.cluster,
            params: &self.parameters,
            step_budget,
        }
    }
}

/// What a node does.
#[derive(Clone, Debug)]
pub enum NodeBody {
    /// A piece of work.
    Work(Work),
    /// Wait for an event, as it was recorded last when the graph is launched.
    Wait(CUevent),
    /// All of another graph, which the node owns.
    Child(CUgraph),
    /// Memory is allocated.
    Allocate(Rc<GraphMemory>),
    /// Memory that a graph has allocated is freed.
    Free(Rc<GraphMemory>),
    /// One of several graphs, which the node owns, or none.
    Branch(Branch),
}

impl NodeBody {
    /// `CUgraphNodeType`
    pub fn kind(&self) -> c_uint {
        match self {
            NodeBody::Work(Work::Kernel(..) | Work::Library(_)) => 0,
            NodeBody::Work(Work::Copy(_)) => 1,
            NodeBody::Work(Work::Fill(_)) => 2,
            NodeBody::Work(Work::Call(..) | Work::CallBack(..)) => 3,
            NodeBody::Child(_) => 4,
            NodeBody::Work(Work::Nothing) => 5,
            NodeBody::Wait(_) => 6,
            NodeBody::Work(Work::Record(_)) => 7,
            NodeBody::Allocate(_) => 10,
            NodeBody::Free(_) => 11,
            NodeBody::Branch(_) => 13,
            // What else a capture can hold are operations on words of memory.
            NodeBody::Work(Work::Act(_) | Work::WaitValue(_) | Work::WaitShared(..) | Work::Branch(_)) => 12,
        }
    }
}

/// How a value picks a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pick {
    /// The first if it is not zero, else the second, if there is one.
    If,
    /// The only one, again and again as long as it is not zero.
    While,
    /// The one of this number, if there is one.
    Switch,
}

impl Pick {
    /// The body that a value picks, among so many.
    pub fn body(self, value: u32, count: usize) -> Option<usize> {
        let at = match (self, value) {
            (Pick::If, 0) => 1,
            (Pick::While, 0) => return None,
            (Pick::If | Pick::While, _) => 0,
            (Pick::Switch, value) => value as usize,
        };
        (at < count).then_some(at)
    }
}

/// A conditional node.
#[derive(Clone, Debug)]
pub struct Branch {
    /// The condition's handle.
    pub handle: u64,
    /// How it picks.
    pub pick: Pick,
    /// The graphs that it picks among, which the node owns. The program is told where this list lies, which stays.
    pub bodies: Box<[CUgraph]>,
}

/// A node of it.
#[derive(Clone, Debug)]
pub struct GraphStep {
    /// The node that it was made of.
    pub(crate) node: CUgraphNode,
    /// What it does.
    pub doing: Doing,
    /// The steps before it, by index; all smaller than its own.
    pub(crate) before: Vec<usize>,
    /// The program has not switched it off.
    pub enabled: bool,
}

/// What a step does.
#[derive(Clone, Debug)]
pub enum Doing {
    /// What a node without a graph of its own does.
    Body(NodeBody),
    /// The steps of the graph in it.
    All(Vec<GraphStep>),
    /// Those of one of the graphs in it, or none.
    Branch(Rc<BranchChoice>),
}

/// A conditional node as it runs.
#[derive(Clone, Debug)]
pub struct BranchChoice {
    /// The condition's handle.
    pub handle: u64,
    /// How it picks.
    pub pick: Pick,
    /// Among these.
    pub bodies: Vec<Vec<GraphStep>>,
}

impl GraphStep {
    /// What it does.
    pub fn doing(&self) -> &Doing {
        &self.doing
    }

    /// Whether the host may watch what it does.
    pub(crate) fn is_watched(&self) -> bool {
        match &self.doing {
            Doing::Body(NodeBody::Work(work)) => work.is_watched(),
            Doing::Body(_) => false,
            Doing::All(steps) => steps.iter().any(GraphStep::is_watched),
            Doing::Branch(choice) => choice.bodies.iter().flatten().any(GraphStep::is_watched),
        }
    }
}

/// Memory of a graph. Who may use its address holds a reference.
#[derive(Debug)]
pub struct GraphMemory {
    /// Where.
    pub address: CUdeviceptr,
    /// How much.
    pub bytes: u64,
}
