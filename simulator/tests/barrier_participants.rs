//! Who takes part in a barrier with a thread count, as the memory model `ptx` is told: the lanes of the warps that arrive, in how many
//! parts they may have come, and nobody else.

use std::sync::Arc;

use bugaroo_simulator::model::ptx;
use bugaroo_simulator::{
    AllocationKind, DeviceConfig, End, LaunchSpec, Memory, Program, RandomScheduler, launch_with,
};

const HEAD: &str = ".version 8.0\n.target sm_80\n.address_size 64\n";

/// Words 0 to 31 as a kernel of 96 threads leaves them behind, for each seed.
fn run(body: &str, seeds: u64) -> Vec<[u32; 32]> {
    let text = format!("{HEAD}.visible .entry k(.param .u64 pointer)\n{{\n{body}\n}}\n");
    let module = bugaroo_ptx::parse(&text).expect("PTX");
    let config = DeviceConfig::default();
    let mut results = Vec::new();
    for seed in 0..seeds {
        let mut memory = Memory::new(1 << 24).expect("address space");
        let program = Program::load(&module, &mut memory, &config).expect("a program");
        let out = memory.alloc(4096, 256, AllocationKind::Program).expect("room");
        memory.write(out, &[0; 4096]).expect("allocated");
        let spec = LaunchSpec {
            kernel: "k",
            grid: [1, 1, 1],
            block: [96, 1, 1],
            dynamic_shared: 0,
            cluster: None,
            params: &out.to_le_bytes(),
            step_budget: Some(1_000_000),
        };
        let (pw, pr) = ([0.75; 2], [0.5; 2]);
        let settings = ptx::PtxSettings { pw, pr, seed: (seed, 0), memory: 1 << 28 };
        let facts = Arc::new(ptx::Facts::new(&program));
        let model = Some(Box::new(ptx::PtxModel::new(&settings, facts)) as _);
        let mut scheduler = RandomScheduler::new(seed);
        let (result, _) =
            launch_with(&program, &mut memory, &config, &spec, &mut scheduler, model).expect("a launch");
        assert_eq!(result.end, End::Complete);
        let mut bytes = [0; 128];
        memory.read(out, &mut bytes).expect("allocated");
        results.push(std::array::from_fn(|i| {
            u32::from_le_bytes(bytes[4 * i..4 * i + 4].try_into().expect("four"))
        }));
    }
    results
}

/// Warp 0 writes word 256 and on, and arrives in two parts, of which one exits; warp 1 waits and copies.
#[test]
fn who_waits_sees_what_all_parts_of_a_warp_wrote() {
    let all = run(
        "
    .reg .b32 tid, x;
    .reg .b64 out, at;
    .reg .pred p;
    ld.param.u64 out, [pointer];
    mov.u32 tid, %tid.x;
    setp.ge.u32 p, tid, 64;
    @p ret;
    and.b32 x, tid, 31;
    mul.wide.u32 at, x, 4;
    add.s64 at, out, at;
    setp.ge.u32 p, tid, 32;
    @p bra consume;
    st.global.u32 [at+1024], 7;
    setp.lt.u32 p, tid, 11;
    @p bra first;
    barrier.arrive 1, 64;
    bra end;
first:
    barrier.arrive 1, 64;
end:
    ret;
consume:
    barrier.sync 1, 64;
    // What the lane of the other end wrote.
    not.b32 x, tid;
    and.b32 x, x, 31;
    mul.wide.u32 at, x, 4;
    add.s64 at, out, at;
    ld.global.u32 x, [at+1024];
    st.global.u32 [at], x;
    ret;",
        200,
    );
    assert!(all.iter().all(|words| *words == [7; 32]), "{all:?}");
}

/// Warp 0 has arrived and ended; warp 2 has not arrived. What it wrote, who waits need not see.
#[test]
fn who_has_ended_stands_for_nobody_else() {
    let all = run(
        "
    .reg .b32 tid, x, y;
    .reg .b64 out;
    .reg .pred p;
    ld.param.u64 out, [pointer];
    mov.u32 tid, %tid.x;
    setp.lt.u32 p, tid, 32;
    @p bra first;
    setp.ge.u32 p, tid, 64;
    @p bra third;
poll:
    ld.relaxed.gpu.global.u32 x, [out+2048];
    setp.eq.u32 p, x, 0;
    @p bra poll;
    barrier.sync 1, 64;
    ld.global.u32 y, [out+1024];
    setp.eq.u32 p, tid, 32;
    add.u32 y, y, 1;
    @p st.global.u32 [out], y;
    bar.sync 2, 64;
    ret;
first:
    barrier.arrive 1, 64;
    ret;
third:
    setp.eq.u32 p, tid, 64;
    @p st.global.u32 [out+1024], 7;
    @p st.relaxed.gpu.global.u32 [out+2048], 1;
    bar.sync 2, 64;
    ret;",
        400,
    );
    let old = all.iter().filter(|words| words[0] == 1).count();
    assert!(all.iter().all(|words| [1, 8].contains(&words[0])), "{all:?}");
    assert!(old > 0, "warp 2 never arrived, and all it wrote was seen");
}
