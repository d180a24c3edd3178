//! A litmus test: what its text says.

use crate::condition::Condition;
/// Who takes part in an ordering; tests have no clusters.
pub use bugaroo_ptx::types::Scope;

/// Most threads of a test.
pub const THREADS: usize = 16;
/// Most locations of a test.
pub const LOCATIONS: usize = 32;
/// Most registers of a thread.
pub const REGISTERS: usize = 64;

/// A litmus test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Test {
    /// Its name.
    pub name: String,
    /// Where it reads and writes.
    pub locations: Vec<TestLocation>,
    /// Its threads, P0 first.
    pub threads: Vec<Thread>,
    /// What it asks, if it asks.
    pub condition: Option<Condition>,
}

/// A location in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestLocation {
    /// Its name.
    pub name: String,
    /// What it holds at first.
    pub initial: u64,
    /// Bytes: those of its widest access, at least 4.
    pub bytes: u32,
    /// Where it lies.
    pub space: TestSpace,
}

/// The state space of a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TestSpace {
    /// Global memory.
    Global,
    /// Shared memory of the one CTA that uses it.
    Shared,
}

/// A thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Number of its CTA among the test's CTAs, which are numbered as they appear.
    pub cta: u32,
    /// Its registers.
    pub registers: Vec<Register>,
    /// Its program.
    pub instructions: Vec<TestInstruction>,
}

/// A register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Register {
    /// Its name.
    pub name: String,
    /// What it holds at first.
    pub initial: u64,
    /// 64 bits wide, not 32.
    pub wide: bool,
}

/// An instruction and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestInstruction {
    /// What it does.
    pub op: TestOp,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
}

/// What a value is taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestValue {
    /// A number.
    Constant(u64),
    /// A register, by its index in the thread.
    Register(usize),
}

/// How an access orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestOrder {
    /// `.weak`
    Weak,
    /// `.volatile`
    Volatile,
    /// `.relaxed.S`
    Relaxed(Scope),
    /// `.acquire.S`
    Acquire(Scope),
    /// `.release.S`
    Release(Scope),
    /// `.acq_rel.S`
    AcqRel(Scope),
}

/// Bits of a type: how many, and what an atomic takes them for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TestType {
    /// 1, 2, 4 or 8.
    pub bytes: u32,
    /// A signed integer.
    pub signed: bool,
}

/// What an atomic does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "PTX's own names")]
pub enum Rmw {
    Add,
    Exch,
    Cas,
    Inc,
    Dec,
    Min,
    Max,
    And,
    Or,
    Xor,
}

/// What a fence orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "PTX's own names")]
pub enum TestFence {
    Sc,
    AcqRel,
    Acquire,
    Release,
}

/// Arithmetic between registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "PTX's own names")]
pub enum Arithmetic {
    Add,
    Sub,
    And,
    Or,
    Xor,
}

/// What an instruction does. Locations and registers are indices into the test and the thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestOp {
    /// `ld`
    Load {
        /// How it orders.
        order: TestOrder,
        /// Of what type.
        ty: TestType,
        /// Where the value goes.
        register: usize,
        /// Where it reads.
        location: usize,
    },
    /// `st`
    Store {
        /// How it orders.
        order: TestOrder,
        /// Of what type.
        ty: TestType,
        /// Where it writes.
        location: usize,
        /// What it writes.
        value: TestValue,
    },
    /// `atom`, or, where there is no register, `red`
    Atomic {
        /// How it orders.
        order: TestOrder,
        /// Of what type.
        ty: TestType,
        /// What it does.
        rmw: Rmw,
        /// Where the old value goes.
        register: Option<usize>,
        /// Where it acts.
        location: usize,
        /// With what; of `cas`, what it compares with.
        value: TestValue,
        /// Of `cas`: what it writes.
        swap: Option<TestValue>,
    },
    /// `fence`
    Fence(TestFence, Scope),
    /// `membar`
    Membar(Scope),
    /// `bar.cta.sync`, `bar.sync`, `barrier.sync`: all threads of the CTA take part.
    Barrier(u32),
    /// `bar.warp.sync` of all threads in the warp
    WarpBarrier,
    /// `mov`
    Move(usize, TestValue),
    /// `add` and the like
    Arithmetic(Arithmetic, usize, TestValue, TestValue),
}

impl Test {
    /// Number of its CTAs.
    pub fn ctas(&self) -> u32 {
        self.threads.iter().map(|thread| thread.cta + 1).max().unwrap_or(0)
    }

    /// The most threads that a CTA has.
    pub fn most_threads(&self) -> u32 {
        let size = |cta| self.threads.iter().filter(|thread| thread.cta == cta).count() as u32;
        (0..self.ctas()).map(size).max().unwrap_or(0)
    }

    /// The first part of its name.
    pub fn shape(&self) -> &str {
        shape(&self.name)
    }
}

/// The first part of a test's name: up to the first `+` that does not stand between digits (2+2W).
pub fn shape(name: &str) -> &str {
    let bytes = name.as_bytes();
    let between = |at: usize| {
        at > 0 && bytes[at - 1].is_ascii_digit() && bytes.get(at + 1).is_some_and(u8::is_ascii_digit)
    };
    name.char_indices().find(|(at, c)| *c == '+' && !between(*at)).map_or(name, |(at, _)| &name[..at])
}

impl TestOp {
    /// The location that it touches.
    pub fn location(&self) -> Option<usize> {
        match self {
            TestOp::Load { location, .. }
            | TestOp::Store { location, .. }
            | TestOp::Atomic { location, .. } => Some(*location),
            _ => None,
        }
    }
}
