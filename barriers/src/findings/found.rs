//! What is known of a kernel, in words and places.

use serde::Serialize;

use crate::emulate::Emulation;
use crate::program::SharedAccessKind;
use crate::verdict::{BarrierRaceKind, RecyclingRule, Resource, Stats};

/// What is known of a kernel.
#[derive(Clone, Debug, Serialize)]
pub struct KernelFindings {
    /// Its name.
    pub kernel: String,
    /// `verified`, `deadlock`, `misuse`, `unsafe-recycling`, `race`, `benign-race`, `possible-race`, `illegal`, `not-verifiable` or `unsupported`.
    pub verdict: &'static str,
    /// It is verified, and of nothing: no barrier completed and no shared memory was accessed.
    pub vacuous: bool,
    /// Threads of a CTA.
    pub block: Option<[u32; 3]>,
    /// Why there is no verdict on its threads.
    pub refusal: Option<Refused>,
    /// Who waits for ever.
    pub deadlock: Option<Deadlocked>,
    /// What a barrier is asked that it cannot do.
    pub misuse: Option<Misused>,
    /// Barriers used again too early.
    pub recycling: Vec<Recycled>,
    /// How many more were found ([`KernelFindings::shorten`]).
    pub recycling_left_out: usize,
    /// Races, by pair of source lines; those of a pair stand together.
    pub races: Vec<LineRace>,
    /// Of how many more pairs of lines races were found ([`KernelFindings::shorten`]).
    pub races_left_out: usize,
    /// Volatile, relaxed and stronger accesses that come in no order with others and do not race: what they read or leave is open.
    pub unordered: Vec<CommandPlace>,
    /// Barriers that threads arrived at and that never complete.
    pub unfinished: Vec<Use>,
    /// Named barriers that complete, and that nobody waits at: the first such use of each.
    pub unwaited: Vec<Use>,
    /// What is wrong is right where the lanes of a warp run in lockstep: a barrier of warps may be what is missing.
    pub right_in_lockstep: bool,
    /// Cases of parameters that were verified apart, as barriers depend on them; 1 where nothing had to be assumed.
    pub cases: u32,
    /// Parameters with which that happens, as they can be given, and their values; empty where it happens with any.
    pub example: Vec<(String, String)>,
    /// Tables in global memory that it rests on: their initial values are taken for what they hold.
    pub tables: Vec<String>,
    /// Exchanges among lanes (votes, shuffles) whose member mask is not known: who takes part is taken to come to it.
    pub taken_to_meet: Vec<CommandPlace>,
    /// Figures, as the paper counts them; those of the case with the most commands.
    pub stats: Stats,
}

/// A place in the program, and who is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CommandPlace {
    /// The source file, and line and column in it; the innermost of inlined code.
    pub file: Option<String>,
    /// From 1.
    pub line: Option<u32>,
    /// From 1.
    pub column: Option<u32>,
    /// Where that code was inlined: file and line, from the inside out.
    pub inlined_at: Vec<(String, u32)>,
    /// The function (mangled).
    pub function: String,
    /// Line of the PTX text.
    pub ptx_line: u32,
    /// The instruction as it stands there.
    pub instruction: String,
    /// `threadIdx` of the first of the threads; None where it is about none.
    pub thread: Option<[u32; 3]>,
    /// How many threads of the warp.
    pub threads: u32,
    /// The CTA's rank in its cluster.
    pub cta: u32,
}

/// Why there is no verdict.
#[derive(Clone, Debug, Serialize)]
pub struct Refused {
    /// In words.
    pub reason: String,
    /// The instruction.
    pub at: Option<CommandPlace>,
    /// Where the unknown value comes from, in words.
    pub cause: Option<String>,
    /// The parameter that it comes from.
    pub parameter: Option<String>,
    /// The instruction that brought it in.
    pub cause_at: Option<CommandPlace>,
}

/// A deadlock.
#[derive(Clone, Debug, Serialize)]
pub struct Deadlocked {
    /// Who waits.
    pub waiting: Vec<Waits>,
    /// Numbers in `waiting`, of which each waits for the next and the last for the first.
    pub cycle: Vec<usize>,
}

