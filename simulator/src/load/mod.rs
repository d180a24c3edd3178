//! From the AST to a program that the engine runs: decode once, refuse what cannot be executed.
//!
//! Only functions that some kernel can reach are translated (by direct calls, or, from kernels that call
//! through pointers, because their address is taken somewhere). A function with an instruction that the engine
//! does not have, or with a call of something that is nowhere defined, cannot be translated: the kernels that
//! can reach it are refused when they are launched ([`KernelInfo::refused`]), the module's others run.

mod access;
mod asynchronous;
mod cluster;
mod constants;
mod control;
mod effect;
mod error;
mod fences;
mod frame;
mod function;
mod kernel;
mod lanewise;
mod liveness;
mod matrix;
mod operand;
mod places;
pub(crate) mod polls;
mod provided;
mod reach;
mod roles;
mod scope;
mod shared;
mod symbols;
pub(crate) mod targets;
mod texture;
mod translate;
mod warpgroup;
mod wide;
use std::collections::BTreeMap;
use std::sync::OnceLock;

use bugaroo_ptx::ast::{self, FunctionKind, Item, Module};
use rustc_hash::FxHashMap;

pub use constants::Constants;
pub(crate) use control::agrees;
pub use error::LoadError;
pub use kernel::{KernelInfo, ParamInfo};
pub use places::{Placement, Places};
pub use shared::SharedVariable;
use symbols::release;
pub use symbols::{Contents, Needs};

use crate::alu::Isa;
use crate::config::DeviceConfig;
use crate::decoded::{
    Asynchronous, Atomic, Barrier, Call, Collective, DecodedAccess, Inst, LanewiseInst, LoadedFunction,
    Matrix, Origin, Pack, Special, TextureInst,
};
use crate::fault::{Place, SourcePosition};
use crate::memory::{Memory, MemoryError};
use crate::model::Fence;
use crate::turns::Turns;

/// A loaded module.
#[derive(Clone)]
pub struct Program {
    pub(crate) code: Vec<Inst>,
    pub(crate) constants: Constants,
    pub(crate) accesses: Vec<DecodedAccess>,
    pub(crate) atomics: Vec<Atomic>,
    pub(crate) fences: Vec<Fence>,
    pub(crate) specials: Vec<Special>,
    pub(crate) packs: Vec<Pack>,
    pub(crate) calls: Vec<Call>,
    pub(crate) tables: Vec<Vec<u32>>,
    pub(crate) barriers: Vec<Barrier>,
    pub(crate) collectives: Vec<Collective>,
    pub(crate) lanewise: Vec<LanewiseInst>,
    pub(crate) asyncs: Vec<Asynchronous>,
    pub(crate) matrices: Vec<Matrix>,
    pub(crate) textures: Vec<TextureInst>,
    pub(crate) functions: Vec<LoadedFunction>,
    pub(crate) isa: Isa,
    /// It has deprecated shuffles or votes, which act on the lanes that happen to be together: those that can
    /// are kept together then, as hardware mostly does.
    pub(crate) leans_on_convergence: bool,
    /// See [`DeviceConfig::only_read`].
    pub(crate) only_read: bool,
    pub(crate) origins: Vec<Origin>,
    /// Of lanes in lockstep, whose turn it is.
    pub(crate) turns: Turns,
    /// Accesses that threads may poll.
    pub(crate) polls: Vec<u32>,
    positions: Vec<ast::LocLine>,
    files: Vec<(u32, String)>,
    text: String,
    kernels: Vec<KernelInfo>,
    variables: BTreeMap<String, (u64, u64)>,
    allocations: Vec<u64>,
    /// Made when first asked for: see [`Program::spared`].
    pub(crate) spared: OnceLock<roles::Spared>,
}

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Program")
            .field("kernels", &self.kernels)
            .field("instructions", &self.code.len())
            .finish_non_exhaustive()
    }
}

impl Program {
    /// Translates a module and places its variables in `memory`.
    ///
    /// # Errors
    /// See [`LoadError`]; nothing stays allocated then.
    pub fn load(module: &Module, memory: &mut Memory, config: &DeviceConfig) -> Result<Program, LoadError> {
        Program::load_for(module, memory, config, Isa::detect())
    }

    /// As [`Program::load`], with a given instantiation of the arithmetic.
    ///
    /// # Errors
    /// See [`LoadError`].
    pub fn load_for(
        module: &Module,
        memory: &mut Memory,
        config: &DeviceConfig,
        isa: Isa,
    ) -> Result<Program, LoadError> {
        Program::load_with(module, memory, config, isa, &|_| None)
    }

