//! The report of one trial: messages from the driver, one JSON object a line.

use std::collections::BTreeMap;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use crate::conflict::Conflict;
use crate::fault::{Fault, HostFrame};
use crate::insertion::Placed;
use crate::race::Races;
use crate::recorded::{Hex, RecordedLaunch};
use crate::site::Site;
use crate::waiting::{BlockedThread, Diagnosis};

/// One line of the report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "message", rename_all = "kebab-case")]
#[expect(clippy::large_enum_variant, reason = "a message is made, written and gone; most are launches")]
pub enum Message {
    /// First of all, when the driver has read its orders.
    Hello {
        /// [`crate::VERSION`] of the driver.
        version: u32,
        /// Process that speaks (a program may fork).
        pid: u32,
    },
    /// A module was loaded.
    Module(ModuleReport),
    /// What insertions become in a module that was loaded; said where the orders ask.
    Placed {
        /// Its number in [`crate::SiteId::module`].
        module: u32,
        /// In the order of the orders.
        placed: Vec<Placed>,
    },
    /// The program has come to its first launch; said where the orders have a fork server without control.
    FirstLaunch {
        /// What forbids to fork trials from here, in one line, if anything does.
        cannot_fork: Option<String>,
    },
    /// The text of a module of which a kernel is launched; said once, where the orders have launches recorded.
    ModuleText {
        /// Digest of the text, hexadecimal.
        digest: String,
        /// The PTX, as the program loaded it.
        text: String,
    },
    /// What a variable holds at a launch; said once for each content, where the orders have launches recorded.
    VariableBytes {
        /// Digest of the bytes, hexadecimal.
        digest: String,
        /// The bytes.
        bytes: Hex,
    },
    /// A launch starts; said where the orders have launches recorded.
    Recorded(RecordedLaunch),
    /// A launch ended, well or not.
    Launch(Launch),
    /// What detectors have found since the last such message: said at the end of a launch and of the program, where there is
    /// something to tell.
    Races(Races),
    /// What some of the program's memory held at its end; said at the end of the program, where the orders ask for it, in pieces.
    Ends {
        /// What held what.
        ends: Vec<MemoryEnd>,
        /// Whether that is the last piece.
        last: bool,
    },
    /// Device work has gone on since the last such message: a block or a launch has ended, something was stored, or memory
    /// has changed. Said a few times a second at most, and only where a launch takes long; a kernel that spins says nothing.
    Progress,
    /// Something in the driver went wrong that must not: an internal error, and no fault of the program's (exit code 5).
    Panicked {
        /// What the panic said, and where.
        what: String,
    },
    /// The driver cannot do what the program or the orders ask for (exit code 4).
    Unsupported {
        /// What, and where.
        what: String,
    },
}

/// A piece of the program's device memory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MemoryPiece {
    /// An allocation, by its number from 1 in the order in which the program asked.
    Allocation(u64),
    /// A variable of a module, by the number of the load, from 1, and its name in PTX.
    Variable(u32, String),
}

/// What a piece of the program's device memory held at its end: when it was freed, or when the program ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemoryEnd {
    /// Which.
    pub piece: MemoryPiece,
    /// Its size.
    pub bytes: u64,
    /// A hash of what it held, hexadecimal; the same in every process.
    pub digest: String,
    /// Where the program asked for it, innermost call first; only where the orders ask for sites.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allocated_at: Vec<HostFrame>,
}

/// A module that the program loaded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModuleReport {
    /// Its number in [`crate::SiteId::module`].
    pub module: u32,
    /// Digest of the PTX, hexadecimal.
    pub digest: String,
    /// Kernels, as the PTX names them.
    pub kernels: Vec<String>,
    /// Its sites, when the orders asked for them.
    pub sites: Option<Vec<Site>>,
}

