//! What the virtual GPU's time goes into: kernels of the kinds that programs have, without a model of memory, with store
//! buffers, and under `ptx`, beside C where there is an equivalent.
//!
//! Prints one table. Rates are millions of PTX thread-instructions a second, on one core, of the fastest of several runs that take
//! turns; what stands under a model is how many times as long the kernel takes. `threads` and `C` say how many times as long C
//! takes, compiled in the same run (`cc -O3 -march=native`): doing one CUDA thread after another, and as a C programmer would write it. Run
//! it with `cargo bench -p bugaroo-simulator --bench suite`, or with names behind `--` for these kernels alone; `--store-buffer` there
//! leaves `ptx` and C out.
//!
//! Three kernels are there a second time, with rounds enough for 400 turns. Each kernel counts once in a median: `median` takes the
//! first of these, `median x 400` the second.

mod kernels;
mod twins;

use std::collections::BTreeMap;
use std::time::Instant;

use bugaroo_injector::collect_sites::{SiteTable, collect_sites};
use bugaroo_simulator::maker::{ModelMaker, ModelSettings};
use bugaroo_simulator::{
    AllocationKind, DeviceConfig, End, LaunchSpec, Memory, MemoryModel, Program, RandomScheduler, launch_with,
};

use kernels::{KERNELS, Kernel};

/// Elements of each array.
const N: u32 = 1 << 20;
/// Runs of each kernel under each model.
const RUNS: u64 = 5;
const MODELS: [&str; 3] = ["none", "store-buffer", "ptx"];

struct Suite {
    memory: Memory,
    program: Program,
    config: DeviceConfig,
    table: SiteTable,
    arrays: [u64; 3],
}

impl Suite {
    fn new() -> Suite {
        let module = bugaroo_ptx::parse(include_str!("kernels.ptx")).expect("the bench's own PTX parses");
        let (config, table) = (DeviceConfig::default(), collect_sites(&module));
        let mut memory = Memory::new(1 << 30).expect("a gigabyte of address space");
        let program = Program::load(&module, &mut memory, &config).expect("the bench's own PTX loads");
        let arrays = [(); 3].map(|()| {
            memory.alloc(u64::from(N) * 4, 256, AllocationKind::Program).expect("room for four megabytes")
        });
        for (array, of) in [(arrays[0], 251u32), (arrays[1], 7)] {
            let bytes: Vec<u8> = (0..N).flat_map(|i| ((i % of) as f32).to_le_bytes()).collect();
            memory.write(array, &bytes).expect("just allocated");
        }
        Suite { memory, program, config, table, arrays }
    }

    fn model(&self, which: &str, seed: u64) -> Option<Box<dyn MemoryModel>> {
        let maker = match which {
            "store-buffer" => ModelMaker::store_buffer(&self.program, &self.table),
            "ptx" => ModelMaker::ptx(&self.program),
            _ => return None,
        };
        let (pw, pr, seed) = ([0.75; 2], [0.5; 2], (seed, 0));
        Some(maker.make(&ModelSettings { pw, pr, seed, capacity: 256, memory: 1 << 30, swarm: false }))
    }

    /// Seconds that one launch takes, and its thread-instructions.
    fn run(&mut self, kernel: &Kernel, which: &str, seed: u64) -> (f64, u64) {
        self.memory.fill(self.arrays[2], u64::from(N) * 4, &[0]).expect("allocated");
        let mut params: Vec<u8> = self.arrays.iter().flat_map(|address| address.to_le_bytes()).collect();
        params.extend([kernel.n, kernel.rounds].iter().flat_map(|number| number.to_le_bytes()));
        let spec = LaunchSpec {
            kernel: kernel.name,
            grid: [kernel.blocks, 1, 1],
            block: [256, 1, 1],
            dynamic_shared: 0,
            params: &params,
            cluster: None,
            step_budget: None,
        };
        let mut scheduler = RandomScheduler::new(seed);
        let model = self.model(which, seed);
        let start = Instant::now();
        let result = launch_with(&self.program, &mut self.memory, &self.config, &spec, &mut scheduler, model);
        let seconds = start.elapsed().as_secs_f64();
        let (result, _) = result.expect("a legal launch");
        assert_eq!(result.end, End::Complete, "{}", kernel.name);
        (seconds, result.counts.thread_instructions)
    }
}

fn main() {
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let mut suite = Suite::new();
    let alone = std::env::args().any(|argument| argument == "--store-buffer");
    let models = if alone { &MODELS[..2] } else { &MODELS[..] };
    let twins = if alone { None } else { twins::compile() };
    if twins.is_none() && !alone {
        println!("no C compiler (cc) was found: the columns beside C stay empty");
    }
    println!(
        "{:18} {:>10} {:>12} {:>8} {:>8} {:>8}  unit",
        "kernel", "M/s", "store-buffer", "ptx", "threads", "C"
    );
    // By kernel: those of its first size, and of its last.
    let mut ratios: BTreeMap<&str, [[f64; 2]; 2]> = BTreeMap::new();
    for kernel in
        KERNELS.iter().filter(|kernel| wanted.is_empty() || wanted.iter().any(|name| name == kernel.name))
    {
        let mut best = [f64::INFINITY; MODELS.len()];
        let mut instructions = 0;
        for seed in 0..RUNS {
            for (which, best) in models.iter().copied().zip(&mut best) {
                let (seconds, counted) = suite.run(kernel, which, seed);
                *best = best.min(seconds);
                if which == "none" {
                    instructions = counted;
                }
            }
        }
        let work = kernel.multiply_adds.map_or(instructions, |each| each * u64::from(kernel.rounds));
        let unit = if kernel.multiply_adds.is_some() { "multiply-adds" } else { "thread-instructions" };
        let under = [best[1] / best[0], best[2] / best[0]];
        ratios.entry(kernel.name).or_insert([under; 2])[1] = under;
        let beside = twins.as_ref().map(|twins| twins.run(kernel)).unwrap_or_default();
        let beside = beside
            .map(|seconds| seconds.map_or(String::new(), |seconds| format!("{:.2}", seconds / best[0])));
        println!(
            "{:18} {:>10.0} {:>12.2} {:>8.1} {:>8} {:>8}  {unit}",
            kernel.label,
            work as f64 / best[0] / 1e6,
            under[0],
            under[1],
            beside[0],
            beside[1],
        );
    }
    for (size, label) in ["median", "median x 400"].into_iter().enumerate() {
        let [store_buffer, ptx] = [0, 1].map(|model| {
            let mut all: Vec<f64> = ratios.values().map(|sizes| sizes[size][model]).collect();
            all.sort_by(f64::total_cmp);
            all.get(all.len() / 2).copied().unwrap_or(f64::NAN)
        });
        println!("{label:18} {:>10} {store_buffer:>12.2} {ptx:>8.1}", "");
    }
}
