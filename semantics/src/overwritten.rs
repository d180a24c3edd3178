//! Which loads a later store of their basic block makes up for: `x[i] += 1`.
//!
//! The two are of one thread and the same bytes, and nothing between them orders anything. A detector whose orders come from barriers
//! alone finds with the store whatever it would find with the load: who conflicts with a load writes, and so conflicts with a store; and
//! who is ordered with one of the two is ordered with both.

use crate::steps::{AccessedOperand, Order, Role, Step, What, Writes};

/// A load that a store may make up for.
#[derive(Clone, Copy, Debug)]
struct Loaded {
    at: usize,
    operand: AccessedOperand,
    guard: Option<(u32, bool)>,
}

/// Sets [`Role::overwritten`]. The roles say already who acquires and releases.
pub(crate) fn mark(steps: &[Step<'_>], roles: &mut [Role]) {
    let mut loaded: Vec<Loaded> = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        if step.begins_block {
            loaded.clear();
        }
        let synchronises = roles[at].synchronises();
        match (step.what, step.operand) {
            (What::Load, Some(operand)) if !synchronises => {
                if step.order == Order::Weak {
                    loaded.push(Loaded { at, operand, guard: step.guard });
                }
            }
            (What::Store, Some(operand)) if !synchronises => {
                if step.order == Order::Weak {
                    loaded.retain(|load| {
                        let whole = step.guard.is_none() || step.guard == load.guard;
                        let overwrites = load.operand == operand && whole;
                        roles[load.at].overwritten |= overwrites;
                        !overwrites
                    });
                }
            }
            (What::Other, _) => {}
            // An access of unknown address orders nothing; all others may.
            (What::Load | What::Store, None) if !synchronises => {}
            _ => loaded.clear(),
        }
        match step.writes {
            Writes::Any => loaded.clear(),
            Writes::These(registers) => loaded.retain(|load| {
                let kept = |register: u32| !registers.contains(&register);
                load.operand.register.is_none_or(kept) && load.guard.is_none_or(|(guard, _)| kept(guard))
            }),
        }
    }
}
