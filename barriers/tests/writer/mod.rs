//! Writes thread programs by hand, whole warps as a rule. The origin of each command is its number among all.
use bugaroo_barriers::program::{
    Command, CommandAction, Completion, Count, GroupKind, SharedAccess, SharedAccessKind, SharedAddresses,
    SharedStrength, WrittenValues,
};
use bugaroo_barriers::{BarrierReport, ProgramShape, WarpPrograms, check};

#[allow(unused_imports, reason = "each test file uses a part")]
pub use SharedAccessKind::{Atomic, Read, Write};

pub const ALL: u32 = u32::MAX;

pub struct Writer {
    pub program: WarpPrograms,
    pub next: u32,
}

impl Writer {
    pub fn warps(warps: u32) -> Writer {
        Writer::shape(ProgramShape { ctas: 1, threads: 32 * warps })
    }

    pub fn shape(shape: ProgramShape) -> Writer {
        Writer { program: WarpPrograms::new(shape).expect("a shape"), next: 0 }
    }

    /// Returns the origin.
    pub fn act(&mut self, warp: u32, lanes: u32, action: CommandAction<'_>) -> u32 {
        let origin = self.next;
        self.next += 1;
        let lanes = lanes & self.program.shape().lanes(warp);
        let command = Command { lanes, origin, action };
        self.program.warp_mut(warp).push(&command).expect("a command");
        origin
    }

    pub fn sync(&mut self, warp: u32, id: u32, threads: u32) -> u32 {
        let count = Count::Threads(threads);
        self.act(warp, ALL, CommandAction::Sync { id, count })
    }

    pub fn sync_all(&mut self, warp: u32) -> u32 {
        let count = Count::All;
        self.act(warp, ALL, CommandAction::Sync { id: 0, count })
    }

    pub fn arrive(&mut self, warp: u32, id: u32, threads: u32) -> u32 {
        let count = Count::Threads(threads);
        self.act(warp, ALL, CommandAction::Arrive { id, count })
    }

    /// Lane l at `base + 4 * l`.
    pub fn row(&mut self, warp: u32, kind: SharedAccessKind, base: u32) -> u32 {
        self.access(warp, ALL, kind, 4, base, 4, WrittenValues::Unknown)
    }

    /// One word.
    pub fn word(&mut self, warp: u32, lanes: u32, kind: SharedAccessKind, base: u32) -> u32 {
        self.access(warp, lanes, kind, 4, base, 0, WrittenValues::Unknown)
    }

    #[expect(clippy::too_many_arguments, reason = "all that an access is")]
    pub fn access(
        &mut self,
        warp: u32,
        lanes: u32,
        kind: SharedAccessKind,
        size: u32,
        base: u32,
        stride: i32,
        values: WrittenValues<'_>,
    ) -> u32 {
        let access = SharedAccess {
            kind,
            size,
            strength: SharedStrength::Weak,
            addresses: SharedAddresses::Affine { base, stride },
            values,
            completion: Completion::Now,
        };
        self.act(warp, lanes, CommandAction::Access(access))
    }

    /// A bulk copy by lane 0 that completes on an mbarrier.
    pub fn bulk_load(&mut self, warp: u32, base: u32, size: u32, address: u32) -> u32 {
        let completion = Completion::Mbarrier { address };
        self.copy(warp, 1, Write, base, size, completion)
    }

    pub fn copy(
        &mut self,
        warp: u32,
        lanes: u32,
        kind: SharedAccessKind,
        base: u32,
        size: u32,
        completion: Completion,
    ) -> u32 {
        let access = SharedAccess {
            kind,
            size,
            strength: SharedStrength::Weak,
            addresses: SharedAddresses::Affine { base, stride: size as i32 },
            values: WrittenValues::Unknown,
            completion,
        };
        self.act(warp, lanes, CommandAction::Access(access))
    }

    pub fn init(&mut self, warp: u32, address: u32, count: u32) -> u32 {
        self.act(warp, 1, CommandAction::MbarrierInit { address, count })
    }

    pub fn mbarrier_arrive(&mut self, warp: u32, lanes: u32, address: u32, expect_tx: u32) -> u32 {
        let action =
            CommandAction::MbarrierArrive { address, count: 1, expect_tx, drop: false, relaxed: false };
        self.act(warp, lanes, action)
    }

    pub fn wait(&mut self, warp: u32, address: u32, parity: u32) -> u32 {
        self.act(warp, ALL, CommandAction::MbarrierWait { address, parity, relaxed: false })
    }

    pub fn commit(&mut self, warp: u32, kind: GroupKind) -> u32 {
        self.act(warp, ALL, CommandAction::CommitGroup(kind))
    }

    pub fn wait_group(&mut self, warp: u32, kind: GroupKind, left: u32) -> u32 {
        self.act(warp, ALL, CommandAction::WaitGroup(kind, left))
    }

    pub fn check(&self) -> BarrierReport {
        check(&self.program)
    }
}
