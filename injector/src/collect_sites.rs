//! The one analysis that every pass shares: the places where code is injected, and the numbered sites
//! among them.
//!
//! Sites are numbered from 0 in the order of the text, over all functions, for loads, stores, atomics,
//! fences and barriers of shared, global and generic memory. Places without a number are those that
//! only drain: ends of threads, unknown instructions, calls out of the module, and collectives.

use std::collections::BTreeSet;

use bugaroo_protocol::{Site, SiteId, SiteKind};
use bugaroo_ptx::ast::{
    Body, Function, FunctionKind, Guard, Instruction, Item, Module, Operand, Span, Statement, StatementKind,
};
use bugaroo_ptx::op::Op;
use bugaroo_ptx::types::{Scope, Space};
use bugaroo_semantics::effect::Effect;

use crate::access::{AccessOperand, Understood, understand};
use crate::scope::{Scopes, module_variables};
use crate::source::attribute;

/// What stands at a place.
#[derive(Clone, Debug, PartialEq)]
pub enum PointKind {
    /// A store that is routed.
    Store {
        /// What it touches.
        access: AccessOperand,
        /// Its place among the module's store sites.
        slot: u32,
    },
    /// A load that is routed.
    Load(AccessOperand),
    /// `atom` or `red`.
    Atomic(AccessOperand),
    /// A fence of this scope, which may be omitted.
    Fence(Scope),
    /// A CTA barrier.
    Barrier,
    /// `bar.warp.sync`
    WarpBarrier,
    /// An instruction that waits for other threads without ordering memory.
    Collective,
    /// The end of a thread.
    Exit,
    /// An access or instruction that is not taken apart, or a call out of the module.
    Unknown,
    /// A branch at which lanes may part, or the place where they meet again. Only those who log look for them
    /// ([`crate::logging`]).
    Fork,
}

/// A place where code is injected.
#[derive(Clone, Debug, PartialEq)]
pub struct InjectionPoint {
    /// Index of the function in [`SiteTable::functions`].
    pub function: usize,
    /// What stands there.
    pub kind: PointKind,
    /// The instruction; empty, before the closing brace, for the end of a body that runs off its end.
    pub span: Span,
    /// Where text before the instruction goes: its start, but for a call the start of what passes its
    /// parameters (no control flow may stand between them and the call, PTX ISA 7.1).
    pub before_at: usize,
    /// The instruction's guard.
    pub guard: Option<Guard>,
    /// Number of the site, where it is one.
    pub site: Option<u32>,
    /// Whether `--with-fence` may name the site.
    pub takes_fence: bool,
}

/// A function that has places.
#[derive(Clone, Debug, PartialEq)]
pub struct InstrumentedFunction {
    /// Name.
    pub name: String,
    /// Just behind the opening brace.
    pub declarations_at: usize,
    /// Before the first statement that executes or can be jumped to.
    pub prologue_at: usize,
    /// Most elements of an access in it.
    pub elements: usize,
}

/// What the analysis found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SiteTable {
    /// Functions with at least one place, in order.
    pub functions: Vec<InstrumentedFunction>,
    /// Places, in the order of the text.
    pub points: Vec<InjectionPoint>,
    /// The numbered sites, by number.
    pub sites: Vec<Site>,
    /// Store sites that have a coin counter.
    pub store_sites: u32,
}

/// Finds every place of a module.
pub fn collect_sites(module: &Module) -> SiteTable {
    let variables = module_variables(module);
    let all = || {
        module.items.iter().filter_map(|item| match item {
            Item::Function(function) => Some(function),
            Item::Variable(_) | Item::Directive(_) => None,
        })
    };
    let defined =
        all().filter(|function| function.body.is_some()).map(|function| function.name.as_str()).collect();
    let declared_only =
        |defined: &BTreeSet<&str>| all().any(|function| !defined.contains(function.name.as_str()));
    let calls_out = declared_only(&defined);
    let mut table = SiteTable::default();
    for function in all() {
        let Some(body) = &function.body else { continue };
        let collector = Collector {
            module,
            function,
            defined: &defined,
            calls_out,
            scopes: Scopes::new(&variables, function),
            points: Vec::new(),
            table: &mut table,
        };
        collector.collect(body);
    }
    table
}

struct Collector<'m, 't> {
    module: &'m Module,
    function: &'m Function,
    defined: &'t BTreeSet<&'m str>,
    /// Whether the module declares functions that it does not define.
    calls_out: bool,
    scopes: Scopes<'m>,
    points: Vec<InjectionPoint>,
    table: &'t mut SiteTable,
}

