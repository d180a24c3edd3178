//! What is emulated: the text, the kernel, the launch; and what comes out.

use std::collections::BTreeSet;

use std::ops::Range;

use bugaroo_ptx::ast::{Function, FunctionKind, Item, Module};
use bugaroo_simulator::{
    AllocationKind, DeviceConfig, KernelInfo, LaunchError, LaunchSpec, LoadError, Memory, Place,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::case::AssumedCase;
use super::constants::{self, ConstantMemory};
use super::doubt::Doubt;
use super::emulation::Emulation;
use super::extent::{block_of, cluster_of, smallest_grid};
use super::fence::{has_flags, is_relaxed, is_wait};
use super::flow::flows;
use super::held::counters::Counters;
use super::held::cta::Cta;
use super::held::parts::{Addressing, Calls, Course, Knowledge, Ways};
use super::held::warp::Warp;
use super::machine::{Code, Extent, Given, Machine, Orders, Setting};
use super::making::Makings;
use super::objects::Objects;
use super::options::KernelOptions;
use super::params::{self, Params};
use super::refusal::{Refusal, RefusalKind};
use super::rounds::seen::Rounds;
use super::shared::Shared;
use super::text::{Fixed, extras};
use super::{returns, tensor};
use crate::program::{ProgramShape, WarpPrograms};

/// Shared memory that a CTA of the largest devices can have.
const SHARED_LIMIT: u32 = 227 << 10;

/// Bytes of the device's memory in which nothing is placed here: addresses that were recorded elsewhere, of other things, lie there, and
/// must be none of a variable of the module.
const FOREIGN: u64 = 32 << 30;

/// A module, ready to be emulated.
pub struct KernelText {
    module: Module,
    program: bugaroo_simulator::Program,
    constants: ConstantMemory,
    config: DeviceConfig,
    /// Its variables lie where no address of another program's memory does.
    is_apart: bool,
}

impl std::fmt::Debug for KernelText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Text").field("program", &self.program).finish_non_exhaustive()
    }
}

impl KernelText {
    /// Parses and decodes a module.
    ///
    /// # Errors
    /// [`Refusal`] when it is no PTX, or has no kernel.
    pub fn new(ptx: &str) -> Result<KernelText, Refusal> {
        let usage = |message: String| Refusal::new(RefusalKind::Usage, message);
        if ptx.trim().is_empty() {
            return Err(usage("the file is empty".to_string()));
        }
        let mut module = bugaroo_ptx::parse(ptx).map_err(|error| usage(error.to_string()))?;
        tensor::rewrite(&mut module);
        returns::rewrite(&mut module);
        let config = DeviceConfig {
            shared_per_block: SHARED_LIMIT,
            shared_per_block_optin: SHARED_LIMIT,
            shared_per_sm: SHARED_LIMIT + 1024,
            local_per_thread: 512 << 10,
            // A register's place stands for it alone: what is known where ways meet is compared place by place.
            share_rows: false,
            only_read: true,
            ..DeviceConfig::default()
        };
        let apart = Memory::new(2 * FOREIGN).and_then(|mut memory| {
            memory.alloc(FOREIGN, 256, AllocationKind::Tool)?;
            Ok(memory)
        });
        // Where the host refuses that much address space, less has to do.
        let (memory, is_apart) = match apart {
            Ok(memory) => (Ok(memory), true),
            Err(_) => (Memory::new(1 << 34), false),
        };
        let mut memory = memory.map_err(|error| usage(error.to_string()))?;
        let program = bugaroo_simulator::Program::load(&module, &mut memory, &config)
            .map_err(|error| refused(&error))?;
        if program.kernels().is_empty() {
            return Err(usage("the module has no kernel".to_string()));
        }
        let constants = ConstantMemory::new(&module, &program, &memory);
        Ok(KernelText { module, program, constants, config, is_apart })
    }

    /// The kernels' names, in the order of the text.
    pub fn kernels(&self) -> impl Iterator<Item = &str> {
        self.program.kernels().iter().map(|kernel| kernel.name.as_str())
    }

