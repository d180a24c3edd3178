//! Races in words.

use bugaroo_protocol::{
    Detector, FaultAccess, Forgotten, KnownThread, NearAllocation, Race, RaceClass, RaceKind, RaceMissing,
    RaceParty, SourceLine,
};

use super::failure;
use super::memory::close_to;
use crate::names::demangled;
use crate::race::rule::Rule;

/// What it is, in a few words.
pub fn title(race: &Race) -> String {
    let memory = if race.shared { "shared memory" } else { "global memory" };
    let apart = apart(race);
    match race.kind {
        RaceKind::BarrierDivergence => {
            format!("barrier divergence in kernel {}", demangled(&race.second.kernel))
        }
        RaceKind::BranchOrder => {
            format!("branch-order race in {memory}: {}, {apart}", accesses(race))
        }
        _ => format!("data race in {memory}: {}, {apart}", accesses(race)),
    }
}

/// "a store, then a load".
fn accesses(race: &Race) -> String {
    if noun(&race.first) == noun(&race.second) {
        return format!("two {}s", noun(&race.first));
    }
    format!("{}, then {}", article(&race.first), article(&race.second))
}

fn article(party: &RaceParty) -> String {
    let noun = noun(party);
    let article = if noun.starts_with(['a', 'i']) { "an" } else { "a" };
    format!("{article} {noun}")
}

/// Whether it is an operation on an mbarrier, and not an access as programs write them.
fn on_mbarrier(party: &RaceParty) -> bool {
    let instruction = party.at.as_ref().map_or("", |at| &at.instruction);
    let opcode = instruction.split_whitespace().find(|word| !word.starts_with('@'));
    opcode.is_some_and(|opcode| opcode.starts_with("mbarrier."))
}

/// What the access is called.
pub fn noun(party: &RaceParty) -> &'static str {
    if let Some(forgotten) = party.forgotten {
        return match forgotten {
            Forgotten::Load => "load",
            Forgotten::Write => "write",
            Forgotten::Atomic => "atomic",
            Forgotten::Access => "access",
        };
    }
    match (party.access, party.asynchronous) {
        (FaultAccess::Store, _) if on_mbarrier(party) => "initialisation of an mbarrier",
        (FaultAccess::Atomic, _) if on_mbarrier(party) => "arrival at an mbarrier",
        (FaultAccess::Load, _) if on_mbarrier(party) => "wait for an mbarrier",
        (FaultAccess::Load, false) => "load",
        (FaultAccess::Store, false) => "store",
        (FaultAccess::Atomic, false) => "atomic",
        (FaultAccess::Load, true) => "asynchronous read",
        (FaultAccess::Store, true) => "asynchronous write",
        (FaultAccess::Atomic, true) => "asynchronous reduction",
    }
}

/// How far apart the two threads are.
fn apart(race: &Race) -> &'static str {
    match race.class {
        RaceClass::IntraWarp => "by threads of one warp",
        RaceClass::Divergence => "on different sides of a branch of one warp",
        RaceClass::IntraBlock => "by threads of one block",
        RaceClass::InterBlock => "by threads of different blocks",
        RaceClass::InterGrid => match (&race.first.at, &race.second.at) {
            (Some(_), Some(_)) => "by different launches",
            (None, None) => "by different calls of the host",
            _ => "by a kernel and a call of the host",
        },
        RaceClass::Host => "by the host and the device",
    }
}

/// The same as a number: what orders threads that are further apart orders nearer ones, too.
pub fn reach(class: RaceClass) -> u8 {
    match class {
        RaceClass::IntraWarp | RaceClass::Divergence => 0,
        RaceClass::IntraBlock => 1,
        RaceClass::InterBlock => 2,
        RaceClass::InterGrid | RaceClass::Host => 3,
    }
}

/// Who it is, as far as the detector has kept it.
fn who(party: &RaceParty) -> String {
    let Some(at) = &party.at else { return demangled(&party.kernel) };
    let [x, y, z] = at.block;
    match party.known {
        KnownThread::Thread => failure::threads(at),
        KnownThread::Warp(warp) => format!("block ({x},{y},{z}) warp {warp}"),
        KnownThread::Block => format!("a thread of block ({x},{y},{z})"),
        KnownThread::Nobody => "another thread".to_owned(),
    }
}

