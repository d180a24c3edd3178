//! Translates one function: walks its statements, keeps names and rows, emits instructions.

use bugaroo_ptx::ast::{Function, FunctionKind, Instruction, Module, Statement, StatementKind, Variable};
use bugaroo_ptx::types::{Space, Type};
use rustc_hash::FxHashMap;

use super::error::LoadError;
use super::frame::{Frame, register_width, signature};
use super::liveness::shared_rows;
use super::reach::is_dynamic_shared;
use super::scope::{Name, Scopes};
use super::shared::SharedLayout;
use super::symbols::Placed;
use super::{Program, param_offsets, source_position};
use crate::alu::{Isa, Operands, RowFn, Width};
use crate::decoded::{Inst, Kind, LoadedFunction, NO_GUARD, Origin, Provided};
use crate::fault::SourcePosition;

/// What an instruction that is not the ALU's has for a row function; nobody calls it.
pub(super) unsafe fn nothing(_: *mut u8, _: *const u8, _: &Operands, _: u32) {}

/// Operands that are all offset 0.
pub(super) fn no_operands() -> Operands {
    Operands { dst: 0, dst2: 0, src: [0; 4] }
}

/// Translates functions into a program.
pub(super) struct Builder<'m> {
    functions: &'m [&'m Function],
    pub names: &'m FxHashMap<&'m str, u32>,
    pub placed: &'m FxHashMap<&'m str, Placed>,
    pub shared: &'m SharedLayout,
    dynamic: Vec<&'m str>,
    pub program: Program,
    source: &'m str,
    files: &'m [(u32, String)],
    /// See [`crate::DeviceConfig::share_rows`].
    pub share_rows: bool,
}

/// The state of the function that is being translated.
pub(super) struct Current<'m> {
    pub index: u32,
    pub function: &'m Function,
    pub frame: Frame,
    pub scopes: Scopes<'m>,
    /// Row of each register by number: shared with others, or its own, given on first use. Registers used
    /// together lie together.
    rows: FxHashMap<u32, u32>,
    pub jumps: Jumps,
    local: u32,
    /// Its local memory grows as it runs.
    pub grows: bool,
    pub now: Now<'m>,
}

/// Labels, and what is to be pointed at their instructions.
pub(super) struct Jumps {
    labels: Vec<Option<u32>>,
    /// Branches by instruction, to be pointed at their label's instruction.
    pub branches: Vec<(u32, u32)>,
    /// Tables of labels.
    pub tables: Vec<Vec<u32>>,
    /// Program tables made from them: (index in the program, labels).
    pub table_uses: Vec<(u32, u32)>,
}

/// The instruction that is being translated.
pub(super) struct Now<'m> {
    carry: Option<u32>,
    guard: (u32, u32),
    pub instruction: Option<&'m Instruction>,
}

