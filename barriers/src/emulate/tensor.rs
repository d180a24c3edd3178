//! Tensor copies (`cp.async.bulk.tensor`): bulk copies whose size stands in a tensor map that the host made.
//!
//! Here they become bulk copies of an open size, with the tensor map as the address in global memory. How many bytes these bring is found
//! where they are executed ([`super::tensor_bytes`]).

use bugaroo_ptx::ast::{AddressBase, Instruction, Item, Module, Operand, Statement, StatementKind};
use bugaroo_ptx::op::Op;
use bugaroo_ptx::types::Space;

/// Turns the tensor copies of a module into bulk copies. Those of forms that are not modelled stay as they are, and are refused.
pub(super) fn rewrite(module: &mut Module) {
    for item in &mut module.items {
        if let Item::Function(function) = item
            && let Some(body) = &mut function.body
        {
            block(&mut body.statements);
        }
    }
}

fn block(statements: &mut [Statement]) {
    for statement in statements {
        match &mut statement.kind {
            StatementKind::Instruction(instruction) if is_tensor_copy(instruction) => {
                copy(instruction);
            }
            StatementKind::Block(inner) => block(inner),
            _ => {}
        }
    }
}

/// Is it a tensor copy, by its name?
pub(super) fn is_tensor_copy(instruction: &Instruction) -> bool {
    let has = |word: &str| instruction.modifiers.iter().any(|modifier| modifier == word);
    instruction.opcode == "cp" && has("async") && has("bulk") && has("tensor")
}

fn copy(instruction: &mut Instruction) {
    let has = |word: &str| instruction.modifiers.iter().any(|modifier| modifier == word);
    if has("prefetch") {
        (instruction.op, instruction.operands) = (Op::Prefetch, Vec::new());
        return;
    }
    if !matches!(instruction.op, Op::Other | Op::CpAsyncTensor { .. }) {
        return;
    }
    let to_shared = has("mbarrier::complete_tx::bytes");
    let (map, shared, mbarrier, rest) = match &instruction.operands[..] {
        [
            shared @ Operand::Address { .. },
            Operand::Address { base, .. },
            Operand::Vector(_),
            mbarrier @ Operand::Address { .. },
            rest @ ..,
        ] if to_shared => (base, shared, Some(mbarrier), rest),
        [Operand::Address { base, .. }, Operand::Vector(_), shared @ Operand::Address { .. }, ..]
            if !to_shared =>
        {
            (base, shared, None, &[][..])
        }
        _ => return,
    };
    // Offsets of an `im2col` are a vector; the mask of the destinations comes behind them.
    let multicast = has("multicast::cluster");
    let mask = rest.iter().find(|operand| !matches!(operand, Operand::Vector(_))).cloned();
    if multicast && mask.is_none() {
        return;
    }
    let base = match map {
        AddressBase::Register(name) => AddressBase::Register(name.clone()),
        AddressBase::Symbol(_) | AddressBase::Absolute => AddressBase::Absolute,
    };
    let map = Operand::Address { base, offset: 0 };
    let shared = shared.clone();
    let size = Operand::Integer(16);
    instruction.operands = match mbarrier.cloned() {
        Some(mbarrier) => {
            let mask = mask.filter(|_| multicast);
            [shared, map, size, mbarrier].into_iter().chain(mask).collect()
        }
        None => vec![map, shared, size],
    };
    let (dst, src) =
        if to_shared { (Space::SharedCluster, Space::Global) } else { (Space::Global, Space::Shared) };
    instruction.op =
        Op::CpAsyncBulk { dst, src, mbarrier: to_shared, reduce: None, multicast, policy: false };
}
