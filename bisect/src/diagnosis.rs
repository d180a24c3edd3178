//! What is wrong with a program that fails though no store is delayed: what is no fence, and two lines that say where.
//!
//! Given are the conflicts of failing trials and of passing ones: accesses whose order nothing settles. Those that show in
//! more failing trials count before those of fewer, then those that show in fewer passing ones, then the more telling kinds. A pair
//! in one order is another one than in the other order: where reading before the write fails and reading behind it passes, the
//! first is what is named.
//!
//! It can name the wrong one where a program has several conflicts and all its trials fail; what is equally likely is named
//! beside it, up to [`MOST`]. It can miss what the recorder of conflicts can miss (`bugaroo-simulator`, `conflicts`).

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use bugaroo_harness::Conflicts;
use bugaroo_harness::names::demangled;
use bugaroo_protocol::{Conflict, ConflictKind, FaultAccess, Party, Relation, SiteId, SourceLine};
use serde::{Deserialize, Serialize};

/// Diagnoses that are given at most.
const MOST: usize = 4;

/// What is wrong; the more telling before the less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DiagnosisKind {
    /// A load and a store that should be one atomic operation.
    LostUpdate,
    /// A plain store where others use atomics.
    PlainBesideAtomic,
    /// The scope of an atomic does not take in who else uses the place.
    AtomicScope,
    /// A `__syncthreads()` is missing.
    MissingBarrier,
    /// A `__syncwarp()` is missing.
    MissingWarpBarrier,
    /// Threads of different blocks do not wait for each other.
    Unordered,
}

/// One of the accesses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AccessPlace {
    /// The function that it stands in, demangled.
    pub kernel: String,
    /// CUDA line.
    pub source: Option<SourceLine>,
    /// Line in the PTX.
    pub ptx_line: Option<u32>,
    /// Its site, where there is one.
    pub site: Option<SiteId>,
    /// A thread that executed it, and its block.
    pub thread: [u32; 3],
    /// See above.
    pub block: [u32; 3],
    /// What it does.
    pub access: FaultAccess,
}

/// In how many trials it showed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownIn {
    /// Failing trials in which it did.
    pub failing: u64,
    /// Failing trials that were looked at.
    pub of_failing: u64,
    /// The same of passing ones.
    pub passing: u64,
    /// See above.
    pub of_passing: u64,
}

/// What is wrong, and where.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FaultDiagnosis {
    /// What.
    pub kind: DiagnosisKind,
    /// The access that came first; of a lost update, the load.
    pub first: AccessPlace,
    /// The one that came later; of a lost update, the same thread's store.
    pub second: AccessPlace,
    /// Of a lost update, the other thread's write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub between: Option<AccessPlace>,
    /// Whether it is shared memory.
    pub shared: bool,
    /// How often.
    pub trials: ShownIn,
    /// All of this for a person.
    pub sentence: String,
}

/// What a program suffers from that is no missing fence.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Diagnosed {
    /// The likeliest first.
    pub diagnosis: Vec<FaultDiagnosis>,
    /// What there is to say besides: that nothing was found, or that not everything was looked at.
    pub notes: Vec<String>,
}

/// What makes places of one line one: the source line, or what the PTX has where there is none.
type Line<'a> = (Option<&'a SourceLine>, Option<u32>, &'a str);

fn line(party: &Party) -> Line<'_> {
    match &party.at.source {
        Some(source) => (Some(source), None, ""),
        None => (None, party.at.ptx_line, &party.at.function),
    }
}

/// Conflicts of the same lines, of the same accesses, in the same order.
type Key<'a> = (ConflictKind, bool, [(Line<'a>, u8); 3]);

fn number(access: FaultAccess) -> u8 {
    match access {
        FaultAccess::Load => 0,
        FaultAccess::Store => 1,
        FaultAccess::Atomic => 2,
    }
}

/// A candidate.
struct Candidate<'a> {
    example: &'a Conflict,
    /// How far apart the threads are at most.
    relation: Relation,
    shown: ShownIn,
}