impl<'m> Builder<'m> {
    pub fn new(
        module: &'m Module,
        functions: &'m [&'m Function],
        names: &'m FxHashMap<&'m str, u32>,
        placed: &'m FxHashMap<&'m str, Placed>,
        shared: &'m SharedLayout,
        isa: Isa,
    ) -> Builder<'m> {
        let mut program = Program::empty(isa);
        for function in functions {
            let mut frame = Frame::default();
            let (rets, params) = match function.kind {
                FunctionKind::Entry => (Vec::new(), Vec::new()),
                // One without is refused when it is translated.
                FunctionKind::Func => signature(function, &mut frame).unwrap_or_default(),
            };
            program.functions.push(LoadedFunction {
                name: function.name.clone(),
                entry: 0,
                frame_bytes: 0,
                local_bytes: 0,
                rows: Vec::new(),
                rets,
                params,
                grows: false,
                defined: false,
            });
        }
        let dynamic = module
            .items
            .iter()
            .filter_map(|item| match item {
                bugaroo_ptx::ast::Item::Variable(v) if is_dynamic_shared(v) => Some(v.name.as_str()),
                _ => None,
            })
            .collect();
        let (source, files) = (&module.source, &module.files);
        Builder { functions, names, placed, shared, dynamic, program, source, files, share_rows: true }
    }

    /// Translates function `index`, or says why that cannot be; then nothing of it can be run. One without a
    /// body stays undefined, unless it is one of the device's own.
    pub fn function(&mut self, index: u32) -> Result<(), LoadError> {
        let (code, leans) = (self.program.code.len(), self.program.leans_on_convergence);
        let translated = match &self.functions[index as usize].body {
            Some(body) => self.body(index, &body.statements),
            None => self.provided(index),
        };
        if translated.is_err() {
            // What else it left behind is used by nobody.
            self.program.code.truncate(code);
            self.program.origins.truncate(code);
            self.program.leans_on_convergence = leans;
            self.program.functions[index as usize].defined = false;
        }
        translated
    }

    /// The state at the beginning of a function.
    pub fn begin(&self, index: u32) -> Current<'m> {
        let function = self.functions[index as usize];
        let mut at = Current {
            index,
            function,
            frame: Frame::default(),
            scopes: Scopes::default(),
            rows: FxHashMap::default(),
            jumps: Jumps {
                labels: Vec::new(),
                branches: Vec::new(),
                tables: Vec::new(),
                table_uses: Vec::new(),
            },
            local: 0,
            grows: false,
            now: Now { carry: None, guard: (NO_GUARD, 0), instruction: None },
        };
        at.scopes.push();
        at
    }

    fn body(&mut self, index: u32, statements: &'m [Statement]) -> Result<(), LoadError> {
        let mut at = self.begin(index);
        self.parameters(&mut at)?;
        if self.share_rows {
            at.rows.extend(shared_rows(at.function, &mut at.frame));
        }
        let entry = self.program.code.len() as u32;
        self.block(&mut at, statements)?;
        // The end of the body returns. The origin is that of the last instruction, or the function's name.
        at.now.guard = (NO_GUARD, 0);
        self.emit(&at, Kind::Ret, no_operands(), 0);

        for (inst, label) in &at.jumps.branches {
            let target =
                at.jumps.labels[*label as usize].expect("every declared label is placed in its block");
            self.program.code[*inst as usize].extra = target;
        }
        for (table, labels) in &at.jumps.table_uses {
            let targets = at.jumps.tables[*labels as usize].iter();
            self.program.tables[*table as usize] = targets
                .map(|l| at.jumps.labels[*l as usize].expect("every declared label is placed in its block"))
                .collect();
        }
        count_runs(&mut self.program.code[entry as usize..]);
        self.program.turns.add(at.function, entry, &self.program.origins[entry as usize..]);
        let loaded = &mut self.program.functions[index as usize];
        loaded.entry = entry;
        loaded.frame_bytes = frame_bytes(&at)?;
        loaded.local_bytes = at.local.next_multiple_of(16);
        loaded.rows = at.frame.rows().to_vec();
        loaded.grows = at.grows;
        loaded.defined = true;
        Ok(())
    }

    fn parameters(&mut self, at: &mut Current<'m>) -> Result<(), LoadError> {
        let function = at.function;
        if function.kind == FunctionKind::Entry {
            let declared = param_offsets(function, |name, info| {
                at.scopes.declare(name, Name::KernelParam { offset: info.offset });
            });
            return declared.map(|_| ()).map_err(|name| LoadError::Declaration {
                name: name.to_string(),
                reason: "more bytes of parameters than 32 bits count".to_string(),
            });
        }
        let formals = signature(function, &mut at.frame).ok_or_else(|| LoadError::Declaration {
            name: function.name.clone(),
            reason: "a parameter of a type that the simulator has no register for".to_string(),
        })?;
        let declared = function.returns.iter().chain(&function.params);
        for (param, formal) in declared.zip(formals.0.iter().chain(&formals.1)) {
            let name = param.variable.name.as_str();
            if param.in_register {
                let number = at.scopes.register(name, param.variable.ty).ok_or_else(|| too_many(name))?;
                at.rows.insert(number, formal.offset);
            } else {
                let bytes = u32::try_from(param.variable.size()).map_err(|_| LoadError::Declaration {
                    name: name.to_string(),
                    reason: "a parameter of more bytes than a frame has".to_string(),
                })?;
                at.scopes.declare(name, Name::Words { offset: formal.offset, bytes });
            }
        }
        Ok(())
    }

    fn block(&mut self, at: &mut Current<'m>, statements: &'m [Statement]) -> Result<(), LoadError> {
        let mut next_label = at.jumps.labels.len();
        for statement in statements {
            if let StatementKind::Label(name) = &statement.kind {
                let number = at.jumps.labels.len() as u32;
                at.jumps.labels.push(None);
                at.scopes.declare(name, Name::Label(number));
            }
        }
        for statement in statements {
            match &statement.kind {
                StatementKind::Label(_) => {
                    // By number: what else is declared under the name may hide it by now.
                    at.jumps.labels[next_label] = Some(self.program.code.len() as u32);
                    next_label += 1;
                }
                StatementKind::Instruction(instruction) => self.instruction(at, instruction)?,
                StatementKind::Registers(decls) => {
                    for decl in decls {
                        if decl.vec > 1 {
                            return Err(LoadError::Declaration {
                                name: decl.name.clone(),
                                reason: "a register vector".to_string(),
                            });
                        }
                        at.scopes.registers(decl).ok_or_else(|| too_many(&decl.name))?;
                    }
                }
                StatementKind::Variable(variable) => self.variable(at, variable)?,
                StatementKind::Block(inner) => {
                    at.scopes.push();
                    self.block(at, inner)?;
                    for (offset, bytes) in at.scopes.pop() {
                        at.frame.release_words(offset, bytes);
                    }
                }
                StatementKind::Targets { name, targets } => {
                    let labels = targets.iter().filter_map(|t| match at.scopes.find(t) {
                        Some(Name::Label(number)) => Some(number),
                        _ => None,
                    });
                    // `.calltargets` lists functions; then the table stays empty and nobody branches by it.
                    at.jumps.tables.push(labels.collect());
                    at.scopes.declare(name, Name::Targets(at.jumps.tables.len() as u32 - 1));
                }
                StatementKind::Loc(_) | StatementKind::Prototype(_) | StatementKind::Directive => {}
            }
        }
        Ok(())
    }

    fn variable(&mut self, at: &mut Current<'m>, variable: &'m Variable) -> Result<(), LoadError> {
        let refuse = |reason: &str| {
            Err(LoadError::Declaration { name: variable.name.clone(), reason: reason.to_string() })
        };
        let meaning = match variable.space {
            Space::Param => match u32::try_from(variable.size()) {
                Ok(bytes) if bytes <= 1 << 16 => {
                    Name::Words { offset: at.frame.words(u64::from(bytes)), bytes }
                }
                _ => return refuse("a parameter of more than 64 KiB"),
            },
            Space::Local => {
                let offset = at.local.next_multiple_of(variable.align.max(1));
                match u32::try_from(variable.size()).ok().and_then(|size| offset.checked_add(size)) {
                    Some(end) if end < 1 << 28 => at.local = end,
                    _ => return refuse("more local memory than a thread can have"),
                }
                Name::Local { offset }
            }
            Space::Shared if is_dynamic_shared(variable) => Name::DynamicShared,
            Space::Shared | Space::SharedCluster => Name::Shared {
                offset: self
                    .shared
                    .offset(at.index, &variable.name)
                    .expect("every shared variable was placed"),
            },
            Space::Global | Space::Const | Space::Generic => {
                Name::Global { address: self.placed[variable.name.as_str()].address }
            }
        };
        at.scopes.declare(&variable.name, meaning);
        Ok(())
    }

    /// Can function `index` be called: has it a body, or is it one of the device's own?
    pub fn is_callable(&self, index: u32) -> bool {
        let function = self.functions[index as usize];
        function.body.is_some() || Provided::named(&function.name).is_some()
    }

    /// What a name means at this point: the function's scopes first, then the module's.
    pub fn find(&self, at: &Current<'m>, name: &str) -> Option<Name> {
        at.scopes.find(name).or_else(|| self.module_name(name))
    }

    /// What a module variable's name means.
    pub fn module_name(&self, name: &str) -> Option<Name> {
        if let Some(placed) = self.placed.get(name) {
            return Some(Name::Global { address: placed.address });
        }
        if self.dynamic.contains(&name) {
            return Some(Name::DynamicShared);
        }
        self.shared.module_offset(name).map(|offset| Name::Shared { offset })
    }

    fn instruction(&mut self, at: &mut Current<'m>, inst: &'m Instruction) -> Result<(), LoadError> {
        at.now.instruction = Some(inst);
        at.now.guard = match &inst.guard {
            None => (NO_GUARD, 0),
            Some(guard) => match self.find(at, &guard.register) {
                Some(Name::Register(number, Type::Pred)) => {
                    let row = at.row(number, Width::Pred);
                    (row, if guard.negated { !0 } else { 0 })
                }
                _ => return Err(self.refuse(at, "its guard is no predicate register")),
            },
        };
        self.translate(at, inst)
    }

    /// Appends an instruction with the current guard and origin.
    pub fn emit(&mut self, at: &Current<'m>, kind: Kind, ops: Operands, extra: u32) {
        self.emit_run(at, kind, nothing, ops, extra);
    }

    /// Appends an instruction that has a row function.
    pub fn emit_run(&mut self, at: &Current<'m>, kind: Kind, run: RowFn, ops: Operands, extra: u32) {
        let (guard, guard_flip) = at.now.guard;
        self.program.code.push(Inst { run, ops, guard, guard_flip, extra, kind });
        let origin = match at.now.instruction {
            Some(inst) => {
                let first = self.program.positions.len() as u32;
                let last_origin = self.program.origins.last();
                let same = last_origin.filter(|o| {
                    self.program.positions[o.source.0 as usize..o.source.1 as usize] == inst.source[..]
                });
                let source = match same {
                    Some(origin) => origin.source,
                    None => {
                        self.program.positions.extend(inst.source.iter().cloned());
                        (first, first + inst.source.len() as u32)
                    }
                };
                let text = (inst.span.start, inst.span.end);
                Origin { function: at.index, line: inst.line, text, source }
            }
            None => {
                let span = at.function.name_span;
                let line = 1 + self.source[..span.start].bytes().filter(|b| *b == b'\n').count() as u32;
                Origin { function: at.index, line, text: (span.start, span.end), source: (0, 0) }
            }
        };
        self.program.origins.push(origin);
    }

    /// The error for the current instruction.
    pub fn refuse(&self, at: &Current<'m>, reason: impl Into<String>) -> LoadError {
        let (line, text) =
            at.now.instruction.map_or((0, ""), |i| (i.line, &self.source[i.span.start..i.span.end]));
        LoadError::Unsupported {
            function: at.function.name.clone(),
            line,
            instruction: text.split_whitespace().collect::<Vec<_>>().join(" "),
            reason: reason.into(),
            cuda: self.positions(at),
        }
    }

    /// The CUDA lines of the current instruction.
    pub fn positions(&self, at: &Current<'m>) -> Vec<SourcePosition> {
        let source = at.now.instruction.map_or(&[][..], |instruction| &instruction.source);
        source.iter().map(|line| source_position(self.files, line)).collect()
    }
}

