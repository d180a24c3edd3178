//! The engine as a whole: determinism, what schedules show, waves, limits.

use crate::support::Device;
use bugaroo_simulator::{
    Activity, DeviceConfig, End, LaunchError, LaunchSpec, LoadError, Memory, Program, RandomScheduler,
    StopKind, launch,
};

const HEAD: &str = ".version 7.8\n.target sm_75\n.address_size 64\n";

/// Every thread increments one word, with a load and a store.
const RACE: &str = "
.visible .entry race(.param .u64 pointer)
{
    .reg .b32 x, tid;
    .reg .b64 out;
    .reg .pred p;
    ld.param.u64 out, [pointer];
    mov.u32 tid, %tid.x;
    setp.ne.u32 p, tid, 0;
    @p ret;
    ld.global.u32 x, [out];
    add.u32 x, x, 1;
    st.global.u32 [out], x;
    ret;
}";

#[test]
fn a_seed_is_a_run() {
    let run = |seed| {
        let mut device = Device::new(&format!("{HEAD}{RACE}"));
        let out = device.buffer(4);
        let result = device.launch("race", 40, 64, &[out], seed);
        assert_eq!(result.end, End::Complete);
        (result.counts, device.memory.digest())
    };
    let runs: Vec<_> = (0..20).map(run).collect();
    assert_eq!(runs, (0..20).map(run).collect::<Vec<_>>());
    let mut digests: Vec<_> = runs.iter().map(|r| r.1).collect();
    digests.sort_unstable();
    digests.dedup();
    assert!(digests.len() > 5, "schedules differ: {digests:?}");
}

#[test]
fn two_blocks_lose_an_update_about_every_second_time() {
    let mut device = Device::new(&format!("{HEAD}{RACE}"));
    let out = device.buffer(4);
    let mut lost = 0;
    for seed in 0..400 {
        device.memory.fill(out, 4, &[0]).expect("allocated");
        device.launch("race", 2, 32, &[out], seed);
        lost += u32::from(device.words(out, 1)[0] == 1);
    }
    assert!((80..320).contains(&lost), "lost {lost} of 400");
}

#[test]
fn a_released_lock_can_be_taken_before_the_releasing_thread_goes_on() {
    // Block 0 publishes and then stores 1; block 1 waits for it and copies what it sees.
    let ptx = format!(
        "{HEAD}
.visible .entry handover(.param .u64 pointer)
{{
    .reg .b32 x, block;
    .reg .b64 out;
    .reg .pred p;
    ld.param.u64 out, [pointer];
    mov.u32 block, %ctaid.x;
    setp.ne.u32 p, block, 0;
    @p bra wait;
    atom.global.exch.b32 x, [out], 1;
    st.global.u32 [out+4], 1;
    ret;
wait:
    ld.global.u32 x, [out];
    setp.eq.u32 p, x, 0;
    @p bra wait;
    ld.global.u32 x, [out+4];
    st.global.u32 [out+8], x;
    ret;
}}"
    );
    let mut device = Device::new(&ptx);
    let out = device.buffer(12);
    let mut overtaken = 0;
    for seed in 0..400 {
        device.memory.fill(out, 12, &[0]).expect("allocated");
        assert_eq!(device.launch("handover", 2, 1, &[out], seed).end, End::Complete);
        overtaken += u32::from(device.words(out, 3)[2] == 0);
    }
    assert!(overtaken > 40, "overtaken {overtaken} of 400");
}

#[test]
fn a_shared_address_below_zero_comes_round() {
    // As nvcc writes `row[y - x][x]`: the register is negative, the offset brings it back.
    let ptx = format!(
        "{HEAD}
.visible .entry below(.param .u64 pointer)
{{
    .reg .b32 tid, at, back, x;
    .reg .b64 out;
    .shared .align 4 .b8 s[256];
    ld.param.u64 out, [pointer];
    mov.u32 tid, %tid.x;
    mov.u32 at, s;
    sub.u32 at, at, 200;
    shl.b32 x, tid, 2;
    add.u32 at, at, x;
    st.shared.u32 [at+200], tid;
    bar.sync 0;
    mul.lo.u32 back, tid, 68;
    and.b32 back, back, 124;
    mov.u32 x, s;
    add.u32 back, back, x;
    sub.u32 back, back, 200;
    ld.shared.u32 x, [back+200];
    mul.wide.u32 out, tid, 4;
    {{ .reg .b64 start; ld.param.u64 start, [pointer]; add.u64 out, out, start; }}
    st.global.u32 [out], x;
    ret;
}}"
    );
    let mut device = Device::new(&ptx);
    let out = device.buffer(32 * 4);
    assert_eq!(device.launch("below", 1, 32, &[out], 1).end, End::Complete);
    let expected: Vec<u32> = (0..32).map(|tid| ((tid * 68) & 124) / 4).collect();
    assert_eq!(device.words(out, 32), expected);
}