/// Who does what there: `block (1,0,0) thread (0,0,0) loads 4 bytes, weak`.
pub fn does(party: &RaceParty) -> String {
    let who = who(party);
    if party.forgotten.is_some() {
        return format!("an earlier {} by {who}, not kept by the detector", noun(party));
    }
    if on_mbarrier(party) {
        let verb = match party.access {
            FaultAccess::Store => "initialises an mbarrier",
            FaultAccess::Atomic => "arrives at an mbarrier",
            FaultAccess::Load => "has waited for an mbarrier",
        };
        return format!("{who} {verb}");
    }
    let verb = match (party.access, party.asynchronous) {
        (FaultAccess::Load, false) => "loads",
        (FaultAccess::Store, false) => "stores",
        (FaultAccess::Atomic, false) => "changes atomically",
        (FaultAccess::Load, true) => "reads asynchronously",
        (FaultAccess::Store, true) => "writes asynchronously",
        (FaultAccess::Atomic, true) => "reduces asynchronously",
    };
    let bytes = if party.bytes == 1 { "1 byte".to_owned() } else { format!("{} bytes", party.bytes) };
    let strength = match party.scope.as_str() {
        "weak" if party.at.is_none() => String::new(),
        "weak" => ", weak".to_owned(),
        "" => String::new(),
        scope => format!(", strong at {scope} scope"),
    };
    let near = if party.near_line { " (near here: the compiler merged or moved it)" } else { "" };
    format!("{who} {verb} {bytes}{strength}{near}")
}

/// Where the access stands, as far as it is known without its file: kernel, line, PTX line, instruction.
pub fn stands(party: &RaceParty) -> String {
    match &party.at {
        Some(at) if at.instruction.is_empty() => {
            format!("{}: the detector does not keep which instruction", demangled(&at.function))
        }
        Some(at) => failure::place(at),
        None if party.is_the_hosts_own() => "the host program's own access".to_owned(),
        None => format!("the host's call of {}", demangled(&party.kernel)),
    }
}

/// "kernel.cu:12", or what else names the place.
pub fn place(party: &RaceParty) -> String {
    let at = party.at.as_ref();
    let host = || party.called_at.first().and_then(|frame| frame.source.as_ref());
    let source = at.and_then(|at| at.source.as_ref()).or_else(|| if at.is_none() { host() } else { None });
    match (source, at.and_then(|at| at.ptx_line)) {
        (Some(SourceLine { file, line }), _) => {
            format!("{}:{line}", file.rsplit(['/', '\\']).next().unwrap_or(file))
        }
        (None, Some(line)) => format!("PTX line {line} of {}", demangled(&party.kernel)),
        (None, None) => demangled(&party.kernel),
    }
}

/// The line of an access, or of the host's call.
pub fn source(party: &RaceParty) -> Option<&SourceLine> {
    match &party.at {
        Some(at) => at.source.as_ref(),
        None => party.called_at.first()?.source.as_ref(),
    }
}

/// The memory: which bytes of what.
pub fn memory(race: &Race) -> String {
    match &race.allocation {
        Some(NearAllocation { variable: Some(name), size, offset, .. }) if race.shared => {
            format!("byte {offset} of the {size}-byte shared variable {}", demangled(name))
        }
        Some(near) if !race.shared => format!("address {:#x}, {}", race.address, close_to(near)),
        _ if race.shared => format!("byte {} of the block's shared memory", race.address),
        _ => format!("address {:#x}", race.address),
    }
}

/// Whether one of the two is atomic, or at least strong, and the other is plain.
pub fn plain_beside_strong(race: &Race) -> Option<&RaceParty> {
    let (first, second) = (&race.first, &race.second);
    let device = first.at.is_some() && second.at.is_some() && !first.asynchronous && !second.asynchronous;
    match (first.scope.as_str(), second.scope.as_str()) {
        _ if !device || race.kind == RaceKind::BarrierDivergence => None,
        _ if on_mbarrier(first) || on_mbarrier(second) => None,
        ("", _) | (_, "") => None,
        ("weak", "weak") => None,
        ("weak", _) => Some(first),
        (_, "weak") => Some(second),
        _ => None,
    }
}

/// Whether threads of one warp do it at one instruction.
fn is_one_instruction(race: &Race) -> bool {
    let stands = |party: &RaceParty| party.at.as_ref().map(|at| (at.source.clone(), at.ptx_line));
    matches!(race.class, RaceClass::IntraWarp)
        && race.first.access == FaultAccess::Store
        && stands(&race.first).is_some()
        && stands(&race.first) == stands(&race.second)
}

/// What ScoRD's conditions ask about: the latest access, of whoever it is.
fn kept(race: &Race) -> &'static str {
    if race.latest.is_some() { "latest access" } else { noun(&race.first) }
}

