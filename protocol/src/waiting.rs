//! Threads that stand somewhere, and what they wait for.

use serde::{Deserialize, Serialize};

use crate::site::SourceLine;

/// Who waits where.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Diagnosis {
    /// One line for a person.
    pub summary: String,
    /// Groups of threads that stand at the same place; the largest first, cut to a readable number.
    pub waiting: Vec<BlockedThread>,
    /// What threads that run read again and again; that of the most threads first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spins: Vec<Spin>,
}

/// An instruction by which threads read the same place again and again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spin {
    /// The load or atomic; `threads` counts those of the whole launch, of which `block` and `thread` name the first.
    pub at: BlockedThread,
    /// Where that thread reads: a generic address.
    pub address: u64,
    /// Bytes that it reads.
    pub bytes: u32,
    /// What memory holds there, eight bytes at most.
    pub value: u64,
    /// What lies there, in words: a variable, an allocation, shared memory.
    pub memory: String,
    /// Who wrote it last.
    pub last_write: LastWrite,
}

/// Who wrote the memory last that threads read again and again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "kebab-case")]
pub enum LastWrite {
    /// No thread of the launch: the host or an earlier launch, if anybody.
    Nobody,
    /// It is not known any more.
    Unknown,
    /// A thread.
    Thread {
        /// Which, and where.
        at: BlockedThread,
        /// The store is still held back: nothing has ordered it.
        held: bool,
    },
}

/// Threads of one CTA that stand at one place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BlockedThread {
    /// CTA index.
    pub block: [u32; 3],
    /// The first such thread's index in its CTA.
    pub thread: [u32; 3],
    /// How many threads of that CTA stand there.
    pub threads: u32,
    /// Function, as the PTX names it.
    pub function: String,
    /// Line in the PTX that ran (the instrumented one's lines are mapped back to the original's).
    pub ptx_line: Option<u32>,
    /// CUDA line.
    pub source: Option<SourceLine>,
    /// The instruction that they stand at.
    pub instruction: String,
}
