//! Instructions whose result nobody reads: `atomicAdd(&n, 1);` as it is compiled. Nothing can depend on what they find.

use bugaroo_ptx::ast::{AddressBase, Body, Instruction, Operand, Statement, StatementKind};
use bugaroo_ptx::op::Op;
use rustc_hash::{FxHashMap, FxHashSet};

/// Where in the text the loads and atomics of a function begin whose result is in a register that nothing else in it reads.
pub(super) fn unread(body: &Body) -> FxHashSet<usize> {
    let mut instructions = Vec::new();
    collect(&body.statements, &mut instructions);
    let mut times: FxHashMap<&str, u32> = FxHashMap::default();
    for instruction in &instructions {
        let guard = instruction.guard.iter().map(|guard| guard.register.as_str());
        guard.for_each(|name| *times.entry(name).or_default() += 1);
        let read = instruction.operands.iter().skip(usize::from(has_result(instruction)));
        read.for_each(|operand| count(operand, &mut times));
    }
    let idle = |instruction: &&&Instruction| match instruction.operands.first() {
        Some(Operand::Register(name)) => has_result(instruction) && !times.contains_key(name.as_str()),
        _ => false,
    };
    instructions.iter().filter(idle).map(|instruction| instruction.span.start).collect()
}

fn has_result(instruction: &Instruction) -> bool {
    matches!(instruction.op, Op::Atom { .. } | Op::Ld { .. })
}

fn collect<'a>(statements: &'a [Statement], into: &mut Vec<&'a Instruction>) {
    for statement in statements {
        match &statement.kind {
            StatementKind::Instruction(instruction) => into.push(instruction),
            StatementKind::Block(inner) => collect(inner, into),
            _ => {}
        }
    }
}

fn count<'a>(operand: &'a Operand, times: &mut FxHashMap<&'a str, u32>) {
    match operand {
        Operand::Register(name) | Operand::Address { base: AddressBase::Register(name), .. } => {
            *times.entry(name).or_default() += 1;
        }
        Operand::Vector(all) | Operand::List(all) => all.iter().for_each(|inner| count(inner, times)),
        Operand::Pair(first, second) => {
            count(first, times);
            count(second, times);
        }
        Operand::Not(inner) => count(inner, times),
        _ => {}
    }
}