/// Names what failing trials show, and passing ones less. Both may come from any seeds of one variation.
pub fn diagnose(failing: &[Conflicts], passing: &[Conflicts]) -> Diagnosed {
    let mut notes = Vec::new();
    let more: u64 = failing.iter().map(|trial| trial.more).sum();
    if more > 0 {
        notes.push(format!("{more} conflicts or accesses were not looked into, for lack of room"));
    }
    let mut candidates = gather(failing, passing);
    candidates.retain(|one| one.shown.failing > 0);
    candidates.sort_by_key(|one| {
        // Shares are of the same whole: counts say the same.
        (Reverse(one.shown.failing), one.shown.passing, kind(one), !in_one_function(one.example))
    });
    let mut kept: Vec<Candidate<'_>> = Vec::new();
    for one in candidates {
        let alike = kept.first().is_none_or(|first| {
            (first.shown.failing, first.shown.passing) == (one.shown.failing, one.shown.passing)
        });
        if alike && kept.len() < MOST && !kept.iter().any(|known| says(known, &one)) {
            kept.push(one);
        }
    }
    if kept.is_empty() {
        notes.push(nothing(failing.len()));
    }
    Diagnosed { diagnosis: kept.iter().map(diagnosis).collect(), notes }
}

fn nothing(failing: usize) -> String {
    format!(
        "the threads of the device settle the order of all their accesses in {} failing trials that were looked into: no \
         barrier, no atomic and no scope is missing between them. What fails lies in the host's part of the program, in what a \
         thread computes by itself, or in the check that calls it a failure",
        failing
    )
}

/// Every conflict of the trials, and how often it shows.
fn gather<'a>(failing: &'a [Conflicts], passing: &'a [Conflicts]) -> Vec<Candidate<'a>> {
    let mut places: BTreeMap<Key<'a>, usize> = BTreeMap::new();
    let mut candidates: Vec<Candidate<'a>> = Vec::new();
    for (trials, fails) in [(failing, true), (passing, false)] {
        for trial in trials {
            let mut seen = BTreeSet::new();
            for one in &trial.pairs {
                let at = *places.entry(key(one)).or_insert_with(|| {
                    let shown = ShownIn {
                        of_failing: failing.len() as u64,
                        of_passing: passing.len() as u64,
                        ..ShownIn::default()
                    };
                    candidates.push(Candidate { example: one, relation: one.relation, shown });
                    candidates.len() - 1
                });
                let candidate = &mut candidates[at];
                if one.relation > candidate.relation {
                    (candidate.relation, candidate.example) = (one.relation, one);
                }
                if seen.insert(at) {
                    let count =
                        if fails { &mut candidate.shown.failing } else { &mut candidate.shown.passing };
                    *count += 1;
                }
            }
        }
    }
    candidates
}

fn part(party: &Party) -> (Line<'_>, u8) {
    (line(party), number(party.access))
}

fn key(one: &Conflict) -> Key<'_> {
    let between = one.between.as_ref().map_or(((None, None, ""), 0), part);
    (one.kind, one.shared, [part(&one.first), part(&one.second), between])
}

fn kind(one: &Candidate<'_>) -> DiagnosisKind {
    let with_atomic =
        one.example.between.as_ref().is_some_and(|between| between.access == FaultAccess::Atomic);
    match (one.example.kind, one.relation) {
        (ConflictKind::LostUpdate, _) if with_atomic => DiagnosisKind::PlainBesideAtomic,
        (ConflictKind::LostUpdate, _) => DiagnosisKind::LostUpdate,
        (ConflictKind::PlainBesideAtomic, _) => DiagnosisKind::PlainBesideAtomic,
        (ConflictKind::AtomicScope, _) => DiagnosisKind::AtomicScope,
        (ConflictKind::Unordered, Relation::Warp) => DiagnosisKind::MissingWarpBarrier,
        (ConflictKind::Unordered, Relation::Block) => DiagnosisKind::MissingBarrier,
        (ConflictKind::Unordered, Relation::Grid) => DiagnosisKind::Unordered,
    }
}

fn in_one_function(one: &Conflict) -> bool {
    one.first.at.function == one.second.at.function
}

fn lines<'a>(one: &Candidate<'a>) -> Vec<Line<'a>> {
    let example = one.example;
    let mut lines = vec![line(&example.first), line(&example.second)];
    lines.extend(example.between.iter().map(line));
    lines
}

/// Whether one of them says what the other would say: all lines of the other are its own. What comes first is the more telling.
fn says(known: &Candidate<'_>, other: &Candidate<'_>) -> bool {
    let known_lines = lines(known);
    lines(other).iter().all(|line| known_lines.contains(line))
}

fn place(party: &Party) -> AccessPlace {
    AccessPlace {
        kernel: demangled(&party.at.function),
        source: party.at.source.clone(),
        ptx_line: party.at.ptx_line,
        site: party.site,
        thread: party.at.thread,
        block: party.at.block,
        access: party.access,
    }
}

fn diagnosis(one: &Candidate<'_>) -> FaultDiagnosis {
    let example = one.example;
    FaultDiagnosis {
        kind: kind(one),
        first: place(&example.first),
        second: place(&example.second),
        between: example.between.as_ref().map(place),
        shared: example.shared,
        trials: one.shown,
        sentence: sentence(one),
    }
}