#[test]
fn blocks_start_in_waves() {
    // Every block notes how many had started before it ended: with room for 2 × 3 blocks, the first to end
    // has seen 6 at most.
    let ptx = format!(
        "{HEAD}
.visible .entry wave(.param .u64 pointer)
{{
    .reg .b32 x, y;
    .reg .b64 out;
    ld.param.u64 out, [pointer];
    atom.global.add.u32 x, [out], 1;
    ld.global.u32 y, [out];
    atom.global.min.u32 x, [out+4], y;
    red.global.add.u32 [out+8], 1;
    ret;
}}"
    );
    let config = DeviceConfig { sm_count: 2, blocks_per_sm: 3, ..DeviceConfig::default() };
    let mut device = Device::with(&ptx, config);
    let out = device.buffer(12);
    device.memory.fill(out + 4, 4, &[255]).expect("allocated");
    assert_eq!(device.launch("wave", 50, 1, &[out], 1).end, End::Complete);
    let words = device.words(out, 3);
    assert_eq!((words[0], words[2]), (50, 50));
    assert!(words[1] <= 6, "{words:?}");
}

#[test]
fn spinning_on_a_block_that_is_not_resident_is_a_deadlock() {
    let ptx = format!(
        "{HEAD}
.visible .entry wait(.param .u64 pointer)
{{
    .reg .b32 x, last;
    .reg .b64 out;
    .reg .pred p;
    ld.param.u64 out, [pointer];
    mov.u32 x, %ctaid.x;
    setp.eq.u32 p, x, 2;
    @p st.global.u32 [out], 1;
again:
    ld.global.u32 x, [out];
    setp.eq.u32 p, x, 0;
    @p bra again;
    ret;
}}"
    );
    let config = DeviceConfig { sm_count: 1, blocks_per_sm: 2, ..DeviceConfig::default() };
    let mut device = Device::with(&ptx, config);
    let out = device.buffer(4);
    let params = out.to_le_bytes();
    let spec = LaunchSpec {
        kernel: "wait",
        grid: [3, 1, 1],
        block: [1, 1, 1],
        dynamic_shared: 0,
        params: &params,
        cluster: None,
        step_budget: Some(10_000),
    };
    let mut scheduler = RandomScheduler::new(0);
    let result = launch(&device.program, &mut device.memory, &device.config, &spec, &mut scheduler);
    let End::Deadlock(diagnosis) = result.expect("a legal launch").end else { panic!("its state says so") };
    assert_eq!(diagnosis.blocks_pending, 1);
    assert!(diagnosis.groups.iter().all(|g| g.activity == Activity::Running));
}

#[test]
fn a_deadlock_names_threads_places_and_counts() {
    let ptx = format!(
        "{HEAD}
.visible .entry stuck()
{{
    .reg .b32 tid;
    .reg .pred p;
    .loc 1 12 3
    mov.u32 tid, %tid.x;
    setp.lt.u32 p, tid, 32;
    @p bra other;
    .loc 1 14 5
    bar.sync 1;
    ret;
other:
    .loc 1 16 5
    bar.sync 2;
    ret;
}}
.file 1 \"stuck.cu\""
    );
    let mut device = Device::new(&ptx);
    let End::Deadlock(diagnosis) = device.launch("stuck", 1, 96, &[], 0).end else { panic!("it is stuck") };
    let seen: Vec<_> = diagnosis
        .groups
        .iter()
        .map(|g| (g.first_thread[0], g.threads, g.activity, g.place.source[0].line))
        .collect();
    let waits = |barrier, arrived| Activity::Barrier { barrier, arrived, expected: 96 };
    assert_eq!(seen, [(0, 32, waits(2, 32), 16), (32, 64, waits(1, 64), 14)]);
    assert_eq!(diagnosis.groups[0].place.source[0].file, "stuck.cu");
    assert_eq!(diagnosis.groups[0].place.instruction, "bar.sync 2;");
}

