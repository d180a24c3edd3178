//! One test on the virtual GPU: its kernels loaded, and launches of many copies.

use bugaroo_device_handlers as handlers;
use bugaroo_device_handlers::{LAUNCH_VARIABLE, LaunchState};
use bugaroo_injector::collect_sites::collect_sites;
use bugaroo_injector::{Instrumented, instrument};
use bugaroo_ptx::ast::Module;
use bugaroo_simulator::maker::{ModelMaker, ModelSettings};
use bugaroo_simulator::{AllocationKind, DeviceConfig, End, LaunchSpec, Memory, Program, launch_with};

use crate::error::RunError;
use crate::kernel::{CopyLayout, KERNEL, KernelForm, ThreadPlacement, kernel};
use crate::key::OutcomeKey;
use crate::model::TestModel;
use crate::options::Options;
use crate::schedule::Copies;
use crate::test::Test;

/// Bytes that model `ptx` may take for a launch: litmus tests need little.
const HISTORIES: u64 = 1 << 30;

/// Copies of a test in a launch. Part of what a seed means.
pub(crate) const COPIES: u64 = 32;

/// Entries of a store buffer: tests have fewer stores.
const CAPACITY: u32 = 16;

/// Device memory of a test.
const MEMORY: u64 = 1 << 28;

/// Warp instructions that a trial does not come near: there are no loops.
const BUDGET: u64 = 1 << 20;

/// A test's kernels as modules: what can be made once for all workers.
pub(crate) struct Compiled {
    layout: CopyLayout,
    variants: Vec<(ThreadPlacement, Module, Option<Instrumented>)>,
}

impl Compiled {
    pub fn new(test: &Test, options: &Options) -> Result<Compiled, RunError> {
        let layout = CopyLayout::new(test);
        let placements: &[_] = match test.most_threads() {
            // Both are the same then.
            0 | 1 => &[ThreadPlacement::Warps],
            _ => &[ThreadPlacement::Warps, ThreadPlacement::Lanes],
        };
        let form = KernelForm { shared: options.shared, untouched: options.untouched };
        let mut variants = Vec::new();
        for placement in placements {
            let text = kernel(test, &layout, *placement, form);
            let info = match options.model.handlers() {
                Some(_) => Some(instrument(&text).map_err(|error| RunError::Compile(error.to_string()))?),
                None => None,
            };
            let text = info.as_ref().map_or(&text, |info| &info.ptx);
            let module = bugaroo_ptx::parse(text).map_err(|error| RunError::Compile(error.to_string()))?;
            variants.push((*placement, module, info));
        }
        Ok(Compiled { layout, variants })
    }
}

/// A test that is ready to run, for one worker.
pub(crate) struct Loaded<'a> {
    test: &'a Test,
    options: &'a Options,
    layout: &'a CopyLayout,
    memory: Memory,
    /// Address of the copies.
    cells: u64,
    initial: Vec<u8>,
    /// The copies after the last launch.
    pub bytes: Vec<u8>,
    steps: u64,
    variants: Vec<Variant>,
}

struct Variant {
    placement: ThreadPlacement,
    config: DeviceConfig,
    program: Program,
    buffers: Option<Buffers>,
    /// What the virtual GPU's own model has to know of the program.
    maker: Option<ModelMaker>,
}

/// What makes the virtual GPU's own model of each launch; None for those that are no models of it.
fn maker(model: TestModel, program: &Program, module: &Module) -> Option<ModelMaker> {
    match model {
        TestModel::Sc | TestModel::Bugaroo | TestModel::StoreBufferHandlers => None,
        TestModel::StoreBuffer => Some(ModelMaker::store_buffer(program, &collect_sites(module))),
        TestModel::Ptx => Some(ModelMaker::ptx(program)),
    }
}

/// Device memory of the handlers.
struct Buffers {
    model: handlers::HandlerModel,
    /// Where the launch state goes.
    variable: u64,
    base: u64,
    layout: handlers::Layout,
}

