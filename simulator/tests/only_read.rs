//! Programs that are loaded only to be read: more is decoded, and nothing is launched.

use bugaroo_simulator::decoded::{Asynchronous, Factor, Kind, Warpgroup};
use bugaroo_simulator::{
    DeviceConfig, LaunchError, LaunchSpec, LoadError, Memory, Program, RandomScheduler, launch,
};

const TEXT: &str = ".version 8.0\n.target sm_90a\n.address_size 64\n
.visible .entry k(.param .u64 from)
.maxntid 128, 1, 1
{
    .shared .align 128 .b8 data[256];
    .shared .align 8 .b64 bar;
    .reg .b64 a, b, source;
    .reg .f32 f0, f1, f2, f3;
    .reg .b32 x, y;
    .reg .b16 mask;
    ld.param.u64 source, [from];
    mov.u64 a, 0;
    mov.u64 b, 0;
    mov.u32 x, data;
    mov.u32 y, bar;
    mov.u16 mask, 3;
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {f0, f1, f2, f3}, a, b, 1, 1, 1, 0, 1;
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 2;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [x], [source], 16, [y], mask;
    ret;
}
";

fn load(config: &DeviceConfig) -> Program {
    let module = bugaroo_ptx::parse(TEXT).expect("PTX");
    let mut memory = Memory::new(1 << 24).expect("address space");
    Program::load(&module, &mut memory, config).expect("a module")
}

#[test]
fn what_is_launched_has_no_multicast() {
    let refused = load(&DeviceConfig::default()).kernels()[0].refused.clone();
    assert!(
        matches!(&refused, Some(LoadError::Unsupported { instruction, .. }) if instruction.contains("multicast")),
        "{refused:?}"
    );
}

#[test]
fn what_is_read_has() {
    let config = DeviceConfig { only_read: true, ..DeviceConfig::default() };
    let program = load(&config);
    assert_eq!(program.kernels()[0].refused, None);
    let image = program.image();
    let found: Vec<&Asynchronous> = image
        .code
        .iter()
        .filter(|inst| inst.kind == Kind::Asynchronous)
        .map(|inst| &image.asyncs[inst.extra as usize])
        .collect();
    let [
        Asynchronous::Warpgroup(Warpgroup::Fence),
        Asynchronous::Warpgroup(Warpgroup::Multiply { wgmma, d, a: Factor::Shared(_), transposed, .. }),
        Asynchronous::Warpgroup(Warpgroup::Commit),
        Asynchronous::Warpgroup(Warpgroup::Wait { keep: 2 }),
        Asynchronous::Bulk { multicast: Some(_), .. },
    ] = &found[..]
    else {
        panic!("{found:?}")
    };
    assert_eq!((wgmma.n, d.len(), *transposed), (8, 4, [false, true]));

    let mut memory = Memory::new(1 << 24).expect("address space");
    let spec = LaunchSpec {
        kernel: "k",
        grid: [1; 3],
        block: [128, 1, 1],
        dynamic_shared: 0,
        cluster: None,
        params: &[0; 8],
        step_budget: None,
    };
    let launched = launch(&program, &mut memory, &config, &spec, &mut RandomScheduler::new(0));
    assert!(matches!(launched, Err(LaunchError::Refused(_))), "{launched:?}");
}