    /// Loads a module for another device: its managed variables are those of the first device's, as there is one of each for all.
    ///
    /// # Errors
    /// See [`LoadError`].
    pub fn load_beside(
        module: &Module,
        memory: &mut Memory,
        config: &DeviceConfig,
        first: &Program,
    ) -> Result<Program, LoadError> {
        Program::load_with(module, memory, config, Isa::detect(), &|name| first.variable(name))
    }

    fn load_with(
        module: &Module,
        memory: &mut Memory,
        config: &DeviceConfig,
        isa: Isa,
        managed: symbols::SharedManaged<'_>,
    ) -> Result<Program, LoadError> {
        let mut allocations = Vec::new();
        let allocate = |need: symbols::Need| {
            let address = need.allocate(memory)?;
            allocations.push(address);
            Ok(address)
        };
        let built = build(module, (managed, allocate), config, isa);
        let loaded = built.and_then(|(program, contents)| {
            contents.write(memory)?;
            Ok(program)
        });
        match loaded {
            Ok(mut program) => {
                program.allocations = allocations;
                Ok(program)
            }
            Err(error) => {
                release(memory, &allocations);
                Err(error)
            }
        }
    }

    /// What the variables of this module need.
    pub fn needs(module: &Module) -> Needs {
        let functions = reach::definitions(module);
        Needs(reach::all_variables(module, &functions).map(symbols::Need::of).collect())
    }

    /// Translates a module whose variables lie at these addresses, in the order of [`Program::needs`]; with what they are to hold.
    ///
    /// # Errors
    /// See [`LoadError`]; also where the module has more variables, or less.
    pub fn load_at(
        module: &Module,
        addresses: &[u64],
        config: &DeviceConfig,
    ) -> Result<(Program, Contents), LoadError> {
        if Program::needs(module).0.len() != addresses.len() {
            let reason = format!("its variables are not {}", addresses.len());
            return Err(LoadError::Declaration { name: "the module".to_owned(), reason });
        }
        let mut left = addresses.iter();
        // As many as have just been counted.
        let allocate = |_| left.next().copied().ok_or(MemoryError::NotAllocated(0));
        let (mut program, contents) = build(module, (&|_| None, allocate), config, Isa::detect())?;
        program.allocations = addresses.to_vec();
        Ok((program, contents))
    }

    /// The kernel of this name.
    pub fn kernel(&self, name: &str) -> Option<&KernelInfo> {
        self.kernels.iter().find(|k| k.name == name)
    }

    /// All kernels, in the order of the text.
    pub fn kernels(&self) -> &[KernelInfo] {
        &self.kernels
    }

    /// Address and size of a module variable in global or constant memory.
    pub fn variable(&self, name: &str) -> Option<(u64, u64)> {
        self.variables.get(name).copied()
    }

    /// All of them, by name.
    pub fn variables(&self) -> impl Iterator<Item = (&str, (u64, u64))> {
        self.variables.iter().map(|(name, place)| (name.as_str(), *place))
    }

    /// The module variable in global or constant memory at an address, and the distance from where it begins.
    pub fn variable_at(&self, address: u64) -> Option<(String, u64)> {
        let mut all = self.variables.iter();
        let (name, (base, _)) = all.find(|(_, (base, size))| address.wrapping_sub(*base) < *size)?;
        Some((name.clone(), address - base))
    }

    /// Where its own variables lie, in the order of [`Program::needs`].
    pub fn allocations(&self) -> &[u64] {
        &self.allocations
    }

    /// Gives the module's variables back.
    pub fn unload(&self, memory: &mut Memory) {
        release(memory, &self.allocations);
    }

    /// The spans of the text that the instructions come from, by number ([`crate::At::pc`]). Several instructions may
    /// come from one of the text.
    pub fn spans(&self) -> impl ExactSizeIterator<Item = (usize, usize)> {
        self.origins.iter().map(|origin| origin.text)
    }

    /// Where instruction `pc` comes from.
    pub fn place(&self, pc: u32) -> Place {
        let origin = &self.origins[pc as usize];
        let positions = &self.positions[origin.source.0 as usize..origin.source.1 as usize];
        let text = &self.text[origin.text.0..origin.text.1];
        Place {
            function: self.functions[origin.function as usize].name.clone(),
            ptx_line: origin.line,
            instruction: text.split_whitespace().collect::<Vec<_>>().join(" "),
            source: positions.iter().map(|p| self.position(p)).collect(),
        }
    }