impl<'a> Loaded<'a> {
    pub fn new(test: &'a Test, compiled: &'a Compiled, options: &'a Options) -> Result<Loaded<'a>, RunError> {
        let host = |error: bugaroo_simulator::MemoryError| RunError::Host(error.to_string());
        // Fresh memory for each test: addresses are the same whatever ran before.
        let mut memory = Memory::new(MEMORY).map_err(host)?;
        let layout = &compiled.layout;
        let initial = layout.initial(COPIES as u32);
        let cells = memory.alloc(initial.len() as u64, 256, AllocationKind::Program).map_err(host)?;
        let mut variants = Vec::new();
        for (placement, module, info) in &compiled.variants {
            let (block, ctas) = (placement.block(test), test.ctas().max(1));
            let config = DeviceConfig {
                sm_count: 1,
                blocks_per_sm: ctas * COPIES as u32,
                threads_per_sm: ctas * COPIES as u32 * block.next_multiple_of(32),
                shared_per_sm: u32::MAX,
                ..DeviceConfig::default()
            };
            let program = Program::load(module, &mut memory, &config);
            let program = program.map_err(|error| RunError::Unsupported(error.to_string()))?;
            let buffers = match (options.model.handlers(), info) {
                (Some(model), Some(info)) => {
                    let shape = (u64::from(ctas) * COPIES, u64::from(block));
                    let layout = handlers::Layout::new(shape, info.store_sites, CAPACITY, MEMORY / 4);
                    let align = handlers::Layout::ALIGN;
                    let base = memory.alloc(layout.total_bytes, align, AllocationKind::Tool).map_err(host)?;
                    let (variable, _) = program.variable(LAUNCH_VARIABLE).ok_or_else(|| {
                        RunError::Compile(format!("the instrumented kernel has no {LAUNCH_VARIABLE}"))
                    })?;
                    Some(Buffers { model, variable, base, layout })
                }
                _ => None,
            };
            let maker = maker(options.model, &program, module);
            variants.push(Variant { placement: *placement, config, program, buffers, maker });
        }
        let instructions =
            test.threads.iter().map(|thread| thread.instructions.len() + thread.registers.len());
        let steps = instructions.sum::<usize>() as u64;
        let bytes = vec![0; initial.len()];
        Ok(Loaded { test, options, layout, memory, cells, initial, bytes, steps, variants })
    }

    /// Bytes of a copy.
    pub fn copy_bytes(&self) -> usize {
        self.layout.bytes as usize
    }

    /// The value of a key in a copy.
    pub fn value(&self, copy: &[u8], key: OutcomeKey) -> u64 {
        self.layout.value(self.test, copy, key)
    }

    /// Runs launch number `ordinal` with so many copies.
    pub fn launch(&mut self, ordinal: u64, copies: u64) -> Result<(), RunError> {
        let internal = |error: bugaroo_simulator::MemoryError| RunError::Host(error.to_string());
        let placements = self.variants.len() as u64;
        let variant = &mut self.variants[(ordinal % placements) as usize];
        let pws = &self.options.pw;
        let pw = pws[(ordinal / placements % pws.len() as u64) as usize];
        let used = copies as usize * self.layout.bytes as usize;
        self.memory.write(self.cells, &self.initial[..used]).map_err(internal)?;
        if let Some(buffers) = &variant.buffers {
            self.memory.fill(buffers.base, buffers.layout.zeroed_bytes, &[0]).map_err(internal)?;
            let key = (self.options.seed, ordinal);
            let state = LaunchState::new(buffers.model, (pw, pw), key, &buffers.layout, buffers.base, None);
            self.memory.write(buffers.variable, &state.to_bytes()).map_err(internal)?;
        }
        let ctas = self.test.ctas().max(1);
        let spec = LaunchSpec {
            kernel: KERNEL,
            grid: [ctas, copies as u32, 1],
            block: [variant.placement.block(self.test), 1, 1],
            dynamic_shared: 0,
            params: &self.cells.to_le_bytes(),
            cluster: None,
            step_budget: Some(BUDGET * copies),
        };
        let warps = u64::from(variant.placement.warps(self.test) * ctas);
        let first = ordinal * COPIES;
        let mut scheduler = Copies::new(self.options.strategy, self.options.seed, first, warps, self.steps);
        let settings = ModelSettings {
            pw: [pw; 2],
            pr: [self.options.pr; 2],
            seed: (self.options.seed, ordinal),
            capacity: CAPACITY,
            memory: HISTORIES,
            swarm: self.options.swarm,
        };
        let model = variant.maker.as_ref().map(|maker| maker.make(&settings));
        let (memory, config) = (&mut self.memory, &variant.config);
        let result = launch_with(&variant.program, memory, config, &spec, &mut scheduler, model);
        let (result, _) = result.map_err(|error| RunError::Unsupported(error.to_string()))?;
        match result.end {
            End::Complete => {}
            End::Deadlock(_) => return Err(RunError::Deadlock),
            End::StepBudget(_) => return Err(RunError::Fault("the step budget is used up".into())),
            End::Fault(fault) => return Err(RunError::Fault(fault.to_string())),
        }
        self.memory.read(self.cells, &mut self.bytes[..used]).map_err(internal)
    }
}
