//! Bounds of an address that is not known, as the instructions before it make it: `counts + warp * 1024 + (key & digits) * 4`.
//!
//! Followed back are the definitions in the basic block of the access, which are the same whenever it is run ([`Making`]). What is known of their
//! sources is what a lane's registers hold: a source that nobody has written since has the value that it had there. Bounds are those of
//! [`super::span`]; other than there ([`super::objects`]), the values of this launch and of this thread count, and so the address cannot be
//! beyond them.
//!
//! # What it can miss
//! Definitions in other blocks, and those under a guard: such a number may be anything.

use std::rc::Rc;

use bugaroo_ptx::ast::{AddressBase, Instruction, Module, Operand};
use bugaroo_ptx::op::Op;
use bugaroo_ptx::types::Space;
use bugaroo_simulator::alu::Width;
use bugaroo_simulator::decoded::{Base, Inst, Kind, NO_GUARD};
use bugaroo_simulator::{CodeImage, SHARED_WINDOW};
use rustc_hash::FxHashMap;

use super::flow::Flow;
use super::registers::Registers;
use super::span::{self, Span};
use super::text::{Extra, results};

/// Definitions that are followed back from an address.
const MOST_STEPS: usize = 64;

/// A source of a definition, or an address.
#[derive(Clone, Copy, Debug)]
struct From {
    /// Where it stands, if its value there is still the one that it had.
    slot: Option<(i32, Width)>,
    /// The definition that it comes from.
    step: Option<usize>,
}

const OPEN: From = From { slot: None, step: None };

#[derive(Debug)]
struct Step<'a> {
    op: &'a Op,
    sources: Vec<From>,
}

/// How an address is made in its basic block.
#[derive(Debug)]
pub(super) struct Making<'a> {
    address: From,
    steps: Vec<Step<'a>>,
}

/// How the addresses of accesses are made, by instruction.
#[derive(Debug)]
pub(super) struct Makings<'a> {
    module: &'a Module,
    instructions: FxHashMap<usize, &'a Instruction>,
    found: FxHashMap<u32, Rc<Making<'a>>>,
}

/// A number between bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bound {
    /// It is a generic address, so far behind the beginning of the window of shared memory.
    pub in_window: bool,
    pub span: Span,
}

const ANYTHING: Bound = Bound { in_window: false, span: Span::ALL };

impl<'a> Makings<'a> {
    pub fn new(module: &'a Module) -> Makings<'a> {
        Makings { module, instructions: FxHashMap::default(), found: FxHashMap::default() }
    }

    /// How the address of the access at `pc` is made.
    pub fn of(
        &mut self,
        image: CodeImage<'a>,
        extras: &[Extra],
        flow: &Flow,
        pc: u32,
        base: Base,
    ) -> Rc<Making<'a>> {
        if self.instructions.is_empty() {
            let all = self.module.functions().flat_map(|function| function.instructions());
            self.instructions = all.map(|instruction| (instruction.span.start, instruction)).collect();
        }
        if let Some(found) = self.found.get(&pc) {
            return Rc::clone(found);
        }
        let mut back =
            Back { image, extras, flow, instructions: &self.instructions, access: pc, steps: Vec::new() };
        let address = back.address(base);
        let making = Rc::new(Making { address, steps: back.steps });
        self.found.insert(pc, Rc::clone(&making));
        making
    }
}

/// On the way back from an access.
struct Back<'a, 'b> {
    image: CodeImage<'a>,
    extras: &'b [Extra],
    flow: &'b Flow,
    instructions: &'b FxHashMap<usize, &'a Instruction>,
    access: u32,
    steps: Vec<Step<'a>>,
}

