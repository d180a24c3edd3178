//! The same fences twice: asked for by site, as a trial's orders do, and compiled into the text.
#![allow(dead_code, reason = "each test binary uses a part")]

pub mod handlers;
pub mod random;

use std::sync::Arc;

pub use bugaroo_device_handlers::flags::{INSERT, NARROW, OMIT};
use bugaroo_injector::collect_sites::{InjectionPoint, PointKind, SiteTable, collect_sites};
use bugaroo_simulator::model::{ptx, store_buffer};
use bugaroo_simulator::{
    AllocationKind, DeviceConfig, LaunchSpec, Memory, MemoryModel, PctScheduler, Program, RandomScheduler,
    SchedulerStrategy, launch_with,
};

/// Sites and what is asked of them: words of `bugaroo_device_handlers::flags`.
pub type Asked = Vec<(u32, u32)>;

/// A kernel that is given the address of so many bytes, zero at first.
#[derive(Clone, Debug)]
pub struct Work<'a> {
    pub text: &'a str,
    pub kernel: &'a str,
    pub grid: [u32; 3],
    pub block: u32,
    pub bytes: usize,
}

/// The table of a text.
pub fn table(text: &str) -> SiteTable {
    collect_sites(&bugaroo_ptx::parse(text).expect("the tests' PTX parses"))
}

/// All that may be asked of a point.
pub fn choices(point: &InjectionPoint) -> Vec<u32> {
    match point.kind {
        _ if point.site.is_none() => Vec::new(),
        PointKind::Fence(_) => vec![OMIT, NARROW],
        _ if point.takes_fence => vec![INSERT, INSERT | NARROW],
        _ => Vec::new(),
    }
}

/// The words by number of the site.
pub fn words(table: &SiteTable, asked: &Asked) -> Vec<u32> {
    let mut words = vec![0; table.sites.len()];
    asked.iter().for_each(|(site, word)| words[*site as usize] = *word);
    words
}

/// The text with the fences compiled in, and its table with the sites numbered as in the original. No line is
/// added.
pub fn compiled(text: &str, asked: &Asked) -> (String, SiteTable) {
    let original = table(text);
    let words = words(&original, asked);
    let word = |point: &InjectionPoint| point.site.map_or(0, |site| words[site as usize]);
    let mut output = String::new();
    let mut inserted = Vec::new();
    let mut from = 0;
    for point in original.points.iter().filter(|point| word(point) != 0) {
        let (start, end) = (point.span.start, point.span.end);
        match word(point) {
            OMIT => {
                output.push_str(&text[from..start]);
            }
            NARROW => {
                output.push_str(&text[from..start]);
                let narrow =
                    |text: &str| text.replace(".gl", ".cta").replace(".gpu", ".cta").replace(".sys", ".cta");
                output.push_str(&narrow(&text[start..end]));
            }
            word => {
                output.push_str(&text[from..end]);
                let guard = point.guard.as_ref().map_or_else(String::new, |guard| {
                    format!("@{}{} ", if guard.negated { "!" } else { "" }, guard.register)
                });
                output.push(' ');
                inserted.push(output.len());
                output.push_str(&format!(
                    "{guard}fence.sc.{};",
                    if word & NARROW != 0 { "cta" } else { "gpu" }
                ));
            }
        }
        from = end;
    }
    output.push_str(&text[from..]);
    let mut edited = table(&output);
    let mut numbers =
        original.points.iter().filter(|point| word(point) != OMIT).filter_map(|point| point.site);
    for point in edited.points.iter_mut().filter(|point| point.site.is_some()) {
        let new = inserted.contains(&point.span.start);
        point.site = if new { None } else { numbers.next() };
    }
    assert!(numbers.next().is_none(), "every site is in both texts");
    (output, edited)
}

/// What stands in a program, but for what may differ: places in the text, and numbers of entries of tables.
pub fn shape(program: &Program) -> Vec<String> {
    use bugaroo_simulator::decoded::Kind;
    let image = program.image();
    let mut shape: Vec<String> = (image.code.iter().zip(image.origins))
        .map(|(inst, origin)| {
            let extra = match inst.kind {
                Kind::Fence => match image.fences.get((inst.extra >> 1) as usize) {
                    Some(fence) => format!("{fence:?} {}", inst.extra & 1),
                    None => "sleeps".to_owned(),
                },
                Kind::IndexedBranch => format!("{:?}", image.tables[inst.extra as usize]),
                _ => inst.extra.to_string(),
            };
            let guard = (inst.guard != u32::MAX, inst.guard_flip);
            format!("{:?} {extra} {guard:?} line {}", inst.kind, origin.line)
        })
        .collect();
    shape.extend(image.functions.iter().map(|function| format!("{} {}", function.name, function.entry)));
    shape
}