#[test]
fn freed_memory_faults_and_the_fault_names_it() {
    let mut device = Device::new(&format!("{HEAD}{RACE}"));
    let out = device.buffer(4);
    device.memory.free(out).expect("allocated");
    let End::Fault(fault) = device.launch("race", 1, 32, &[out], 0).end else { panic!("it faults") };
    assert!(matches!(fault.kind, StopKind::Freed { address, size: 4, .. } if address == out), "{fault}");
    assert_eq!(fault.place.instruction, "ld.global.u32 x, [out];");
}

#[test]
fn illegal_launches_run_nothing() {
    let mut device =
        Device::new(&format!("{HEAD}.visible .entry k(.param .u64 p)\n.maxntid 64, 1, 1\n{{ ret; }}"));
    let params = [0; 8];
    let good = LaunchSpec {
        kernel: "k",
        grid: [1, 1, 1],
        block: [64, 1, 1],
        dynamic_shared: 0,
        params: &params,
        cluster: None,
        step_budget: None,
    };
    let mut run = |spec: LaunchSpec<'_>| {
        let mut scheduler = RandomScheduler::new(0);
        launch(&device.program, &mut device.memory, &device.config, &spec, &mut scheduler)
    };
    assert!(run(good).is_ok());
    assert_eq!(run(LaunchSpec { kernel: "x", ..good }), Err(LaunchError::NoKernel("x".to_string())));
    assert_eq!(run(LaunchSpec { grid: [0, 1, 1], ..good }), Err(LaunchError::Grid([0, 1, 1])));
    assert_eq!(run(LaunchSpec { grid: [1, 70_000, 1], ..good }), Err(LaunchError::Grid([1, 70_000, 1])));
    let block = [65, 1, 1];
    assert_eq!(run(LaunchSpec { block, ..good }), Err(LaunchError::Block { block, limit: 64 }));
    let shared = LaunchSpec { dynamic_shared: 300_000, ..good };
    assert_eq!(run(shared), Err(LaunchError::SharedMemory { bytes: 300_000, limit: 232_448 }));
    let short = LaunchSpec { params: &params[..4], ..good };
    assert_eq!(run(short), Err(LaunchError::Params { given: 4, needed: 8 }));
}

#[test]
fn a_refused_module_leaves_no_allocation() {
    let ptx = format!("{HEAD}.global .b32 x;\n.global .b8 y[1073741824];\n.visible .entry k() {{ ret; }}");
    let module = bugaroo_ptx::parse(&ptx).expect("it parses");
    let mut memory = Memory::new(1 << 20).expect("address space");
    let error = Program::load(&module, &mut memory, &DeviceConfig::default()).expect_err("it is refused");
    assert!(matches!(&error, LoadError::Memory(_)), "{error}");
    assert_eq!(memory.allocations().count(), 0);
}

#[test]
fn kernels_are_refused_for_what_they_can_reach() {
    let ptx = format!(
        "{HEAD}
.extern .func outside();
.extern .func cudaLaunchDeviceV2();
.extern .global .b32 elsewhere;
.func odd() {{ wibble; ret; }}
.func fine() {{ ret; }}
.func through() {{ call odd; ret; }}
.global .u64 table[2] = {{fine, odd}};
.visible .entry good() {{ call fine; ret; }}
.visible .entry direct() {{ ret; call through; }}
.visible .entry indirect()
{{ .reg .b64 f; ld.global.u64 f, [table]; p: .callprototype _ (); call f, (), p; ret; }}
.visible .entry missing() {{ call outside; ret; }}
.visible .entry nested() {{ call cudaLaunchDeviceV2; ret; }}
.visible .entry variable() {{ .reg .b32 x; ld.global.b32 x, [elsewhere]; ret; }}
.visible .entry textured() {{ .reg .b32 x; .reg .f32 y; tex.1d.v4.f32.s32 {{y, y, y, y}}, [t, {{x}}]; ret; }}
.global .texref old;
.visible .entry referred() {{ .reg .b32 x; .reg .f32 y; tex.1d.v4.f32.s32 {{y, y, y, y}}, [old, {{x}}]; ret; }}"
    );
    let device = Device::new(&ptx);
    let refused = |kernel: &str| {
        let info = device.program.kernel(kernel).expect("it is there");
        info.refused.as_ref().map(ToString::to_string).unwrap_or_default()
    };
    assert_eq!(refused("good"), "");
    for kernel in ["direct", "indirect"] {
        assert_eq!(refused(kernel), {
            "line 8: odd: `wibble;`: the simulator does not know this instruction"
        });
    }
    assert_eq!(refused("missing"), "line 16: missing: call of `outside`, which has no body here");
    assert!(refused("nested").ends_with("(launches from device code are not supported)"));
    assert!(refused("variable").contains("`elsewhere` is not defined here"));
    for (kernel, name) in [("textured", "t"), ("referred", "old")] {
        let told = format!("`{name}` is a texture or surface reference, which CUDA 12 dropped");
        assert!(refused(kernel).contains(&told), "{}", refused(kernel));
    }
    let mut device = device;
    assert_eq!(device.launch("good", 1, 32, &[], 0).end, End::Complete);
}

