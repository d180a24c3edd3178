//! What injected code passes to the handlers, and what it does with their answers: straight-line
//! evaluation of the text around a place, in terms of the program's own registers.

use std::collections::BTreeMap;

use bugaroo_device_handlers::BufferSpace;
use bugaroo_ptx::ast::{Instruction, Operand};
use bugaroo_ptx::op::Op;
use bugaroo_ptx::types::Space;

use crate::access::{AccessOperand, Element, OperandBase};

/// A value as a term over registers: a root plus a constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Term {
    root: String,
    plus: i64,
}

impl Term {
    pub(super) fn constant(value: u64) -> Term {
        Term { root: String::new(), plus: value as i64 }
    }

    pub(super) fn register(name: &str) -> Term {
        Term { root: name.to_owned(), plus: 0 }
    }

    fn plus(&self, more: i64) -> Term {
        Term { root: self.root.clone(), plus: self.plus.wrapping_add(more) }
    }

    fn apply(&self, function: &str) -> Term {
        Term::register(&format!("{function}({}{:+})", self.root, self.plus))
    }
}

/// A call of a handler, with what its parameters stand for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) handler: String,
    pub(super) parameters: Vec<Term>,
}

/// The calls of some straight-line code in order, and what registers hold at its end.
pub(super) struct Evaluation {
    pub(super) calls: Vec<Call>,
    registers: BTreeMap<String, Term>,
}

impl Evaluation {
    /// Nothing yet: registers hold themselves.
    pub(super) fn new() -> Evaluation {
        Evaluation { calls: Vec::new(), registers: BTreeMap::new() }
    }

    /// Takes what a register holds as not known any more.
    pub(super) fn forget(&mut self, name: &str) {
        self.registers.remove(name);
    }

    /// Follows the instructions as if no branch were taken.
    pub(super) fn follow<'a>(&mut self, instructions: impl Iterator<Item = &'a Instruction>) {
        let mut parameters = Vec::new();
        for instruction in instructions {
            let term = |index: usize| self.operand(instruction.operands.get(index));
            let result = match &instruction.op {
                Op::St { space: Space::Param, .. } => {
                    parameters.push(term(1));
                    continue;
                }
                Op::Call { .. } => {
                    let name = instruction.operands.iter().find_map(|operand| match operand {
                        Operand::Symbol { name, .. } => Some(name.clone()),
                        _ => None,
                    });
                    let parameters = std::mem::take(&mut parameters);
                    self.calls.push(Call { handler: name.unwrap_or_default(), parameters });
                    continue;
                }
                Op::Mov { .. } => term(1),
                Op::Add { .. } => match (term(1), term(2)) {
                    (left, Term { root, plus }) if root.is_empty() => left.plus(plus),
                    (left, right) => left.apply(&format!("add {right:?}")),
                },
                Op::Cvt { dst, src, .. } => term(1).apply(&format!("{} to {}", src.name(), dst.name())),
                Op::Selp { .. } => Term::register(&format!("{:?}", &instruction.operands[1..])),
                Op::Cvta { space, .. } => term(1).apply(&format!("{space:?}")),
                Op::And { .. } | Op::Shl { .. } | Op::Shr { .. } => {
                    let signed = matches!(instruction.op, Op::Shr { ty } if ty.is_signed());
                    let by = term(2).plus;
                    term(1).apply(&format!(
                        "{}{}{by:#x}",
                        instruction.opcode,
                        if signed { " signed " } else { " " }
                    ))
                }
                _ => continue,
            };
            if let Some(Operand::Register(name)) = instruction.operands.first() {
                self.registers.insert(name.clone(), result);
            }
        }
    }

    fn operand(&self, operand: Option<&Operand>) -> Term {
        match operand {
            Some(Operand::Register(name)) => self.held(name),
            Some(Operand::Symbol { name, offset }) => Term::register(name).plus(*offset),
            Some(Operand::Integer(value)) => Term::constant(*value as u64),
            other => Term::register(&format!("{other:?}")),
        }
    }

    /// What a register holds.
    pub(super) fn held(&self, name: &str) -> Term {
        self.registers.get(name).cloned().unwrap_or_else(|| Term::register(name))
    }
}

/// The generic address of an element.
pub(super) fn address(access: &AccessOperand, element: usize) -> Term {
    let offset = access.address.offset;
    let within = match &access.address.base {
        OperandBase::Register64(name) | OperandBase::Symbol(name) => Term::register(name).plus(offset),
        OperandBase::Register32(name) => Term::register(name).plus(offset).apply("u32 to u64"),
        OperandBase::Absolute => Term::constant(offset as u64),
    };
    let generic = match access.space {
        BufferSpace::Shared => within.apply("Shared"),
        BufferSpace::Global | BufferSpace::Generic => within,
    };
    generic.plus(element as i64 * i64::from(access.ty.bytes()))
}

/// The bits of a stored element.
pub(super) fn stored(element: &Element) -> Option<Term> {
    match element {
        Element::Register { name, bits: 64 } => Some(Term::register(name)),
        Element::Register { name, bits } => Some(Term::register(name).apply(&format!("u{bits} to u64"))),
        Element::Bits(bits) => Some(Term::constant(*bits)),
        Element::Sink => None,
    }
}

/// The bits of a stored element as a logger is given them: without those that the type does not have.
pub(super) fn logged(element: &Element, access: &AccessOperand) -> Option<Term> {
    let cut = (u64::MAX >> (64 - access.ty.bits())) as i64;
    stored(element).map(|term| term.apply(&format!("and {cut:#x}")))
}

/// An operand of 32 bits: a register or a number.
pub(super) fn number(operand: &str) -> Term {
    let number = operand.strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits, 16).ok());
    match number.or_else(|| operand.parse().ok()) {
        Some(number) => Term::constant(number),
        None => Term::register(operand),
    }
}

/// The same, widened with zeros.
pub(super) fn widened(operand: &str) -> Term {
    number(operand).apply("u32 to u64")
}

/// A value of so many bits, widened with zeros.
pub(super) fn wide(value: &Term, bits: u32) -> Term {
    if bits == 64 { value.clone() } else { value.apply(&format!("u{bits} to u64")) }
}

/// 1 where a predicate holds (or, with `!` before its name, where it does not), else 0.
pub(super) fn chosen(predicate: &str) -> Term {
    let (name, [yes, no]) = match predicate.strip_prefix('!') {
        Some(name) => (name, [0, 1]),
        None => (predicate, [1, 0]),
    };
    let operands = [Operand::Integer(yes), Operand::Integer(no), Operand::Register(name.to_owned())];
    Term::register(&format!("{operands:?}"))
}

/// What a loaded element's register has to hold when its raw bits stand in `from`: the bits, extended as
/// the type says and cut to the register.
pub(super) fn loaded(access: &AccessOperand, bits: u32, from: &str) -> Term {
    let mut term = Term::register(from);
    let unused = 64 - access.ty.bits();
    if bits > access.ty.bits() {
        term = if access.ty.is_signed() {
            term.apply(&format!("shl {unused:#x}")).apply(&format!("shr signed {unused:#x}"))
        } else {
            term.apply(&format!("and {:#x}", (u64::MAX >> unused) as i64))
        };
    }
    if bits == 64 { term } else { term.apply(&format!("u64 to u{bits}")) }
}
