//! How fast the virtual GPU runs: three kernels, one core, memory checks on, random scheduling.
//!
//! Prints millions of PTX thread-instructions per second, the median of several runs. Run with
//! `cargo bench -p bugaroo-simulator`.

use std::time::Instant;

use bugaroo_simulator::{
    AllocationKind, DeviceConfig, End, LaunchSpec, Memory, Program, RandomScheduler, launch,
};

const N: u32 = 1 << 20;
const RUNS: u64 = 9;

struct Bench {
    memory: Memory,
    program: Program,
    config: DeviceConfig,
}

impl Bench {
    fn new() -> Bench {
        let module = bugaroo_ptx::parse(include_str!("kernels.ptx")).expect("the bench's own PTX parses");
        let config = DeviceConfig::default();
        let mut memory = Memory::new(1 << 30).expect("a gigabyte of address space");
        let program = Program::load(&module, &mut memory, &config).expect("the bench's own PTX loads");
        Bench { memory, program, config }
    }

    fn floats(&mut self, value: impl Fn(u32) -> f32) -> u64 {
        let bytes: Vec<u8> = (0..N).flat_map(|i| value(i).to_le_bytes()).collect();
        let address = self.memory.alloc(bytes.len() as u64, 256, AllocationKind::Program).expect("room");
        self.memory.write(address, &bytes).expect("just allocated");
        address
    }

    /// Runs a kernel `RUNS` times and prints its rate; `check` looks at memory after each.
    fn run(&mut self, kernel: &str, grid: u32, params: &[u8], mut check: impl FnMut(&mut Memory)) {
        let mut rates = Vec::new();
        let mut counts = Default::default();
        for seed in 0..RUNS {
            let spec = LaunchSpec {
                kernel,
                grid: [grid, 1, 1],
                block: [256, 1, 1],
                dynamic_shared: 0,
                params,
                cluster: None,
                step_budget: None,
            };
            let mut scheduler = RandomScheduler::new(seed);
            let start = Instant::now();
            let result = launch(&self.program, &mut self.memory, &self.config, &spec, &mut scheduler);
            let seconds = start.elapsed().as_secs_f64();
            let result = result.expect("a legal launch");
            assert_eq!(result.end, End::Complete);
            check(&mut self.memory);
            rates.push(result.counts.thread_instructions as f64 / seconds / 1e6);
            counts = result.counts;
        }
        rates.sort_by(f64::total_cmp);
        println!(
            "{kernel:10} {:8.0} M thread-instructions/s (from {:.0} to {:.0}); {} warp instructions, {} turns",
            rates[rates.len() / 2],
            rates[0],
            rates[rates.len() - 1],
            counts.warp_instructions,
            counts.turns
        );
    }
}

fn params(values: &[(u64, usize)]) -> Vec<u8> {
    let mut buffer = Vec::new();
    for (value, size) in values {
        buffer.resize(buffer.len().next_multiple_of(*size), 0);
        buffer.extend_from_slice(&value.to_le_bytes()[..*size]);
    }
    buffer
}

fn main() {
    let mut bench = Bench::new();
    let a = bench.floats(|i| (i % 16) as f32);
    let b = bench.floats(|i| (i % 7) as f32);
    let result = bench.floats(|_| 0.0);
    let mutex = bench.memory.alloc(4, 4, AllocationKind::Program).expect("room");

    let expected: f64 = (0..N).map(|i| f64::from((i % 16) * (i % 7))).sum();
    let dot = params(&[(a, 8), (b, 8), (result, 8), (mutex, 8), (u64::from(N), 4)]);
    bench.run("dot", 32, &dot, |memory| {
        let mut sum = [0; 4];
        memory.read(result, &mut sum).expect("allocated");
        assert!((f64::from(f32::from_le_bytes(sum)) / expected - 1.0).abs() < 1e-4);
        memory.fill(result, 4, &[0]).expect("allocated");
    });

    let (x, y) = (0.5f32.to_bits(), 1f32.to_bits());
    let chain = params(&[(result, 8), (u64::from(x), 4), (u64::from(y), 4), (1000, 4)]);
    bench.run("fma_chain", 32, &chain, |memory| {
        let mut sum = [0; 4];
        memory.read(result, &mut sum).expect("allocated");
        assert_eq!(f32::from_le_bytes(sum), 8.0);
    });

    let copy = params(&[(a, 8), (result, 8), (u64::from(N), 4)]);
    bench.run("copy", 64, &copy, |memory| {
        let mut got = [0; 4];
        memory.read(result + 4 * 1_000_001, &mut got).expect("allocated");
        assert_eq!(f32::from_le_bytes(got), (1_000_001 % 16) as f32);
    });
}
