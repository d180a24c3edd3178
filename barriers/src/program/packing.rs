//! Commands into 24 bytes each, and the way back.

use super::access::{
    Completion, GroupKind, SharedAccess, SharedAccessKind, SharedAddresses, SharedStrength, WrittenValues,
};
use super::command::{Command, CommandAction, Count, Fenced};
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
            CommandAction::Access(access) => self.pack_access(&access)?,
            CommandAction::Sync { id, count } => {
                pack(Opcode::Sync, 0, [id, self.checked_count(id, count)?, 0])
            }
            CommandAction::Arrive { id, count } => {
                if count == Count::All {
                    return Err(ProgramError::ArriveWithoutCount { id });
                }
                pack(Opcode::Arrive, 0, [id, self.checked_count(id, count)?, 0])
            }
            CommandAction::WarpSync { members } => pack(Opcode::WarpSync, 0, [members, 0, 0]),
            CommandAction::WarpMeet { members } => pack(Opcode::WarpSync, 1, [members, 0, 0]),
            CommandAction::Exit => pack(Opcode::Exit, 0, [0; 3]),
            CommandAction::ClusterArrive { relaxed } => {
                pack(Opcode::ClusterArrive, u32::from(relaxed), [0; 3])
            }
            CommandAction::ClusterWait => pack(Opcode::ClusterWait, 0, [0; 3]),
            CommandAction::MbarrierInit { address, count } => {
                if count == 0 || count >= 1 << 20 {
                    return Err(ProgramError::MbarrierCount(count));
                }
                pack(Opcode::MbarrierInit, 0, [address, count, 0])
            }
            CommandAction::MbarrierInval { address, last } => {
                pack(Opcode::MbarrierInval, u32::from(last), [address, 0, 0])
            }
            CommandAction::MbarrierArrive { address, count, expect_tx, drop, relaxed } => {
                let flags = if drop { DROP } else { 0 } | if relaxed { RELAXED } else { 0 };
                pack(Opcode::MbarrierArrive, flags, [address, count, expect_tx])
            }
            CommandAction::MbarrierCompleteTx { address, bytes } => {
                pack(Opcode::MbarrierCompleteTx, 0, [address, bytes, 0])
            }
            CommandAction::MbarrierWait { address, parity, relaxed } => {
                let flags = if relaxed { RELAXED } else { 0 };
                pack(Opcode::MbarrierWait, flags, [address, parity & 1, 0])
            }
            CommandAction::CommitGroup(kind) => pack(Opcode::CommitGroup, group_flag(kind), [0; 3]),
            CommandAction::WaitGroup(kind, left) => pack(Opcode::WaitGroup, group_flag(kind), [left, 0, 0]),
            CommandAction::CpAsyncArrive { address, noinc } => {
                pack(Opcode::CpAsyncArrive, u32::from(noinc), [address, 0, 0])
            }
            CommandAction::Fence(fenced) => pack(Opcode::Fence, fence_flag(fenced), [0; 3]),
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

    fn pack_access(&mut self, access: &SharedAccess<'_>) -> Result<Packed, ProgramError> {
        if access.size == 0 || access.size >= SIZE_LIMIT {
            return Err(ProgramError::AccessSize(access.size));
        }
        let mut flags = match access.kind {
            SharedAccessKind::Read => 0,
            SharedAccessKind::Write => 1,
            SharedAccessKind::Atomic => 2,
        };
        flags |= match access.strength {
            SharedStrength::Weak => 0,
            SharedStrength::Cta => STRONG_CTA,
            SharedStrength::Cluster => STRONG_CLUSTER,
        };
        let (a, b) = match access.addresses {
            SharedAddresses::Affine { base, stride } => (base, stride as u32),
            SharedAddresses::Each(all) => {
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
            (Completion::Now, WrittenValues::Unknown) => 0,
            (Completion::Now, WrittenValues::Same(value)) => {
                flags |= SAME_VALUE;
                self.values.push(value);
                self.values.len() as u32 - 1
            }
            (Completion::Now, WrittenValues::Each(values)) => {
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
    pub(crate) fn addresses_of(&self, packed: &Packed) -> SharedAddresses<'_> {
        if packed.has_each_address() {
            SharedAddresses::Each(&self.addresses[packed.a as usize])
        } else {
            SharedAddresses::Affine { base: packed.a, stride: packed.b as i32 }
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
            Opcode::Access => CommandAction::Access(SharedAccess {
                kind: packed.kind(),
                size: packed.size(),
                strength: packed.strength(),
                addresses: self.addresses_of(packed),
                values: WrittenValues::Unknown,
                completion: packed.completion(),
            }),
            Opcode::Sync => CommandAction::Sync { id: a, count: packed.count() },
            Opcode::Arrive => CommandAction::Arrive { id: a, count: packed.count() },
            Opcode::WarpSync if packed.flag() => CommandAction::WarpMeet { members: a },
            Opcode::WarpSync => CommandAction::WarpSync { members: a },
            Opcode::Exit => CommandAction::Exit,
            Opcode::ClusterArrive => CommandAction::ClusterArrive { relaxed: packed.flag() },
            Opcode::ClusterWait => CommandAction::ClusterWait,
            Opcode::MbarrierInit => CommandAction::MbarrierInit { address: a, count: b },
            Opcode::MbarrierInval => CommandAction::MbarrierInval { address: a, last: packed.flag() },
            Opcode::MbarrierArrive => {
                let (drop, relaxed) = (packed.drops(), packed.is_relaxed());
                CommandAction::MbarrierArrive { address: a, count: b, expect_tx: c, drop, relaxed }
            }
            Opcode::MbarrierCompleteTx => CommandAction::MbarrierCompleteTx { address: a, bytes: b },
            Opcode::MbarrierWait => {
                CommandAction::MbarrierWait { address: a, parity: b, relaxed: packed.is_relaxed() }
            }
            Opcode::CommitGroup => CommandAction::CommitGroup(packed.group()),
            Opcode::WaitGroup => CommandAction::WaitGroup(packed.group(), a),
            Opcode::CpAsyncArrive => CommandAction::CpAsyncArrive { address: a, noinc: packed.flag() },
            Opcode::Fence => CommandAction::Fence(packed.fenced()),
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
