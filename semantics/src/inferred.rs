//! What a program's text says about its accesses beyond the instructions themselves: which ones acquire or release because of
//! the fences beside them, and which ones tell a detector nothing that one before has not.
//!
//! Source: Eizenberg et al., "BARRACUDA: Binary-level Analysis of Runtime RAces in CUDA programs" (PLDI'17), section 3.1 (acquire and
//! release) and section 4.1 (accesses that need no log).
//!
//! # Acquire and release
//! - A load with a fence right behind it acquires; a store with one right before it releases.
//! - `atom.cas` with a fence right behind acquires, `atom.exch` with one right before releases. Other fences beside
//!   these two mean nothing, so that locks with a fence missing are found.
//! - Any atomic between two fences does both.
//! - A fence of the block makes it an acquire or release of the block, any other fence one of the grid.
//!
//! Where the paper leaves it open: "right before" and "right behind" is in the order of the text, with nothing between that
//! accesses memory that others see, waits at a barrier, calls or returns. Branches may be between: a loop that spins has
//! one between its load and the fence behind. An atomic that is neither `cas` nor `exch`, with a fence on one side only, does
//! both: the paper finds no race where tickets are drawn so (`threadFenceReduction`). Both make for fewer reports.
//!
//! # What it can misreport
//! What merely looks like an acquire or a release is taken for one: races may be missed by it, none is made up.

use bugaroo_ptx::op::AtomOp;

pub use crate::steps::{AccessedOperand, Order, Reach, Role, Step, What, Writes};

/// Each instruction's role, in the order of the steps.
pub fn roles(steps: &[Step<'_>]) -> Vec<Role> {
    let before = beside(steps.iter(), |release, _| release);
    let mut behind = beside(steps.iter().rev(), |_, acquire| acquire);
    behind.reverse();
    let mut roles: Vec<Role> = steps
        .iter()
        .zip(before.iter().zip(&behind))
        .map(|(step, (before, behind))| {
            let (acquire, release) = match step.what {
                What::Load => (*behind, None),
                What::Store => (None, *before),
                What::Atomic(_) if before.is_some() && behind.is_some() => (*behind, *before),
                What::Atomic(AtomOp::Cas) => (*behind, None),
                What::Atomic(AtomOp::Exch) => (None, *before),
                What::Atomic(_) => (before.or(*behind), before.or(*behind)),
                _ => (None, None),
            };
            Role { acquire, release, volatile: step.order == Order::Volatile, ..Role::default() }
        })
        .collect();
    crate::covered::mark(steps, &mut roles);
    crate::overwritten::mark(steps, &mut roles);
    crate::led::mark(steps, &mut roles);
    roles
}

/// For each step the reach of the fence right before it, in the order in which they come.
fn beside<'a, 'b: 'a>(
    steps: impl Iterator<Item = &'a Step<'b>>,
    counts: impl Fn(bool, bool) -> bool,
) -> Vec<Option<Reach>> {
    let mut last: Option<Reach> = None;
    steps
        .map(|step| {
            let beside = last;
            match step.what {
                // Of several fences the widest.
                What::Fence { reach, acquire, release } if counts(release, acquire) => {
                    last = last.max(Some(reach));
                }
                What::Fence { .. } | What::Other => {}
                What::Load | What::Store | What::Atomic(_) | What::Stop => last = None,
            }
            beside
        })
        .collect()
}