/// One kernel launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Launch {
    /// From 0, over the whole process.
    pub ordinal: u64,
    /// As the PTX names it.
    pub kernel: String,
    /// Grid dimensions in CTAs.
    pub grid: [u32; 3],
    /// CTA dimensions in threads.
    pub block: [u32; 3],
    /// How it ended.
    pub end: LaunchEnd,
    /// What it executed.
    pub counts: LaunchCounts,
    /// Digest of device memory afterwards (the program's allocations and module variables, not the
    /// injector's), chained over launches; hexadecimal.
    pub digest: Option<String>,
    /// Model `ptx`: loads that read older values than memory held, the likeliest to matter first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stale_reads: Vec<StaleRead>,
    /// Accesses whose order nothing settles, where the orders ask for them, in the order in which they were first seen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<Conflict>,
    /// How often there was something that is of none of these, or memory was accessed that was not looked at, for lack of room.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_conflicts: u64,
    /// What of its threads' communication it has shown, where the orders ask for it: hashes, ascending, each once. The same hash means
    /// the same thing in every trial of the program.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub coverage: Vec<u32>,
    /// How often there was something for which these have no room.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_coverage: u64,
    /// Instructions of which accesses met those of other threads, where coverage is asked for: hashes, ascending, each once, the same in
    /// every trial.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub meetings: Vec<u32>,
}

/// Loads by one instruction that read older values than another instruction had written by then, and why they were
/// allowed to: an edge of happens-before was missing. `threads` of both ends is 1: an example.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StaleRead {
    /// The load.
    pub load: BlockedThread,
    /// The write that it did not see.
    pub write: BlockedThread,
    /// Where.
    pub address: u64,
    /// Which edge was missing.
    pub missing: MissingEdge,
    /// The accesses are how the threads synchronise: reading an older value is part of that.
    pub synchronising: bool,
    /// How often.
    pub count: u64,
}

/// See [`StaleRead`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MissingEdge {
    /// The writer had not released since.
    Release,
    /// It had, but the reader had not acquired since.
    Acquire,
    /// Both, but the scope of one does not take in the other.
    Scope,
    /// Both, and their scopes do, but no strong load of the one had read what a strong store of the other wrote.
    Strong,
}

/// Dynamic counts of one launch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchCounts {
    /// Warp instructions executed: what the step budget counts.
    pub warp_instructions: u64,
    /// Thread instructions executed.
    pub thread_instructions: u64,
    /// Stores that were delayed.
    pub delayed_stores: u64,
    /// Executions of `membar`, `fence` by threads, whatever the scope; the tool's own do not count.
    pub fences: u64,
    /// Executions of CTA barriers by threads.
    pub barriers: u64,
    /// Executions of stores to shared memory by threads (a vector store is one), by the address at run time.
    pub shared_stores: u64,
    /// The same for global memory.
    pub global_stores: u64,
    /// How full buffers were whenever they drained.
    pub flush_lengths: FlushLengths,
    /// Device memory that the store buffers took, bytes.
    pub buffer_bytes: u64,
    /// Model `ptx`: writes that were forgotten to keep within its memory, though somebody might have read past them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub forgotten: u64,
}

/// Whether nothing was counted.
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Histogram of the number of entries that a thread's buffer held when all of it drained (the paper,
/// IV.C.2): length to how often. A drain of an empty buffer does not count.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlushLengths {
    /// Buffers of global stores.
    #[serde(deserialize_with = "lengths")]
    pub global: BTreeMap<u32, u64>,
    /// Buffers of shared stores.
    #[serde(deserialize_with = "lengths")]
    pub shared: BTreeMap<u32, u64>,
}

/// JSON's keys are strings, and inside a tagged enum such as [`Message`] serde does not read numbers from them.
fn lengths<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<u32, u64>, D::Error> {
    let read = |(length, count): (String, u64)| Ok((length.parse().map_err(D::Error::custom)?, count));
    BTreeMap::<String, u64>::deserialize(deserializer)?.into_iter().map(read).collect()
}

/// How a launch ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "end", rename_all = "kebab-case")]
#[expect(clippy::large_enum_variant, reason = "there is one of each launch, and a fault is rare")]
pub enum LaunchEnd {
    /// All threads exited.
    Complete,
    /// No thread can ever run again.
    Deadlock(Diagnosis),
    /// The step budget ran out.
    StepBudget(Diagnosis),
    /// A thread did something that a GPU faults on.
    Fault(Fault),
}
