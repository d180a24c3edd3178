//! A command in 24 bytes, and the way there and back.

use super::{
    Access, AccessKind, Action, Addresses, Command, Completion, Count, Fenced, GroupKind, LANES, MAX_THREADS,
    NAMED_BARRIERS, ProgramError, Strength, Values, WarpProgram,
};

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
    /// `a`: members.
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
const OPCODE_BITS: u32 = 5;
/// The access happens or not: `c` is the number of the condition.
const POSSIBLE: u32 = 1 << 4;
const FLAG_BITS: u32 = 9;
const SIZE_SHIFT: u32 = OPCODE_BITS + FLAG_BITS;
const SIZE_LIMIT: u32 = 1 << (32 - SIZE_SHIFT);

// Flags of arrivals and waits at mbarriers.
const DROP: u32 = 1;
const RELAXED: u32 = 1 << 1;

// An access's flags.
const KIND: u32 = 0b11;
const EACH_ADDRESS: u32 = 1 << 2;
const VALUES: u32 = 0b11 << 3;
const SAME_VALUE: u32 = 1 << 3;
const EACH_VALUE: u32 = 2 << 3;
const COMPLETION: u32 = 0b11 << 5;
const CP_ASYNC: u32 = 1 << 5;
const BULK: u32 = 2 << 5;
const MBARRIER: u32 = 3 << 5;
// Only what is over at once has values: their bits tell these from the two above.
const WGMMA: u32 = CP_ASYNC | SAME_VALUE;
const STORE: u32 = MBARRIER | SAME_VALUE;
const STRENGTH: u32 = 0b11 << 7;
const STRONG_CTA: u32 = 1 << 7;
const STRONG_CLUSTER: u32 = 2 << 7;

