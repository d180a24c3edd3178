//! Which accesses of a basic block an earlier one has covered (BARRACUDA, section 4.1).

use crate::steps::{AccessedOperand, Order, Role, Step, What, Writes};

/// An access that covers others.
#[derive(Clone, Copy, Debug)]
struct Seen {
    operand: AccessedOperand,
    guard: Option<(u32, bool)>,
    writes: bool,
    strong: bool,
}

/// Sets [`Role::covered`]. The roles say already who acquires and releases.
pub(crate) fn mark(steps: &[Step<'_>], roles: &mut [Role]) {
    let mut seen: Vec<Seen> = Vec::new();
    for (step, role) in steps.iter().zip(roles) {
        if step.begins_block {
            seen.clear();
        }
        match (step.what, step.operand) {
            (What::Load | What::Store, Some(operand)) if !role.synchronises() => {
                let writes = step.what == What::Store;
                let strong = step.order == Order::Strong;
                // What is strong races with less.
                let covers = |s: &Seen| {
                    s.operand == operand
                        && (s.guard.is_none() || s.guard == step.guard)
                        && (s.writes || !writes)
                        && (strong || !s.strong)
                };
                role.covered = seen.iter().any(covers);
                if !role.covered {
                    seen.push(Seen { operand, guard: step.guard, writes, strong });
                }
            }
            (What::Other, _) => {}
            // An access of unknown address orders nothing; all others may.
            (What::Load | What::Store, None) if !role.synchronises() => {}
            _ => seen.clear(),
        }
        match step.writes {
            Writes::Any => seen.clear(),
            Writes::These(registers) => seen.retain(|s| {
                let kept = |register: u32| !registers.contains(&register);
                s.operand.register.is_none_or(kept) && s.guard.is_none_or(|(guard, _)| kept(guard))
            }),
        }
    }
}