#[test]
fn kernels_tell_their_parameters_and_needs() {
    let ptx = format!(
        "{HEAD}
.shared .align 16 .b8 both[100];
.global .align 8 .f64 factor = 0d4000000000000000;
.func helper() {{ .reg .b32 x; .local .b8 buffer[40]; ld.shared.u32 x, [both]; ret; }}
.visible .entry small(.param .u32 a, .param .u64 b, .param .align 4 .b8 c[12])
{{ .shared .b32 own[3]; .local .b8 mine[10]; call helper, (); ret; }}
.visible .entry none() .reqntid 32, 2, 1 {{ ret; }}"
    );
    let device = Device::new(&ptx);
    let small = device.program.kernel("small").expect("it is there");
    let places: Vec<_> = small.params.iter().map(|p| (p.offset, p.size, p.align)).collect();
    assert_eq!(places, [(0, 4, 4), (8, 8, 8), (16, 12, 4)]);
    assert_eq!((small.param_bytes, small.static_shared, small.local_bytes), (28, 112, 64));
    let none = device.program.kernel("none").expect("it is there");
    assert_eq!((none.static_shared, none.max_threads), (0, 64));
    let (address, size) = device.program.variable("factor").expect("it is there");
    let mut value = [0; 8];
    device.memory.read(address, &mut value).expect("allocated");
    assert_eq!((size, f64::from_le_bytes(value)), (8, 2.0));
}

#[test]
fn lanes_that_lean_on_convergence_are_found_out() {
    // Each lane writes its number to shared memory and reads its neighbour's, with or without bar.warp.sync.
    let ptx = |sync: &str| {
        format!(
            "{HEAD}
.visible .entry neighbour(.param .u64 pointer)
{{
    .shared .align 4 .b8 box[256];
    .reg .b32 tid, at, x;
    .reg .b64 out, to;
    .reg .pred p;
    ld.param.u64 out, [pointer];
    mov.u32 tid, %tid.x;
    mul.wide.u32 to, tid, 4;
    add.s64 to, out, to;
    shl.b32 at, tid, 2;
    mov.u32 x, box;
    add.u32 at, at, x;
    add.u32 x, tid, 1;
    st.shared.u32 [at], x;
    {sync}
    xor.b32 at, at, 4;
    ld.shared.u32 x, [at];
    st.global.u32 [to], x;
    ret;
}}"
        )
    };
    let mut wrong = [0, 0];
    for (sync, wrong) in ["", "bar.warp.sync -1;"].iter().zip(&mut wrong) {
        let mut device = Device::new(&ptx(sync));
        let out = device.buffer(128);
        let expected: Vec<u32> = (0..32).map(|lane| (lane ^ 1) + 1).collect();
        for seed in 0..3000 {
            assert_eq!(device.launch("neighbour", 1, 32, &[out], seed).end, End::Complete);
            *wrong += u32::from(device.words(out, 32) != expected);
        }
    }
    assert!(wrong[0] > 5 && wrong[1] == 0, "{wrong:?}");
}

#[test]
fn lockstep_warps_regroup_and_spin_for_ever_on_a_sibling() {
    let ptx = include_str!("ptx/spin_in_warp.ptx");
    let config = DeviceConfig { lockstep: true, ..DeviceConfig::default() };
    let mut device = Device::with(ptx, config);
    let (mutex, out) = (device.buffer(4), device.buffer(4));
    let params: Vec<u8> = [mutex, out].iter().flat_map(|p| p.to_le_bytes()).collect();
    let spec = LaunchSpec {
        kernel: "spin",
        grid: [1, 1, 1],
        block: [32, 1, 1],
        dynamic_shared: 0,
        params: &params,
        cluster: None,
        step_budget: Some(100_000),
    };
    let mut scheduler = RandomScheduler::new(0);
    let result = launch(&device.program, &mut device.memory, &device.config, &spec, &mut scheduler);
    let End::Deadlock(diagnosis) = result.expect("a legal launch").end else { panic!("its state says so") };
    assert!(diagnosis.spinning, "{diagnosis}");
}
