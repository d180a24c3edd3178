//! Instructions whose result nobody reads: `atomicAdd(&n, 1);` as it is compiled. Nothing can depend on what they find.

use bugaroo_ptx::ast::{AddressBase, Function, Instruction, Operand};
use bugaroo_ptx::op::Op;
use rustc_hash::FxHashSet;

/// Where in the text the loads and atomics of a function begin whose result is in a register that nothing else in it reads.
pub(super) fn unread(function: &Function) -> FxHashSet<usize> {
    let instructions = function.instructions();
    let mut read: FxHashSet<&str> = FxHashSet::default();
    for instruction in &instructions {
        read.extend(instruction.guard.iter().map(|guard| guard.register.as_str()));
        for operand in instruction.operands.iter().skip(usize::from(has_result(instruction))) {
            operand.registers(&mut |name| {
                read.insert(name);
            });
            if let Operand::Address { base: AddressBase::Register(name), .. } = operand {
                read.insert(name);
            }
        }
    }
    let idle = |instruction: &&&Instruction| match instruction.operands.first() {
        Some(Operand::Register(name)) => has_result(instruction) && !read.contains(name.as_str()),
        _ => false,
    };
    instructions.iter().filter(idle).map(|instruction| instruction.span.start).collect()
}

fn has_result(instruction: &Instruction) -> bool {
    matches!(instruction.op, Op::Atom { .. } | Op::Ld { .. })
}
