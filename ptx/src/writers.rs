//! Which variables of global memory a module may write.
//!
//! In each function, the registers that may hold a variable's address are those that an arithmetic instruction fills from its name or from
//! such registers, in whatever order the instructions stand (a least fixed point). The variable may be written where such an address, or
//! its name, is where a store, an atomic operation or a copy writes to; where it is stored itself, passed to a function, or used by anything that is
//! not known to read only; and anywhere, if it is an initial value of a variable. Accesses beyond the end of another variable are not looked
//! for: they are errors by themselves.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ast::{
    AddressBase, FunctionKind, Init, Instruction, Item, Module, Operand, Statement, StatementKind, Variable,
};
use crate::op::Op;
use crate::types::Space;

/// Where variables may be written.
#[derive(Clone, Debug, Default)]
pub struct Writers {
    /// By variable: kernels that may write it.
    kernels: FxHashMap<String, FxHashSet<String>>,
    /// Variables that any kernel may write.
    anywhere: FxHashSet<String>,
}

impl Writers {
    /// Those of a module's variables of global memory.
    pub fn new(module: &Module) -> Writers {
        let mut found = Writers::default();
        let mut numbers = FxHashMap::default();
        let mut names = Vec::new();
        for variable in variables(module).filter(|variable| variable.space == Space::Global) {
            numbers.insert(variable.name.as_str(), names.len());
            names.push(variable.name.as_str());
        }
        if names.is_empty() {
            return found;
        }
        for item in &module.items {
            match item {
                Item::Variable(variable) => found.pointed_to(variable),
                Item::Function(function) => {
                    let Some(body) = &function.body else { continue };
                    let mut flow = Flow {
                        source: &module.source,
                        numbers: &numbers,
                        instructions: Vec::new(),
                        held: FxHashMap::default(),
                    };
                    flow.collect(&body.statements, &mut found);
                    for number in flow.written() {
                        let name = names[number].to_owned();
                        match function.kind {
                            FunctionKind::Entry => {
                                found.kernels.entry(name).or_default().insert(function.name.clone());
                            }
                            FunctionKind::Func => {
                                found.anywhere.insert(name);
                            }
                        }
                    }
                }
                Item::Directive(_) => {}
            }
        }
        found
    }

    /// No kernel writes it.
    pub fn never(&self, variable: &str) -> bool {
        !self.anywhere.contains(variable) && !self.kernels.contains_key(variable)
    }

    /// This kernel may write it.
    pub fn in_kernel(&self, variable: &str, kernel: &str) -> bool {
        self.anywhere.contains(variable)
            || self.kernels.get(variable).is_some_and(|kernels| kernels.contains(kernel))
    }

    /// Notes variables whose addresses stand in memory.
    fn pointed_to(&mut self, variable: &Variable) {
        for init in &variable.init {
            if let Init::Symbol { name, .. } = init {
                self.anywhere.insert(name.clone());
            }
        }
    }
}

/// A module's variables.
pub fn variables(module: &Module) -> impl Iterator<Item = &Variable> {
    module.items.iter().filter_map(|item| match item {
        Item::Variable(variable) => Some(variable),
        _ => None,
    })
}

/// Where addresses go in a function.
struct Flow<'a> {
    source: &'a str,
    numbers: &'a FxHashMap<&'a str, usize>,
    instructions: Vec<&'a Instruction>,
    /// By register, the variables of which it may hold an address.
    held: FxHashMap<&'a str, BTreeSet<usize>>,
}

impl<'a> Flow<'a> {
    fn collect(&mut self, statements: &'a [Statement], found: &mut Writers) {
        for statement in statements {
            match &statement.kind {
                StatementKind::Instruction(instruction) => self.instructions.push(instruction),
                StatementKind::Block(inner) => self.collect(inner, found),
                StatementKind::Variable(variable) => found.pointed_to(variable),
                _ => {}
            }
        }
    }

    /// The variables that the function may write or give the address of away.
    fn written(&mut self) -> BTreeSet<usize> {
        let mut written = BTreeSet::new();
        let instructions = std::mem::take(&mut self.instructions);
        loop {
            let mut grown = false;
            for instruction in &instructions {
                grown |= self.step(instruction, &mut written);
            }
            if !grown {
                return written;
            }
        }
    }

