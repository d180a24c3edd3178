//! What the checker answers, as data: others print it.

use serde::Serialize;

use crate::program::{Count, SharedAccessKind};

/// The answer for a program.
#[derive(Debug, Clone, Serialize)]
pub struct BarrierReport {
    /// In one word.
    pub verdict: Verdict,
    /// Who waits for whom, where the verdict is deadlock.
    pub deadlock: Option<Deadlock>,
    /// What a barrier was asked that it can't do, where the verdict is misuse.
    pub misuse: Option<Misuse>,
    /// Barriers used again too early. One for each pair of origins; the first found.
    pub recycling: Vec<Recycling>,
    /// Races, by pair of origins.
    pub races: Vec<RaceGroup>,
    /// Origins of strong accesses that come in no order with conflicting ones without racing: what they read, or leave in memory, depends on
    /// the order of threads. Writes of values known to be equal are not among them.
    pub unordered: Vec<u32>,
    /// Origins of accesses that flags may order with conflicting ones: what they read, or leave in memory, depends on how they do.
    pub guessed: Vec<u32>,
    /// Flags may order all that `recycling` names.
    pub recycled_unless_flagged: bool,
    /// Barriers that some threads arrived at and that never completed: allowed, but seldom meant.
    pub unfinished: Vec<Generation>,
    /// Named barriers that nobody waits at, though they complete: the first such use of each.
    pub unwaited: Vec<Generation>,
    /// Figures.
    pub stats: Stats,
}

/// The answer in one word. Races are looked for in well-synchronised programs alone: without, nothing is ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// No deadlock, no unsafe recycling, no race, in any execution.
    Verified,
    /// There is an execution in which threads wait for ever.
    Deadlock,
    /// There is an execution in which a barrier is used in a way that has no meaning.
    Misuse,
    /// Which threads meet at a barrier differs between executions.
    UnsafeRecycling,
    /// Well-synchronised, but accesses race.
    Race,
    /// The only races are between writes of values known to be equal.
    BenignRace,
    /// Well-synchronised, and accesses race only if branches go a way that is not known to be possible.
    PossibleRace,
}

/// Threads of one warp.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Threads {
    /// The CTA's rank in its cluster.
    pub cta: u32,
    /// The warp in its CTA.
    pub warp: u32,
    /// Its lanes, as bits.
    pub lanes: u32,
}

impl Threads {
    /// The lowest thread's number in its CTA.
    pub fn first(&self) -> u32 {
        self.warp * 32 + self.lanes.trailing_zeros()
    }
    /// How many.
    pub fn count(&self) -> u32 {
        self.lanes.count_ones()
    }
}

/// Threads at a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct ThreadsPlace {
    /// Who.
    pub threads: Threads,
    /// The PTX instruction's number.
    pub origin: u32,
    /// The command's number in the warp's program.
    pub command: u32,
}

/// What threads wait at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Resource {
    /// A named barrier.
    Named {
        /// The CTA's rank.
        cta: u32,
        /// 0 to 15.
        id: u32,
    },
    /// `bar.warp.sync`.
    Warp {
        /// The CTA's rank.
        cta: u32,
        /// The warp in its CTA.
        warp: u32,
        /// The member lanes.
        members: u32,
    },
    /// `barrier.cluster`.
    Cluster,
    /// The `wgmma`s of a warpgroup, which its four warps commit together.
    Warpgroup {
        /// The CTA's rank.
        cta: u32,
        /// The warpgroup in its CTA.
        number: u32,
    },
    /// An mbarrier.
    Mbarrier {
        /// Its shared address.
        address: u32,
    },
}

/// One use of a barrier: a dynamic barrier.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Generation {
    /// Of what.
    pub resource: Resource,
    /// From 1; of an mbarrier, its phase plus 1.
    pub number: u32,
    /// Those that arrived and those that synced.
    pub participants: Vec<Participant>,
}