/// Threads that wait for ever.
#[derive(Clone, Debug, Serialize)]
pub struct Waits {
    /// Who, and where.
    pub at: CommandPlace,
    /// For what.
    pub barrier: String,
    /// Its use, from 1.
    pub generation: u32,
    /// Threads that came.
    pub arrived: u32,
    /// Threads that it takes.
    pub expected: u32,
    /// Bytes that an mbarrier waits for.
    pub bytes_missing: i64,
    /// They wait for the rest of their own warp, which arrives at a barrier as a whole: `arrived` and `expected` count its threads.
    pub in_warp: bool,
    /// Who would still come, and where: number in `waiting`.
    pub waits_for: Vec<(usize, CommandPlace)>,
}

/// What a barrier cannot do.
#[derive(Clone, Debug, Serialize)]
pub struct Misused {
    /// Of what: `barrier`, or `cluster`, where it is about the memory of blocks that run together.
    pub of: &'static str,
    /// In words.
    pub what: String,
    /// Who does it.
    pub at: CommandPlace,
    /// Who else is concerned.
    pub other: Option<CommandPlace>,
}

/// A barrier used again too early.
#[derive(Clone, Debug, Serialize)]
pub struct Recycled {
    /// The barrier.
    pub barrier: String,
    /// The earlier use, from 1.
    pub earlier: u32,
    /// The later use.
    pub later: u32,
    /// `earlier-complete`, or `wait-before-next`.
    pub rule: RecyclingRule,
    /// Who takes part in the later use without knowing that the earlier one is over.
    pub at: CommandPlace,
    /// Where those threads waited last.
    pub knows_from: Option<CommandPlace>,
    /// Participants of the earlier use from whom no path leads there.
    pub unordered: Vec<CommandPlace>,
    /// How often.
    pub count: u64,
}

/// One access of a race.
#[derive(Clone, Debug, Serialize)]
pub struct RaceAccess {
    /// Who and where.
    #[serde(flatten)]
    pub at: CommandPlace,
    /// `read`, `write` or `atomic`.
    pub kind: SharedAccessKind,
    /// First byte in shared memory.
    pub address: u32,
    /// Bytes.
    pub size: u32,
    /// It is an asynchronous copy.
    pub asynchronous: bool,
    /// What is written, where that is known.
    pub value: Option<u64>,
    /// The branch on which it depends whether the access happens; the access itself, where its address is not known.
    pub condition: Option<CommandPlace>,
}

/// A point of a thread at a barrier.
#[derive(Clone, Debug, Serialize)]
pub struct Point {
    /// The barrier.
    pub barrier: String,
    /// Its use, from 1.
    pub generation: u32,
    /// Where.
    pub at: CommandPlace,
}

/// Races between two source lines.
#[derive(Clone, Debug, Serialize)]
pub struct LineRace {
    /// Of what sort.
    pub kind: BarrierRaceKind,
    /// The first byte that both touch, in the example.
    pub address: u32,
    /// The example.
    pub first: RaceAccess,
    /// The example.
    pub second: RaceAccess,
    /// After this, `second` may run together with `first`.
    pub after: Option<Point>,
    /// Before this.
    pub before: Option<Point>,
    /// Pairs of accesses.
    pub pairs: u64,
    /// Of them, pairs that write values known to be the same.
    pub benign: u64,
    /// There are more pairs than that.
    pub at_least: bool,
    /// In each pair, one of the accesses happens only if a branch goes a way that is not known, or flags in memory may order them.
    pub possible: bool,
    /// In each pair, flags in memory may order the accesses: a read that acquires before one of them.
    pub flag: Option<CommandPlace>,
}

/// A barrier, as some threads come to it.
#[derive(Clone, Debug, Serialize)]
pub struct Use {
    /// The barrier.
    pub barrier: String,
    /// Its use, from 1.
    pub generation: u32,
    /// Who arrived.
    pub at: Vec<CommandPlace>,
}