/// A model of the virtual GPU's own, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Own {
    None,
    StoreBuffer,
    Ptx,
}

/// A program that is ready to run.
pub struct Loaded {
    memory: Memory,
    cells: u64,
    bytes: usize,
    pub program: Program,
    sites: Arc<store_buffer::Sites>,
    facts: Arc<ptx::Facts>,
}

impl Loaded {
    pub fn new(text: &str, table: &SiteTable, words: Option<&[u32]>, bytes: usize) -> Loaded {
        let mut memory = Memory::new(1 << 28).expect("a host gives a test some addresses");
        let cells = memory.alloc(bytes as u64, 256, AllocationKind::Program).expect("room for the cells");
        let module = bugaroo_ptx::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let config = DeviceConfig::default();
        let program = Program::load(&module, &mut memory, &config).unwrap_or_else(|error| panic!("{error}"));
        let program = match words {
            Some(words) => program.with_fences(table, words).expect("something is asked for"),
            None => program,
        };
        let sites = Arc::new(store_buffer::Sites::new(&program, table));
        let facts = Arc::new(ptx::Facts::new(&program));
        Loaded { memory, cells, bytes, program, sites, facts }
    }

    /// What comes out: how the launch ended and what it counted, and memory.
    pub fn run(&mut self, work: &Work<'_>, own: Own, seed: u64) -> (String, Vec<u8>) {
        self.memory.fill(self.cells, self.bytes as u64, &[0]).expect("the cells are there");
        let pw = [[0.5, 0.9, 1.0][(seed % 3) as usize]; 2];
        let (pr, seeds) = ([0.5; 2], (seed, 0));
        let model: Option<Box<dyn MemoryModel>> = match own {
            Own::None => None,
            Own::StoreBuffer => {
                let settings = store_buffer::StoreBufferSettings { pw, seed: seeds, capacity: 256 };
                Some(Box::new(store_buffer::StoreBuffer::new(&settings, Arc::clone(&self.sites))))
            }
            Own::Ptx => {
                let settings = ptx::PtxSettings { pw, pr, seed: seeds, memory: 1 << 26 };
                Some(Box::new(ptx::PtxModel::new(&settings, Arc::clone(&self.facts))))
            }
        };
        let mut scheduler: Box<dyn SchedulerStrategy> = match seed % 2 {
            0 => Box::new(RandomScheduler::new(seed)),
            _ => Box::new(PctScheduler::new(seed, PctScheduler::DEPTH, None)),
        };
        let spec = LaunchSpec {
            kernel: work.kernel,
            grid: work.grid,
            block: [work.block, 1, 1],
            dynamic_shared: 0,
            params: &self.cells.to_le_bytes(),
            cluster: None,
            step_budget: Some(1 << 20),
        };
        let config = DeviceConfig::default();
        let result = launch_with(&self.program, &mut self.memory, &config, &spec, &mut *scheduler, model);
        let (result, counts) = result.expect("the tests' launches are legal");
        let mut bytes = vec![0; self.bytes];
        self.memory.read(self.cells, &mut bytes).expect("the cells are there");
        (format!("{:?} {:?} {}", result.end, result.counts, counts.delayed), bytes)
    }
}

/// The program with the fences asked for, and the one with them compiled in: the same instructions.
pub fn both(work: &Work<'_>, asked: &Asked) -> [Loaded; 2] {
    let own = table(work.text);
    let words = words(&own, asked);
    let ours = Loaded::new(work.text, &own, Some(&words), work.bytes);
    let (text, table) = compiled(work.text, asked);
    let theirs = Loaded::new(&text, &table, None, work.bytes);
    assert_eq!(shape(&ours.program), shape(&theirs.program), "{asked:?}\n{text}");
    [ours, theirs]
}

/// Every trial comes out the same, whatever the model.
pub fn same(work: &Work<'_>, asked: &Asked, seeds: std::ops::Range<u64>) {
    let [mut ours, mut theirs] = both(work, asked);
    for own in [Own::None, Own::StoreBuffer, Own::Ptx] {
        for seed in seeds.clone() {
            let (mine, other) = (ours.run(work, own, seed), theirs.run(work, own, seed));
            assert_eq!(mine, other, "{own:?}, seed {seed}, {asked:?}\n{}", work.text);
        }
    }
}
