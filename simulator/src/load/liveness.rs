//! Registers whose values are never needed at the same time share a row.
//!
//! Compilers write PTX as if registers cost nothing, and a row of 32 lanes takes up to four cache lines: with
//! a row for each register, the frames of a launch's warps do not fit into the caches. This is linear-scan
//! register allocation (Poletto, Sarkar: "Linear scan register allocation", 1999) with as many rows as are
//! needed and nothing to spill: data-flow analysis finds where each register is live, its interval reaches
//! from the first such instruction to the last in the order of the text, and registers whose intervals have no
//! instruction in common may share.
//!
//! Departures. Lanes that diverge are at different instructions of one frame, and need nothing more: a lane
//! reads and writes its own column of a row, so what is true of a thread's registers is true of each column.
//! That is why only rows of equal width are shared: a column of a wide row is not one of a narrow row. What
//! an instruction reads and what it writes never share, as some read other lanes' columns when they have
//! written their own.
//!
//! Limits. An interval has no holes. Only unguarded instructions that are known to do nothing but write their
//! first operand end a value's life; for any other, each register that it names counts as read. A register
//! that may be read before it is written is live from the function's start, and so has whatever the frame
//! held. Parameters in registers and registers of 128 bits keep rows of their own, and so does every register
//! of a function with something in it that is not understood, or that is too large to analyse.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use bugaroo_ptx::ast::{
    AddressBase, Function, FunctionKind, Instruction, Operand, Statement, StatementKind, Variable,
};
use bugaroo_ptx::op::Op;
use rustc_hash::FxHashMap;

use super::frame::{Frame, register_width};
use super::scope::{Name, Scopes};
use crate::alu::Width;

/// Words of all sets of registers together from which on a function is too large.
const LARGEST: usize = 1 << 20;

/// Instructions that write their first operand, whatever it holds, and only read the others.
const WRITES_FIRST: [&str; 46] = [
    "abs", "add", "addc", "and", "atom", "bfe", "bfi", "brev", "clz", "cnot", "cos", "cvt", "cvta", "div",
    "ex2", "fma", "ld", "lg2", "lop3", "mad", "madc", "max", "min", "mov", "mul", "mul24", "neg", "not",
    "or", "popc", "prmt", "rcp", "rem", "selp", "set", "setp", "shl", "shr", "sub", "subc", "suld", "suq",
    "tex", "tld4", "txq", "xor",
];

/// Rows for the registers that a function names, by number as [`Scopes`] gives them; they are taken from
/// `frame`. Those that are missing have to get their own.
pub(super) fn shared_rows(function: &Function, frame: &mut Frame) -> FxHashMap<u32, u32> {
    let Some(mut walk) = Walk::new(function) else { return FxHashMap::default() };
    let body = function.body.as_ref();
    let understood = body.is_some_and(|body| walk.block(&body.statements).is_some());
    let intervals = if understood { walk.intervals() } else { None };
    intervals.map(|intervals| walk.assign(&intervals, frame)).unwrap_or_default()
}

/// Where an instruction goes on.
#[derive(Clone, Copy, Debug)]
enum Next {
    Behind,
    /// To a label, and behind if there is a guard.
    Label(u32, bool),
    /// To any label.
    Anywhere,
    /// Nowhere.
    End,
}

/// An instruction: what it does to registers, which are numbered in order of their first mention.
#[derive(Debug)]
struct Step {
    reads: Vec<u32>,
    writes: Vec<u32>,
    next: Next,
}

/// Instructions from the first up to, not including, the second.
type Block = (usize, usize);

/// A function's text, names resolved as the translation resolves them.
#[derive(Debug)]
struct Walk<'f> {
    scopes: Scopes<'f>,
    /// Registers below this number are parameters.
    parameters: u32,
    /// Our numbers of registers.
    known: FxHashMap<u32, u32>,
    /// By our numbers: theirs, and the row that they need.
    registers: Vec<(u32, Width)>,
    steps: Vec<Step>,
    /// The instruction behind each label.
    labels: Vec<usize>,
}