/// Which edge is missing, and on which side; then what would add it.
pub fn missing(race: &Race) -> [String; 2] {
    let (first, second) = (noun(&race.first), noun(&race.second));
    let (a, b) = (place(&race.first), place(&race.second));
    let said = |edge: String, cure: &str| [edge, cure.to_owned()];
    let within = matches!(race.class, RaceClass::IntraWarp | RaceClass::Divergence | RaceClass::IntraBlock);
    let fence = if within { "__threadfence_block()" } else { "__threadfence()" };
    match race.missing {
        RaceMissing::Release => [
            format!("no release by the thread of the {first} at {a} since"),
            format!(
                "{fence} behind the {first}, before the flag or the atomic that tells others of it, or st.release there"
            ),
        ],
        RaceMissing::Acquire => [
            format!("no acquire by the thread of the {second} at {b} since the other's release"),
            format!(
                "{fence} behind the load of the flag or the atomic, before the {second}, or ld.acquire there"
            ),
        ],
        RaceMissing::Scope => said(
            "there is a release and an acquire, but the scope of one of them leaves the other thread out"
                .to_owned(),
            "__threadfence() in place of __threadfence_block(), or a wider scope of the release or the acquire",
        ),
        RaceMissing::Strong => said(
            format!(
                "both threads have fences, but the thread of the {second} has not read, by a strong access, what the other wrote by \
                 one behind its fence"
            ),
            "a flag that is written and read by atomics, volatile or cuda::atomic_ref, and waited for before the fence",
        ),
        RaceMissing::AtomicScope => said(
            "both are strong, but the scope of one of them leaves the other thread out".to_owned(),
            "device scope: atomicAdd() and its like in place of atomicAdd_block(), or cuda::thread_scope_device",
        ),
        RaceMissing::Overlap => said(
            "both are strong, but they overlap in part only".to_owned(),
            "accesses of the same bytes, with the same size",
        ),
        RaceMissing::BlockBarrier if race.kind == RaceKind::BarrierDivergence => said(
            "threads of the block are at different barriers, or have left".to_owned(),
            "a __syncthreads() that all threads of the block come to",
        ),
        RaceMissing::BlockBarrier => said(
            "no barrier of the block between the two".to_owned(),
            "__syncthreads() between the two, where all threads of the block pass; where a flag or a lock is to order them, \
             __threadfence_block() before it is set and behind where it is seen",
        ),
        RaceMissing::WarpBarrier if race.kind == RaceKind::BarrierDivergence => said(
            "threads of the warp are not all there".to_owned(),
            "a __syncwarp() that all threads of its mask come to",
        ),
        RaceMissing::WarpBarrier if is_one_instruction(race) => said(
            "lanes of the warp execute it together, and nothing says which comes last".to_owned(),
            "one lane alone, an atomic, or a place for each lane",
        ),
        RaceMissing::WarpBarrier => said(
            "no barrier of the warp between the two: its threads need not run in lockstep".to_owned(),
            "__syncwarp() between the two, where all threads of its mask pass; where a flag or a lock is to order them, \
             __threadfence_block() before it is set and behind where it is seen",
        ),
        RaceMissing::CopyWait => said(
            "nothing waits for the asynchronous copy".to_owned(),
            "cp.async.wait_group, __pipeline_wait_prior() or a wait on its mbarrier, and a barrier for other threads",
        ),
        RaceMissing::ProxyFence => said(
            "the two go by different proxies, and no proxy fence stands between them".to_owned(),
            "fence.proxy.async (cuda::ptx::fence_proxy_async) between the two",
        ),
        RaceMissing::Stream => said(
            "the streams of the two are not ordered".to_owned(),
            "the same stream, an event (cudaEventRecord, cudaStreamWaitEvent), or cudaDeviceSynchronize() between them",
        ),
        RaceMissing::Launch => said(
            "a child grid comes behind what the launching thread knew at the launch, and runs beside the rest of its parent".to_owned(),
            "a barrier of the parent's threads before the launch, or a tail launch (cudaStreamTailLaunch)",
        ),
        RaceMissing::GridEnd => said(
            "only barriers count for this detector, and no barrier orders threads of different blocks".to_owned(),
            "atomics for both, or an end of the kernel between the two; where fences and flags order them, ask --detector ptx",
        ),
        RaceMissing::BlockFence => said(
            format!("the warp of the {} has had neither a fence nor a barrier since", kept(race)),
            "__threadfence_block() or __syncthreads() behind the first access, before others are told of it",
        ),
        RaceMissing::DeviceFence => said(
            format!("the warp of the {} has had no fence of device scope since, and the other is in another block", kept(race)),
            "__threadfence() behind the first access, before others are told of it",
        ),
        RaceMissing::StrongAccess => said(
            "not all accesses of these bytes are strong, and fences order strong accesses alone".to_owned(),
            "volatile, or cuda::atomic_ref, for both",
        ),
        RaceMissing::LockOnLoad | RaceMissing::LockOnStore => said(
            "one of the two is made under a lock, and the other not under the same one, or not at its scope".to_owned(),
            "the same lock around both: atomicCAS() with a fence behind it, and a fence before atomicExch(), of a scope that takes in \
             both threads",
        ),
        RaceMissing::System if [&race.first, &race.second].iter().all(|party| party.scope != "weak") => said(
            "both are strong, but one of them is not of system scope, and they are of two devices".to_owned(),
            "system scope: atomicAdd_system() and its like, volatile, or cuda::thread_scope_system, for both",
        ),
        RaceMissing::System => said(
            "the two are of two devices, and no release and acquire of system scope orders them; device scope does not".to_owned(),
            "__threadfence_system() before the flag that tells the other device is set and behind where it is seen, the flag \
             volatile or a cuda::atomic_ref of system scope; or an event or cudaDeviceSynchronize() between them",
        ),
        RaceMissing::HostSync => said(
            "the host has not waited for the device".to_owned(),
            "cudaDeviceSynchronize(), cudaStreamSynchronize() or cudaEventSynchronize() before the host goes on",
        ),
    }
}