/// Threads that took part in a generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Participant {
    /// Who, and where.
    pub place: ThreadsPlace,
    /// Whether they waited for the others.
    pub waits: bool,
}

/// Threads that wait for ever.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Waiting {
    /// Who, and where.
    pub place: ThreadsPlace,
    /// At what.
    pub resource: Resource,
    /// In which generation.
    pub generation: u32,
    /// Threads (of an mbarrier: arrivals; of a warpgroup: groups that all of it has committed) that came.
    pub arrived: u32,
    /// Threads that it takes.
    pub expected: u32,
    /// Bytes of asynchronous copies that an mbarrier still waits for (negative: too many came).
    pub bytes_missing: i64,
    /// They wait for the rest of their own warp, which arrives as a whole: `arrived` and `expected` count its threads.
    pub in_warp: bool,
    /// Others that would still come here, were they not waiting: indices into [`Deadlock::waiting`], with the place where they
    /// would arrive. With `in_warp`, the rest of the warp: where they would arrive, or else where they wait.
    pub waits_for: Vec<(usize, ThreadsPlace)>,
}

/// A deadlock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Deadlock {
    /// Everyone who waits.
    pub waiting: Vec<Waiting>,
    /// Indices into `waiting`: each waits for the next, the last for the first. Empty where there is no such circle: then
    /// somebody waits for threads that never come (`waits_for` is empty).
    pub cycle: Vec<usize>,
}

/// What a barrier, or shared memory of another CTA, can't do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Misuse {
    /// Two counts for one generation.
    CountsDiffer {
        /// The barrier.
        resource: Resource,
        /// The generation.
        generation: u32,
        /// Who came first.
        first: ThreadsPlace,
        /// With this count.
        first_count: Count,
        /// Who came with another.
        second: ThreadsPlace,
        /// That.
        second_count: Count,
    },
    /// More arrivals than a generation has left.
    TooManyArrivals {
        /// The barrier.
        resource: Resource,
        /// The generation.
        generation: u32,
        /// Who came too much.
        place: ThreadsPlace,
    },
    /// An mbarrier that nobody initialised, or whose `mbarrier.init` need not have happened yet.
    NotInitialised {
        /// Its address.
        address: u32,
        /// Who uses it.
        place: ThreadsPlace,
        /// The `mbarrier.init` that may come later, if there is any.
        init: Option<ThreadsPlace>,
    },
    /// An mbarrier initialised again while others may still use it.
    InitialisedAgain {
        /// Its address.
        address: u32,
        /// By whom.
        place: ThreadsPlace,
        /// A use of its earlier life that need not have happened yet.
        earlier: ThreadsPlace,
    },
    /// `barrier.cluster.wait` without an arrive before it, or two arrives without a wait between.
    ClusterOrder {
        /// By whom.
        place: ThreadsPlace,
    },
    /// Shared memory of a CTA that may not have started when another one of the cluster touches it.
    NotStarted {
        /// The CTA's rank.
        cta: u32,
        /// Who touches it.
        place: ThreadsPlace,
    },
    /// Shared memory of a CTA that may have ended when another one of the cluster touches it.
    Ended {
        /// The CTA's rank.
        cta: u32,
        /// Who touches it.
        place: ThreadsPlace,
    },
    /// An `mbarrier.init` that an asynchronous copy of another thread need not see, for want of a proxy fence.
    InitNotFenced {
        /// The mbarrier's address.
        address: u32,
        /// The copy.
        place: ThreadsPlace,
        /// The `mbarrier.init`.
        init: ThreadsPlace,
    },
    /// All arrivals of an mbarrier's phase came, and more bytes than it expects: in another order the phase completes without some.
    TooManyBytes {
        /// Its address.
        address: u32,
        /// The phase.
        phase: u32,
        /// Too many.
        bytes: u64,
        /// The last copy.
        place: ThreadsPlace,
    },
    /// Bytes expected for an mbarrier's phase by a thread that need not have done so before the phase completes.
    LateExpectTx {
        /// Its address.
        address: u32,
        /// The phase.
        phase: u32,
        /// By whom.
        place: ThreadsPlace,
    },
}