    /// For an instruction that the compiler left without a line, as it has merged or moved it: the source of the nearest one before it
    /// in its function, if any.
    pub fn source_before(&self, pc: u32) -> Vec<SourcePosition> {
        let all = &self.origins[..pc as usize];
        let function = self.origins[pc as usize].function;
        let mut before = all.iter().rev().take_while(|origin| origin.function == function);
        let near = before.find(|origin| origin.source.0 != origin.source.1);
        let positions =
            near.map_or(&[][..], |near| &self.positions[near.source.0 as usize..near.source.1 as usize]);
        positions.iter().map(|position| self.position(position)).collect()
    }

    fn position(&self, at: &ast::LocLine) -> SourcePosition {
        source_position(&self.files, at)
    }
}

/// A line of the CUDA source, given the module's list of files.
fn source_position(files: &[(u32, String)], at: &ast::LocLine) -> SourcePosition {
    let file = files.iter().find(|(index, _)| *index == at.file);
    SourcePosition {
        file: file.map_or_else(|| format!("file {}", at.file), |(_, path)| path.clone()),
        line: at.line,
        column: at.column,
    }
}

/// What stands in a table of virtual functions for one that is pure: nothing that can be called.
const PURE_VIRTUAL: &str = "__cxa_pure_virtual";

fn build(
    module: &Module,
    (managed, allocate): (symbols::SharedManaged<'_>, impl FnMut(symbols::Need) -> Result<u64, MemoryError>),
    config: &DeviceConfig,
    isa: Isa,
) -> Result<(Program, symbols::Contents), LoadError> {
    // The processor must have what the row functions need, whoever asks.
    let isa = if Isa::detect() == Isa::V3 { isa } else { Isa::Portable };
    let functions = reach::definitions(module);
    let names: FxHashMap<&str, u32> =
        functions.iter().enumerate().map(|(i, f)| (f.name.as_str(), i as u32)).collect();
    let reached = reach::Reached::new(module, &functions, &names);
    let shared = reached.shared_layout(module, &functions).ok_or_else(|| LoadError::Declaration {
        name: "shared memory".to_string(),
        reason: "more than 4 GiB".to_string(),
    })?;
    let variables = || reach::all_variables(module, &functions);
    let placed = symbols::place(variables(), managed, allocate)?;
    let contents = symbols::contents(variables(), &placed, &names, &shared)?;

    let mut builder = function::Builder::new(module, &functions, &names, &placed, &shared, isa);
    builder.share_rows = config.share_rows;
    builder.program.only_read = config.only_read;
    let mut refused = vec![None; functions.len()];
    for (index, refused) in refused.iter_mut().enumerate().filter(|(index, _)| reached.any(*index as u32)) {
        *refused = builder.function(index as u32).err();
    }
    if builder.program.constants.full() {
        let reason = "more constants than the simulator's instructions can name".to_string();
        return Err(LoadError::Declaration { name: "the module".to_string(), reason });
    }
    // A function that nobody defines is told where it is called; where only its address is taken, here.
    for (index, function) in functions.iter().enumerate().filter(|(_, f)| f.body.is_none()) {
        let taken = reached.is_taken(index as u32) && function.name != PURE_VIRTUAL;
        if taken && !builder.is_callable(index as u32) {
            refused[index] = Some(LoadError::Declaration {
                name: function.name.clone(),
                reason: "its address is taken, but it has no body here".to_string(),
            });
        }
    }
    // Each function once, however many kernels reach it.
    let written: Vec<_> =
        functions.iter().zip(0..).map(|(f, index)| written_by(f, &placed, reached.any(index))).collect();
    let kernels = functions
        .iter()
        .enumerate()
        .filter(|(_, f)| f.kind == FunctionKind::Entry && f.body.is_some())
        .map(|(index, f)| {
            let index = index as u32;
            let reasons = || {
                let reached = (0u32..).zip(&refused).filter(|(f, _)| reached.by(index, *f));
                reached.filter_map(|(f, reason)| Some((functions[f as usize], reason.as_ref()?)))
            };
            let first = reasons().find(|(f, _)| f.body.is_some()).or_else(|| reasons().next());
            let refused = first.map(|(_, reason)| reason.clone());
            let reached_by = written.iter().zip(0..).filter(|(_, f)| reached.by(index, *f));
            let targets = targets::together(reached_by.map(|(targets, _)| targets));
            KernelInfo {
                refused,
                targets,
                ..kernel_info(index, f, &builder.program, &reached, &shared, config)
            }
        })
        .collect();
    let mut program = builder.program;
    program.kernels = kernels;
    program.variables =
        placed.iter().map(|(name, at)| ((*name).to_string(), (at.address, at.size))).collect();
    program.text.clone_from(&module.source);
    program.files.clone_from(&module.files);
    program.polls = polls::polls(&program.code, &program.accesses, &program.atomics);
    Ok((program, contents))
}

/// Where a function writes by itself, if a kernel reaches it at all.
fn written_by<'m>(
    function: &'m ast::Function,
    placed: &'m FxHashMap<&'m str, symbols::Placed>,
    is_reached: bool,
) -> Option<Vec<targets::Target>> {
    let mut params = FxHashMap::default();
    if function.kind == FunctionKind::Entry {
        let offset = |name, info: ParamInfo| {
            params.insert(name, info.offset);
        };
        param_offsets(function, offset).ok()?;
    }
    if is_reached { targets::of_function(function, params, placed) } else { None }
}

