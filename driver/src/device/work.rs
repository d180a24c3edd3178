//! What a stream or a graph can be told to do.

use std::ffi::c_void;
use std::rc::Rc;

use bugaroo_cuda_abi::{CUdeviceptr, CUevent, CUhostFn, CUstream, CUstreamCallback};
use bugaroo_semantics::event::WorkKind;
use bugaroo_simulator::Memory;

use crate::device::execute::Request;
use crate::device::fill::Fill;
use crate::device::graph::exec::Choice;
use crate::device::graph::memory::GraphMemory;
use crate::device::library_work::LibraryWork;
use crate::device::transfer::Transfer;

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
    Kernel(Rc<Request>, u64),
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
    /// A conditional node of a graph.
    Branch(Rc<Choice>),
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
