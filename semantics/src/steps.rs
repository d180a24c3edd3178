//! A program's instructions, as far as it matters to who looks for races, and what each is to a detector ([`crate::inferred`]).

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
pub struct AccessedOperand {
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
    /// These, by the numbers of [`AccessedOperand::register`] and [`Step::guard`]. Whoever writes a part of a register writes it.
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
    pub operand: Option<AccessedOperand>,
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