fn kernel_info(
    index: u32,
    function: &ast::Function,
    program: &Program,
    reached: &reach::Reached,
    shared: &shared::SharedLayout,
    config: &DeviceConfig,
) -> KernelInfo {
    let mut params = Vec::new();
    // One with more parameters than fit has been refused.
    let param_bytes = param_offsets(function, |_, info| params.push(info)).unwrap_or(0);
    let limit = function
        .directives
        .iter()
        .filter(|(name, _)| name == "maxntid" || name == "reqntid")
        .map(|(_, extent)| extent.iter().fold(1, |threads: u64, along| threads.saturating_mul(*along)))
        .min();
    let (local_bytes, open_stack) = reached.local_bytes(index, &program.functions);
    KernelInfo {
        name: function.name.clone(),
        params,
        param_bytes,
        static_shared: shared.size(index),
        shared_variables: shared.variables(index),
        local_bytes,
        max_threads: limit.map_or(config.threads_per_block, |l| l.min(u64::from(u32::MAX)) as u32),
        registers: (program.functions[index as usize].frame_bytes / 128).clamp(1, 255),
        dynamic_align: reached.dynamic_align(index),
        reserved_shared: reached.reserved_shared(index),
        refused: None,
        targets: None,
        open_stack,
        function: index,
        cluster: cluster::extent(function).unwrap_or([1; 3]),
        explicit_cluster: cluster::extent(function).is_some(),
    }
}

/// Calls `each` with every kernel parameter's name and place, and answers the size of the buffer.
///
/// # Errors
/// The name of the first parameter that 32 bits do not suffice for.
fn param_offsets<'f>(
    function: &'f ast::Function,
    mut each: impl FnMut(&'f str, ParamInfo),
) -> Result<u32, &'f str> {
    let mut end = 0u32;
    for param in &function.params {
        let name = param.variable.name.as_str();
        let align = param.variable.align.max(1);
        let size = u32::try_from(param.variable.size()).map_err(|_| name)?;
        let offset = end.checked_next_multiple_of(align).ok_or(name)?;
        end = offset.checked_add(size).ok_or(name)?;
        each(name, ParamInfo { offset, size, align });
    }
    Ok(end)
}

impl Program {
    /// An empty program for the builder.
    fn empty(isa: Isa) -> Program {
        Program {
            code: Vec::new(),
            constants: Constants::default(),
            accesses: Vec::new(),
            atomics: Vec::new(),
            fences: Vec::new(),
            specials: Vec::new(),
            packs: Vec::new(),
            calls: Vec::new(),
            tables: Vec::new(),
            barriers: Vec::new(),
            collectives: Vec::new(),
            lanewise: Vec::new(),
            asyncs: Vec::new(),
            matrices: Vec::new(),
            textures: Vec::new(),
            functions: Vec::new(),
            isa,
            leans_on_convergence: false,
            only_read: false,
            origins: Vec::new(),
            turns: Turns::default(),
            polls: Vec::new(),
            positions: Vec::new(),
            files: Vec::new(),
            text: String::new(),
            kernels: Vec::new(),
            variables: BTreeMap::new(),
            allocations: Vec::new(),
            spared: OnceLock::new(),
        }
    }
}

/// The functions of a module, for the passes here.
fn items(module: &Module) -> impl Iterator<Item = &ast::Function> {
    module.items.iter().filter_map(|item| match item {
        Item::Function(function) => Some(function),
        _ => None,
    })
}