    /// Follows an instruction; answers whether a register may hold more than before.
    fn step(&mut self, instruction: &'a Instruction, written: &mut BTreeSet<usize>) -> bool {
        let of = |flow: &Self, operands: &[Operand]| {
            let mut all = BTreeSet::new();
            operands.iter().for_each(|operand| flow.names(operand, &mut all));
            all
        };
        let operands = &instruction.operands[..];
        match &instruction.op {
            Op::Other => {
                // Not decoded: whatever stands there.
                let text = &self.source[instruction.span.start..instruction.span.end];
                written.extend(
                    self.numbers.iter().filter(|(name, _)| text.contains(*name)).map(|(_, number)| *number),
                );
                for (register, numbers) in &self.held {
                    if text.contains(register) {
                        written.extend(numbers);
                    }
                }
                false
            }
            Op::Ld { .. } | Op::Ldu { .. } => false,
            Op::Prefetch if instruction.opcode.starts_with("prefetch") => false,
            // What they read is not written.
            Op::CpAsync { .. } => {
                written.extend(of(self, &operands[..operands.len().min(1)]));
                false
            }
            Op::CpAsyncBulk { dst, src: Space::Global, reduce: None, .. } if *dst != Space::Global => {
                written.extend(of(self, &operands[..operands.len().min(1)]));
                false
            }
            op if is_arithmetic(op) => {
                let Some((into, from)) = operands.split_first() else { return false };
                let from = of(self, from);
                !from.is_empty() && self.hold(into, &from)
            }
            _ => {
                written.extend(of(self, operands));
                false
            }
        }
    }

    /// The variables of which an operand may hold an address, or that it names.
    fn names(&self, operand: &Operand, into: &mut BTreeSet<usize>) {
        match operand {
            Operand::Register(name) | Operand::Address { base: AddressBase::Register(name), .. } => {
                into.extend(self.held.get(name.as_str()).into_iter().flatten());
            }
            Operand::Symbol { name, .. } | Operand::Address { base: AddressBase::Symbol(name), .. } => {
                into.extend(self.numbers.get(name.as_str()));
            }
            Operand::Vector(all) | Operand::List(all) => all.iter().for_each(|one| self.names(one, into)),
            Operand::Pair(first, second) => {
                self.names(first, into);
                self.names(second, into);
            }
            Operand::Not(inner) => self.names(inner, into),
            Operand::Raw(span) => {
                let text = &self.source[span.start..span.end];
                into.extend(
                    self.numbers.iter().filter(|(name, _)| text.contains(*name)).map(|(_, number)| *number),
                );
                for (register, numbers) in &self.held {
                    if text.contains(register) {
                        into.extend(numbers);
                    }
                }
            }
            Operand::Integer(_)
            | Operand::F32(_)
            | Operand::F64(_)
            | Operand::Address { base: AddressBase::Absolute, .. }
            | Operand::Sink => {}
        }
    }

    fn hold(&mut self, into: &'a Operand, what: &BTreeSet<usize>) -> bool {
        match into {
            Operand::Register(name) => {
                let held = self.held.entry(name).or_default();
                let before = held.len();
                held.extend(what);
                held.len() > before
            }
            Operand::Vector(all) => all.iter().fold(false, |grown, one| self.hold(one, what) | grown),
            Operand::Pair(first, second) => self.hold(first, what) | self.hold(second, what),
            _ => false,
        }
    }
}

/// What computes its destination, the first operand, from the others, and does nothing else.
fn is_arithmetic(op: &Op) -> bool {
    matches!(
        op,
        Op::Mov { .. }
            | Op::Cvta { .. }
            | Op::Cvt { .. }
            | Op::Add { .. }
            | Op::Sub { .. }
            | Op::Mul { .. }
            | Op::Mad { .. }
            | Op::Mul24 { .. }
            | Op::Mad24 { .. }
            | Op::Rem { .. }
            | Op::Div { .. }
            | Op::Min { .. }
            | Op::Max { .. }
            | Op::Neg { .. }
            | Op::And { .. }
            | Op::Or { .. }
            | Op::Xor { .. }
            | Op::Not { .. }
            | Op::Lop3
            | Op::Shl { .. }
            | Op::Shr { .. }
            | Op::Shf { .. }
            | Op::Bfe { .. }
            | Op::Bfi { .. }
            | Op::Prmt { .. }
            | Op::Selp { .. }
            | Op::Slct { .. }
            | Op::Setp { .. }
            | Op::Set { .. }
            | Op::Isspacep { .. }
            | Op::Shfl { .. }
    )
}
