//! Runs a kernel with and without instrumentation: what the injector's behaviour tests share. Store buffers come in two
//! forms, [`in_both_forms`]: the device code that instrumented PTX calls, and the simulator's own model.
use bugaroo_device_handlers::{HandlerModel, LAUNCH_VARIABLE, LaunchState, Layout, flags};
use bugaroo_injector::collect_sites::{SiteTable, collect_sites};
use bugaroo_injector::{Instrumented, instrument};
use bugaroo_ptx::ast::Module;
use bugaroo_simulator::model::ptx;
use bugaroo_simulator::model::store_buffer::{Sites, StoreBuffer, StoreBufferSettings};
use bugaroo_simulator::{
    AllocationKind, DeviceConfig, End, LaunchSpec, Memory, MemoryModel, Program, RandomScheduler, launch_with,
};
use std::cell::Cell;
use std::sync::Arc;

thread_local! {
    /// Whether this thread's runs under store buffers are the simulator's own.
    static NATIVE: Cell<bool> = const { Cell::new(false) };
    /// Whether they are under the PTX model.
    static PTX: Cell<bool> = const { Cell::new(false) };
}

/// Runs a test with store buffers by the device code, and then by the simulator.
pub fn in_both_forms(test: impl Fn()) {
    for native in [false, true] {
        NATIVE.set(native);
        test();
    }
    NATIVE.set(false);
}

/// Runs a test with the simulator's own store buffers.
pub fn natively<T>(test: impl FnOnce() -> T) -> T {
    NATIVE.set(true);
    let result = test();
    NATIVE.set(false);
    result
}

/// Runs a test under the PTX model instead of store buffers.
pub fn under_ptx<T>(test: impl FnOnce() -> T) -> T {
    PTX.set(true);
    let result = test();
    PTX.set(false);
    result
}

/// A module in both forms, parsed once.
pub struct Prepared {
    pub original: Module,
    pub instrumented: Module,
    pub info: Instrumented,
    pub table: SiteTable,
}

impl Prepared {
    pub fn new(ptx: &str) -> Prepared {
        let info = instrument(ptx).expect("the module instruments");
        let original = bugaroo_ptx::parse(ptx).expect("the module parses");
        let instrumented = bugaroo_ptx::parse(&info.ptx).expect("the output parses");
        let table = collect_sites(&original);
        Prepared { original, instrumented, info, table }
    }

    /// Numbers of the sites of a kernel whose instruction contains this text.
    pub fn sites(&self, function: &str, instruction: &str) -> Vec<u32> {
        let here = self.info.sites.iter().filter(|site| site.function == function);
        here.filter(|site| site.instruction.contains(instruction)).map(|site| site.id.index).collect()
    }
}

/// A parameter of a kernel.
#[derive(Clone, Debug)]
pub enum Argument {
    /// An allocation with this content; its address is passed.
    Buffer(Vec<u8>),
    U32(u32),
    U64(u64),
}

/// A buffer of words.
pub fn words(values: &[u32]) -> Argument {
    Argument::Buffer(values.iter().flat_map(|value| value.to_le_bytes()).collect())
}

/// The words of a buffer.
pub fn as_words(bytes: &[u8]) -> Vec<u32> {
    let word = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().expect("chunks of four"));
    bytes.chunks_exact(4).map(word).collect()
}

/// What to launch.
#[derive(Clone, Debug)]
pub struct Work<'a> {
    pub kernel: &'a str,
    pub grid: u32,
    pub block: u32,
    pub dynamic_shared: u32,
    pub arguments: Vec<Argument>,
}

impl<'a> Work<'a> {
    pub fn new(kernel: &'a str, grid: u32, block: u32, arguments: &[Argument]) -> Work<'a> {
        Work { kernel, grid, block, dynamic_shared: 0, arguments: arguments.to_vec() }
    }
}

/// What is injected.
#[derive(Clone, Debug)]
pub struct Injection {
    pub model: HandlerModel,
    pub pw_global: f64,
    pub pw_shared: f64,
    pub capacity: u32,
    /// Most bytes of device memory for buffers.
    pub budget: u64,
    /// Sites and their flags.
    pub flags: Vec<(u32, u32)>,
}

impl Injection {
    /// Both spaces, 256 entries.
    pub fn new(model: HandlerModel, pw: f64) -> Injection {
        Injection { model, pw_global: pw, pw_shared: pw, capacity: 256, budget: 256 << 20, flags: Vec::new() }
    }