/// "k.cu:12", or the line of the PTX.
fn at(party: &Party) -> String {
    match (&party.at.source, party.at.ptx_line) {
        (Some(source), _) => {
            let name = source.file.rsplit(['/', '\\']).next().unwrap_or(&source.file);
            format!("{name}:{}", source.line)
        }
        (None, Some(line)) => format!("PTX line {line}"),
        (None, None) => format!("`{}`", party.at.instruction),
    }
}

fn does(party: &Party) -> &'static str {
    match party.access {
        FaultAccess::Load => "reads",
        FaultAccess::Store => "writes",
        FaultAccess::Atomic => "changes atomically",
    }
}

fn trials(shown: &ShownIn) -> String {
    let ShownIn { failing, of_failing, passing, of_passing } = shown;
    match of_passing {
        0 => format!("in {failing} of {of_failing} failing trials"),
        _ => format!("in {failing} of {of_failing} failing trials, {passing} of {of_passing} passing ones"),
    }
}

fn is_narrow(party: &Party) -> bool {
    party.at.instruction.contains(".cta")
}

fn sentence(one: &Candidate<'_>) -> String {
    let Conflict { first, second, between, shared, .. } = one.example;
    let (a, b) = (at(first), at(second));
    let trials = trials(&one.shown);
    let function = demangled(&second.at.function);
    let memory = if *shared { "shared" } else { "global" };
    match (kind(one), between) {
        (DiagnosisKind::LostUpdate, Some(other)) => format!(
            "lost update: {function} loads {memory} memory at {a} and stores what follows from it at {b}, and another thread's \
             store at {} comes between ({trials}): an atomic operation is what is missing",
            at(other)
        ),
        (DiagnosisKind::PlainBesideAtomic, Some(other)) => format!(
            "plain access beside an atomic: {function} loads {memory} memory at {a} and stores what follows from it at {b}, and \
             another thread's atomic at {} comes between and is lost ({trials}): an atomic operation is what is missing at {b}",
            at(other)
        ),
        (DiagnosisKind::PlainBesideAtomic, None) => {
            let (plain, atomic) =
                if first.access == FaultAccess::Atomic { (second, first) } else { (first, second) };
            let when = if first.access == FaultAccess::Atomic { "behind" } else { "before" };
            let does = if plain.access == FaultAccess::Load { "loads" } else { "stores to" };
            let barrier = match one.relation {
                Relation::Grid => "",
                Relation::Block => ", or a __syncthreads() between the two",
                Relation::Warp => ", or a __syncwarp() between the two",
            };
            format!(
                "plain access beside an atomic: {} {does} {memory} memory at {} without an atomic, {when} another thread's atomic \
                 at {}, and nothing orders the two ({trials}): an atomic operation is what is missing at {}{barrier}",
                demangled(&plain.at.function),
                at(plain),
                at(atomic),
                at(plain)
            )
        }
        (DiagnosisKind::AtomicScope, _) => {
            let narrow = match (is_narrow(first), is_narrow(second)) {
                (true, true) if a != b => format!("at {a} and {b}"),
                (true, _) => format!("at {a}"),
                _ => format!("at {b}"),
            };
            let other = if a == b { format!("at {a}") } else { format!("at {a} and at {b}") };
            format!(
                "atomic of too narrow scope: threads of different blocks reach the same {memory} memory {other} in {function}, and \
                 the scope {narrow} is the thread's own block ({trials}): device scope is what is missing there"
            )
        }
        (kind, _) => {
            let (who, what) = match kind {
                DiagnosisKind::MissingWarpBarrier => {
                    ("another thread of its warp", "a __syncwarp() between the two is what is missing")
                }
                DiagnosisKind::MissingBarrier => {
                    ("another thread of its block", "a __syncthreads() between the two is what is missing")
                }
                _ => (
                    "a thread of another block",
                    "no barrier of a block orders them; they have to wait for each other by other means, or stand in two kernels",
                ),
            };
            let name = match kind {
                DiagnosisKind::MissingWarpBarrier => "missing warp barrier",
                DiagnosisKind::MissingBarrier => "missing barrier",
                _ => "unordered accesses",
            };
            format!(
                "{name}: {} {} {memory} memory at {a} before {who} {} it at {b}, and nothing orders the two ({trials}): {what}",
                demangled(&first.at.function),
                does(first),
                does(second)
            )
        }
    }
}

#[cfg(test)]
mod tests;
