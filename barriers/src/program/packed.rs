//! A command in 24 bytes, and the way there and back.

use super::access::{Completion, GroupKind, SharedAccessKind, SharedStrength};
use super::command::{Count, Fenced};

/// What a command does; how `a`, `b` and `c` are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Opcode {
    /// `a`: lane 0's address or an index into the list; `b`: stride; `c`: the mbarrier or an index into the values.
    Access,
    /// `a`: id; `b`: threads, 0 for all.
    Sync,
    /// As `Sync`.
    Arrive,
    /// `a`: members. Flag: it orders time and no memory.
    WarpSync,
    Exit,
    /// Flag: relaxed.
    ClusterArrive,
    ClusterWait,
    /// `a`: address; `b`: count.
    MbarrierInit,
    /// `a`: address. Flag: by the last to come.
    MbarrierInval,
    /// `a`: address; `b`: count; `c`: expect_tx. Flags: drop, relaxed.
    MbarrierArrive,
    /// `a`: address; `b`: bytes.
    MbarrierCompleteTx,
    /// `a`: address; `b`: parity. Flags: relaxed.
    MbarrierWait,
    /// Flags: kind of group.
    CommitGroup,
    /// `a`: groups left. Flags: kind of group.
    WaitGroup,
    /// `a`: address. Flag: noinc.
    CpAsyncArrive,
    /// Flags: what it is for.
    Fence,
}

const OPCODES: [Opcode; 16] = [
    Opcode::Access,
    Opcode::Sync,
    Opcode::Arrive,
    Opcode::WarpSync,
    Opcode::Exit,
    Opcode::ClusterArrive,
    Opcode::ClusterWait,
    Opcode::MbarrierInit,
    Opcode::MbarrierInval,
    Opcode::MbarrierArrive,
    Opcode::MbarrierCompleteTx,
    Opcode::MbarrierWait,
    Opcode::CommitGroup,
    Opcode::WaitGroup,
    Opcode::CpAsyncArrive,
    Opcode::Fence,
];

// The head's bits: opcode, flags, size.
pub(super) const OPCODE_BITS: u32 = 5;
/// The access happens or not: `c` is the number of the condition.
pub(super) const POSSIBLE: u32 = 1 << 4;
pub(super) const FLAG_BITS: u32 = 9;
pub(super) const SIZE_SHIFT: u32 = OPCODE_BITS + FLAG_BITS;
pub(super) const SIZE_LIMIT: u32 = 1 << (32 - SIZE_SHIFT);

// Flags of arrivals and waits at mbarriers.
pub(super) const DROP: u32 = 1;
pub(super) const RELAXED: u32 = 1 << 1;

// An access's flags.
pub(super) const KIND: u32 = 0b11;
pub(super) const EACH_ADDRESS: u32 = 1 << 2;
pub(super) const VALUES: u32 = 0b11 << 3;
pub(super) const SAME_VALUE: u32 = 1 << 3;
pub(super) const EACH_VALUE: u32 = 2 << 3;
pub(super) const COMPLETION: u32 = 0b11 << 5;
pub(super) const CP_ASYNC: u32 = 1 << 5;
pub(super) const BULK: u32 = 2 << 5;
pub(super) const MBARRIER: u32 = 3 << 5;
// Only what is over at once has values: their bits tell these from the two above.
pub(super) const WGMMA: u32 = CP_ASYNC | SAME_VALUE;
pub(super) const STORE: u32 = MBARRIER | SAME_VALUE;
pub(super) const STRENGTH: u32 = 0b11 << 7;
pub(super) const STRONG_CTA: u32 = 1 << 7;
pub(super) const STRONG_CLUSTER: u32 = 2 << 7;

/// A command as it is stored.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(crate) struct Packed {
    pub(super) head: u32,
    pub lanes: u32,
    pub origin: u32,
    pub a: u32,
    pub b: u32,
    pub c: u32,
}

impl Packed {
    pub(crate) fn opcode(&self) -> Opcode {
        OPCODES[(self.head & 0b1111) as usize]
    }
    /// Whether opcode and flags are the same, and an access's size.
    pub(super) fn has_same_head(&self, other: &Packed) -> bool {
        self.head == other.head
    }
    pub(super) fn flags(&self) -> u32 {
        self.head >> OPCODE_BITS & ((1 << FLAG_BITS) - 1)
    }
    pub(crate) fn size(&self) -> u32 {
        self.head >> SIZE_SHIFT
    }
    pub(crate) fn kind(&self) -> SharedAccessKind {
        match self.flags() & KIND {
            0 => SharedAccessKind::Read,
            1 => SharedAccessKind::Write,
            _ => SharedAccessKind::Atomic,
        }
    }
    pub(crate) fn strength(&self) -> SharedStrength {
        match self.flags() & STRENGTH {
            STRONG_CTA => SharedStrength::Cta,
            STRONG_CLUSTER => SharedStrength::Cluster,
            _ => SharedStrength::Weak,
        }
    }
    pub(crate) fn has_each_address(&self) -> bool {
        self.flags() & EACH_ADDRESS != 0
    }
    pub(crate) fn completion(&self) -> Completion {
        match self.flags() & COMPLETION {
            CP_ASYNC if self.flags() & VALUES != 0 => Completion::Group(GroupKind::Wgmma),
            CP_ASYNC => Completion::Group(GroupKind::CpAsync),
            BULK => Completion::Group(GroupKind::Bulk),
            MBARRIER if self.flags() & VALUES != 0 => Completion::Store { address: self.c },
            MBARRIER => Completion::Mbarrier { address: self.c },
            _ => Completion::Now,
        }
    }
    /// The number of the condition under which an access happens.
    pub(crate) fn condition(&self) -> Option<u32> {
        (self.head & POSSIBLE != 0).then_some(self.c)
    }
    /// An access of a thread's own, or of a group, happens under this condition.
    pub(super) fn make_possible(&mut self, condition: u32) {
        debug_assert!(
            matches!(self.completion(), Completion::Now | Completion::Group(GroupKind::CpAsync)),
            "others are refused where it is not known whether they happen"
        );
        self.head = self.head & !(VALUES << OPCODE_BITS) | POSSIBLE;
        self.c = condition;
    }
    /// The flag of the commands that are no accesses and have one.
    pub(crate) fn flag(&self) -> bool {
        self.flags() != 0
    }
    /// A barrier of a warp that orders time and no memory.
    pub(crate) fn is_meeting(&self) -> bool {
        self.opcode() == Opcode::WarpSync && self.flag()
    }
    /// Of an arrival at an mbarrier: whether it lowers the count of the phases to come.
    pub(crate) fn drops(&self) -> bool {
        self.flags() & DROP != 0
    }
    /// Of an arrival or a wait at an mbarrier: whether it orders no memory.
    pub(crate) fn is_relaxed(&self) -> bool {
        self.flags() & RELAXED != 0
    }
    /// What a fence is for.
    pub(crate) fn fenced(&self) -> Fenced {
        match self.flags() {
            0 => Fenced::Proxy,
            1 => Fenced::Inits,
            _ => Fenced::Memory,
        }
    }
    pub(crate) fn group(&self) -> GroupKind {
        match self.flags() {
            0 => GroupKind::CpAsync,
            1 => GroupKind::Bulk,
            _ => GroupKind::Wgmma,
        }
    }
    pub(crate) fn count(&self) -> Count {
        match self.b {
            0 => Count::All,
            n => Count::Threads(n),
        }
    }
}