    /// The module's variables in global and constant memory, whose bytes can be given ([`Text::give`]).
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        constants::givable(&self.module).map(|variable| variable.name.as_str())
    }

    /// Says what a variable holds when the kernels are launched: all of its bytes. They are taken not to be written by way of pointers that the
    /// host passes.
    ///
    /// # Errors
    /// [`Refusal`] of the kind [`RefusalKind::Usage`] when there is no such variable, or it is of another size.
    pub fn give(&mut self, variable: &str, bytes: Vec<u8>) -> Result<(), Refusal> {
        self.constants.give(&self.module, &self.program, variable, bytes)
    }

    /// Says that nothing is known of a variable in global or constant memory; there need not be such a one.
    pub fn forget(&mut self, variable: &str) {
        self.constants.forget(&self.program, variable);
    }

    /// Takes back what was given and forgotten, for parameters that were recorded elsewhere: addresses among them are none of the module's
    /// variables. Where these could not be kept apart from such addresses, nothing is known of them.
    pub fn reset(&mut self) {
        self.constants.reset(self.is_apart);
    }

    /// A kernel's parameters: name, and place in the parameter buffer, in bytes.
    pub fn parameters(&self, kernel: &str) -> Vec<(String, Range<usize>)> {
        let (Some(function), Some(info)) = (self.function(kernel), self.program.kernel(kernel)) else {
            return Vec::new();
        };
        let place = |start: u32, size: u32| start as usize..(start + size) as usize;
        let params = function.params.iter().zip(&info.params);
        params.map(|(param, at)| (param.variable.name.clone(), place(at.offset, at.size))).collect()
    }

    /// Where a command comes from.
    pub fn place(&self, origin: u32) -> Place {
        self.program.place(origin)
    }

    /// Has a kernel the parameter of `NAME[+OFFSET][:TYPE]`?
    pub fn has_parameter(&self, kernel: &str, name: &str) -> bool {
        self.function(kernel).is_some_and(|function| params::has(function, name))
    }

    fn function(&self, kernel: &str) -> Option<&Function> {
        self.module.items.iter().find_map(|item| match item {
            Item::Function(f) if f.kind == FunctionKind::Entry && f.name == kernel && f.body.is_some() => {
                Some(f)
            }
            _ => None,
        })
    }

    /// Emulates a kernel. Where threads wait for ever in one order of the warps, the opposite order is tried, too: thread programs
    /// that are whole let the checker say more about what is wrong.
    ///
    /// # Errors
    /// [`Refusal`] when its thread programs depend on what is not known, or it has something in it that is not modelled.
    pub fn emulate(&self, kernel: &str, options: &KernelOptions) -> Result<Emulation, Refusal> {
        self.emulate_openly(kernel, options, &FxHashSet::default())
    }

    /// As [`Text::emulate`], where what the instructions `open` read from shared memory or write to it is not known, as they do so in
    /// no order with others ([`crate::verdict::BarrierReport::unordered`]).
    ///
    /// # Errors
    /// As [`Text::emulate`].
    pub fn emulate_openly(
        &self,
        kernel: &str,
        options: &KernelOptions,
        open: &FxHashSet<u32>,
    ) -> Result<Emulation, Refusal> {
        self.emulate_case(kernel, options, open, &mut AssumedCase::default())
    }

    /// As [`Text::emulate_openly`], in a case.
    ///
    /// # Errors
    /// As [`Text::emulate`]; where an assumption more would help, the case can be parted ([`AssumedCase::parted`]).
    pub fn emulate_case(
        &self,
        kernel: &str,
        options: &KernelOptions,
        open: &FxHashSet<u32>,
        case: &mut AssumedCase,
    ) -> Result<Emulation, Refusal> {
        let emulation = self.emulate_in_order(kernel, options, open, (false, case))?;
        if emulation.stuck.is_none() {
            return Ok(emulation);
        }
        match self.emulate_in_order(kernel, options, open, (true, &mut case.clone())) {
            Ok(other) if other.stuck.is_none() => Ok(other),
            _ => Ok(emulation),
        }
    }

    fn emulate_in_order(
        &self,
        kernel: &str,
        options: &KernelOptions,
        open: &FxHashSet<u32>,
        (backwards, case): (bool, &mut AssumedCase),
    ) -> Result<Emulation, Refusal> {
        let usage = |message: String| Refusal::new(RefusalKind::Usage, message);
        let (Some(function), Some(info)) = (self.function(kernel), self.program.kernel(kernel)) else {
            let known: Vec<&str> = self.kernels().collect();
            return Err(usage(format!("no kernel `{kernel}` (there are: {})", known.join(", "))));
        };
        self.constants.check(kernel)?;
        let block = block_of(function, options)?;
        let (cluster, clustered) = cluster_of(function, options)?;
        let grid = options.grid.unwrap_or_else(|| smallest_grid(options.cta, cluster));
        if (0..3).any(|d| options.cta[d] >= grid[d]) {
            return Err(usage(format!("no CTA {:?} in a grid of {:?}", options.cta, grid)));
        }
        let given = (options.param_bytes.as_deref(), &options.open_bytes[..], &options.params[..]);
        let params = Params::new(function, info, given, &options.tensors)?;
        let buffer = vec![0; info.param_bytes as usize];
        let dynamic_shared = options.dynamic_shared.unwrap_or_else(|| {
            // As much as there can be, where the kernel has some.
            let room = SHARED_LIMIT.saturating_sub(info.static_shared.next_multiple_of(1024));
            if self.has_dynamic_shared() { room } else { 0 }
        });
        let spec = LaunchSpec {
            kernel,
            grid,
            block,
            dynamic_shared,
            cluster: Some(cluster),
            params: &buffer,
            step_budget: None,
        };
        let launched =
            self.program.launched(&self.config, &spec).map_err(|error| not_launched(&error, info))?;
        let image = self.program.image();
        let fixed = Fixed {
            grid: options.grid.is_some(),
            shared: options.dynamic_shared.is_some(),
            cluster: clustered,
        };
        let extras = extras(&self.module, &image, fixed);
        let flows = flows(&image);
        let threads = block.iter().product::<u32>();
        let ranks = cluster.iter().product::<u32>();
        if options.any_cta && ranks > 1 {
            return Err(usage("blocks of a cluster are looked at together, and not any of them".to_string()));
        }
        let shape = ProgramShape { ctas: ranks, threads };
        let mut out = WarpPrograms::new(shape).map_err(|error| usage(error.to_string()))?;
        out.set_warp_synchronous(options.warp_synchronous);
        let corner: [u32; 3] = std::array::from_fn(|d| options.cta[d] / cluster[d] * cluster[d]);
        let ctas = (0..ranks).map(|rank| Cta {
            shared: Shared::new(launched.shared_bytes),
            barriers: Default::default(),
            mbarriers: FxHashMap::default(),
            products: Vec::new(),
            alive: threads,
            index: [
                corner[0] + rank % cluster[0],
                corner[1] + rank / cluster[0] % cluster[1],
                corner[2] + rank / cluster[0] / cluster[1],
            ],
        });
        let warps_per_cta = shape.warps_per_cta();
        let warps: Vec<_> = (0..shape.warps())
            .map(|w| Warp::new(w % warps_per_cta, shape.cta_of(w), shape.lanes(w)))
            .collect();
        let mut stations = Vec::new();
        for pc in &case.looking.stations {
            stations.resize(image.code.len(), false);
            stations[*pc as usize] = true;
        }
        let mut machine = Machine {
            set: Setting {
                code: Code { image, program: &self.program, extras: &extras, function, flows: &flows, open },
                memory: Given {
                    constants: launched.constants.bytes(),
                    params: &params,
                    constant_memory: &self.constants,
                },
                extent: Extent {
                    block,
                    cluster,
                    clustered,
                    any_cta: std::array::from_fn(|d| {
                        options.any_cta && options.grid.is_none_or(|grid| grid[d] > 1)
                    }),
                },
                orders: Orders {
                    meetings: !options.warp_synchronous && image.asyncs.iter().any(is_wait),
                    relaxed: image.asyncs.iter().any(is_relaxed),
                    flags: has_flags(&image, &extras),
                },
                lockstep: options.warp_synchronous,
                max_steps: options.max_steps,
            },
            course: Course { cluster_arrived: vec![0; warps.len()], ..Course::default() },
            warps,
            ctas: ctas.collect(),
            out,
            calls: Calls { frames: Vec::new(), free: vec![Vec::new(); image.functions.len()] },
            known: Knowledge {
                symbols: std::mem::take(&mut case.symbols),
                asked: None,
                counters: Counters::default(),
                tables: BTreeSet::new(),
            },
            ways: Ways {
                doubt: Doubt { joins: case.looking.joins, ..Doubt::default() },
                loops: FxHashMap::default(),
                rounds: Rounds::new(case.looking.induction, stations),
            },
            addressing: Addressing {
                objects: Objects::new(&self.module, info, launched.shared_bytes),
                makings: Makings::new(&self.module),
                scattered: Vec::new(),
                escaped: false,
            },
        };
        machine.known.symbols.begin();
        machine.start(launched.function);
        let finished = machine.run(backwards);
        case.symbols = machine.known.symbols.clone();
        (case.seen.rounds, case.widening.widened) =
            (machine.ways.rounds.most, machine.ways.rounds.widening.widened);
        case.widening.exact = std::mem::take(&mut machine.ways.rounds.widening.exact);
        (case.seen.found, case.seen.turns) = machine.stations();
        let aims = std::mem::take(&mut machine.ways.rounds.widening.aims);
        case.widening.strays = !aims.starts_with(&case.widening.aims);
        case.widening.aims = aims;
        case.seen.joined |= machine.ways.doubt.joined;
        case.seen.work = machine.course.steps;
        case.polled.append(&mut machine.course.polled);
        case.asked = machine.known.asked.as_ref().map(|(symbol, _)| *symbol);
        case.params.extend(machine.known.asked.iter().flat_map(|(_, names)| names.iter().cloned()));
        let finished = finished?;
        machine.meet_in_grid()?;
        let grid_barriers = machine.course.grid_barriers;
        let stuck = if finished { None } else { Some(machine.stuck()?) };
        let steps = [machine.course.steps, machine.course.thread_steps];
        let name = |number: &usize| self.constants.table_name(*number).to_owned();
        let tables = machine.known.tables.iter().map(name).collect();
        let taken_to_meet = std::mem::take(&mut machine.ways.doubt.met).into_iter().collect();
        let (misuse, beyond, program) = match stuck {
            None => (machine.course.misuse, None, machine.out),
            Some(_) => {
                let program = machine.out.clone();
                (None, Some(machine.beyond(backwards)), program)
            }
        };
        Ok(Emulation { stuck, misuse, beyond, block, steps, grid_barriers, tables, taken_to_meet, program })
    }

    fn has_dynamic_shared(&self) -> bool {
        self.module.items.iter().any(|item| match item {
            Item::Variable(v) => v.space == bugaroo_ptx::types::Space::Shared && v.dims.contains(&0),
            _ => false,
        })
    }
}

/// Why a module cannot be loaded.
fn refused(error: &LoadError) -> Refusal {
    let kind = match error {
        LoadError::Unsupported { .. } | LoadError::Undefined { .. } => RefusalKind::Unsupported,
        _ => RefusalKind::Usage,
    };
    let mut message = error.to_string();
    if let Some(source) = error.source_positions().first() {
        message += &format!(" ({}:{})", source.file, source.line);
    }
    Refusal::new(kind, message)
}

fn not_launched(error: &LaunchError, info: &KernelInfo) -> Refusal {
    match error {
        LaunchError::Refused(reason) => Refusal { kind: RefusalKind::Unsupported, ..refused(reason) },
        other => Refusal::new(RefusalKind::Usage, format!("kernel `{}`: {other}", info.name)),
    }
}
