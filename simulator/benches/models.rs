//! What memory models cost where threads wait for each other: kernels with locks, without a model and under each.
//!
//! Prints milliseconds a launch, the median of several runs that take turns, and how many times as long it takes under
//! `ptx` as with store buffers. Run with `cargo bench -p bugaroo-simulator --bench models`.

use std::time::Instant;

use bugaroo_injector::collect_sites::{SiteTable, collect_sites};
use bugaroo_simulator::maker::{ModelMaker, ModelSettings};
use bugaroo_simulator::{
    AllocationKind, DeviceConfig, End, LaunchSpec, Memory, MemoryModel, Program, RandomScheduler, launch_with,
};

const RUNS: u64 = 9;
const ROWS: u32 = 64;
const MODELS: [&str; 3] = ["none", "store-buffer", "ptx"];

fn model(which: &str, seed: u64, program: &Program, table: &SiteTable) -> Option<Box<dyn MemoryModel>> {
    let maker = match which {
        "store-buffer" => ModelMaker::store_buffer(program, table),
        "ptx" => ModelMaker::ptx(program),
        _ => return None,
    };
    let (pw, pr, seed) = ([0.75; 2], [0.5; 2], (seed, 0));
    Some(maker.make(&ModelSettings { pw, pr, seed, capacity: 256, memory: 1 << 30, swarm: false }))
}

fn main() {
    let module = bugaroo_ptx::parse(include_str!("locks.ptx")).expect("the bench's own PTX parses");
    let (config, table) = (DeviceConfig::default(), collect_sites(&module));
    let mut memory = Memory::new(1 << 28).expect("address space");
    let program = Program::load(&module, &mut memory, &config).expect("the bench's own PTX loads");
    let matrix = u64::from(ROWS * ROWS * 4);
    let buffers = [matrix, matrix, matrix, u64::from(ROWS * 4)]
        .map(|bytes| memory.alloc(bytes, 256, AllocationKind::Program).expect("room"));
    let params: Vec<u8> = buffers.iter().flat_map(|address| address.to_le_bytes()).collect();
    for (kernel, grid, block) in
        [("product", ROWS * 4, ROWS), ("contend", 128, 1), ("contend", 4, 32), ("contend", 1, 128)]
    {
        let mut times = MODELS.map(|_| Vec::new());
        for seed in 0..RUNS {
            for (which, times) in MODELS.into_iter().zip(&mut times) {
                for (address, bytes) in buffers.into_iter().zip([matrix, matrix, matrix, 256]) {
                    memory.fill(address, bytes, &[0]).expect("allocated");
                }
                let spec = LaunchSpec {
                    kernel,
                    grid: [grid, 1, 1],
                    block: [block, 1, 1],
                    dynamic_shared: 0,
                    params: &params,
                    cluster: None,
                    step_budget: None,
                };
                let mut scheduler = RandomScheduler::new(seed);
                let model = model(which, seed, &program, &table);
                let start = Instant::now();
                let result = launch_with(&program, &mut memory, &config, &spec, &mut scheduler, model);
                times.push(start.elapsed().as_secs_f64() * 1e3);
                assert_eq!(result.expect("a legal launch").0.end, End::Complete);
            }
        }
        let median = times.map(|mut times| {
            times.sort_by(f64::total_cmp);
            times[times.len() / 2]
        });
        println!(
            "{kernel:8} {grid:4} x {block:3}: {:8.2} ms, store-buffer {:8.2} ms, ptx {:8.2} ms ({:.1} times)",
            median[0],
            median[1],
            median[2],
            median[2] / median[1]
        );
    }
}
