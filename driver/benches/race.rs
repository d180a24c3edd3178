//! What looking for races costs: kernels under the virtual GPU alone and with each detector, by processor time.
//!
//! `ptx` is compared with the same run under the same memory model (store buffers, p_w 0.75); BARRACUDA, which looks at executions
//! without weak memory and with warps in lockstep, with such a run. Prints milliseconds a run of all launches of a program,
//! the median of several that take turns, and the ratios. Names as arguments choose programs.
//! Run with `cargo bench -p bugaroo-driver --bench race`.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use bugaroo_detectors::{Barracuda, Detector, Ptx};
use bugaroo_injector::collect_sites::{SiteTable, collect_sites};
use bugaroo_semantics::event::{Event, WorkKind};
use bugaroo_simulator::model::store_buffer;
use bugaroo_simulator::{
    AllocationKind, DeviceConfig, End, Grid, LaunchSpec, Memory, MemoryModel, Program, RandomScheduler, Watch,
};

const RUNS: u64 = 7;
/// Elements of the product's rows, and of what the others work on.
const ROWS: u32 = 128;
const KEYS: u32 = 1 << 16;
const BLOCK: u32 = 256;

/// A launch: kernel, blocks, threads, arguments, each as many bytes as it has.
type Launch = (&'static str, [u32; 3], [u32; 3], Vec<u8>);

struct Bench {
    config: DeviceConfig,
    memory: Memory,
    program: Arc<Program>,
    table: SiteTable,
}

/// Arguments one after another, as a kernel has them.
fn params(addresses: &[u64], last: Option<u32>) -> Vec<u8> {
    let addresses = addresses.iter().flat_map(|address| address.to_le_bytes());
    addresses.chain(last.into_iter().flat_map(u32::to_le_bytes)).collect()
}

/// Processor time of this thread, in milliseconds.
fn now() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is that of a local variable.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

impl Bench {
    fn model(&self, seed: u64, pw: f64) -> Option<Box<dyn MemoryModel>> {
        if pw == 0.0 {
            return None;
        }
        let settings = store_buffer::Settings { pw: [pw; 2], seed: (seed, 0), capacity: 256 };
        let sites = Arc::new(store_buffer::Sites::new(&self.program, &self.table));
        Some(Box::new(store_buffer::StoreBuffer::new(&settings, sites)))
    }

    /// Milliseconds of all launches together.
    fn run<D: Detector + 'static>(
        &mut self,
        seed: u64,
        pw: f64,
        lockstep: bool,
        launches: &[Launch],
        detector: Option<D>,
    ) -> f64 {
        let observer = detector.map(|detector| Rc::new(RefCell::new(detector)));
        let config = DeviceConfig { lockstep, ..self.config.clone() };
        let mut took = 0.0;
        for (id, (kernel, grid, block, params)) in (1..).zip(launches) {
            let model = self.model(seed, pw);
            let spec = LaunchSpec {
                kernel,
                grid: *grid,
                block: *block,
                dynamic_shared: 0,
                params,
                cluster: None,
                step_budget: None,
            };
            let scheduler = Box::new(RandomScheduler::new(seed));
            let start = now();
            let watch = observer.as_ref().map(|observer| {
                let work =
                    Event::Work { id, kind: WorkKind::Grid, chain: 0, after: &[], asked: None, site: 0 };
                observer.borrow_mut().event(&work);
                Watch { observer: observer.clone() as _, grid: id, first_site: 0 }
            });
            let program = Arc::clone(&self.program);
            let grid = Grid::with_model(program, &config, &spec, None, scheduler, model, watch);
            let end = grid.expect("a legal launch").advance(&mut self.memory, u64::MAX);
            took += now() - start;
            assert_eq!(end, Some(End::Complete), "{kernel}");
        }
        if let Some(observer) = observer {
            let found = observer.borrow_mut().take_findings();
            assert!(found.is_empty(), "{found:?}");
        }
        took
    }
}

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let module = bugaroo_ptx::parse(include_str!("race.ptx")).expect("the bench's own PTX parses");
    let (config, table) = (DeviceConfig::default(), collect_sites(&module));
    let mut memory = Memory::new(1 << 28).expect("address space");
    let program = Arc::new(Program::load(&module, &mut memory, &config).expect("the bench's own PTX loads"));
    let mut room = |bytes: u32| memory.alloc(u64::from(bytes), 256, AllocationKind::Program).expect("room");
    let (a, b, c) = (room(ROWS * ROWS * 4), room(ROWS * ROWS * 4), room(ROWS * ROWS * 4));
    let (keys, other, counts, starts) = (room(KEYS * 4), room(KEYS * 4), room(1 << 16), room(1 << 16));
    let (sums, bins) = (room(1 << 12), room(1 << 12));
    let mut random = 1u32;
    let text: Vec<u8> = (0..KEYS)
        .flat_map(|_| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 8).to_le_bytes()
        })
        .collect();
    let mut bench = Bench { config, memory, program, table };
    let one = |x: u32| [x, 1, 1];
    // Partial sums, their own sums, and both together.
    let scan = |from: u64, to: u64, count: u32| -> Vec<Launch> {
        let blocks = count / (2 * BLOCK);
        vec![
            ("scan", one(blocks), one(BLOCK), params(&[from, to, sums], None)),
            ("scan", one(1), one(BLOCK), params(&[sums, sums, 0], None)),
            ("add_sums", one(blocks), one(BLOCK), params(&[to, sums], None)),
        ]
    };
    let blocks = KEYS / BLOCK;
    let mut sort = Vec::new();
    for (digit, (from, to)) in [(keys, other), (other, keys)].into_iter().enumerate() {
        let shift = Some(digit as u32 * 4);
        sort.push(("count", one(blocks), one(BLOCK), params(&[from, counts], shift)));
        sort.extend(scan(counts, starts, blocks * 16));
        sort.push(("scatter", one(blocks), one(BLOCK), params(&[from, to, starts], shift)));
    }
    let tiles = [ROWS / 16, ROWS / 16, 1];
    let programs: [(&str, Vec<Launch>); 4] = [
        ("tiled product", vec![("product", tiles, [16, 16, 1], params(&[a, b, c], Some(ROWS)))]),
        ("radix sort", sort),
        ("scan", scan(keys, other, KEYS)),
        ("histogram", vec![("histogram", one(16), one(BLOCK), params(&[keys, bins], Some(KEYS)))]),
    ];
    for (name, launches) in programs {
        if !asked.is_empty() && !asked.iter().any(|asked| name.contains(asked)) {
            continue;
        }
        let mut times: [Vec<f64>; 4] = Default::default();
        for seed in 0..RUNS {
            bench.memory.write(keys, &text).expect("allocated");
            times[0].push(bench.run::<Ptx>(seed, 0.75, false, &launches, None));
            bench.memory.write(keys, &text).expect("allocated");
            times[1].push(bench.run(seed, 0.75, false, &launches, Some(Ptx::new())));
            bench.memory.write(keys, &text).expect("allocated");
            times[2].push(bench.run::<Ptx>(seed, 0.0, true, &launches, None));
            bench.memory.write(keys, &text).expect("allocated");
            times[3].push(bench.run(seed, 0.0, true, &launches, Some(Barracuda::new())));
        }
        let [alone, ptx, lockstep, barracuda] = times.map(|mut times| {
            times.sort_by(f64::total_cmp);
            times[times.len() / 2]
        });
        println!(
            "{name:14} {alone:8.2} ms, ptx {ptx:8.2} ms ({:5.2} times); in lockstep {lockstep:8.2} ms, barracuda {barracuda:8.2} ms ({:5.2} times)",
            ptx / alone,
            barracuda / lockstep
        );
    }
}
