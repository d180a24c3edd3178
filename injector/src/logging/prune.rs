//! Leaves out loads that are told already.
//!
//! Source: BARRACUDA (Eizenberg et al., PLDI 2017), section 4.1: within a basic block an access is not logged to the address in a register
//! whose value has not changed since the last logged access.
//!
//! Where it departs: it leaves out less, so that no report gets lost or comes to be.
//! - Loads alone, behind a load or a store of the same bytes: lanes of a later store may disagree about the value where those of the
//!   earlier one did not.
//! - Weak and unguarded accesses alone, and nothing between the two that orders or waits (fences, barriers, atomics, strong accesses,
//!   calls, collectives): the thread knows at the second what it knew at the first, and has told nobody more.
//! - A load is told after all where a fence follows in its block before anything else that orders: a load right before a fence may
//!   be taken for an acquire, and the second one may read what the first could not.
//!
//! What it changes: a race is told with the first of the loads.

use std::collections::BTreeMap;

use bugaroo_ptx::ast::{Instruction, Item, Module};
use bugaroo_ptx::cfg::Cfg;
use bugaroo_ptx::types::Semantics;
use bugaroo_semantics::effect::{Effect, Stated};
use bugaroo_semantics::event::AccessKind;

use super::log::Log;
use crate::access::{AccessOperand, OperandBase};
use crate::collect_sites::PointKind;

/// An access that is told.
struct Known<'a> {
    access: &'a AccessOperand,
    stated: Stated,
}

/// Marks them.
pub(super) fn prune(module: &Module, log: &mut Log) {
    let at: BTreeMap<usize, usize> = log
        .sites
        .points
        .iter()
        .enumerate()
        .filter(|(_, point)| !matches!(point.kind, PointKind::Fork))
        .map(|(index, point)| (point.span.start, index))
        .collect();
    let mut pruned = Vec::new();
    for item in &module.items {
        let Item::Function(function) = item else { continue };
        if function.body.is_none() {
            continue;
        }
        let all = function.instructions();
        for block in &Cfg::build(function).blocks {
            pruned.extend(in_block(&all[block.start..block.end], log, &at));
        }
    }
    for index in pruned {
        log.points[index].pruned = true;
    }
}

/// The places of a basic block that are left out.
fn in_block(instructions: &[&Instruction], log: &Log, at: &BTreeMap<usize, usize>) -> Vec<usize> {
    let mut known: Vec<Known<'_>> = Vec::new();
    let mut pruned = Vec::new();
    // Since something ordered last.
    let mut recent = Vec::new();
    for instruction in instructions {
        let effect = Effect::of(&instruction.op);
        let place = at.get(&instruction.span.start).copied();
        match effect {
            Effect::Nothing => {}
            Effect::Access(stated)
                if stated.semantics == Semantics::Weak && !matches!(stated.kind, AccessKind::Atomic(_)) =>
            {
                let kind = place.map(|index| &log.sites.points[index].kind);
                if let (Some(index), Some(PointKind::Load(access) | PointKind::Store { access, .. }), None) =
                    (place, kind, &instruction.guard)
                {
                    let told = known.iter().any(|one| covers(one, access, stated));
                    if told && stated.kind == AccessKind::Load {
                        recent.push(index);
                    } else {
                        known.push(Known { access, stated });
                    }
                }
            }
            Effect::Fence(_) | Effect::ProxyFence => {
                recent.clear();
                known.clear();
            }
            _ => {
                pruned.append(&mut recent);
                known.clear();
            }
        }
        let mut written = Vec::new();
        // What an instruction may write: the registers of its first operand.
        if let Some(first) = instruction.operands.first() {
            first.registers(&mut |name| written.push(name));
        }
        known.retain(|one| match &one.access.address.base {
            OperandBase::Register64(name) | OperandBase::Register32(name) => {
                !written.contains(&name.as_str())
            }
            OperandBase::Symbol(_) | OperandBase::Absolute => true,
        });
    }
    pruned.append(&mut recent);
    pruned
}

/// Whether one access touches all the bytes of the other, whatever the registers hold.
fn covers(one: &Known<'_>, access: &AccessOperand, stated: Stated) -> bool {
    one.access.space == access.space
        && one.access.address == access.address
        && one.stated.ty.bytes() == stated.ty.bytes()
        && one.stated.elements == stated.elements
}
