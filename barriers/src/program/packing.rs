//! Commands into 24 bytes each, and the way back.

use super::access::{Access, AccessKind, Addresses, Completion, GroupKind, Strength, Values};
use super::command::{Action, Command, Count, Fenced};
use super::error::ProgramError;
use super::packed::{
    BULK, CP_ASYNC, DROP, EACH_ADDRESS, EACH_VALUE, MBARRIER, OPCODE_BITS, Opcode, Packed, RELAXED,
    SAME_VALUE, SIZE_LIMIT, SIZE_SHIFT, STORE, STRONG_CLUSTER, STRONG_CTA, VALUES, WGMMA,
};
use super::programs::WarpProgram;
use super::shape::{LANES, MAX_THREADS, NAMED_BARRIERS};

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
            Action::WarpMeet { members } => pack(Opcode::WarpSync, 1, [members, 0, 0]),
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
            Opcode::WarpSync if packed.flag() => Action::WarpMeet { members: a },
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
