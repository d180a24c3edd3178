//! Accesses that fault, and the memory that they miss.

use serde::{Deserialize, Serialize};

use crate::site::SourceLine;
use crate::waiting::BlockedThread;

/// What a faulting access was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultAccess {
    /// Load.
    Load,
    /// Store.
    Store,
    /// Atomic read-modify-write.
    Atomic,
}

/// Kinds of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    /// Outside every allocation.
    IllegalAddress,
    /// In memory that is there, but not for this access, or not for this device.
    NoAccess,
    /// In memory that was freed.
    UseAfterFree,
    /// Not a multiple of the access size.
    MisalignedAddress,
    /// `trap`.
    Trap,
    /// `assert` in device code.
    Assert,
    /// Threads of a CTA at different barriers, or too many at one.
    BarrierDivergence,
    /// A barrier or `mbarrier` with a number, a count or a state that it may not have.
    BarrierMisuse,
    /// Calls nested too deep.
    StackOverflow,
    /// `free` in device code of what is no allocation of device code's.
    InvalidFree,
    /// Anything else that the hardware calls an illegal instruction.
    IllegalInstruction,
}

/// A fault, with its place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fault {
    /// What kind.
    pub kind: FaultKind,
    /// One line for a person, address and size included.
    pub summary: String,
    /// Load, store or atomic, where it is one.
    pub access: Option<FaultAccess>,
    /// What the thread did, in words.
    #[serde(default)]
    pub what: String,
    /// The address, where it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<u64>,
    /// Bytes accessed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u32>,
    /// The allocation that the address misses by least, or that held it until it was freed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocation: Option<NearAllocation>,
    /// Who and where.
    pub at: BlockedThread,
}

/// An allocation that a bad access came close to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NearAllocation {
    /// Its first address.
    pub base: u64,
    /// Its size in bytes.
    pub size: u64,
    /// Bytes from its first address to that of the access: negative in front of it, its size or more behind it.
    pub offset: i64,
    /// Whether it was freed by then.
    pub freed: bool,
    /// The variable of the module that it is, as the PTX names it, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variable: Option<String>,
    /// The function of the program that asked for it, and that one's callers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allocated_at: Vec<HostFrame>,
    /// The same of its release.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub freed_at: Vec<HostFrame>,
}

/// A call in the host's part of the program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostFrame {
    /// The function, demangled, if its name is known.
    pub function: Option<String>,
    /// File name of the program or library that it belongs to.
    pub module: String,
    /// Where in that file's addresses the call is.
    pub offset: u64,
    /// The line, if the file tells.
    pub source: Option<SourceLine>,
}