impl<'f> Walk<'f> {
    /// None when there are more registers than have numbers.
    fn new(function: &'f Function) -> Option<Walk<'f>> {
        let mut scopes = Scopes::default();
        scopes.push();
        let mut parameters = 0;
        for param in function.returns.iter().chain(&function.params) {
            let variable: &Variable = &param.variable;
            if param.in_register && function.kind == FunctionKind::Func {
                parameters = scopes.register(&variable.name, variable.ty)?.checked_add(1)?;
            } else {
                scopes.declare(&variable.name, Name::KernelParam { offset: 0 });
            }
        }
        let (known, registers) = (FxHashMap::default(), Vec::new());
        Some(Walk { scopes, parameters, known, registers, steps: Vec::new(), labels: Vec::new() })
    }

    /// None when there is something that is not understood.
    fn block(&mut self, statements: &'f [Statement]) -> Option<()> {
        let mut next_label = self.labels.len();
        for statement in statements {
            if let StatementKind::Label(name) = &statement.kind {
                self.scopes.declare(name, Name::Label(self.labels.len() as u32));
                self.labels.push(0);
            }
        }
        for statement in statements {
            match &statement.kind {
                StatementKind::Label(_) => {
                    self.labels[next_label] = self.steps.len();
                    next_label += 1;
                }
                StatementKind::Instruction(instruction) => {
                    let step = self.step(instruction)?;
                    self.steps.push(step);
                }
                StatementKind::Registers(decls) => {
                    for decl in decls {
                        self.scopes.registers(decl)?;
                    }
                }
                // What matters is that it is no register.
                StatementKind::Variable(v) => self.scopes.declare(&v.name, Name::DynamicShared),
                StatementKind::Block(inner) => {
                    self.scopes.push();
                    self.block(inner)?;
                    self.scopes.pop();
                }
                StatementKind::Targets { .. }
                | StatementKind::Loc(_)
                | StatementKind::Prototype(_)
                | StatementKind::Directive => {}
            }
        }
        Some(())
    }

    fn step(&mut self, instruction: &'f Instruction) -> Option<Step> {
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        let guarded = match &instruction.guard {
            Some(guard) => {
                self.name(&guard.register, &mut reads);
                true
            }
            None => false,
        };
        let mut operands = &instruction.operands[..];
        if !guarded
            && WRITES_FIRST.contains(&instruction.opcode.as_str())
            && let Some((first, others)) = operands.split_first()
            && !matches!(first, Operand::Address { .. })
        {
            self.operand(first, &mut writes)?;
            operands = others;
        }
        for operand in operands {
            self.operand(operand, &mut reads)?;
        }
        let next = match &instruction.op {
            Op::Bra { .. } => match operands.first() {
                Some(Operand::Symbol { name, .. }) => match self.scopes.find(name) {
                    Some(Name::Label(label)) => Next::Label(label, guarded),
                    _ => return None,
                },
                _ => return None,
            },
            Op::Brx { .. } => Next::Anywhere,
            Op::Ret { .. } | Op::Exit if !guarded => Next::End,
            _ => Next::Behind,
        };
        Some(Step { reads, writes, next })
    }

    /// Adds the registers that an operand names.
    fn operand(&mut self, operand: &Operand, found: &mut Vec<u32>) -> Option<()> {
        match operand {
            Operand::Register(name)
            | Operand::Symbol { name, .. }
            | Operand::Address { base: AddressBase::Register(name) | AddressBase::Symbol(name), .. } => {
                self.name(name, found);
            }
            Operand::Vector(inner) | Operand::List(inner) => {
                for operand in inner {
                    self.operand(operand, found)?;
                }
            }
            Operand::Pair(first, second) => {
                self.operand(first, found)?;
                self.operand(second, found)?;
            }
            Operand::Not(inner) => self.operand(inner, found)?,
            Operand::Integer(_) | Operand::F32(_) | Operand::F64(_) | Operand::Sink => {}
            Operand::Address { base: AddressBase::Absolute, .. } => {}
            Operand::Raw(_) => return None,
        }
        Some(())
    }

    fn name(&mut self, name: &str, found: &mut Vec<u32>) {
        if let Some(Name::Register(number, ty)) = self.scopes.find(name)
            && number >= self.parameters
            && let Some(width) = register_width(ty)
        {
            let registers = &mut self.registers;
            found.push(*self.known.entry(number).or_insert_with(|| {
                registers.push((number, width));
                registers.len() as u32 - 1
            }));
        }
    }

    /// Straight lines of instructions, in order.
    fn blocks(&self) -> Vec<Block> {
        let mut first = vec![false; self.steps.len() + 1];
        self.labels.iter().for_each(|at| first[*at] = true);
        for (at, step) in self.steps.iter().enumerate() {
            first[at + 1] |= !matches!(step.next, Next::Behind);
        }
        first[self.steps.len()] = true;
        let ends = (1..=self.steps.len()).filter(|at| first[*at]);
        let mut start = 0;
        ends.map(|end| (std::mem::replace(&mut start, end), end)).collect()
    }

    /// First and last instruction of each register's life.
    fn intervals(&self) -> Option<Vec<(usize, usize)>> {
        let blocks = self.blocks();
        let words = self.registers.len().div_ceil(64);
        if blocks.len().saturating_mul(words) > LARGEST {
            return None;
        }
        let block_at: FxHashMap<usize, usize> =
            blocks.iter().enumerate().map(|(index, block)| (block.0, index)).collect();
        // A label behind the last instruction leads to the end.
        let labels: Vec<Option<usize>> = self.labels.iter().map(|at| block_at.get(at).copied()).collect();

        // Live where a block begins: what it reads first, and what it does not write of what is live at its end.
        let mut begin = vec![vec![0u64; words]; blocks.len()];
        let mut keeps = vec![vec![!0u64; words]; blocks.len()];
        for (index, block) in blocks.iter().enumerate() {
            for step in self.steps[block.0..block.1].iter().rev() {
                for write in &step.writes {
                    begin[index][*write as usize / 64] &= !(1 << (write % 64));
                    keeps[index][*write as usize / 64] &= !(1 << (write % 64));
                }
                for read in &step.reads {
                    begin[index][*read as usize / 64] |= 1 << (read % 64);
                }
            }
        }
        let mut end = vec![vec![0u64; words]; blocks.len()];
        loop {
            let mut changed = false;
            for index in (0..blocks.len()).rev() {
                let follow = |from: usize, end: &mut [u64]| {
                    end.iter_mut().zip(&begin[from]).for_each(|(end, begin)| *end |= begin);
                };
                let next = self.steps[blocks[index].1 - 1].next;
                let out = &mut end[index];
                match next {
                    Next::Label(label, _) => {
                        labels[label as usize].into_iter().for_each(|to| follow(to, out));
                    }
                    Next::Anywhere => labels.iter().flatten().for_each(|to| follow(*to, out)),
                    Next::Behind | Next::End => {}
                }
                if !matches!(next, Next::End | Next::Label(_, false)) && index + 1 < blocks.len() {
                    follow(index + 1, out);
                }
                for word in 0..words {
                    let live = begin[index][word] | end[index][word] & keeps[index][word];
                    changed |= live != begin[index][word];
                    begin[index][word] = live;
                }
            }
            if !changed {
                break;
            }
        }

        let mut intervals = vec![(usize::MAX, 0); self.registers.len()];
        let mut include = |register: usize, at: usize| {
            let (first, last) = intervals[register];
            intervals[register] = (first.min(at), last.max(at));
        };
        for (at, step) in self.steps.iter().enumerate() {
            step.reads.iter().chain(&step.writes).for_each(|register| include(*register as usize, at));
        }
        for (index, block) in blocks.iter().enumerate() {
            members(&begin[index]).for_each(|register| include(register, block.0));
            members(&end[index]).for_each(|register| include(register, block.1 - 1));
        }
        Some(intervals)
    }

    /// Gives out rows in the order in which lives begin; the row that was given back last goes first.
    fn assign(&self, intervals: &[(usize, usize)], frame: &mut Frame) -> FxHashMap<u32, u32> {
        let mut order: Vec<usize> = (0..self.registers.len()).collect();
        order.sort_by_key(|register| intervals[*register].0);
        let mut alive: BinaryHeap<Reverse<(usize, usize, u32)>> = BinaryHeap::new();
        let mut spare: [Vec<u32>; 4] = Default::default();
        let mut rows = FxHashMap::default();
        for register in order {
            let (number, width) = self.registers[register];
            let (first, last) = intervals[register];
            while let Some(Reverse((end, width, row))) = alive.peek().copied()
                && end < first
            {
                alive.pop();
                spare[width].push(row);
            }
            let row = spare[width as usize].pop().unwrap_or_else(|| frame.row(width));
            alive.push(Reverse((last, width as usize, row)));
            rows.insert(number, row);
        }
        rows
    }
}

/// The registers of a set.
fn members(set: &[u64]) -> impl Iterator<Item = usize> {
    set.iter().enumerate().flat_map(|(index, word)| {
        (0..64).filter(move |bit| *word != 0 && word >> bit & 1 != 0).map(move |bit| index * 64 + bit)
    })
}

#[cfg(test)]
mod tests;