    pub fn omitting(mut self, sites: &[u32]) -> Injection {
        self.flags.extend(sites.iter().map(|site| (*site, flags::OMIT)));
        self
    }

    pub fn narrowing(mut self, sites: &[u32]) -> Injection {
        self.flags.extend(sites.iter().map(|site| (*site, flags::NARROW)));
        self
    }

    pub fn inserting(mut self, sites: &[u32]) -> Injection {
        self.flags.extend(sites.iter().map(|site| (*site, flags::INSERT)));
        self
    }
}

/// What came out.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The buffers, in the order of the arguments.
    pub buffers: Vec<Vec<u8>>,
    pub end: End,
    /// Stores that were delayed.
    pub delayed: u64,
    pub thread_instructions: u64,
    /// What the kernel printed, a line each, sorted.
    pub printed: Vec<String>,
}

impl Outcome {
    pub fn complete(self) -> Outcome {
        assert_eq!(self.end, End::Complete);
        self
    }

    pub fn words(&self, buffer: usize) -> Vec<u32> {
        as_words(&self.buffers[buffer])
    }
}

/// Warp instructions that no test's kernel comes near.
const BUDGET: u64 = 20_000_000;

/// Runs the original.
pub fn run_original(prepared: &Prepared, work: &Work<'_>, seed: u64) -> Outcome {
    run_module(&prepared.original, Form::Plain, work, seed)
}

/// Runs the instrumented module; without an injection, its launch state stays as the module has it.
pub fn run(prepared: &Prepared, work: &Work<'_>, injection: Option<&Injection>, seed: u64) -> Outcome {
    let Some(injection) = injection else {
        return run_module(&prepared.instrumented, Form::Plain, work, seed);
    };
    if injection.model == HandlerModel::StoreBuffer && (NATIVE.get() || PTX.get()) {
        return run_module(&prepared.original, Form::Native(injection, prepared), work, seed);
    }
    run_module(&prepared.instrumented, Form::Handlers(injection, &prepared.info), work, seed)
}

/// How stores are delayed.
#[derive(Clone, Copy)]
enum Form<'a> {
    Plain,
    Handlers(&'a Injection, &'a Instrumented),
    Native(&'a Injection, &'a Prepared),
}

/// The words of a module's sites.
fn words_of(injection: &Injection, sites: usize) -> Vec<u32> {
    let mut words = vec![0; sites];
    injection.flags.iter().for_each(|(site, flag)| words[*site as usize] |= flag);
    words
}

/// The simulator's model, as the device code would be told by its launch state.
fn native_model(
    program: &Program,
    injection: &Injection,
    prepared: &Prepared,
    seed: u64,
) -> Box<dyn MemoryModel> {
    let sites = Arc::new(Sites::new(program, &prepared.table));
    let pw = [injection.pw_global, injection.pw_shared];
    if PTX.get() {
        let settings =
            ptx::PtxSettings { pw, pr: pw.map(|pw| pw.min(0.5)), seed: (seed, 0), memory: 1 << 30 };
        return Box::new(ptx::PtxModel::new(&settings, Arc::new(ptx::Facts::new(program))));
    }
    let settings = StoreBufferSettings { pw, seed: (seed, 0), capacity: injection.capacity };
    Box::new(StoreBuffer::new(&settings, sites))
}

