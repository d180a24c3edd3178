//! What goes wrong on the device, and how it is told: faults, and diagnoses of launches that do not end.

use std::fmt;

use crate::address::VIRTUAL_END;

/// A position in the CUDA source.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourcePosition {
    /// Path as the compiler wrote it.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1; 0 when unknown.
    pub column: u32,
}

/// Where in the program something happened.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// Name of the function (mangled).
    pub function: String,
    /// Line in the PTX text, from 1.
    pub ptx_line: u32,
    /// The instruction as it stands there.
    pub instruction: String,
    /// CUDA source: innermost first, then the call sites that it was inlined at.
    pub source: Vec<SourcePosition>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` ({}, PTX line {}", self.instruction, self.function, self.ptx_line)?;
        if let Some(source) = self.source.first() {
            write!(f, ", {}:{}", source.file, source.line)?;
        }
        f.write_str(")")
    }
}

/// A thread of the launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ThreadId {
    /// `blockIdx`
    pub block: [u32; 3],
    /// `threadIdx`
    pub thread: [u32; 3],
}

impl fmt::Display for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([bx, by, bz], [tx, ty, tz]) = (self.block, self.thread);
        write!(f, "block ({bx}, {by}, {bz}), thread ({tx}, {ty}, {tz})")
    }
}

/// How memory was touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TouchKind {
    /// A load.
    Read,
    /// A store.
    Write,
    /// `atom` or `red`.
    Atomic,
}

/// The allocation that a bad address comes closest to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Near {
    /// Its first address.
    pub base: u64,
    /// Its size in bytes.
    pub size: u64,
    /// Bytes from its end to the address when positive or zero; bytes before its start when negative.
    pub distance: i64,
}

/// The call that a program lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MissingGrant {
    /// The one that opens a device's memory: the device whose memory it is, and the one that is to call it.
    Peer {
        /// Whose memory it is.
        owner: u32,
        /// Who has no access.
        device: u32,
    },
    /// The one that opens a pool's.
    Pool {
        /// The pool's device.
        owner: u32,
        /// Who has no access.
        device: u32,
    },
    /// The one that opens what is mapped.
    Mapping {
        /// Who has no access.
        device: u32,
    },
}

impl fmt::Display for MissingGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MissingGrant::Peer { owner, device } => write!(
                f,
                "memory of device {owner}, to which device {device} has no peer access: call cudaDeviceEnablePeerAccess({owner}, 0) while device {device} is current, or cuCtxEnablePeerAccess"
            ),
            MissingGrant::Pool { owner, device } => write!(
                f,
                "memory of a pool of device {owner}, to which device {device} has no access: call cudaMemPoolSetAccess (cuMemPoolSetAccess) for device {device}; peer access does not open pools"
            ),
            MissingGrant::Mapping { device } => write!(
                f,
                "mapped without that access for device {device}: call cuMemSetAccess for device {device}; peer access does not open what is mapped"
            ),
        }
    }
}

/// Why a launch was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum StopKind {
    /// Address in no live allocation.
    #[error("{size}-byte {access:?} at {address:#x}, which no allocation holds{}", near_text(.near, *.address))]
    OutOfBounds {
        /// Address of the bad lane (in the space of the instruction).
        address: u64,
        /// Bytes accessed.
        size: u32,
        /// Load, store or atomic.
        access: TouchKind,
        /// The closest allocation, if one is close.
        near: Option<Near>,
    },
    /// Address in memory that was freed.
    #[error("{size}-byte {access:?} at {address:#x}, which was freed")]
    Freed {
        /// Address of the bad lane.
        address: u64,
        /// Bytes accessed.
        size: u32,
        /// Load, store or atomic.
        access: TouchKind,
    },
    /// Address in memory that is there, but not for this kind of access.
    #[error("{size}-byte {access:?} at {address:#x}, which is mapped without that access")]
    NoAccess {
        /// Address of the bad lane.
        address: u64,
        /// Bytes accessed.
        size: u32,
        /// Load, store or atomic.
        access: TouchKind,
    },
    /// Address in memory that is there, but not for the device whose code runs.
    #[error("{size}-byte {access:?} at {address:#x}, which is {missing}")]
    NoPeerAccess {
        /// Address of the bad lane.
        address: u64,
        /// Bytes accessed.
        size: u32,
        /// Load, store or atomic.
        access: TouchKind,
        /// What the program has not called.
        missing: MissingGrant,
    },
    /// Address that is not a multiple of the access size.
    #[error("misaligned {size}-byte {access:?} at {address:#x}")]
    Misaligned {
        /// Address of the bad lane.
        address: u64,
        /// Bytes accessed.
        size: u32,
        /// Load, store or atomic.
        access: TouchKind,
    },
    /// Calls nested too deep, or local memory used up.
    #[error("stack overflow at call depth {depth}")]
    StackOverflow {
        /// Calls in progress.
        depth: u32,
    },
    /// `trap`
    #[error("trap")]
    Trap,
    /// `assert` in device code; the console has its message.
    #[error("assertion failed")]
    Assert,
    /// `free` in device code of something that `malloc` there did not give, or that was freed before.
    #[error("free of {address:#x}, which is not memory that device code allocated and still has")]
    BadFree {
        /// The pointer.
        address: u64,
    },
    /// Indirect call of something that is no function, or of one with other parameters.
    #[error("indirect call of {target:#x}, which is not a function with these parameters")]
    BadCall {
        /// The value called.
        target: u64,
    },
    /// Index of `brx.idx` past its table.
    #[error("indexed branch to entry {index} of a table of {entries}")]
    BadBranch {
        /// The index.
        index: u32,
        /// Entries that there are.
        entries: u32,
    },
    /// Threads of one warp meet an aligned barrier at different instructions.
    #[error("barrier {barrier} is reached by threads of one warp at different instructions")]
    BarrierDivergence {
        /// Barrier number.
        barrier: u32,
    },
    /// Barrier number past 15, or a thread count that is zero, no multiple of the warp size, or not the
    /// count that other threads gave.
    #[error("barrier {barrier} with a thread count of {count}, which is not legal here")]
    BadBarrier {
        /// Barrier number.
        barrier: u32,
        /// Thread count given.
        count: u32,
    },
    /// An `mbarrier` that was not initialised, or more arrivals or transactions than it counts.
    #[error("mbarrier at {address:#x} {problem}")]
    BadMbarrier {
        /// Its address.
        address: u64,
        /// What is wrong.
        problem: &'static str,
    },
    /// A tensor map that is none, or not one for this copy.
    #[error("the tensor map at {address:#x} {problem}")]
    BadTensorMap {
        /// Its address.
        address: u64,
        /// What is wrong.
        problem: &'static str,
    },
    /// A handle of no texture or surface, or of one that is not for this instruction; a surface access outside.
    #[error("the texture or surface object {handle:#x} {problem}")]
    BadTexture {
        /// The handle.
        handle: u64,
        /// What is wrong.
        problem: &'static str,
    },
    /// A rank that the cluster does not have, or another block's address of the block's own memory.
    #[error("address {address:#x} in the cluster's shared memory: {problem}")]
    BadClusterAddress {
        /// The address.
        address: u64,
        /// What is wrong.
        problem: &'static str,
    },
    /// A thread's member mask does not name the thread itself.
    #[error("member mask {mask:#010x} does not name the executing lane {lane}")]
    BadMemberMask {
        /// The mask.
        mask: u32,
        /// The lane.
        lane: u32,
    },
}

fn near_text(near: &Option<Near>, address: u64) -> String {
    match near {
        Some(n) if n.distance >= 0 => {
            format!(" ({} bytes past the end of the {} bytes at {:#x})", n.distance, n.size, n.base)
        }
        Some(n) => format!(" ({} bytes before the {} bytes at {:#x})", -n.distance, n.size, n.base),
        None if address >= VIRTUAL_END => " (an address of the host's own memory?)".to_owned(),
        None => String::new(),
    }
}

/// A fault, with the first thread that ran into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchFault {
    /// What happened.
    pub kind: StopKind,
    /// The thread (the lowest lane that failed).
    pub thread: ThreadId,
    /// The instruction.
    pub place: Place,
}

impl fmt::Display for LaunchFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} at {}", self.thread, self.kind, self.place)
    }
}

/// What a group of threads is doing when a launch is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Activity {
    /// It could go on.
    Running,
    /// It waits at a CTA barrier.
    Barrier {
        /// Barrier number.
        barrier: u32,
        /// Threads that have arrived.
        arrived: u32,
        /// Threads that it takes.
        expected: u32,
    },
    /// It waits at a CTA barrier for the rest of its own warp: a warp arrives as a whole.
    BarrierWarp {
        /// Barrier number.
        barrier: u32,
        /// Threads of the warp that have come.
        arrived: u32,
        /// Threads of the warp that have not exited.
        expected: u32,
    },
    /// It waits for lanes of its own warp.
    WarpMask {
        /// The lanes that its member mask names.
        mask: u32,
    },
    /// It waits for a phase of an `mbarrier`.
    Mbarrier {
        /// Address in shared memory.
        address: u64,
        /// Arrivals that the phase still takes.
        pending: u32,
        /// Bytes of asynchronous copies that it still takes.
        transactions: i32,
    },
    /// It waits for the other threads of its cluster.
    ClusterBarrier {
        /// Threads that have arrived.
        arrived: u32,
        /// Threads that it takes.
        expected: u32,
    },
}

/// Threads of one block that stand at the same instruction, doing the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// `blockIdx`
    pub block: [u32; 3],
    /// The lowest thread of the group.
    pub first_thread: [u32; 3],
    /// How many there are.
    pub threads: u32,
    /// What they do.
    pub activity: Activity,
    /// Where they stand.
    pub place: Place,
}

/// Who wrote the memory last that a thread reads again and again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpunOnWrite {
    /// No thread of the launch: it holds what was there before.
    Nobody,
    /// It is not known any more.
    Unknown,
    /// A thread.
    Thread {
        /// Which.
        thread: ThreadId,
        /// Where.
        place: Box<Place>,
        /// The memory model still holds its store back.
        held: bool,
    },
}

/// An instruction by which threads read the same place again and again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpinPlace {
    /// The load or atomic.
    pub place: Place,
    /// Threads that do so.
    pub threads: u32,
    /// The first of them.
    pub thread: ThreadId,
    /// Where it reads: a generic address.
    pub address: u64,
    /// How much.
    pub bytes: u32,
    /// What memory holds there: the first eight bytes at most.
    pub value: u64,
    /// The module's variable there, and the distance from where it begins.
    pub symbol: Option<(String, u64)>,
    /// Who wrote that.
    pub last: SpunOnWrite,
}

impl SpinPlace {
    /// Spins that a diagnosis lists.
    pub const MOST: usize = 8;
}

impl fmt::Display for SpinPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SpinPlace { threads, thread, value, address, bytes, place, .. } = self;
        write!(
            f,
            "{threads} threads from {thread} read {value} again and again, {bytes} bytes at {address:#x}"
        )?;
        if let Some((name, offset)) = &self.symbol {
            write!(f, " (`{name}` + {offset})")?;
        }
        write!(f, ": {place}; ")?;
        match &self.last {
            SpunOnWrite::Nobody => f.write_str("no thread of this launch has written it"),
            SpunOnWrite::Unknown => f.write_str("who wrote it last is not known"),
            SpunOnWrite::Thread { thread, place, held } => {
                let how =
                    if *held { "a store to it, still held back, is that of" } else { "last written by" };
                write!(f, "{how} {thread}: {place}")
            }
        }
    }
}

/// Who is where in a launch that will not end, or that was not let to.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct LaunchDiagnosis {
    /// Groups in order of block and thread, at most [`LaunchDiagnosis::MAX_GROUPS`].
    pub groups: Vec<Group>,
    /// Groups that did not fit.
    pub omitted: usize,
    /// Blocks that had not started.
    pub blocks_pending: u64,
    /// What those who run read again and again, when that was looked at.
    pub spins: Vec<SpinPlace>,
    /// All threads that run go round for ever, whatever the schedule: nobody is left who could change what they read.
    pub spinning: bool,
}

impl LaunchDiagnosis {
    /// Groups that a diagnosis lists.
    pub const MAX_GROUPS: usize = 64;
}

impl fmt::Display for LaunchDiagnosis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, group) in self.groups.iter().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            let first = ThreadId { block: group.block, thread: group.first_thread };
            match group.activity {
                Activity::Running => write!(f, "{} threads from {first} run", group.threads)?,
                Activity::Barrier { barrier, arrived, expected } => write!(
                    f,
                    "{} threads from {first} wait at barrier {barrier} ({arrived} of {expected} are there)",
                    group.threads
                )?,
                Activity::BarrierWarp { barrier, arrived, expected } => write!(
                    f,
                    "{} threads from {first} wait at barrier {barrier} for their own warp ({arrived} of its {expected} \
                     threads are there)",
                    group.threads
                )?,
                Activity::Mbarrier { address, pending, transactions } => write!(
                    f,
                    "{} threads from {first} wait for the mbarrier at {address:#x} ({pending} arrivals and \
                     {transactions} bytes are missing)",
                    group.threads
                )?,
                Activity::ClusterBarrier { arrived, expected } => write!(
                    f,
                    "{} threads from {first} wait for their cluster ({arrived} of {expected} are there)",
                    group.threads
                )?,
                Activity::WarpMask { mask } => {
                    write!(f, "{} threads from {first} wait for lanes {mask:#010x}", group.threads)?;
                }
            }
            write!(f, ": {}", group.place)?;
        }
        if self.omitted > 0 {
            write!(f, "\nand {} more groups", self.omitted)?;
        }
        for spin in &self.spins {
            write!(f, "\n{spin}")?;
        }
        Ok(())
    }
}