impl<'m> Collector<'m, '_> {
    fn collect(mut self, body: &'m Body) {
        self.statements(&body.statements);
        if self.function.kind == FunctionKind::Entry && runs_off(&body.statements) {
            let at = body.span.end - 1;
            let span = Span { start: at, end: at };
            self.points.push(InjectionPoint { span, before_at: at, ..self.point(PointKind::Exit) });
        }
        if self.points.is_empty() {
            return;
        }
        let executes = |statement: &&Statement| match statement.kind {
            StatementKind::Label(_) | StatementKind::Instruction(_) | StatementKind::Block(_) => true,
            StatementKind::Registers(_)
            | StatementKind::Variable(_)
            | StatementKind::Loc(_)
            | StatementKind::Prototype(_)
            | StatementKind::Targets { .. }
            | StatementKind::Directive => false,
        };
        let prologue_at =
            body.statements.iter().find(executes).map_or(body.span.end - 1, |first| first.span.start);
        let elements = self.points.iter().map(|point| match &point.kind {
            PointKind::Store { access, .. } | PointKind::Load(access) => access.elements.len(),
            _ => 0,
        });
        self.table.functions.push(InstrumentedFunction {
            name: self.function.name.clone(),
            declarations_at: body.span.start + 1,
            prologue_at,
            elements: elements.max().unwrap_or(0),
        });
        self.table.points.append(&mut self.points);
    }

    fn statements(&mut self, statements: &'m [Statement]) {
        self.scopes.enter();
        for (index, statement) in statements.iter().enumerate() {
            match &statement.kind {
                StatementKind::Registers(declarations) => self.scopes.declare_registers(declarations),
                StatementKind::Variable(variable) => self.scopes.declare_variable(variable),
                StatementKind::Block(inner) => self.statements(inner),
                StatementKind::Instruction(instruction) => {
                    self.instruction(instruction, &statements[..index]);
                }
                StatementKind::Label(_)
                | StatementKind::Loc(_)
                | StatementKind::Prototype(_)
                | StatementKind::Targets { .. }
                | StatementKind::Directive => {}
            }
        }
        self.scopes.leave();
    }

    /// A place of this function without an instruction.
    fn point(&self, kind: PointKind) -> InjectionPoint {
        let span = Span::default();
        let function = self.table.functions.len();
        InjectionPoint { function, kind, span, before_at: 0, guard: None, site: None, takes_fence: false }
    }

    /// `earlier` are the statements before it in its block.
    fn instruction(&mut self, instruction: &Instruction, earlier: &[Statement]) {
        let effect = Effect::of(&instruction.op);
        let (kind, site) = match effect {
            Effect::Access(_) => match self.access(instruction) {
                Some((kind, site)) => (kind, Some(site)),
                None => return,
            },
            Effect::ProxyFence | Effect::Unknown => (PointKind::Unknown, None),
            Effect::Fence(fence) => (PointKind::Fence(fence.scope), Some(SiteKind::Fence)),
            Effect::BlockBarrier => (PointKind::Barrier, Some(SiteKind::Barrier)),
            Effect::WarpBarrier => (PointKind::WarpBarrier, Some(SiteKind::Barrier)),
            Effect::Exit => (PointKind::Exit, None),
            Effect::Return if self.function.kind == FunctionKind::Entry => (PointKind::Exit, None),
            Effect::Call if self.leaves_module(instruction) => (PointKind::Unknown, None),
            _ if effect.only_waits() => (PointKind::Collective, None),
            _ if effect.works_on_memory() => (PointKind::Unknown, None),
            _ => return,
        };
        let mut point = self.point(kind);
        point.span = instruction.span;
        point.before_at = instruction.span.start;
        point.guard = instruction.guard.clone();
        if effect == Effect::Call {
            // In front of the parameters a guard may not be computed yet. Draining is always allowed.
            point.before_at = parameters_start(earlier).unwrap_or(instruction.span.start);
            point.guard = None;
        }
        if let Some(kind) = site {
            point.site = Some(self.number(kind, instruction));
            point.takes_fence = kind.takes_fence();
        }
        self.points.push(point);
    }

    fn access(&mut self, instruction: &Instruction) -> Option<(PointKind, SiteKind)> {
        let understood = understand(instruction, &self.scopes)?;
        let site = match instruction.op {
            Op::St { .. } => SiteKind::Store,
            Op::Atom { .. } | Op::Red { .. } => SiteKind::Atomic,
            _ => SiteKind::Load,
        };
        let access = match understood {
            Understood::Private => return None,
            Understood::Opaque => return Some((PointKind::Unknown, site)),
            Understood::Access(access) => access,
        };
        let kind = match site {
            SiteKind::Store => {
                let slot = self.table.store_sites;
                self.table.store_sites += 1;
                PointKind::Store { access, slot }
            }
            SiteKind::Atomic => PointKind::Atomic(access),
            SiteKind::Load | SiteKind::Fence | SiteKind::Barrier => PointKind::Load(access),
        };
        Some((kind, site))
    }

    /// Whether a call may reach code that is not in this module.
    fn leaves_module(&self, instruction: &Instruction) -> bool {
        let callee = instruction.operands.iter().find(|operand| !matches!(operand, Operand::List(_)));
        match callee {
            Some(Operand::Symbol { name, .. }) => !self.defined.contains(name.as_str()),
            // Through a pointer: to any function whose address can be had.
            _ => self.calls_out,
        }
    }

    fn number(&mut self, kind: SiteKind, instruction: &Instruction) -> u32 {
        let index =
            u32::try_from(self.table.sites.len()).expect("a module of four billion sites has no text");
        let place = attribute(self.module, instruction);
        let (space, scope) = described(instruction, &self.scopes);
        self.table.sites.push(Site {
            id: SiteId { module: 0, index },
            kind,
            function: self.function.name.clone(),
            in_kernel: self.function.kind == FunctionKind::Entry,
            space: space.map(str::to_owned),
            scope: scope.map(str::to_owned),
            ptx_line: instruction.line,
            instruction: one_line(&self.module.source[instruction.span.start..instruction.span.end]),
            source: place.line,
            inlined_at: place.inlined_at,
            columns: place.columns,
        });
        index
    }
}

