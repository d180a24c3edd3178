//! Tensor copies (`cp.async.bulk.tensor`): bulk copies whose size stands in a tensor map that the host made.
//!
//! Here they become bulk copies of an open size, with the tensor map as the address in global memory. What
//! they bring is given (`--tensor NAME[+OFFSET]=BYTES`, by the parameter that holds the map), or, for a copy that is the only one of its
//! phase, what the phase of its mbarrier expects: another number would leave the phase open for ever, which this misses. Where it turns out
//! that it is not the only one, it is asked for.

use bugaroo_ptx::ast::{AddressBase, Instruction, Item, Module, Operand, Statement, StatementKind};
use bugaroo_ptx::op::Op;
use bugaroo_ptx::types::Space;
use bugaroo_simulator::decoded::Address;

use super::machine::Machine;
use super::refusal::Refusal;

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

impl Machine<'_> {
    /// How many bytes a tensor copy moves, which may be all that the phase of its mbarrier still waits for.
    pub fn tensor_bytes(
        &mut self,
        w: usize,
        frame: u32,
        pc: u32,
        lane: usize,
        map: &Address,
        mbarrier: Option<(u32, u32)>,
    ) -> Result<u32, Refusal> {
        // The map is a parameter of the kernel, by its generic address.
        let offset =
            self.address(frame, map, lane).ok().filter(|at| at >> 32 == 3).map(|at| at & 0xffff_ffff);
        if let Some(bytes) = offset.and_then(|offset| self.set.params.tensor_at(offset)) {
            return Ok(bytes);
        }
        let state = mbarrier.and_then(|(rank, at)| self.ctas[rank as usize].mbarriers.get_mut(&at));
        if let Some(state) = state
            && let Ok(bytes @ 1..) = u32::try_from(state.bytes)
        {
            state.guessed = Some(offset.unwrap_or(u64::MAX));
            return Ok(bytes);
        }
        Err(self.size_unknown(w, pc, lane, offset))
    }

    /// Refuses because only a tensor map says how many bytes a copy moves.
    pub fn size_unknown(&self, w: usize, pc: u32, lane: usize, map: Option<u64>) -> Refusal {
        let name = map.and_then(|offset| self.set.params.name_at(self.set.function, offset));
        let name = name.map_or_else(|| "NAME".to_owned(), |(_, given)| given);
        let message = format!(
            "how many bytes a tensor copy moves stands in its tensor map (--tensor {name}=BYTES says how many)"
        );
        self.unsupported(w, pc, lane, message)
    }
}
