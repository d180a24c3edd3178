//! Several launches in progress on one memory.

use std::sync::Arc;

use bugaroo_simulator::{
    AllocationKind, DeviceConfig, End, Grid, LaunchError, LaunchSpec, Memory, Program, RandomScheduler,
    StopKind, launch,
};

const KERNELS: &str = r"
.version 8.0
.target sm_75
.address_size 64

// Adds one to the word, once per thread and round, by load and store: the result tells the schedule.
.visible .entry lose(.param .u64 word)
{
    .reg .pred %p;
    .reg .b32 %r<4>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [word];
    mov.u32 %r1, 20;
LOOP:
    ld.volatile.global.u32 %r2, [%rd1];
    add.u32 %r2, %r2, 1;
    st.volatile.global.u32 [%rd1], %r2;
    sub.u32 %r1, %r1, 1;
    setp.ne.u32 %p, %r1, 0;
    @%p bra LOOP;
    ret;
}

// Waits until the word is not 0, then makes it 2.
.visible .entry wait(.param .u64 word)
{
    .reg .pred %p;
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [word];
LOOP:
    ld.acquire.gpu.global.u32 %r1, [%rd1];
    setp.eq.u32 %p, %r1, 0;
    @%p bra LOOP;
    st.global.u32 [%rd1], 2;
    ret;
}

.visible .entry set(.param .u64 word)
{
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [word];
    st.release.gpu.global.u32 [%rd1], 1;
    ret;
}

// Tells where the workspace is.
.visible .entry workspace(.param .u64 word)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [word];
    mov.u32 %r1, %envreg2;
    mov.u32 %r2, %envreg1;
    st.global.v2.u32 [%rd1], {%r1, %r2};
    ret;
}
";

struct Device {
    memory: Memory,
    program: Arc<Program>,
    config: DeviceConfig,
    word: u64,
}

impl Device {
    fn new() -> Device {
        let module = bugaroo_ptx::parse(KERNELS).expect("the test's PTX parses");
        let config = DeviceConfig::default();
        let mut memory = Memory::new(1 << 24).expect("address space");
        let program = Program::load(&module, &mut memory, &config).expect("the test's PTX loads");
        let word = memory.alloc(8, 8, AllocationKind::Program).expect("room");
        Device { memory, program: Arc::new(program), config, word }
    }

    fn spec<'a>(&self, kernel: &'a str, grid: u32, params: &'a [u8]) -> LaunchSpec<'a> {
        let (grid, block) = ([grid, 1, 1], [64, 1, 1]);
        LaunchSpec {
            kernel,
            grid,
            block,
            dynamic_shared: 0,
            cluster: None,
            params,
            step_budget: Some(1 << 20),
        }
    }

    fn grid(&self, kernel: &str, blocks: u32, seed: u64) -> Grid {
        let params = self.word.to_le_bytes();
        let scheduler = Box::new(RandomScheduler::new(seed));
        let spec = self.spec(kernel, blocks, &params);
        Grid::new(self.program.clone(), &self.config, &spec, None, scheduler).expect("a legal launch")
    }

    fn value(&self) -> u64 {
        let mut bytes = [0; 8];
        self.memory.read(self.word, &mut bytes).expect("it is allocated");
        u64::from_le_bytes(bytes)
    }
}

#[test]
fn a_grid_alone_is_a_launch_however_often_it_is_interrupted() {
    for seed in 0..20 {
        let mut device = Device::new();
        let params = device.word.to_le_bytes();
        let spec = device.spec("lose", 3, &params);
        let mut scheduler = RandomScheduler::new(seed);
        let whole = launch(&device.program, &mut device.memory, &device.config, &spec, &mut scheduler);
        let (whole, value) = (whole.expect("a legal launch"), device.value());
        let mut device = Device::new();
        let mut grid = device.grid("lose", 3, seed);
        let end = loop {
            if let Some(end) = grid.advance(&mut device.memory, 1 + seed % 3) {
                break end;
            }
        };
        assert_eq!((end, grid.counts(), device.value()), (whole.end, whole.counts, value));
        assert!(value < 6 * 20, "stores were lost: {value}");
    }
}

#[test]
fn a_grid_that_waits_for_another_ends() {
    let mut device = Device::new();
    let (mut waits, mut sets) = (device.grid("wait", 1, 1), device.grid("set", 1, 2));
    assert_eq!(waits.advance(&mut device.memory, 100), None);
    let (mut ends, mut turns) = ([None, None], 0);
    while ends.contains(&None) {
        turns += 1;
        for (grid, end) in [&mut waits, &mut sets].into_iter().zip(&mut ends) {
            if end.is_none() {
                *end = grid.advance(&mut device.memory, 4);
            }
        }
    }
    assert_eq!(ends, [Some(End::Complete), Some(End::Complete)], "after {turns} rounds");
    assert_eq!(device.value(), 2);
}

#[test]
fn memory_that_is_freed_between_turns_is_gone() {
    let mut device = Device::new();
    let mut grid = device.grid("wait", 1, 1);
    assert_eq!(grid.advance(&mut device.memory, 100), None);
    device.memory.free(device.word).expect("it is allocated");
    let Some(End::Fault(fault)) = grid.advance(&mut device.memory, 100) else {
        panic!("the word was freed while the kernel read it")
    };
    assert!(matches!(fault.kind, StopKind::Freed { .. }), "{fault:?}");
}

#[test]
fn a_cooperative_launch_has_a_workspace_and_all_its_blocks_at_once() {
    let mut device = Device::new();
    let params = device.word.to_le_bytes();
    let start = |blocks| {
        let spec = device.spec("workspace", blocks, &params);
        let scheduler = Box::new(RandomScheduler::new(1));
        Grid::new(device.program.clone(), &device.config, &spec, Some(0x1234_5678_9abc), scheduler)
    };
    let most = device.config.sm_count * (device.config.threads_per_sm / 64).min(device.config.blocks_per_sm);
    let error = start(most + 1).expect_err("one block too many");
    assert_eq!(error, LaunchError::Cooperative { blocks: u64::from(most) + 1, resident: most });
    let mut grid = start(most).expect("a legal launch");
    while grid.advance(&mut device.memory, 1000).is_none() {}
    assert_eq!(device.value(), 0x1234_5678_9abc);
}
