//! What model `ptx` keeps: locations are told apart by block, nothing that somebody can still read is forgotten however
//! much is written, and where memory runs short that is counted.

use crate::injected::{Injection, Prepared, Work, run, run_original, under_ptx, words};
use bugaroo_device_handlers::HandlerModel;
use bugaroo_ptx::op::FenceKind;
use bugaroo_simulator::model::ptx::{
    Chances, GranuleSpan, Loaded, Location, PlainMemory, PtxMachine, Scope, Strength, ThreadKey,
};

/// Memory that is there as far as it is written to.
#[derive(Default)]
struct Words(Vec<u32>);

impl PlainMemory for Words {
    fn read(&mut self, location: Location) -> u32 {
        self.0.get(location.offset as usize / 4).copied().unwrap_or(0)
    }

    fn write(&mut self, location: Location, value: u32, mask: u32) {
        let at = location.offset as usize / 4;
        if self.0.len() <= at {
            self.0.resize(at + 1, 0);
        }
        self.0[at] = self.0[at] & !mask | value & mask;
    }
}

fn word(index: u64) -> GranuleSpan {
    GranuleSpan::new(Location::global(index * 4), 0, 4)
}

const RELAXED: (Strength, bool) = (Strength::Strong(Scope::Gpu), false);
const WEAK: (Strength, bool) = (Strength::Weak, false);

/// What came of one run of message passing.
struct Passed {
    stale: bool,
    bytes: usize,
    forgotten: u64,
}

/// Message passing without an acquire: has the reader, which has seen the flag and then writes so many words of its own,
/// missed the data?
fn message(own: u64, seed: u64, budget: u64) -> Passed {
    let mut machine = PtxMachine::new(2, Chances::new(0.0, 0.5), seed, budget);
    let mut memory = Words::default();
    machine.start(0, ThreadKey::new(0, 0));
    machine.start(1, ThreadKey::new(1, 0));
    machine.store(&mut memory, 0, word(0), [1, 0, 0, 0], WEAK, 1);
    machine.fence(&mut memory, 0, Scope::Gpu, FenceKind::AcqRel);
    machine.store(&mut memory, 0, word(64), [1, 0, 0, 0], RELAXED, 2);
    let read = |machine: &mut PtxMachine, memory: &mut Words, at, strength| match machine.load(
        memory,
        1,
        word(at),
        strength,
        3,
        None,
    ) {
        Loaded::Now(value) => value[0],
        Loaded::Late => unreachable!("no token was given"),
    };
    while read(&mut machine, &mut memory, 64, RELAXED) == 0 {}
    for index in 0..own {
        machine.store(&mut memory, 1, word(1024 + index), [7, 0, 0, 0], WEAK, 4);
    }
    let stale = read(&mut machine, &mut memory, 0, WEAK) == 0;
    Passed { stale, bytes: machine.size().1, forgotten: machine.forgotten() }
}

#[test]
fn own_writes_hide_no_missing_acquire() {
    let rate = |own: u64, runs: u64| {
        let all: Vec<Passed> = (0..runs).map(|seed| message(own, seed, 1 << 30)).collect();
        assert!(all.iter().all(|run| run.forgotten == 0), "nothing has to be forgotten");
        all.iter().filter(|run| run.stale).count() as f64 / runs as f64
    };
    // Half of the loads read something older; 4.5 standard deviations each way.
    assert!((rate(0, 2_000) - 0.5).abs() < 0.05);
    assert!((rate(10_000, 200) - 0.5).abs() < 0.16);
    assert!((rate(1_000_000, 24) - 0.5).abs() < 0.46);
}

#[test]
fn ten_million_own_writes_take_less_than_half_a_gibibyte() {
    let run = message(10_000_000, 1, 1 << 30);
    assert!(run.bytes < 1 << 29, "{} bytes", run.bytes);
    assert_eq!(run.forgotten, 0);
}

#[test]
fn what_is_forgotten_is_counted() {
    let run = message(1_000_000, 1, 4 << 20);
    assert!(run.forgotten > 0);
    assert!(run.bytes < 8 << 20, "{} bytes", run.bytes);
}

/// Release entries outlive what is forgotten: whoever acquires may count on them.
#[test]
fn forgetting_breaks_no_synchronisation() {
    for seed in 0..50 {
        let mut machine = PtxMachine::new(2, Chances::new(0.5, 1.0), seed, 1 << 20);
        let mut memory = Words::default();
        machine.start(0, ThreadKey::new(0, 0));
        machine.start(1, ThreadKey::new(1, 0));
        let many = 100_000;
        for index in 0..many {
            machine.store(&mut memory, 0, word(index), [1, 0, 0, 0], WEAK, 1);
        }
        machine.store(&mut memory, 0, word(many), [1, 0, 0, 0], (RELAXED.0, true), 2);
        for index in 0..many {
            machine.store(&mut memory, 0, word(2 * many + index), [1, 0, 0, 0], WEAK, 1);
        }
        assert!(machine.forgotten() > 0);
        let mut load = |at, order| match machine.load(&mut memory, 1, word(at), order, 3, None) {
            Loaded::Now(value) => value[0],
            Loaded::Late => unreachable!("no token was given"),
        };
        while load(many, (RELAXED.0, true)) == 0 {}
        for index in (0..many).step_by(997) {
            assert_eq!(load(index, WEAK), 1, "word {index}, seed {seed}");
        }
    }
}

/// Every block reads its own shared memory again and again while it writes much global memory: each must read its own.
const OWN_SHARED: &str = "
.version 8.0
.target sm_75
.address_size 64
.visible .entry own_shared(.param .u64 out, .param .u64 many)
{
    .reg .pred %p<2>;
    .reg .b32 %r<12>;
    .reg .b64 %rd<8>;
    .shared .align 4 .b8 cell[128];
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [many];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mad.lo.s32 %r4, %r2, %r3, %r1;
    add.s32 %r5, %r4, 1;
    mov.u32 %r6, cell;
    shl.b32 %r7, %r1, 2;
    add.s32 %r6, %r6, %r7;
    st.shared.u32 [%r6], %r5;
    mov.u32 %r8, 0;
    mov.u32 %r9, 0;
$again:
    ld.shared.u32 %r10, [%r6];
    membar.gl;
    mad.lo.s32 %r11, %r9, 256, %r4;
    mul.wide.u32 %rd3, %r11, 4;
    add.s64 %rd3, %rd2, %rd3;
    st.global.u32 [%rd3], %r9;
    sub.s32 %r10, %r10, %r5;
    or.b32 %r8, %r8, %r10;
    add.s32 %r9, %r9, 1;
    setp.lt.u32 %p1, %r9, 100;
    @%p1 bra $again;
    mul.wide.u32 %rd4, %r4, 4;
    add.s64 %rd4, %rd1, %rd4;
    st.global.u32 [%rd4], %r8;
    ret;
}
";

#[test]
fn blocks_read_their_own_shared_memory() {
    let kernels = Prepared::new(OWN_SHARED);
    let buffers = [words(&[9; 256]), words(&vec![0; 256 * 100])];
    let work = Work::new("own_shared", 8, 32, &buffers);
    let right = run_original(&kernels, &work, 0).complete().buffers;
    for seed in 0..20 {
        let injection = Injection::new(HandlerModel::StoreBuffer, 0.75);
        let ends = under_ptx(|| run(&kernels, &work, Some(&injection), seed).complete().buffers);
        assert!(ends == right, "another block's shared memory was read, seed {seed}");
    }
}
