//! Accesses of shared memory: where the lanes go, what they write, and when it is over.

use serde::Serialize;

/// What an access does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SharedAccessKind {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Reads and writes at once; two atomics are taken for no race, whatever their scopes and sizes.
    Atomic,
}

/// Where the lanes of an access go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SharedAddresses<'a> {
    /// Lane `l` at `base + l * stride` (lane 0's place also where lane 0 is off). Stride 0: all at one.
    Affine {
        /// Lane 0's address.
        base: u32,
        /// From lane to lane, bytes.
        stride: i32,
    },
    /// One for each lane of 32; those of lanes that are off are not read.
    Each(&'a [u32; 32]),
}

impl SharedAddresses<'_> {
    /// Where a lane goes.
    pub fn lane(&self, lane: u32) -> u32 {
        match self {
            SharedAddresses::Affine { base, stride } => {
                base.wrapping_add((*stride as u32).wrapping_mul(lane))
            }
            SharedAddresses::Each(all) => all[lane as usize],
        }
    }
}

/// What a write is known to write. Equal numbers must mean equal bits, whatever the inputs: the bits themselves, or the number
/// of a symbolic value; the emulator keeps the two apart (for instance by the highest bit).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WrittenValues<'a> {
    /// Nothing is known.
    Unknown,
    /// All lanes write the same.
    Same(u64),
    /// One for each lane; `None` where nothing is known.
    Each(&'a [Option<u64>; 32]),
}

/// Whether an access is strong (PTX ISA, "Memory Consistency Model"), and among whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum SharedStrength {
    /// It is weak.
    Weak,
    /// Strong, of CTA scope.
    Cta,
    /// Strong, of cluster scope or a wider one.
    Cluster,
}

/// When an access is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Completion {
    /// At once: loads, stores, atomics.
    Now,
    /// With the group of its thread that is committed next.
    Group(GroupKind),
    /// With the phase of this mbarrier into which its bytes are counted.
    Mbarrier {
        /// The mbarrier's shared address.
        address: u32,
    },
    /// As [`Completion::Mbarrier`], and no access of the asynchronous proxy: `st.async`, `red.async`.
    Store {
        /// The mbarrier's shared address.
        address: u32,
    },
}

impl Completion {
    /// The mbarrier into whose phase it counts.
    pub fn mbarrier(self) -> Option<u32> {
        match self {
            Completion::Mbarrier { address } | Completion::Store { address } => Some(address),
            Completion::Now | Completion::Group(_) => None,
        }
    }
}

/// The kinds of groups of asynchronous copies and reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum GroupKind {
    /// `cp.async`.
    CpAsync,
    /// `cp.async.bulk`.
    Bulk,
    /// `wgmma`: groups of a warpgroup, of which each warp commits its part.
    Wgmma,
}

/// An access to shared memory by the lanes of a warp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharedAccess<'a> {
    /// What it does.
    pub kind: SharedAccessKind,
    /// Bytes of each lane: a vector's all; a bulk copy's all.
    pub size: u32,
    /// Whether it is strong. Strong accesses of vectors are one for each element.
    pub strength: SharedStrength,
    /// Where.
    pub addresses: SharedAddresses<'a>,
    /// What is written.
    pub values: WrittenValues<'a>,
    /// When it is over.
    pub completion: Completion,
}