/// A kernel that was looked at.
#[derive(Clone, Debug)]
pub struct VerifiedKernel {
    /// What is known of it.
    pub findings: KernelFindings,
    /// What it does, if it could be emulated.
    pub emulation: Option<Emulation>,
    /// Warp instructions that all cases took together, as far as they were looked at.
    pub work: u64,
}

impl KernelFindings {
    /// The kernel is right.
    pub fn is_clean(&self) -> bool {
        self.verdict == "verified"
    }

    /// Races by pair of source lines.
    pub fn pairs(&self) -> impl Iterator<Item = &[LineRace]> {
        self.races.chunk_by(|race, next| race.lines() == next.lines())
    }

    /// Keeps races of so many pairs of lines, and so many barriers that are used again too early; counts the others.
    pub fn shorten(&mut self, most: usize) {
        let pairs = self.pairs().count();
        let races = self.pairs().take(most).map(<[LineRace]>::len).sum();
        self.races.truncate(races);
        self.races_left_out += pairs.saturating_sub(most);
        self.recycling_left_out += self.recycling.len().saturating_sub(most);
        self.recycling.truncate(most);
    }

    /// Nothing can be said about its threads.
    pub fn is_open(&self) -> bool {
        matches!(self.verdict, "not-verifiable" | "unsupported")
    }
}

/// A source line, or a line of the PTX text where that is not known.
pub type FoundLine<'a> = (Option<&'a str>, u32);

impl LineRace {
    /// The lines of both accesses, in the same order for all races of the pair.
    pub fn lines(&self) -> [FoundLine<'_>; 2] {
        let mut lines = [self.first.at.place(), self.second.at.place()];
        lines.sort_unstable();
        lines
    }
}

impl CommandPlace {
    fn place(&self) -> FoundLine<'_> {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => (Some(file), line),
            _ => (None, self.ptx_line),
        }
    }
}

pub(super) fn nothing(kernel: &str, verdict: &'static str) -> KernelFindings {
    KernelFindings {
        kernel: kernel.to_string(),
        verdict,
        vacuous: false,
        block: None,
        refusal: None,
        deadlock: None,
        misuse: None,
        recycling: Vec::new(),
        recycling_left_out: 0,
        races: Vec::new(),
        races_left_out: 0,
        unordered: Vec::new(),
        unfinished: Vec::new(),
        unwaited: Vec::new(),
        right_in_lockstep: false,
        cases: 1,
        example: Vec::new(),
        tables: Vec::new(),
        taken_to_meet: Vec::new(),
        stats: Stats::default(),
    }
}

pub(super) fn at_place(
    place: &bugaroo_simulator::Place,
    thread: Option<[u32; 3]>,
    threads: u32,
    cta: u32,
) -> CommandPlace {
    let source = place.source.first();
    CommandPlace {
        file: source.map(|source| source.file.clone()),
        line: source.map(|source| source.line),
        column: source.map(|source| source.column),
        inlined_at: place.source.iter().skip(1).map(|source| (source.file.clone(), source.line)).collect(),
        function: place.function.clone(),
        ptx_line: place.ptx_line,
        instruction: place.instruction.clone(),
        thread,
        threads,
        cta,
    }
}

/// What a barrier is called.
pub(crate) fn barrier_name(resource: &Resource) -> String {
    match resource {
        Resource::Named { cta: 0, id } => format!("barrier {id}"),
        Resource::Named { cta, id } => format!("barrier {id} of CTA {cta}"),
        Resource::Warp { warp, members: u32::MAX, .. } => format!("warp {warp}'s barrier"),
        Resource::Warp { warp, members, .. } => format!("warp {warp}'s barrier of lanes {members:#010x}"),
        Resource::Cluster => "the cluster's barrier".to_string(),
        Resource::Warpgroup { cta: 0, number } => format!("warpgroup {number}'s wgmma"),
        Resource::Warpgroup { cta, number } => format!("warpgroup {number}'s wgmma of CTA {cta}"),
        Resource::Mbarrier { address } => format!("the mbarrier at {address:#x}"),
    }
}
