//! The control-flow graph of decoded functions, as far as arms of branches need it: basic blocks, what follows each, and where ways meet.
//!
//! Immediate post-dominators by the iterative algorithm of Cooper, Harvey and Kennedy ("A Simple, Fast Dominance Algorithm", 2001) on the
//! reversed graph. A block without a way to the function's end has none.

use bugaroo_simulator::CodeImage;
use bugaroo_simulator::alu::Width;
use bugaroo_simulator::decoded::{Inst, Kind, NO_GUARD};

/// The graph of one function.
#[derive(Clone, Debug, Default)]
pub(super) struct Flow {
    entry: u32,
    /// First instructions of the blocks, ascending; the function's end comes last.
    starts: Vec<u32>,
    /// First instruction of each block's immediate post-dominator; None: only the function's end.
    meets: Vec<Option<u32>>,
    /// Registers: offsets in the frame, ascending, and widths.
    pub rows: Vec<(u32, Width)>,
}

/// The graphs of all functions of a program, by number.
pub(super) fn flows(image: &CodeImage<'_>) -> Vec<Flow> {
    let defined = image.functions.iter().filter(|function| function.defined);
    let mut entries: Vec<u32> = defined.map(|function| function.entry).collect();
    entries.push(image.code.len() as u32);
    entries.sort_unstable();
    let flow = |function: &bugaroo_simulator::decoded::LoadedFunction| {
        if !function.defined {
            return Flow::default();
        }
        let end = entries[entries.partition_point(|entry| *entry <= function.entry)];
        let mut flow = Flow::new(image, function.entry, end);
        flow.rows.clone_from(&function.rows);
        flow.rows.sort_unstable_by_key(|(offset, _)| *offset);
        flow
    };
    image.functions.iter().map(flow).collect()
}

/// Where control can go from an instruction, but for calls, which come back; whether it can leave the function.
pub(super) fn successors(image: &CodeImage<'_>, pc: u32, mut to: impl FnMut(u32)) -> bool {
    let inst: &Inst = &image.code[pc as usize];
    let guarded = inst.guard != NO_GUARD;
    match inst.kind {
        Kind::Branch => to(inst.extra),
        Kind::IndexedBranch => image.tables[inst.extra as usize].iter().for_each(|target| to(*target)),
        Kind::Ret | Kind::Exit | Kind::Trap => {
            if guarded {
                to(pc + 1);
            }
            return true;
        }
        _ => {
            to(pc + 1);
            return false;
        }
    }
    if guarded {
        to(pc + 1);
    }
    false
}

fn ends_block(inst: &Inst) -> bool {
    matches!(inst.kind, Kind::Branch | Kind::IndexedBranch | Kind::Ret | Kind::Exit | Kind::Trap)
}

impl Flow {
    fn new(image: &CodeImage<'_>, entry: u32, end: u32) -> Flow {
        let mut starts = vec![entry];
        for pc in entry..end {
            if ends_block(&image.code[pc as usize]) {
                starts.push(pc + 1);
                successors(image, pc, |to| starts.push(to));
            }
        }
        starts.retain(|start| *start < end);
        starts.sort_unstable();
        starts.dedup();
        starts.push(end);
        let mut flow = Flow { entry, starts, meets: Vec::new(), rows: Vec::new() };
        flow.post_dominate(image);
        flow
    }

    fn block(&self, pc: u32) -> usize {
        self.starts.partition_point(|start| *start <= pc) - 1
    }

    fn post_dominate(&mut self, image: &CodeImage<'_>) {
        let count = self.starts.len() - 1;
        // The imaginary end has number `count`.
        let mut next: Vec<Vec<usize>> = vec![Vec::new(); count];
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); count + 1];
        for (block, follow) in next.iter_mut().enumerate() {
            let leaves = successors(image, self.starts[block + 1] - 1, |to| {
                let to = if to < self.starts[count] { self.block(to) } else { count };
                follow.push(to);
            });
            if leaves {
                follow.push(count);
            }
            follow.iter().for_each(|to| before[*to].push(block));
        }
        let order = post_order(&before, count);
        let mut number = vec![usize::MAX; count + 1];
        order.iter().enumerate().for_each(|(at, block)| number[*block] = at);
        let mut over: Vec<Option<usize>> = vec![None; count + 1];
        over[count] = Some(count);
        let mut changed = true;
        while changed {
            changed = false;
            for block in order.iter().rev().copied().filter(|block| *block != count) {
                let known = next[block].iter().copied().filter(|to| over[*to].is_some());
                let meet = known.reduce(|a, b| common(a, b, &over, &number));
                if over[block] != meet {
                    over[block] = meet;
                    changed = true;
                }
            }
        }
        let start = |meet: &Option<usize>| meet.filter(|meet| *meet != count).map(|meet| self.starts[meet]);
        self.meets = over[..count].iter().map(start).collect();
    }

    /// Where the ways from the branch at `pc` meet again; None: at the end of the function.
    pub fn meet(&self, pc: u32) -> Option<u32> {
        self.meets[self.block(pc)]
    }

    /// The instructions from `pc` to the end of its basic block.
    pub fn rest_of_block(&self, pc: u32) -> std::ops::Range<u32> {
        pc..self.starts[self.block(pc) + 1]
    }

    /// The instructions of the basic block of `pc` before it.
    pub fn block_before(&self, pc: u32) -> std::ops::Range<u32> {
        self.starts[self.block(pc)]..pc
    }

    /// The last instruction of the function: a return without a guard.
    pub fn last(&self) -> u32 {
        self.starts[self.starts.len() - 1] - 1
    }

    /// How wide the register at this offset is.
    pub fn width(&self, row: u32) -> Option<Width> {
        let found = self.rows.binary_search_by_key(&row, |(offset, _)| *offset);
        found.ok().map(|index| self.rows[index].1)
    }

    /// Whether an instruction is the function's.
    pub fn holds(&self, pc: u32) -> bool {
        (self.entry..=self.last()).contains(&pc)
    }
}

/// Blocks in post-order of a walk against the edges from the end; those without a way to the end are left out.
fn post_order(before: &[Vec<usize>], end: usize) -> Vec<usize> {
    let mut order = Vec::new();
    let mut seen = vec![false; before.len()];
    let mut stack = vec![(end, 0)];
    seen[end] = true;
    while let Some((block, next)) = stack.last_mut() {
        match before[*block].get(*next) {
            Some(from) => {
                *next += 1;
                if !std::mem::replace(&mut seen[*from], true) {
                    stack.push((*from, 0));
                }
            }
            None => {
                order.push(*block);
                stack.pop();
            }
        }
    }
    order
}

/// The closest common ancestor in the tree so far.
fn common(mut a: usize, mut b: usize, over: &[Option<usize>], number: &[usize]) -> usize {
    while a != b {
        let lower = if number[a] < number[b] { &mut a } else { &mut b };
        *lower = over[*lower].expect("only blocks with a post-dominator are compared");
    }
    a
}