/// By what rule a detector differs from the memory model.
pub fn rule(rule: Rule) -> &'static str {
    match rule {
        Rule::OnePair => {
            "of several races of the same bytes or of one access it tells one pair: another one of these is told by both, or by each of them"
        }
        Rule::BarriersOnly => {
            "HiRace knows barriers of blocks and warps alone: fences, flags, atomics and locks order nothing for it"
        }
        Rule::VolatileIsPlain => {
            "it takes volatile accesses for plain ones; in the memory model they are strong, and do not race with each other"
        }
        Rule::ScopeWhateverOrders => {
            "it reports an atomic of block scope beside an access of another block, even where something else orders the two"
        }
        Rule::FencesBesideAccesses => {
            "BARRACUDA guesses releases and acquires from fences that stand beside accesses: it takes some for synchronisation that \
             are none, and others for none"
        }
        Rule::Lockstep => {
            "it takes the lanes of a warp for being in lockstep, which no GPU since Volta promises"
        }
        Rule::Divergence => {
            "BARRACUDA reports threads of a block that are not all at one barrier; that is no race of memory"
        }
        Rule::AtomicsNeverRace => "BARRACUDA lets atomics go together, whatever their scopes and their bytes",
        Rule::OwnFence => {
            "ScoRD asks for a fence of the warp that accessed first: strong accesses race without one, and order that other \
             threads hand on does not count"
        }
        Rule::FencesOrderStrong => {
            "to ScoRD fences order strong accesses alone; in the memory model they order all"
        }
        Rule::Lockset => {
            "ScoRD wants the lock that one access was made under around the other one, too, whatever orders the two"
        }
        Rule::GlobalOnly => "ScoRD looks at global memory alone",
        Rule::BarrierOfAll => {
            "a barrier that some threads were at counts for all of the block or the warp to it"
        }
        Rule::Overlap => {
            "strong accesses that overlap in part go together to it; in the memory model they race"
        }
        Rule::OneGrid => "it looks at each grid by itself, and not at the host",
        Rule::NoCopies => "it does not look at asynchronous copies and other proxies",
    }
}

/// What the report rests on.
pub fn rests_on(race: &Race) -> &'static str {
    match race.detector {
        _ if race.proven => "proven: by the memory model nothing orders the two in this execution",
        Detector::Hirace => {
            "by barriers alone: whether fences, flags or locks order the two, this detector cannot say; --detector ptx can"
        }
        Detector::Scord => {
            "by ScoRD's rules of fences, scopes and locks, not by the memory model; --detector ptx goes by that"
        }
        Detector::Ptx | Detector::Barracuda => {
            "inferred: it rests on what fences and atomics in the PTX are taken to mean, not on the memory model"
        }
    }
}

/// What the detector has kept besides the two, if anything.
pub fn latest(race: &Race) -> Option<String> {
    let latest = race.latest.as_ref()?;
    Some(format!("the latest access that it has kept: {}: {}", does(latest), stands(latest)))
}
