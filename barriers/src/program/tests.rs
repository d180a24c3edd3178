use super::*;

const SHAPE: ProgramShape = ProgramShape { ctas: 1, threads: 40 };

fn push(
    program: &mut WarpPrograms,
    warp: u32,
    lanes: u32,
    action: CommandAction<'_>,
) -> Result<(), ProgramError> {
    program.warp_mut(warp).push(&Command { lanes, origin: 7, action })
}

#[test]
fn what_is_written_is_read_back() {
    let mut addresses = [0; 32];
    addresses[3] = 100;
    let access = |completion| {
        CommandAction::Access(SharedAccess {
            kind: SharedAccessKind::Write,
            size: 16,
            strength: SharedStrength::Weak,
            addresses: SharedAddresses::Affine { base: 64, stride: -4 },
            values: WrittenValues::Unknown,
            completion,
        })
    };
    let actions = [
        access(Completion::Now),
        access(Completion::Group(GroupKind::CpAsync)),
        access(Completion::Group(GroupKind::Bulk)),
        access(Completion::Group(GroupKind::Wgmma)),
        access(Completion::Mbarrier { address: 8 }),
        access(Completion::Store { address: 8 }),
        CommandAction::Access(SharedAccess {
            kind: SharedAccessKind::Atomic,
            size: 4,
            strength: SharedStrength::Weak,
            addresses: SharedAddresses::Each(&addresses),
            values: WrittenValues::Unknown,
            completion: Completion::Now,
        }),
        CommandAction::Sync { id: 15, count: Count::All },
        CommandAction::Arrive { id: 1, count: Count::Threads(1024) },
        CommandAction::WarpSync { members: 3 },
        CommandAction::WarpMeet { members: 3 },
        CommandAction::ClusterArrive { relaxed: false },
        CommandAction::ClusterArrive { relaxed: true },
        CommandAction::ClusterWait,
        CommandAction::MbarrierInit { address: 8, count: 3 },
        CommandAction::MbarrierInval { address: 8, last: true },
        CommandAction::MbarrierArrive { address: 8, count: 1, expect_tx: 512, drop: true, relaxed: false },
        CommandAction::MbarrierCompleteTx { address: 8, bytes: 512 },
        CommandAction::MbarrierWait { address: 8, parity: 1, relaxed: false },
        CommandAction::CommitGroup(GroupKind::CpAsync),
        CommandAction::WaitGroup(GroupKind::Bulk, 2),
        CommandAction::CommitGroup(GroupKind::Wgmma),
        CommandAction::WaitGroup(GroupKind::Wgmma, 1),
        CommandAction::CpAsyncArrive { address: 8, noinc: true },
        CommandAction::Fence(Fenced::Proxy),
        CommandAction::Fence(Fenced::Inits),
        CommandAction::Fence(Fenced::Memory),
        CommandAction::MbarrierArrive { address: 8, count: 1, expect_tx: 0, drop: true, relaxed: true },
        CommandAction::MbarrierArrive { address: 8, count: 1, expect_tx: 0, drop: false, relaxed: true },
        CommandAction::MbarrierWait { address: 8, parity: 0, relaxed: true },
        CommandAction::Exit,
    ];
    let mut program = WarpPrograms::new(SHAPE).unwrap();
    for action in actions {
        push(&mut program, 1, 0b1000, action).unwrap();
    }
    let warp = &program.warps()[1];
    for (index, action) in actions.iter().enumerate() {
        let command = warp.command(index);
        assert_eq!((command.lanes, command.origin), (0b1000, 7));
        assert_eq!(command.action, *action);
    }
    // Neither the exit nor the exchange is one.
    assert_eq!(program.thread_commands(), actions.len() as u64 - 2);
}

#[test]
fn known_values_are_kept_by_lane() {
    let mut each = [None; 32];
    each[2] = Some(5);
    let mut program = WarpPrograms::new(SHAPE).unwrap();
    for values in [WrittenValues::Each(&each), WrittenValues::Same(6), WrittenValues::Unknown] {
        let access = SharedAccess {
            kind: SharedAccessKind::Write,
            size: 4,
            strength: SharedStrength::Weak,
            addresses: SharedAddresses::Affine { base: 0, stride: 0 },
            values,
            completion: Completion::Now,
        };
        push(&mut program, 0, 0b110, CommandAction::Access(access)).unwrap();
    }
    let warp = &program.warps()[0];
    assert_eq!([1, 2].map(|l| warp.known_value(0, l)), [None, Some(5)]);
    assert_eq!([1, 2].map(|l| warp.known_value(1, l)), [Some(6), Some(6)]);
    assert_eq!(warp.known_value(2, 1), None);
}

#[test]
fn what_ptx_forbids_is_an_error() {
    assert_eq!(WarpPrograms::new(ProgramShape { ctas: 1, threads: 0 }).unwrap_err(), ProgramError::NoThreads);
    assert_eq!(
        WarpPrograms::new(ProgramShape { ctas: 1, threads: 1025 }).unwrap_err(),
        ProgramError::TooManyThreads(1025)
    );
    let mut program = WarpPrograms::new(SHAPE).unwrap();
    for count in [0, 33, 4096] {
        let sync = CommandAction::Sync { id: 2, count: Count::Threads(count) };
        assert_eq!(push(&mut program, 0, 1, sync), Err(ProgramError::ThreadCount { id: 2, count }));
    }
    let sync = CommandAction::Sync { id: 16, count: Count::All };
    assert_eq!(push(&mut program, 0, 1, sync), Err(ProgramError::BarrierId { id: 16 }));
    assert_eq!(
        push(&mut program, 1, 0x100, CommandAction::Exit),
        Err(ProgramError::Lanes { warp: 1, lanes: 0x100 })
    );
    assert_eq!(program.warps().iter().map(WarpProgram::len).sum::<usize>(), 0);
}
