//! Random kernels as data: what their PTX is ([`text`]), how they come about ([`make`]), and what their threads do with given
//! inputs ([`run`]). All lanes of a warp do the same, each at a word of its own, so that a warp counts as one thread of
//! [`crate::reference`].

pub mod make;
pub mod run;
pub mod text;

/// Numbers that the kernel gets from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inputs {
    /// Parameters.
    pub n: u32,
    /// The same.
    pub m: u32,
    /// What each warp has loaded.
    pub w: Vec<u32>,
}

/// What a branch goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Test {
    /// The parameter `n` is greater than this.
    Above(u32),
    /// The parameter `m` is not 0.
    Flag,
    /// What the warp has loaded is not 0.
    Loaded,
    /// The same, on which the warp votes.
    Voted,
    /// What warp 0 has handed to all is not 0, or what a barrier has counted for all.
    Handed,
    /// It is this warp.
    Warp(usize),
    /// The loop so deep is in its round with this number.
    Round(usize, u32),
    /// The same in a round with an odd number.
    Odd(usize),
    /// It is not the loop's last round of `n`.
    Before(usize),
}

/// How often a loop goes round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trips {
    N,
    M,
    Loaded,
    /// As many, and the warp votes on each.
    Voted,
    Fixed(u32),
}

/// A row of words in shared memory, one for each lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// One that all warps use.
    Common(u32),
    /// The warp's own.
    Own,
    /// The next warp's.
    Next,
    /// One of two, by the round of the loop so deep.
    Alternating(usize),
    /// One of the two that all use, by what the warp has loaded.
    Chosen,
}

/// Which phase of an mbarrier is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parity {
    Fixed(u32),
    /// That of the round's number, and so much more.
    Round(usize, u32),
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    Read,
    Write,
    Atomic,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement {
    Access(How, Place),
    /// `cp.async`
    Copy(Place),
    Commit,
    WaitGroup(usize),
    /// A named barrier, and warps that it takes.
    Sync(usize, u32),
    Arrive(usize, u32),
    /// All threads of the block, or of the cluster.
    Meet,
    MbarrierArrive(usize),
    MbarrierWait(usize, Parity),
    /// Adds 1 to a flag in memory.
    Raise(usize),
    /// Waits until it is so much.
    Poll(usize, u32),
    Lock,
    Unlock,
    /// Warp 0 writes what it has loaded for all.
    Give,
    /// All read it.
    Take,
    /// Lanes of a warp exchange values.
    Exchange,
    /// All threads meet, and get to know whether some warp has loaded a number that is not 0.
    Count,
    If(Test, Vec<Statement>, Vec<Statement>),
    Loop(Trips, Vec<Statement>),
}

/// A kernel.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Warps of the block, or blocks of the cluster, of one warp each.
    pub warps: usize,
    pub is_cluster: bool,
    /// Warps that arrive in a phase of each mbarrier.
    pub mbarriers: Vec<u32>,
    pub body: Vec<Statement>,
}

impl Kernel {
    /// Whether any statement, however deep, is like that.
    pub fn has(&self, like: impl Fn(&Statement) -> bool) -> bool {
        fn among(all: &[Statement], like: &dyn Fn(&Statement) -> bool) -> bool {
            all.iter().any(|statement| {
                like(statement)
                    || match statement {
                        Statement::If(_, yes, no) => among(yes, like) || among(no, like),
                        Statement::Loop(_, body) => among(body, like),
                        _ => false,
                    }
            })
        }
        among(&self.body, &like)
    }
}
