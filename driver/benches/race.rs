//! What looking for races costs: kernels under the virtual GPU alone and with each detector, by processor time.
//!
//! Each is compared with the same run without it: `ptx` under store buffers (p_w 0.75), the others without weak memory, BARRACUDA
//! with warps in lockstep as its paper has them. Prints milliseconds a run of all launches of a program, the median
//! of several that take turns, and the ratios. Names as arguments choose programs and detectors.
//! Run with `cargo bench -p bugaroo-driver --bench race`.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use bugaroo_detectors::{Barracuda, ExactDetector, Hirace, RaceDetector, RaceFinding, Scord, Set, Warning};
use bugaroo_injector::collect_sites::{SiteTable, collect_sites};
use bugaroo_semantics::event::{Access, Event, WorkKind};
use bugaroo_semantics::{Observer, Wants};
use bugaroo_simulator::maker::{ModelMaker, ModelSettings};
use bugaroo_simulator::{
    AllocationKind, DeviceConfig, End, Grid, LaunchSpec, LaunchWatch, Memory, MemoryModel, Program,
    RandomScheduler,
};

const RUNS: u64 = 7;
/// Elements of the product's rows, and of what the others work on.
const ROWS: u32 = 128;
const KEYS: u32 = 1 << 16;
const BLOCK: u32 = 256;
/// Elements of what is larger than the processor's caches.
const MANY: u32 = 1 << 20;

/// A launch: kernel, blocks, threads, arguments, each as many bytes as it has.
type Launch = (&'static str, [u32; 3], [u32; 3], Vec<u8>);

/// A detector, and the executions that it looks at.
struct Column {
    name: &'static str,
    pw: f64,
    lockstep: bool,
    make: fn() -> Box<dyn RaceDetector>,
}

const COLUMNS: [Column; 5] = [
    Column { name: "nobody", pw: 0.0, lockstep: false, make: || Box::new(Nobody) },
    Column { name: "ptx", pw: 0.75, lockstep: false, make: || Box::new(ExactDetector::new()) },
    Column { name: "barracuda", pw: 0.0, lockstep: true, make: || Box::new(Barracuda::new()) },
    Column { name: "hirace", pw: 0.0, lockstep: false, make: || Box::new(Hirace::default()) },
    Column { name: "scord", pw: 0.0, lockstep: true, make: || Box::new(Scord::default()) },
];

/// Is told all, and does nothing: what telling costs.
struct Nobody;

impl Observer for Nobody {
    fn wants(&self) -> Wants {
        Wants::default()
    }

    fn access(&mut self, _: &Access<'_>) {}

    fn event(&mut self, _: &Event<'_>) {}
}

impl RaceDetector for Nobody {
    fn name(&self) -> &'static str {
        "nobody"
    }

    fn take_findings(&mut self) -> Vec<RaceFinding> {
        Vec::new()
    }

    fn take_warnings(&mut self) -> Vec<Warning> {
        Vec::new()
    }

    fn held(&self) -> u64 {
        0
    }
}

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
        let maker = ModelMaker::store_buffer(&self.program, &self.table);
        let (pw, pr, seed) = ([pw; 2], [0.0; 2], (seed, 0));
        Some(maker.make(&ModelSettings { pw, pr, seed, capacity: 256, memory: 1 << 30, swarm: false }))
    }

    /// Milliseconds of all launches together.
    fn run(&mut self, seed: u64, column: &Column, launches: &[Launch], looks: bool) -> f64 {
        let Column { pw, lockstep, make, .. } = *column;
        // As the driver has them: a set.
        let observer = looks.then(|| {
            let mut detector = make();
            detector.learn_program(0, &self.program.roles());
            Rc::new(RefCell::new(Set::new(vec![detector])))
        });
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
                LaunchWatch { observer: observer.clone() as _, grid: id, first_site: 0 }
            });
            let program = Arc::clone(&self.program);
            let grid = Grid::with_model(program, &config, &spec, None, scheduler, model, watch);
            let end = grid.expect("a legal launch").advance(&mut self.memory, u64::MAX);
            took += now() - start;
            assert_eq!(end, Some(End::Complete), "{kernel}");
        }
        if let Some(observer) = observer {
            for detector in observer.borrow_mut().each() {
                let found = detector.take_findings();
                assert!(found.is_empty(), "{found:?}");
            }
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
    let (many, more) = (room(MANY * 4), room(MANY * 4));
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
    let n = Some(KEYS);
    // What lies in a square has 256 times 256 elements.
    let (square, tile) = (Some(256), [16, 16, 1]);
    let programs: [(&str, Vec<Launch>); 14] = [
        ("tiled product", vec![("product", tiles, [16, 16, 1], params(&[a, b, c], Some(ROWS)))]),
        ("radix sort", sort),
        ("scan", scan(keys, other, KEYS)),
        ("histogram", vec![("histogram", one(16), one(BLOCK), params(&[keys, bins], n))]),
        ("saxpy", vec![("saxpy", one(64), one(BLOCK), params(&[keys, other], n))]),
        ("stencil", vec![("stencil", [16, 16, 1], tile, params(&[keys, other], square))]),
        ("tiled stencil", vec![("tiles", [22, 22, 1], tile, params(&[keys, other], square))]),
        ("transpose", vec![("transpose", [8, 8, 1], [32, 8, 1], params(&[keys, other], square))]),
        ("reduction", vec![("reduction", one(32), one(BLOCK), params(&[keys, sums], n))]),
        ("sparse", vec![("sparse", one(32), one(BLOCK), params(&[keys, other, a], n))]),
        ("bodies", vec![("bodies", one(4), one(BLOCK), params(&[keys, other], Some(4 * BLOCK)))]),
        ("large saxpy", vec![("saxpy", one(64), one(BLOCK), params(&[many, more], Some(MANY)))]),
        ("large histogram", vec![("histogram", one(16), one(BLOCK), params(&[many, bins], Some(MANY)))]),
        ("large reduction", vec![("reduction", one(32), one(BLOCK), params(&[many, sums], Some(MANY)))]),
    ];
    // Names of the other kind choose nothing.
    let chosen = |name: &str, all: &mut dyn Iterator<Item = &'static str>| {
        let mut all = all.filter(|name| asked.iter().any(|asked| name.contains(asked))).peekable();
        all.peek().is_none() || all.any(|chosen| chosen == name)
    };
    let mut ratios: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for (name, launches) in &programs {
        if !chosen(name, &mut programs.iter().map(|(name, _)| *name)) {
            continue;
        }
        for column in &COLUMNS {
            if !chosen(column.name, &mut COLUMNS.iter().map(|column| column.name)) {
                continue;
            }
            let mut times: [Vec<f64>; 2] = Default::default();
            for seed in 0..RUNS {
                for (looks, times) in [false, true].into_iter().zip(&mut times) {
                    bench.memory.write(keys, &text).expect("allocated");
                    times.push(bench.run(seed, column, launches, looks));
                }
            }
            let [alone, looked_at] = times.map(|mut times| {
                times.sort_by(f64::total_cmp);
                times[times.len() / 2]
            });
            ratios.entry(column.name).or_default().push(looked_at / alone);
            println!(
                "{name:15} {:9} {alone:8.2} ms alone, {looked_at:8.2} ms looked at: {:5.2} times",
                column.name,
                looked_at / alone
            );
        }
    }
    for (column, mut ratios) in ratios {
        ratios.sort_by(f64::total_cmp);
        let (median, most) = (ratios[ratios.len() / 2], ratios[ratios.len() - 1]);
        println!("{column}: {median:.2} times (median of {}), at most {most:.2}", ratios.len());
    }
}
