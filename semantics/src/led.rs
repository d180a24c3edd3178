//! Which accesses of a basic block go where an earlier one goes, but for a constant.
//!
//! Compilers unroll loops over rows and tiles: one register has the first address, and the rest is in the instructions. Who knows
//! where the first of these accesses went knows where the others will go; and every thread that has come to the first one comes to
//! the others, as nothing between leaves the block. A detector whose orders come from barriers alone may take all of them for done when the
//! first one is: no barrier is between, so whoever is ordered with one of them is ordered with all, and in which order accesses
//! come that nothing orders is nobody's promise.

use crate::steps::{AccessedOperand, Order, Role, Step, What, Writes};

/// An access that others may go by.
#[derive(Clone, Copy, Debug)]
struct Leader {
    at: u32,
    operand: AccessedOperand,
    writes: bool,
}

/// Sets [`Role::led_by`]. The roles say already who acquires and releases, and what is covered or overwritten: nobody goes by a load of
/// which nobody is told.
pub(crate) fn mark(steps: &[Step<'_>], roles: &mut [Role]) {
    let mut leaders: Vec<Leader> = Vec::new();
    for ((step, role), at) in steps.iter().zip(roles).zip(0..) {
        if step.begins_block {
            leaders.clear();
        }
        match (step.what, step.operand) {
            (What::Load | What::Store, Some(operand)) if !role.synchronises() => {
                // Lanes of which a guard lets some go need not be those that the other one lets go.
                if step.order == Order::Weak && step.guard.is_none() && !role.covered && !role.overwritten {
                    let writes = step.what == What::Store;
                    let alike = |leader: &&Leader| {
                        leader.writes == writes
                            && AccessedOperand { offset: operand.offset, ..leader.operand } == operand
                    };
                    match leaders.iter().find(alike) {
                        Some(leader) => {
                            let apart = operand.offset.wrapping_sub(leader.operand.offset);
                            role.led_by = Some((leader.at, apart));
                        }
                        None => leaders.push(Leader { at, operand, writes }),
                    }
                }
            }
            (What::Other, _) => {}
            (What::Load | What::Store, None) if !role.synchronises() => {}
            // It may order something.
            _ => leaders.clear(),
        }
        match step.writes {
            Writes::Any => leaders.clear(),
            Writes::These(registers) => leaders.retain(|leader| {
                leader.operand.register.is_none_or(|register| !registers.contains(&register))
            }),
        }
    }
}