/// A barrier used again while some thread may not yet have passed its earlier use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Recycling {
    /// The earlier use.
    pub earlier: Generation,
    /// The number of the later use.
    pub later: u32,
    /// Who takes part in the later use without knowing that the earlier is over; for a wait at an mbarrier: who waits for
    /// `earlier` and may be overtaken by `later`.
    pub place: ThreadsPlace,
    /// Where those threads waited last before that: what they know, they know from there. `None`: they never waited.
    pub knows_from: Option<ThreadsPlace>,
    /// Participants of the earlier use from whom no path leads to `place`.
    pub unordered: Vec<Participant>,
    /// Which rule is broken.
    pub rule: RecyclingRule,
    /// How many registrations break the rule at this pair of origins.
    pub count: u64,
}

/// The rules of recycling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecyclingRule {
    /// Who registers for a generation knows that the one before is complete.
    EarlierComplete,
    /// Who waits for a phase of an mbarrier has done so before the next phase completes.
    WaitBeforeNext,
}

/// A dynamic barrier, short.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct BarrierPoint {
    /// Of what.
    pub resource: Resource,
    /// Which.
    pub generation: u32,
    /// Where the thread takes part in it.
    pub place: ThreadsPlace,
}

/// One access of a race.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct RacingAccess {
    /// Who and where.
    pub place: ThreadsPlace,
    /// What it does.
    pub kind: SharedAccessKind,
    /// Its first byte.
    pub address: u32,
    /// Its bytes.
    pub size: u32,
    /// Whether it is an asynchronous copy.
    pub asynchronous: bool,
    /// Its value, where known.
    pub value: Option<u64>,
    /// The branch on which it depends whether the access happens; of nested ones the innermost.
    pub condition: Option<u32>,
}

/// Races between two PTX instructions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RaceGroup {
    /// `write-write`, `read-write`, `read-atomic`, `write-atomic`.
    pub kind: BarrierRaceKind,
    /// The first byte that both touch, in the example.
    pub address: u32,
    /// One access of the example: that of the lower thread.
    pub first: RacingAccess,
    /// The other.
    pub second: RacingAccess,
    /// What `second`'s thread does before and after that is ordered with `first`: between these points they may run together.
    pub interval: Interval,
    /// Pairs of accesses of two threads.
    pub pairs: u64,
    /// Of them, those that write values known to be equal.
    pub benign: u64,
    /// Distinct first addresses of `first`-side accesses: how many places race.
    pub addresses: u64,
    /// There are more than `pairs`; counting stopped.
    pub at_least: bool,
    /// In each pair, one of the accesses need not happen, or flags may order them.
    pub possible: bool,
    /// In each pair, flags may order the accesses: the origin of a read that acquires before one of them.
    pub flag: Option<u32>,
}

/// Kinds of races.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BarrierRaceKind {
    /// Two writes.
    WriteWrite,
    /// A write and a read.
    ReadWrite,
    /// An atomic and a read.
    ReadAtomic,
    /// An atomic and a write.
    WriteAtomic,
    /// A generic write before an asynchronous copy, ordered but without `fence.proxy.async` between.
    MissingProxyFence,
}

/// The barrier interval of an access in another thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Interval {
    /// The latest of the thread's barriers that happens before the access.
    pub latest_before: Option<BarrierPoint>,
    /// The earliest that happens after it.
    pub earliest_after: Option<BarrierPoint>,
}

/// Figures, counted as the paper's Figures 9 and 10 count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Stats {
    /// Thread programs.
    pub threads: u64,
    /// Completed generations of barriers.
    pub dynamic_barriers: u64,
    /// Distinct addresses at which accesses begin.
    pub shared_addresses: u64,
    /// Commands of all threads.
    pub commands: u64,
    /// Pairs of accesses that begin at the same address: n(n-1)/2 for each address.
    pub race_tests: u64,
}
