//! The random programs' lines as the checker's commands.

use bugaroo_barriers::WarpPrograms;
use bugaroo_barriers::program::{
    Command, CommandAction, Completion, Count, GroupKind, SharedAccess, SharedAccessKind, SharedAddresses,
    SharedStrength, WrittenValues,
};

use super::What;

pub fn push_action(program: &mut WarpPrograms, warp: usize, lanes: u32, action: CommandAction<'_>) {
    let command = Command { lanes, origin: 0, action };
    program.warp_mut(warp as u32).push(&command).expect("a command");
}

pub fn push(program: &mut WarpPrograms, warp: usize, lanes: u32, what: What) {
    let action = match what {
        What::Access(kind, base, size, stride) => CommandAction::Access(SharedAccess {
            kind,
            size,
            strength: SharedStrength::Weak,
            addresses: SharedAddresses::Affine { base, stride },
            values: WrittenValues::Unknown,
            completion: Completion::Now,
        }),
        What::Sync(id, count) => CommandAction::Sync { id, count: Count::Threads(count) },
        What::Arrive(id, count) => CommandAction::Arrive { id, count: Count::Threads(count) },
        What::WarpSync(members) => CommandAction::WarpSync { members },
        What::WarpMeet(members) => CommandAction::WarpMeet { members },
        What::MbarrierArrive(mbarrier) => CommandAction::MbarrierArrive {
            address: 64 + 8 * mbarrier as u32,
            count: 1,
            expect_tx: 0,
            drop: false,
            relaxed: false,
        },
        What::MbarrierExpect(mbarrier, bytes, arrives) => CommandAction::MbarrierArrive {
            address: 64 + 8 * mbarrier as u32,
            count: u32::from(arrives),
            expect_tx: bytes,
            drop: false,
            relaxed: false,
        },
        What::GroupCopy(base, size) => CommandAction::Access(SharedAccess {
            kind: SharedAccessKind::Write,
            size,
            strength: SharedStrength::Weak,
            addresses: SharedAddresses::Affine { base, stride: 1 },
            values: WrittenValues::Unknown,
            completion: Completion::Group(GroupKind::CpAsync),
        }),
        What::Multiply(base, size) => CommandAction::Access(SharedAccess {
            kind: SharedAccessKind::Read,
            size,
            strength: SharedStrength::Weak,
            addresses: SharedAddresses::Affine { base, stride: 1 },
            values: WrittenValues::Unknown,
            completion: Completion::Group(GroupKind::Wgmma),
        }),
        What::CommitProducts => CommandAction::CommitGroup(GroupKind::Wgmma),
        What::WaitProducts(left) => CommandAction::WaitGroup(GroupKind::Wgmma, left),
        What::Commit => CommandAction::CommitGroup(GroupKind::CpAsync),
        What::WaitGroup(left) => CommandAction::WaitGroup(GroupKind::CpAsync, left),
        What::Copy(mbarrier, base, size) => CommandAction::Access(SharedAccess {
            kind: SharedAccessKind::Write,
            size,
            strength: SharedStrength::Weak,
            addresses: SharedAddresses::Affine { base, stride: 1 },
            values: WrittenValues::Unknown,
            completion: Completion::Mbarrier { address: 64 + 8 * mbarrier as u32 },
        }),
        What::MbarrierWait(mbarrier, parity) => {
            CommandAction::MbarrierWait { address: 64 + 8 * mbarrier as u32, parity, relaxed: false }
        }
    };
    push_action(program, warp, lanes, action);
}