/// A command as it is stored.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(crate) struct Packed {
    head: u32,
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
    fn flags(&self) -> u32 {
        self.head >> OPCODE_BITS & ((1 << FLAG_BITS) - 1)
    }
    pub(crate) fn size(&self) -> u32 {
        self.head >> SIZE_SHIFT
    }
    pub(crate) fn kind(&self) -> AccessKind {
        match self.flags() & KIND {
            0 => AccessKind::Read,
            1 => AccessKind::Write,
            _ => AccessKind::Atomic,
        }
    }
    pub(crate) fn strength(&self) -> Strength {
        match self.flags() & STRENGTH {
            STRONG_CTA => Strength::Cta,
            STRONG_CLUSTER => Strength::Cluster,
            _ => Strength::Weak,
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

fn pack(opcode: Opcode, flags: u32, [a, b, c]: [u32; 3]) -> Packed {
    Packed { head: opcode as u32 | flags << OPCODE_BITS, lanes: 0, origin: 0, a, b, c }
}

impl WarpProgram {
    /// Appends a command.
    pub fn push(&mut self, command: &Command<'_>) -> Result<(), ProgramError> {
        if command.lanes & !self.lanes != 0 {
            return Err(ProgramError::Lanes { warp: self.warp, lanes: command.lanes & !self.lanes });
        }
        if command.lanes == 0 {
            return Ok(());
        }
        if self.commands.len() >= u32::MAX as usize {
            return Err(ProgramError::TooLong(self.warp));
        }
        let mut packed = match command.action {
            Action::Access(access) => self.pack_access(&access)?,
            Action::Sync { id, count } => pack(Opcode::Sync, 0, [id, self.checked_count(id, count)?, 0]),
            Action::Arrive { id, count } => {
                if count == Count::All {
                    return Err(ProgramError::ArriveWithoutCount { id });
                }
                pack(Opcode::Arrive, 0, [id, self.checked_count(id, count)?, 0])
            }
            Action::WarpSync { members } => pack(Opcode::WarpSync, 0, [members, 0, 0]),
            Action::Exit => pack(Opcode::Exit, 0, [0; 3]),
            Action::ClusterArrive { relaxed } => pack(Opcode::ClusterArrive, u32::from(relaxed), [0; 3]),
            Action::ClusterWait => pack(Opcode::ClusterWait, 0, [0; 3]),
            Action::MbarrierInit { address, count } => {
                if count == 0 || count >= 1 << 20 {
                    return Err(ProgramError::MbarrierCount(count));
                }
                pack(Opcode::MbarrierInit, 0, [address, count, 0])
            }
            Action::MbarrierInval { address, last } => {
                pack(Opcode::MbarrierInval, u32::from(last), [address, 0, 0])
            }
            Action::MbarrierArrive { address, count, expect_tx, drop, relaxed } => {
                let flags = if drop { DROP } else { 0 } | if relaxed { RELAXED } else { 0 };
                pack(Opcode::MbarrierArrive, flags, [address, count, expect_tx])
            }
            Action::MbarrierCompleteTx { address, bytes } => {
                pack(Opcode::MbarrierCompleteTx, 0, [address, bytes, 0])
            }
            Action::MbarrierWait { address, parity, relaxed } => {
                let flags = if relaxed { RELAXED } else { 0 };
                pack(Opcode::MbarrierWait, flags, [address, parity & 1, 0])
            }
            Action::CommitGroup(kind) => pack(Opcode::CommitGroup, group_flag(kind), [0; 3]),
            Action::WaitGroup(kind, left) => pack(Opcode::WaitGroup, group_flag(kind), [left, 0, 0]),
            Action::CpAsyncArrive { address, noinc } => {
                pack(Opcode::CpAsyncArrive, u32::from(noinc), [address, 0, 0])
            }
            Action::Fence(fenced) => pack(Opcode::Fence, fence_flag(fenced), [0; 3]),
        };
        packed.lanes = command.lanes;
        packed.origin = command.origin;
        self.commands.push(packed);
        Ok(())
    }

    fn checked_count(&self, id: u32, count: Count) -> Result<u32, ProgramError> {
        if id >= NAMED_BARRIERS {
            return Err(ProgramError::BarrierId { id });
        }
        match count {
            Count::All => Ok(0),
            Count::Threads(count) => {
                let granule = if self.ptx_counts { LANES } else { 1 };
                if count == 0 || count > MAX_THREADS || !count.is_multiple_of(granule) {
                    return Err(ProgramError::ThreadCount { id, count });
                }
                Ok(count)
            }
        }
    }

    fn pack_access(&mut self, access: &Access<'_>) -> Result<Packed, ProgramError> {
        if access.size == 0 || access.size >= SIZE_LIMIT {
            return Err(ProgramError::AccessSize(access.size));
        }
        let mut flags = match access.kind {
            AccessKind::Read => 0,
            AccessKind::Write => 1,
            AccessKind::Atomic => 2,
        };
        flags |= match access.strength {
            Strength::Weak => 0,
            Strength::Cta => STRONG_CTA,
            Strength::Cluster => STRONG_CLUSTER,
        };
        let (a, b) = match access.addresses {
            Addresses::Affine { base, stride } => (base, stride as u32),
            Addresses::Each(all) => {
                flags |= EACH_ADDRESS;
                self.addresses.push(*all);
                (self.addresses.len() as u32 - 1, 0)
            }
        };
        let c = match (access.completion, access.values) {
            (Completion::Mbarrier { address }, _) => {
                flags |= MBARRIER;
                address
            }
            (Completion::Store { address }, _) => {
                flags |= STORE;
                address
            }
            (Completion::Group(kind), _) => {
                flags |= match kind {
                    GroupKind::CpAsync => CP_ASYNC,
                    GroupKind::Bulk => BULK,
                    GroupKind::Wgmma => WGMMA,
                };
                0
            }
            (Completion::Now, Values::Unknown) => 0,
            (Completion::Now, Values::Same(value)) => {
                flags |= SAME_VALUE;
                self.values.push(value);
                self.values.len() as u32 - 1
            }
            (Completion::Now, Values::Each(values)) => {
                flags |= EACH_VALUE;
                let index = self.values.len() as u32;
                let known = (0..LANES).filter(|&l| values[l as usize].is_some());
                self.values.push(known.map(|l| 1 << l).sum());
                self.values.extend(values.iter().map(|v| v.unwrap_or(0)));
                index
            }
        };
        let mut packed = pack(Opcode::Access, flags, [a, b, c]);
        packed.head |= access.size << SIZE_SHIFT;
        Ok(packed)
    }

    pub(crate) fn packed(&self) -> &[Packed] {
        &self.commands
    }

    /// The addresses of an access.
    pub(crate) fn addresses_of(&self, packed: &Packed) -> Addresses<'_> {
        if packed.has_each_address() {
            Addresses::Each(&self.addresses[packed.a as usize])
        } else {
            Addresses::Affine { base: packed.a, stride: packed.b as i32 }
        }
    }

    /// What a lane is known to write, if anything is.
    pub(crate) fn value_of(&self, packed: &Packed, lane: u32) -> Option<u64> {
        let index = packed.c as usize;
        if packed.completion() != Completion::Now {
            return None;
        }
        match packed.flags() & VALUES {
            SAME_VALUE => Some(self.values[index]),
            EACH_VALUE => {
                (self.values[index] >> lane & 1 != 0).then(|| self.values[index + 1 + lane as usize])
            }
            _ => None,
        }
    }

    /// A command without its values (these are asked for lane by lane: [`WarpProgram::known_value`]).
    pub fn command(&self, index: usize) -> Command<'_> {
        let packed = &self.commands[index];
        let [a, b, c] = [packed.a, packed.b, packed.c];
        let action = match packed.opcode() {
            Opcode::Access => Action::Access(Access {
                kind: packed.kind(),
                size: packed.size(),
                strength: packed.strength(),
                addresses: self.addresses_of(packed),
                values: Values::Unknown,
                completion: packed.completion(),
            }),
            Opcode::Sync => Action::Sync { id: a, count: packed.count() },
            Opcode::Arrive => Action::Arrive { id: a, count: packed.count() },
            Opcode::WarpSync => Action::WarpSync { members: a },
            Opcode::Exit => Action::Exit,
            Opcode::ClusterArrive => Action::ClusterArrive { relaxed: packed.flag() },
            Opcode::ClusterWait => Action::ClusterWait,
            Opcode::MbarrierInit => Action::MbarrierInit { address: a, count: b },
            Opcode::MbarrierInval => Action::MbarrierInval { address: a, last: packed.flag() },
            Opcode::MbarrierArrive => {
                let (drop, relaxed) = (packed.drops(), packed.is_relaxed());
                Action::MbarrierArrive { address: a, count: b, expect_tx: c, drop, relaxed }
            }
            Opcode::MbarrierCompleteTx => Action::MbarrierCompleteTx { address: a, bytes: b },
            Opcode::MbarrierWait => {
                Action::MbarrierWait { address: a, parity: b, relaxed: packed.is_relaxed() }
            }
            Opcode::CommitGroup => Action::CommitGroup(packed.group()),
            Opcode::WaitGroup => Action::WaitGroup(packed.group(), a),
            Opcode::CpAsyncArrive => Action::CpAsyncArrive { address: a, noinc: packed.flag() },
            Opcode::Fence => Action::Fence(packed.fenced()),
        };
        Command { lanes: packed.lanes, origin: packed.origin, action }
    }

    /// What a lane of an access is known to write, if anything is.
    pub fn known_value(&self, index: usize, lane: u32) -> Option<u64> {
        let packed = &self.commands[index];
        (packed.opcode() == Opcode::Access).then(|| self.value_of(packed, lane)).flatten()
    }
}

fn fence_flag(fenced: Fenced) -> u32 {
    match fenced {
        Fenced::Proxy => 0,
        Fenced::Inits => 1,
        Fenced::Memory => 2,
    }
}

fn group_flag(kind: GroupKind) -> u32 {
    match kind {
        GroupKind::CpAsync => 0,
        GroupKind::Bulk => 1,
        GroupKind::Wgmma => 2,
    }
}