/// Bytes of a function's frame.
pub(super) fn frame_bytes(at: &Current<'_>) -> Result<u32, LoadError> {
    let bytes = at.frame.bytes().ok_or_else(|| LoadError::Declaration {
        name: at.function.name.clone(),
        reason: "more registers and parameters than the simulator's frame holds".to_string(),
    })?;
    Ok(bytes.max(64))
}

/// Registers beyond those that have a number.
fn too_many(name: &str) -> LoadError {
    LoadError::Declaration { name: name.to_string(), reason: "more registers than 32 bits count".to_string() }
}

/// Tells each arithmetic instruction how many of its kind, without guards, are behind it.
pub(super) fn count_runs(code: &mut [Inst]) {
    let mut run = 0;
    for inst in code.iter_mut().rev() {
        if inst.kind != Kind::Alu {
            run = 0;
            continue;
        }
        inst.extra = run;
        run = if inst.guard == NO_GUARD { run + 1 } else { 0 };
    }
}

impl Current<'_> {
    /// The row of a register.
    pub fn row(&mut self, number: u32, width: Width) -> u32 {
        let frame = &mut self.frame;
        *self.rows.entry(number).or_insert_with(|| frame.row(width))
    }

    /// The rows of a 128-bit register's halves, which lie together.
    pub fn wide_rows(&mut self, number: u32) -> [u32; 2] {
        let frame = &mut self.frame;
        let low = *self.rows.entry(number).or_insert_with(|| {
            let low = frame.row(Width::W64);
            frame.row(Width::W64);
            low
        });
        [low, low + Width::W64.bytes()]
    }

    /// The row of CC.CF.
    pub fn carry(&mut self) -> u32 {
        let frame = &mut self.frame;
        *self.now.carry.get_or_insert_with(|| frame.row(Width::Pred))
    }

    /// The row width of a register of this type; None for `.b128`.
    pub fn width(ty: Type) -> Option<Width> {
        register_width(ty)
    }

    /// Runs without the guard (for instructions that prepare an operand, which is harmless for all lanes).
    pub fn unguarded(&mut self) -> (u32, u32) {
        std::mem::replace(&mut self.now.guard, (NO_GUARD, 0))
    }

    /// Puts the guard back.
    pub fn guarded(&mut self, guard: (u32, u32)) {
        self.now.guard = guard;
    }
}
