//! The random programs' lines as the checker's commands.

use bugaroo_barriers::Program;
use bugaroo_barriers::program::{
    Access, AccessKind, Action, Addresses, Command, Completion, Count, GroupKind, Strength, Values,
};

use super::What;

pub fn push_action(program: &mut Program, warp: usize, lanes: u32, action: Action<'_>) {
    let command = Command { lanes, origin: 0, action };
    program.warp_mut(warp as u32).push(&command).expect("a command");
}

pub fn push(program: &mut Program, warp: usize, lanes: u32, what: What) {
    let action = match what {
        What::Access(kind, base, size, stride) => Action::Access(Access {
            kind,
            size,
            strength: Strength::Weak,
            addresses: Addresses::Affine { base, stride },
            values: Values::Unknown,
            completion: Completion::Now,
        }),
        What::Sync(id, count) => Action::Sync { id, count: Count::Threads(count) },
        What::Arrive(id, count) => Action::Arrive { id, count: Count::Threads(count) },
        What::WarpSync(members) => Action::WarpSync { members },
        What::WarpMeet(members) => Action::WarpMeet { members },
        What::MbarrierArrive(mbarrier) => Action::MbarrierArrive {
            address: 64 + 8 * mbarrier as u32,
            count: 1,
            expect_tx: 0,
            drop: false,
            relaxed: false,
        },
        What::MbarrierExpect(mbarrier, bytes, arrives) => Action::MbarrierArrive {
            address: 64 + 8 * mbarrier as u32,
            count: u32::from(arrives),
            expect_tx: bytes,
            drop: false,
            relaxed: false,
        },
        What::GroupCopy(base, size) => Action::Access(Access {
            kind: AccessKind::Write,
            size,
            strength: Strength::Weak,
            addresses: Addresses::Affine { base, stride: 1 },
            values: Values::Unknown,
            completion: Completion::Group(GroupKind::CpAsync),
        }),
        What::Multiply(base, size) => Action::Access(Access {
            kind: AccessKind::Read,
            size,
            strength: Strength::Weak,
            addresses: Addresses::Affine { base, stride: 1 },
            values: Values::Unknown,
            completion: Completion::Group(GroupKind::Wgmma),
        }),
        What::CommitProducts => Action::CommitGroup(GroupKind::Wgmma),
        What::WaitProducts(left) => Action::WaitGroup(GroupKind::Wgmma, left),
        What::Commit => Action::CommitGroup(GroupKind::CpAsync),
        What::WaitGroup(left) => Action::WaitGroup(GroupKind::CpAsync, left),
        What::Copy(mbarrier, base, size) => Action::Access(Access {
            kind: AccessKind::Write,
            size,
            strength: Strength::Weak,
            addresses: Addresses::Affine { base, stride: 1 },
            values: Values::Unknown,
            completion: Completion::Mbarrier { address: 64 + 8 * mbarrier as u32 },
        }),
        What::MbarrierWait(mbarrier, parity) => {
            Action::MbarrierWait { address: 64 + 8 * mbarrier as u32, parity, relaxed: false }
        }
    };
    push_action(program, warp, lanes, action);
}
