//! The same under the injected device code: its coins go by number of the site, which a fence that is compiled in moves, so
//! it is rates that are compared.

use std::collections::BTreeMap;

use bugaroo_device_handlers::{HandlerModel, LAUNCH_VARIABLE, LaunchState, Layout};
use bugaroo_injector::instrument;
use bugaroo_simulator::{
    AllocationKind, DeviceConfig, LaunchSpec, Memory, PctScheduler, Program, RandomScheduler,
    SchedulerStrategy, launch,
};

use super::{Asked, Work, compiled, table, words};

/// How often each outcome came, by what memory held in the end.
pub type Rates = BTreeMap<Vec<u8>, u64>;

/// An instrumented text and its launch state.
pub struct Instrumented {
    memory: Memory,
    program: Program,
    cells: u64,
    base: u64,
    layout: Layout,
    flags: Option<u64>,
}

impl Instrumented {
    pub fn new(text: &str, work: &Work<'_>, words: Option<&[u32]>) -> Instrumented {
        let info = instrument(text).expect("the tests' PTX can be instrumented");
        let module = bugaroo_ptx::parse(&info.ptx).expect("the injector writes PTX");
        let mut memory = Memory::new(1 << 28).expect("a host gives a test some addresses");
        let room = |memory: &mut Memory, bytes, kind| {
            memory.alloc(bytes, 256, kind).expect("room for what a test needs")
        };
        let cells = room(&mut memory, work.bytes as u64, AllocationKind::Program);
        let shape = (u64::from(work.grid[0]), u64::from(work.block));
        let layout = Layout::new(shape, info.store_sites, 256, 1 << 24);
        let base = room(&mut memory, layout.total_bytes, AllocationKind::Tool);
        let flags = words.map(|words| {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            let at = room(&mut memory, bytes.len() as u64, AllocationKind::Tool);
            memory.write(at, &bytes).expect("it was just allocated");
            at
        });
        let program = Program::load(&module, &mut memory, &DeviceConfig::default());
        let program = program.unwrap_or_else(|error| panic!("{error}"));
        Instrumented { memory, program, cells, base, layout, flags }
    }

    pub fn run(&mut self, work: &Work<'_>, model: HandlerModel, seed: u64) -> Vec<u8> {
        let memory = &mut self.memory;
        memory.fill(self.cells, work.bytes as u64, &[0]).expect("the cells are there");
        memory.fill(self.base, self.layout.zeroed_bytes, &[0]).expect("the buffers are there");
        let state = LaunchState::new(model, (0.9, 0.9), (seed, 0), &self.layout, self.base, self.flags);
        let (variable, _) = self.program.variable(LAUNCH_VARIABLE).expect("an instrumented module has it");
        memory.write(variable, &state.to_bytes()).expect("a module's variable can be written");
        let spec = LaunchSpec {
            kernel: work.kernel,
            grid: work.grid,
            block: [work.block, 1, 1],
            dynamic_shared: 0,
            params: &self.cells.to_le_bytes(),
            cluster: None,
            step_budget: Some(1 << 22),
        };
        let mut scheduler: Box<dyn SchedulerStrategy> = match seed % 2 {
            0 => Box::new(RandomScheduler::new(seed)),
            _ => Box::new(PctScheduler::new(seed, PctScheduler::DEPTH, None)),
        };
        let result = launch(&self.program, memory, &DeviceConfig::default(), &spec, &mut *scheduler);
        let end = result.expect("the tests' launches are legal").end;
        let mut bytes = vec![0; work.bytes];
        memory.read(self.cells, &mut bytes).expect("the cells are there");
        // How it ended, too: a barrier that lanes come to apart is a fault, whatever the fences.
        bytes.push(u8::from(end == bugaroo_simulator::End::Complete));
        bytes
    }
}

/// The outcomes of so many trials with the fences asked for, and of as many others with them compiled in.
pub fn rates(work: &Work<'_>, asked: &Asked, model: HandlerModel, trials: u64) -> [Rates; 2] {
    let words = words(&table(work.text), asked);
    let mut ours = Instrumented::new(work.text, work, Some(&words));
    let mut theirs = Instrumented::new(&compiled(work.text, asked).0, work, None);
    let count = |form: &mut Instrumented, from: u64| {
        let mut rates = Rates::new();
        (from..from + trials).for_each(|seed| *rates.entry(form.run(work, model, seed)).or_default() += 1);
        rates
    };
    [count(&mut ours, 0), count(&mut theirs, 1 << 32)]
}

/// The probability, or more, that two samples of one distribution differ as much as these: of the outcome whose counts
/// differ most, times the number of outcomes (Bonferroni). Hoeffding's bound, so rare outcomes need no care.
pub fn likelihood([ours, theirs]: &[Rates; 2]) -> f64 {
    let count = |rates: &Rates, outcome: &Vec<u8>| rates.get(outcome).copied().unwrap_or(0) as f64;
    let outcomes: std::collections::BTreeSet<_> = ours.keys().chain(theirs.keys()).collect();
    let p = outcomes.iter().map(|outcome| {
        let (a, b) = (count(ours, outcome), count(theirs, outcome));
        // Given the sum, `a` has a hypergeometric distribution: the bound by relative entropy of a binomial holds for
        // it (Hoeffding 1963, section 6).
        let (k, q) = (a + b, 0.5);
        let share: f64 = a / k;
        let term = |x: f64, y: f64| if x == 0.0 { 0.0 } else { x * (x / y).ln() };
        let entropy = term(share, q) + term(1.0 - share, 1.0 - q);
        2.0 * (-k * entropy).exp()
    });
    (p.fold(1.0, f64::min) * outcomes.len() as f64).min(1.0)
}
