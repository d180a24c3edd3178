//! What a block holds back from others, of one location that several of its threads store to: its threads read these stores in one
//! order, though some of them have left for memory and others have not.

use std::sync::Arc;

use bugaroo_injector::collect_sites::collect_sites;
use bugaroo_simulator::model::store_buffer::{Sites, StoreBuffer, StoreBufferSettings};
use bugaroo_simulator::{
    AllocationKind, DeviceConfig, End, LaunchSpec, Memory, Program, RandomScheduler, launch_with,
};

/// Warp 0 stores 1 to the word behind a store to another one, warp 1 stores 2 to it, both at the block's scope; warp 2 updates the
/// other word, which makes room before the first store; warp 3 reads the word again and again.
const KERNEL: &str = r"
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 pointer)
{
    .reg .b32 tid, x, left;
    .reg .b64 at, out;
    .reg .pred p;
    ld.param.u64 at, [pointer];
    mov.u32 tid, %tid.x;
    setp.eq.u32 p, tid, 0;
    @p bra FIRST;
    setp.eq.u32 p, tid, 32;
    @p bra SECOND;
    setp.eq.u32 p, tid, 64;
    @p bra ROOM;
    setp.eq.u32 p, tid, 96;
    @p bra READ;
    ret;
FIRST:
    st.relaxed.gpu.global.u32 [at], 1;
    st.relaxed.gpu.global.u32 [at+512], 1;
    fence.acq_rel.cta;
    bra STAY;
SECOND:
    ld.relaxed.gpu.global.u32 x, [at+1024];
    st.relaxed.gpu.global.u32 [at], 2;
    fence.acq_rel.cta;
STAY:
    mov.u32 left, 200;
WAIT:
    ld.relaxed.gpu.global.u32 x, [at+1024];
    sub.u32 left, left, 1;
    setp.ne.u32 p, left, 0;
    @p bra WAIT;
    ret;
ROOM:
    mov.u32 left, 30;
AGAIN:
    atom.relaxed.gpu.global.add.u32 x, [at+512], 1;
    sub.u32 left, left, 1;
    setp.ne.u32 p, left, 0;
    @p bra AGAIN;
    ret;
READ:
    add.u64 out, at, 2048;
    mov.u32 left, 200;
NEXT:
    ld.relaxed.gpu.global.u32 x, [at];
    st.global.u32 [out], x;
    add.u64 out, out, 4;
    sub.u32 left, left, 1;
    setp.ne.u32 p, left, 0;
    @p bra NEXT;
    ret;
}
";

#[test]
fn a_value_that_was_replaced_does_not_come_back() {
    let module = bugaroo_ptx::parse(KERNEL).expect("the test's PTX parses");
    let (config, table) = (DeviceConfig::default(), collect_sites(&module));
    let mut replaced = 0;
    for seed in 0..3000 {
        let mut memory = Memory::new(1 << 24).expect("address space");
        let program = Program::load(&module, &mut memory, &config).expect("a program");
        let at = memory.alloc(4096, 256, AllocationKind::Program).expect("room");
        memory.write(at, &[0; 4096]).expect("allocated");
        let spec = LaunchSpec {
            kernel: "k",
            grid: [1, 1, 1],
            block: [128, 1, 1],
            dynamic_shared: 0,
            cluster: None,
            params: &at.to_le_bytes(),
            step_budget: None,
        };
        let settings = StoreBufferSettings { pw: [0.9; 2], seed: (seed, 0), capacity: 256 };
        let model = StoreBuffer::new(&settings, Arc::new(Sites::new(&program, &table)));
        let mut scheduler = RandomScheduler::new(seed);
        let launched =
            launch_with(&program, &mut memory, &config, &spec, &mut scheduler, Some(Box::new(model)));
        assert_eq!(launched.expect("a launch").0.end, End::Complete);
        let mut bytes = [0; 800];
        memory.read(at + 2048, &mut bytes).expect("allocated");
        let mut read: Vec<u8> = bytes.chunks(4).map(|word| word[0]).collect();
        read.dedup();
        replaced += u32::from(read.len() == 3);
        let mut sorted = read.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(read.len(), sorted.len(), "seed {seed}: read in this order: {read:?}");
    }
    assert!(replaced > 100, "one store has replaced the other in {replaced} of 3000 runs");
}