impl<'a> Back<'a, '_> {
    fn instruction(&self, pc: u32) -> Option<&'a Instruction> {
        self.instructions.get(&self.image.origins[pc as usize].text.0).copied()
    }

    fn address(&mut self, base: Base) -> From {
        let (slot, width) = match base {
            Base::Row64(slot) => (slot, Width::W64),
            Base::Row32(slot) => (slot, Width::W32),
            Base::Fixed | Base::FrameLocal => return OPEN,
        };
        let operands = self.instruction(self.access).map(|access| &access.operands[..]).unwrap_or_default();
        let name = operands.iter().find_map(|operand| match operand {
            Operand::Address { base: AddressBase::Register(name), .. } => Some(name),
            _ => None,
        });
        name.map_or(OPEN, |name| self.from(name, (slot, width), self.access))
    }

    /// Whether an instruction may write a register of this name.
    fn writes(&self, pc: u32, name: &str) -> bool {
        let Some(instruction) = self.instruction(pc) else { return true };
        let mut found = false;
        for operand in results(instruction) {
            operand.registers(&mut |written| found |= written == name);
        }
        found
    }

    /// Where the register's value before `pc` comes from.
    fn from(&mut self, name: &str, (slot, width): (i32, Width), pc: u32) -> From {
        let since = (pc..self.access).any(|later| self.writes(later, name));
        let before = self.flow.block_before(self.access).start;
        let definition = (before..pc).rev().find(|earlier| self.writes(*earlier, name));
        let step = definition.and_then(|definition| self.step(definition, slot));
        From { slot: (!since).then_some((slot, width)), step }
    }

    /// The definition at `pc` of the register at this slot.
    fn step(&mut self, pc: u32, slot: i32) -> Option<usize> {
        let (inst, instruction): (&Inst, _) = (&self.image.code[pc as usize], self.instruction(pc)?);
        let is_plain = matches!(instruction.operands.first(), Some(Operand::Register(_)));
        if inst.guard != NO_GUARD || !is_plain || self.steps.len() == MOST_STEPS {
            return None;
        }
        // Its place in the list goes before those of its sources.
        let at = self.steps.len();
        self.steps.push(Step { op: &instruction.op, sources: Vec::new() });
        if inst.kind == Kind::Alu && inst.ops.dst == slot as u32 {
            let info = self.extras[pc as usize].arithmetic;
            let sources = instruction.operands[1..].iter().zip(inst.ops.src).enumerate();
            let sources = sources.take(usize::from(info.sources)).map(|(i, (operand, slot))| {
                let of_constant = if info.wide >> i & 1 != 0 { Width::W64 } else { Width::W32 };
                let row = u32::try_from(slot).ok();
                let width = row.map_or(of_constant, |row| self.flow.width(row).unwrap_or(of_constant));
                match operand {
                    Operand::Register(name) if slot >= 0 => self.from(name, (slot, width), pc),
                    _ if slot < 0 => From { slot: Some((slot, width)), step: None },
                    _ => OPEN,
                }
            });
            self.steps[at].sources = sources.collect();
        }
        Some(at)
    }
}

impl Making<'_> {
    /// Bounds of the address in a lane, without the offset that the access has.
    pub fn of(&self, registers: &Registers<'_>, lane: usize) -> Bound {
        let mut bounds = [ANYTHING; MOST_STEPS];
        // Sources stand behind what is made of them. Each is looked at once: sums of sums would be looked at twice as often each time.
        for at in (0..self.steps.len()).rev() {
            let step = &self.steps[at];
            let source = |i: usize| {
                step.sources.get(i).map_or(ANYTHING, |source| source.bound(registers, lane, &bounds))
            };
            bounds[at] = made(step.op, step.sources.len(), source);
        }
        self.address.bound(registers, lane, &bounds)
    }
}

impl From {
    fn bound(&self, registers: &Registers<'_>, lane: usize, steps: &[Bound]) -> Bound {
        let known = self.slot.filter(|(slot, _)| registers.known(*slot) >> lane & 1 != 0);
        let Some((slot, width)) = known else { return self.step.map_or(ANYTHING, |step| steps[step]) };
        let value = registers.read(slot, width, if slot < 0 { 0 } else { lane });
        let (in_window, value) = match value.wrapping_sub(SHARED_WINDOW) {
            offset if offset >> 32 == 0 => (true, offset),
            _ => (false, value),
        };
        let span = i64::try_from(value).map_or(Span::ALL, Span::exactly);
        Bound { in_window, span }
    }
}

/// What an instruction makes of so many sources.
fn made(op: &Op, count: usize, source: impl Fn(usize) -> Bound) -> Bound {
    let are_numbers = (0..count).all(|i| !source(i).in_window);
    match op {
        Op::Mov { .. } => source(0),
        // From an address of the window on, sums of 64 bits do not come round.
        Op::Add { ty, carry_in: false, .. } if !are_numbers && ty.bytes() == 8 => {
            let (a, b) = (source(0), source(1));
            Bound { in_window: a.in_window != b.in_window, span: a.span.plus(b.span) }
        }
        Op::Cvta { to, space: Space::Shared, .. } if source(0).in_window == *to => {
            Bound { in_window: !to, span: source(0).span }
        }
        Op::Cvta { .. } => ANYTHING,
        op if are_numbers => Bound { in_window: false, span: span::result(op, |i| source(i).span) },
        _ => ANYTHING,
    }
}
