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

/// Among whom an acquire or release works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reach {
    /// Threads of the block.
    Block,
    /// All threads of the grid.
    Grid,
}

/// An instruction, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// It loads from global or shared memory, or from where its address says.
    Load,
    /// It stores there.
    Store,
    /// `atom`, `red`.
    Atomic(AtomOp),
    /// A fence of memory, not of a proxy.
    Fence {
        /// `Block` for `.cta`, else `Grid`.
        reach: Reach,
        /// All but `fence.release`.
        acquire: bool,
        /// All but `fence.acquire`.
        release: bool,
    },
    /// Nothing is beside anything across it: barriers of all kinds, calls, returns, exits, asynchronous copies, collective
    /// operations, whatever else may synchronise.
    Stop,
    /// All else: arithmetic, branches, local memory, parameters.
    Other,
}

/// How an access is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// `.weak`, or no qualifier.
    Weak,
    /// `.volatile`
    Volatile,
    /// `.relaxed`, `.acquire`, `.release`.
    Strong,
}

/// Where an access goes, as its instruction says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Operand {
    /// The register, by any number that is its own in the function; None for a fixed address.
    pub register: Option<u32>,
    /// What is added.
    pub offset: u64,
    /// Any number that differs between state spaces.
    pub space: u8,
    /// Bytes of an element.
    pub size: u32,
    /// Elements.
    pub elements: u32,
}

/// Registers that an instruction writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writes<'a> {
    /// These, by the numbers of [`Operand::register`] and [`Step::guard`]. Whoever writes a part of a register writes it.
    These(&'a [u32]),
    /// It is not known: any.
    Any,
}

/// An instruction of a program, in the order of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step<'a> {
    /// What it does.
    pub what: What,
    /// Of an access.
    pub order: Order,
    /// The predicate register of its guard, and whether it is negated.
    pub guard: Option<(u32, bool)>,
    /// Where an access goes, if that is known.
    pub operand: Option<Operand>,
    /// What it writes.
    pub writes: Writes<'a>,
    /// A basic block begins with it: it is a label's, or behind a branch.
    pub begins_block: bool,
}

/// What an instruction is to a detector, besides what it says itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Role {
    /// It acquires.
    pub acquire: Option<Reach>,
    /// It releases.
    pub release: Option<Reach>,
    /// It is `.volatile`: strong to the PTX model, but plain to detectors that are older than the model.
    pub volatile: bool,
    /// An earlier access of the same basic block has touched the same bytes, as a read before a read or as a write before
    /// either, and nothing between can have ordered anything. A store needs care even so where lanes may write one place.
    pub covered: bool,
    /// It is a weak load, and a later weak store of the same basic block writes the same bytes. All threads do both, and nothing between can
    /// have ordered anything.
    pub overwritten: bool,
    /// It is weak, and goes so many bytes behind where the instruction of this number goes, an access of the same kind earlier in the same
    /// basic block. All threads do both, and nothing between can have ordered anything.
    pub led_by: Option<(u32, u64)>,
}

impl Role {
    /// Whether it acquires or releases.
    pub fn synchronises(self) -> bool {
        self.acquire.is_some() || self.release.is_some()
    }
}

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