fn run_module(module: &Module, form: Form<'_>, work: &Work<'_>, seed: u64) -> Outcome {
    let mut memory = Memory::new(1 << 30).expect("a host gives a test a gigabyte of addresses");
    let config = DeviceConfig { late_copies: !matches!(form, Form::Plain), ..DeviceConfig::default() };
    let program = match Program::load(module, &mut memory, &config) {
        Ok(program) => program,
        Err(error) => panic!("{error}"),
    };
    // The simulator's own models find the fences that are asked for in the program itself.
    let program = match form {
        Form::Native(injection, prepared) => {
            let words = words_of(injection, prepared.table.sites.len());
            program.with_fences(&prepared.table, &words).unwrap_or(program)
        }
        _ => program,
    };
    let mut parameters = Vec::new();
    let mut buffers = Vec::new();
    for argument in &work.arguments {
        let size = if matches!(argument, Argument::U32(_)) { 4 } else { 8 };
        parameters.resize(parameters.len().next_multiple_of(size), 0);
        match argument {
            Argument::U32(value) => parameters.extend(value.to_le_bytes()),
            Argument::U64(value) => parameters.extend(value.to_le_bytes()),
            Argument::Buffer(content) => {
                let size = content.len().max(1) as u64;
                let address = memory.alloc(size, 256, AllocationKind::Program).expect("room for a buffer");
                memory.write(address, content).expect("it was just allocated");
                buffers.push((address, content.len()));
                parameters.extend(address.to_le_bytes());
            }
        }
    }
    let (counted, model) = match form {
        Form::Plain => (None, None),
        Form::Handlers(injection, info) => {
            (Some(arrange(&program, &mut memory, injection, info, work, seed)), None)
        }
        Form::Native(injection, prepared) => (None, Some(native_model(&program, injection, prepared, seed))),
    };
    let spec = LaunchSpec {
        kernel: work.kernel,
        grid: [work.grid, 1, 1],
        block: [work.block, 1, 1],
        dynamic_shared: work.dynamic_shared,
        params: &parameters,
        cluster: None,
        step_budget: Some(BUDGET),
    };
    let mut scheduler = RandomScheduler::new(seed);
    let result = launch_with(&program, &mut memory, &config, &spec, &mut scheduler, model);
    let (result, counts) = result.expect("the test's launch is legal");
    let console: Vec<u8> = memory.console().take().into_iter().flat_map(|(_, text)| text).collect();
    let console = String::from_utf8(console).expect("the tests print plain text");
    let mut printed: Vec<String> = console.lines().map(str::to_owned).collect();
    printed.sort();
    let read = |(address, size): (u64, usize)| {
        let mut bytes = vec![0; size];
        memory.read(address, &mut bytes).expect("it is still allocated");
        bytes
    };
    Outcome {
        delayed: counted
            .map_or(counts.delayed, |at| u64::from_le_bytes(read((at, 8)).try_into().expect("eight bytes"))),
        buffers: buffers.iter().copied().map(read).collect(),
        end: result.end,
        thread_instructions: result.counts.thread_instructions,
        printed,
    }
}

/// Puts a launch state in place; the address of its count of delayed stores.
fn arrange(
    program: &Program,
    memory: &mut Memory,
    injection: &Injection,
    info: &Instrumented,
    work: &Work<'_>,
    seed: u64,
) -> u64 {
    let shape = (u64::from(work.grid), u64::from(work.block));
    let layout = Layout::new(shape, info.store_sites, injection.capacity, injection.budget);
    let base =
        memory.alloc(layout.total_bytes, Layout::ALIGN, AllocationKind::Tool).expect("room for buffers");
    let flags = (!injection.flags.is_empty()).then(|| {
        let table = words_of(injection, info.sites.len());
        let bytes: Vec<u8> = table.iter().flat_map(|word| word.to_le_bytes()).collect();
        let at = memory.alloc(bytes.len() as u64, 256, AllocationKind::Tool).expect("room for a flags table");
        memory.write(at, &bytes).expect("it was just allocated");
        at
    });
    let pw = (injection.pw_global, injection.pw_shared);
    let state = LaunchState::new(injection.model, pw, (seed, 0), &layout, base, flags);
    let (variable, size) = program.variable(LAUNCH_VARIABLE).expect("an instrumented module has it");
    assert_eq!(size, LaunchState::BYTES as u64);
    memory.write(variable, &state.to_bytes()).expect("a module variable can be written");
    base + layout.delayed
}
