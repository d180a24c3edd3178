//! The control-flow graph of a function: basic blocks, and where diverged threads meet again.
//!
//! Labels are looked up from the block `{ … }` of the branch outwards, as PTX scopes them. Immediate
//! post-dominators are computed by the iterative algorithm of Cooper, Harvey and Kennedy ("A Simple,
//! Fast Dominance Algorithm", 2001) on the reversed graph. Loops without an exit have no path to the
//! end; each gets an imaginary one from its last block, so that threads inside of it can meet too.
//!
//! What this can miss: a call of a function that never returns still falls through.

mod block;
mod dominance;
mod labels;
mod order;

use crate::ast::{Function, Instruction, Operand};
use crate::op::Op;
use labels::Labels;

pub use block::Block;

/// The graph of one function. Instructions are named by their position in
/// [`Function::instructions`], blocks by their position in [`Cfg::blocks`]; block 0 is the entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cfg {
    /// Basic blocks in the order of the text. Empty for a function without instructions.
    pub blocks: Vec<Block>,
    /// The block of each instruction.
    pub block_of: Vec<usize>,
    /// Where each instruction can jump: one entry for `bra`, the table for `brx` (as listed,
    /// repetitions included), empty for others. A label after the last instruction is the number of
    /// instructions.
    pub targets: Vec<Vec<usize>>,
    /// Branches whose label or table is not declared: (instruction, name). Such a branch goes nowhere.
    pub unresolved: Vec<(usize, String)>,
}

/// How control goes on after an instruction.
struct Flow {
    falls_through: bool,
    leaves: bool,
}

impl Flow {
    fn after(instruction: &Instruction) -> Flow {
        let guarded = instruction.guard.is_some();
        match instruction.op {
            Op::Bra { .. } | Op::Brx { .. } => Flow { falls_through: guarded, leaves: false },
            Op::Ret { .. } | Op::Exit | Op::Trap => Flow { falls_through: guarded, leaves: true },
            _ => Flow { falls_through: true, leaves: false },
        }
    }

    fn ends_block(instruction: &Instruction) -> bool {
        matches!(instruction.op, Op::Bra { .. } | Op::Brx { .. } | Op::Ret { .. } | Op::Exit | Op::Trap)
    }
}

impl Cfg {
    /// The graph of a function; without blocks for a declaration.
    pub fn build(function: &Function) -> Cfg {
        let labels = Labels::collect(function);
        let mut cfg = Cfg::default();
        for (at, (instruction, scope)) in labels.instructions.iter().enumerate() {
            let (targets, unresolved) = resolve(&labels, instruction, *scope);
            cfg.targets.push(targets);
            cfg.unresolved.extend(unresolved.into_iter().map(|name| (at, name)));
        }
        cfg.split(&labels);
        cfg.connect(&labels);
        dominance::post_dominate(&mut cfg.blocks);
        cfg
    }

    /// Cuts the instructions into blocks.
    fn split(&mut self, labels: &Labels<'_>) {
        let count = labels.instructions.len();
        let mut leader = vec![false; count + 1];
        leader[0] = true;
        for (at, (instruction, _)) in labels.instructions.iter().enumerate() {
            if Flow::ends_block(instruction) {
                leader[at + 1] = true;
            }
            for target in &self.targets[at] {
                leader[*target] = true;
            }
        }
        for (at, leads) in leader.into_iter().enumerate().take(count) {
            if leads {
                self.blocks.push(Block {
                    start: at,
                    end: at,
                    successors: Vec::new(),
                    predecessors: Vec::new(),
                    leaves: false,
                    post_dominator: None,
                });
            }
            let block = self.blocks.len() - 1;
            self.block_of.push(block);
            self.blocks[block].end = at + 1;
        }
    }

    /// Draws the edges.
    fn connect(&mut self, labels: &Labels<'_>) {
        let count = labels.instructions.len();
        for index in 0..self.blocks.len() {
            let last = self.blocks[index].end - 1;
            let flow = Flow::after(labels.instructions[last].0);
            let next = flow.falls_through.then_some(last + 1);
            let mut successors = Vec::new();
            let mut leaves = flow.leaves;
            for target in self.targets[last].iter().copied().chain(next) {
                if target == count {
                    leaves = true;
                } else {
                    successors.push(self.block_of[target]);
                }
            }
            successors.sort_unstable();
            successors.dedup();
            for successor in &successors {
                self.blocks[*successor].predecessors.push(index);
            }
            self.blocks[index].successors = successors;
            self.blocks[index].leaves = leaves;
        }
    }

    /// Where the threads that a branch parts meet again: the first instruction of the post-dominator of
    /// its block. None when that is the function's end.
    pub fn reconvergence(&self, instruction: usize) -> Option<usize> {
        let block = self.blocks.get(*self.block_of.get(instruction)?)?;
        block.post_dominator.map(|block| self.blocks[block].start)
    }
}

/// The targets of a branch, and the names that nothing declares.
fn resolve(labels: &Labels<'_>, instruction: &Instruction, scope: usize) -> (Vec<usize>, Vec<String>) {
    // A label may share its name with a register; the operand is then one.
    let name = |operand: Option<&Operand>| match operand {
        Some(Operand::Symbol { name, offset: 0 } | Operand::Register(name)) => name.clone(),
        _ => String::new(),
    };
    match instruction.op {
        Op::Bra { .. } => {
            let label = name(instruction.operands.first());
            match labels.position(scope, &label) {
                Some(target) => (vec![target], Vec::new()),
                None => (Vec::new(), vec![label]),
            }
        }
        Op::Brx { .. } => {
            let table = name(instruction.operands.get(1));
            let Some((names, scope)) = labels.table(scope, &table) else { return (Vec::new(), vec![table]) };
            let mut targets = Vec::new();
            let mut unresolved = Vec::new();
            for name in names {
                match labels.position(scope, name) {
                    Some(target) => targets.push(target),
                    None => unresolved.push(name.clone()),
                }
            }
            (targets, unresolved)
        }
        _ => (Vec::new(), Vec::new()),
    }
}

#[cfg(test)]
mod tests;