/// Space and scope as a site states them.
fn described(instruction: &Instruction, scopes: &Scopes<'_>) -> (Option<&'static str>, Option<&'static str>) {
    let effect = Effect::of(&instruction.op);
    let scope = effect.stated_scope();
    let space = match effect {
        Effect::Access(stated) => Some(stated.space),
        _ => None,
    };
    let named = |space| match space {
        Space::Global => "global",
        Space::Shared => "shared",
        _ => "generic",
    };
    let space = space.map(|space| match understand(instruction, scopes) {
        Some(Understood::Access(access)) => match access.space {
            bugaroo_device_handlers::BufferSpace::Global => "global",
            bugaroo_device_handlers::BufferSpace::Shared => "shared",
            bugaroo_device_handlers::BufferSpace::Generic => "generic",
        },
        _ => named(space),
    });
    let scope = scope.map(|scope| match scope {
        Scope::Cta => "cta",
        Scope::Cluster => "cluster",
        Scope::Gpu => "gpu",
        Scope::Sys => "sys",
    });
    (space, scope)
}

/// Where the passing of parameters to a call begins, given the statements before the call.
fn parameters_start(earlier: &[Statement]) -> Option<usize> {
    let straight = earlier.iter().rev().take_while(|statement| match &statement.kind {
        StatementKind::Label(_) | StatementKind::Block(_) => false,
        StatementKind::Instruction(instruction) => {
            !matches!(instruction.op, Op::Call { .. } | Op::Bra { .. } | Op::Brx { .. })
        }
        _ => true,
    });
    let passes = |statement: &&Statement| match &statement.kind {
        StatementKind::Instruction(instruction) => {
            matches!(instruction.op, Op::St { space: Space::Param, .. })
        }
        StatementKind::Variable(variable) => variable.space == Space::Param,
        _ => false,
    };
    straight.filter(passes).last().map(|first| first.span.start)
}

/// An instruction's text with its whitespace folded.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether control can reach the end of these statements.
fn runs_off(statements: &[Statement]) -> bool {
    let ends = |instruction: &Instruction| {
        let leaves =
            matches!(instruction.op, Op::Ret { .. } | Op::Exit | Op::Trap | Op::Bra { .. } | Op::Brx { .. });
        leaves && instruction.guard.is_none()
    };
    for statement in statements.iter().rev() {
        match &statement.kind {
            StatementKind::Instruction(instruction) => return !ends(instruction),
            StatementKind::Label(_) => return true,
            StatementKind::Block(inner) => return runs_off(inner),
            _ => {}
        }
    }
    true
}
