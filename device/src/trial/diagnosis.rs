//! What the simulator says of a launch that went wrong, in the words of the report and of CUDA.
//!
//! Lines of an instrumented text are mapped back to the program's own; what runs inside the injected
//! handlers is told as such.

use bugaroo_device_handlers::SYMBOL_PREFIX;
use bugaroo_injector::is_toolkit_header;
use bugaroo_protocol::{
    BlockedThread, Diagnosis, Fault, FaultAccess, FaultKind, LastWrite, MissingEdge, NearAllocation,
    SourceLine, Spin, StaleRead,
};
use bugaroo_simulator as device;

use crate::error::Status;
use crate::trial::injection::Injected;

/// Most groups of threads that a report lists.
const GROUPS: usize = 16;

/// How lines of the running text are told.
pub struct Lines<'a>(Option<&'a Injected>);

impl<'a> Lines<'a> {
    /// As the injector's map says, if the module is instrumented; as they are otherwise.
    pub fn of(injected: Option<&'a Injected>) -> Self {
        Lines(injected)
    }

    fn original(&self, line: u32) -> Option<u32> {
        self.0.map_or(Some(line), |injected| injected.original_line(line))
    }
}

/// What a program sees of a fault.
///
/// `trap` is an unspecified launch failure, as on hardware; so are barriers used wrongly, whose effect
/// there is not defined.
pub fn status(kind: &device::StopKind) -> Status {
    use device::StopKind as Kind;
    match kind {
        Kind::OutOfBounds { .. }
        | Kind::Freed { .. }
        | Kind::NoAccess { .. }
        | Kind::NoPeerAccess { .. }
        | Kind::BadTexture { .. } => Status::IllegalAddress,
        Kind::Misaligned { .. } => Status::MisalignedAddress,
        Kind::StackOverflow { .. } => Status::HardwareStackError,
        Kind::Trap | Kind::BarrierDivergence { .. } | Kind::BadFree { .. } => Status::LaunchFailed,
        Kind::Assert => Status::Assert,
        Kind::BadCall { .. } | Kind::BadBranch { .. } => Status::InvalidPc,
        Kind::BadBarrier { .. }
        | Kind::BadMbarrier { .. }
        | Kind::BadTensorMap { .. }
        | Kind::BadClusterAddress { .. }
        | Kind::BadMemberMask { .. } => Status::IllegalInstruction,
    }
}

/// A fault, for the report; `allocation` is what its address came close to.
pub fn fault(fault: &device::LaunchFault, allocation: Option<NearAllocation>, lines: &Lines<'_>) -> Fault {
    use device::StopKind as Kind;
    let kind = match fault.kind {
        Kind::OutOfBounds { .. } | Kind::BadTexture { .. } => FaultKind::IllegalAddress,
        Kind::NoAccess { .. } | Kind::NoPeerAccess { .. } => FaultKind::NoAccess,
        Kind::Freed { .. } => FaultKind::UseAfterFree,
        Kind::BadFree { .. } => FaultKind::InvalidFree,
        Kind::Assert => FaultKind::Assert,
        Kind::Misaligned { .. } => FaultKind::MisalignedAddress,
        Kind::Trap => FaultKind::Trap,
        Kind::BarrierDivergence { .. } => FaultKind::BarrierDivergence,
        Kind::BadBarrier { .. } | Kind::BadMbarrier { .. } => FaultKind::BarrierMisuse,
        Kind::StackOverflow { .. } => FaultKind::StackOverflow,
        Kind::BadCall { .. }
        | Kind::BadBranch { .. }
        | Kind::BadTensorMap { .. }
        | Kind::BadClusterAddress { .. }
        | Kind::BadMemberMask { .. } => FaultKind::IllegalInstruction,
    };
    let access = match fault.kind {
        Kind::OutOfBounds { access, .. }
        | Kind::Freed { access, .. }
        | Kind::NoAccess { access, .. }
        | Kind::NoPeerAccess { access, .. }
        | Kind::Misaligned { access, .. } => Some(match access {
            device::TouchKind::Read => FaultAccess::Load,
            device::TouchKind::Write => FaultAccess::Store,
            device::TouchKind::Atomic => FaultAccess::Atomic,
        }),
        _ => None,
    };
    let at = blocked(fault.thread.block, fault.thread.thread, 1, &fault.place, lines);
    let summary = format!("{}: {} at {}", fault.thread, fault.kind, place(&at));
    let (address, size) = address(&fault.kind).unzip();
    Fault { kind, summary, what: fault.kind.to_string(), access, address, size, allocation, at }
}

/// The address that a fault is about, and the bytes accessed.
pub fn address(kind: &device::StopKind) -> Option<(u64, u32)> {
    use device::StopKind as Kind;
    match *kind {
        Kind::OutOfBounds { address, size, .. }
        | Kind::Freed { address, size, .. }
        | Kind::NoAccess { address, size, .. }
        | Kind::NoPeerAccess { address, size, .. }
        | Kind::Misaligned { address, size, .. } => Some((address, size)),
        _ => None,
    }
}

/// Who waits where, for the report; `what` says why the launch was given up.
pub fn diagnosis(
    what: &str,
    found: &device::LaunchDiagnosis,
    lines: &Lines<'_>,
    memory: &device::Memory,
) -> Diagnosis {
    let mut groups: Vec<&device::Group> = found.groups.iter().collect();
    // Stable: groups of one size stay in order of block and thread.
    groups.sort_by_key(|group| std::cmp::Reverse(group.threads));
    // One of each place first: many blocks may wait alike, and what they wait for stands elsewhere.
    let mut places = std::collections::HashSet::new();
    let (first, more): (Vec<_>, Vec<_>) = groups.into_iter().partition(|group| places.insert(&group.place));
    let groups = [first, more].concat();
    let blocked_group =
        |group: &&device::Group| blocked(group.block, group.first_thread, group.threads, &group.place, lines);
    let waiting: Vec<BlockedThread> = groups.iter().take(GROUPS).map(blocked_group).collect();
    let spins: Vec<Spin> = found.spins.iter().map(|one| spin(one, lines, memory)).collect();
    let summary = match (groups.first(), waiting.first()) {
        _ if !spins.is_empty() => format!("{what}: {}", spinning(found, &spins)),
        (Some(group), Some(at)) => {
            let first = device::ThreadId { block: group.block, thread: group.first_thread };
            let does = activity(group.activity);
            let others = groups.len() - 1 + found.omitted;
            let others = match others {
                0 => String::new(),
                1 => "; 1 more group of threads".to_owned(),
                _ => format!("; {others} more groups of threads"),
            };
            format!("{what}: {} threads from {first} {does} {}{others}", group.threads, place(at))
        }
        _ => what.to_owned(),
    };
    Diagnosis { summary, waiting, spins }
}

/// Threads that read the same again and again, in one line.
fn spinning(found: &device::LaunchDiagnosis, spins: &[Spin]) -> String {
    let Spin { at, value, memory, last_write, .. } = &spins[0];
    let first = device::ThreadId { block: at.block, thread: at.thread };
    let threads =
        if at.threads == 1 { "1 thread,".to_owned() } else { format!("{} threads from", at.threads) };
    let verb = if at.threads == 1 { "reads" } else { "read" };
    let mut text =
        format!("{threads} {first} {verb} {value} from {memory} again and again, by {}", place(at));
    match last_write {
        LastWrite::Nobody => text.push_str("; no thread of the launch has written it"),
        LastWrite::Unknown => {}
        LastWrite::Thread { at, held } => {
            let by = device::ThreadId { block: at.block, thread: at.thread };
            let how = if *held {
                "a store to it that nothing orders is still held back: that of"
            } else {
                "last written by"
            };
            text.push_str(&format!("; {how} {by}, {}", place(at)));
        }
    }
    if found.spinning {
        text.push_str(", and nobody is left who could change it");
    }
    match found.blocks_pending {
        0 => {}
        1 => text.push_str("; 1 block has not started, as there is no room for it"),
        blocks => text.push_str(&format!("; {blocks} blocks have not started, as there is no room for them")),
    }
    match spins.len() {
        1 => {}
        2 => text.push_str("; others read by one more instruction"),
        count => text.push_str(&format!("; others read by {} more instructions", count - 1)),
    }
    text
}

/// What a thread reads again and again, for the report.
fn spin(one: &device::SpinPlace, lines: &Lines<'_>, memory: &device::Memory) -> Spin {
    let at = |thread: device::ThreadId, threads: u32, place: &device::Place| {
        blocked(thread.block, thread.thread, threads, place, lines)
    };
    let what = match (&one.symbol, memory.allocation(one.address)) {
        (Some((name, 0)), _) => format!("`{name}`"),
        (Some((name, offset)), _) => format!("`{name}` + {offset}"),
        (None, Some((base, size))) => {
            format!("{:#x}, byte {} of an allocation of {size}", one.address, one.address - base)
        }
        (None, None) if one.address >= device::SHARED_WINDOW => {
            format!("byte {} of shared memory", one.address - device::SHARED_WINDOW)
        }
        (None, None) => format!("{:#x}", one.address),
    };
    Spin {
        at: at(one.thread, one.threads, &one.place),
        address: one.address,
        bytes: one.bytes,
        value: one.value,
        memory: what,
        last_write: match &one.last {
            device::SpunOnWrite::Nobody => LastWrite::Nobody,
            device::SpunOnWrite::Unknown => LastWrite::Unknown,
            device::SpunOnWrite::Thread { thread, place, held } => {
                LastWrite::Thread { at: at(*thread, 1, place), held: *held }
            }
        },
    }
}

/// Most kinds of stale reads that a report lists.
const STALE: usize = 8;

/// Which loads read older values than memory held, for the report.
pub fn stale(
    reads: &[device::model::StaleLoads],
    program: &device::Program,
    (grid, block): ([u32; 3], [u32; 3]),
    lines: &Lines<'_>,
) -> Vec<StaleRead> {
    let at = |thread: (u64, u32), pc: u32| one_thread(thread, (grid, block), &program.place(pc), lines);
    let told = |read: &device::model::StaleLoads| StaleRead {
        load: at(read.reader, read.load),
        write: at(read.writer, read.write),
        address: read.address,
        missing: match read.missing {
            device::model::LackingEdge::Release => MissingEdge::Release,
            device::model::LackingEdge::Acquire => MissingEdge::Acquire,
            device::model::LackingEdge::Scope => MissingEdge::Scope,
            device::model::LackingEdge::Strong => MissingEdge::Strong,
        },
        synchronising: read.synchronising,
        count: read.count,
    };
    reads.iter().take(STALE).map(told).collect()
}

/// A thread, by the linear indices of its block and of itself in that, at a place.
pub fn one_thread(
    (cta, thread): (u64, u32),
    (grid, block): ([u32; 3], [u32; 3]),
    place: &device::Place,
    lines: &Lines<'_>,
) -> BlockedThread {
    let point = |index: u64, [x, y, _]: [u32; 3]| {
        let (x, y) = (u64::from(x), u64::from(y));
        [(index % x) as u32, (index / x % y) as u32, (index / (x * y)) as u32]
    };
    blocked(point(cta, grid), point(thread.into(), block), 1, place, lines)
}

/// A barrier of the block in words.
fn named(barrier: u32) -> String {
    match barrier {
        device::decoded::Barrier::INSERTED => "the barrier that was inserted".to_owned(),
        _ => format!("barrier {barrier}"),
    }
}

fn activity(activity: device::Activity) -> String {
    match activity {
        device::Activity::Running => "run at".to_owned(),
        device::Activity::Barrier { barrier, arrived, expected } => {
            let barrier = named(barrier);
            format!("wait at {barrier} ({arrived} of {expected} threads have arrived),")
        }
        device::Activity::BarrierWarp { barrier, arrived, expected } => format!(
            "wait at {} for their own warp, which arrives as a whole ({arrived} of its {expected} threads are there),",
            named(barrier)
        ),
        device::Activity::Mbarrier { address, pending, transactions } => format!(
            "wait for the mbarrier at {address:#x} of shared memory ({pending} arrivals and {transactions} bytes are \
             missing) at"
        ),
        device::Activity::ClusterBarrier { arrived, expected } => {
            format!("wait for their cluster ({arrived} of {expected} are there) at")
        }
        device::Activity::WarpMask { mask } => format!("wait for lanes {mask:#010x} of their warp at"),
    }
}

fn blocked(
    block: [u32; 3],
    thread: [u32; 3],
    threads: u32,
    place: &device::Place,
    lines: &Lines<'_>,
) -> BlockedThread {
    // The user's line: the innermost that is not the toolkit's own.
    let user = place.source.iter().find(|position| !is_toolkit_header(&position.file));
    let source = user.or(place.source.first());
    BlockedThread {
        block,
        thread,
        threads,
        function: place.function.clone(),
        // The handlers stand behind the program's text and have no line in it.
        ptx_line: lines.original(place.ptx_line).filter(|_| !place.function.starts_with(SYMBOL_PREFIX)),
        source: source.map(|position| SourceLine { file: position.file.clone(), line: position.line }),
        instruction: place.instruction.clone(),
    }
}

/// A place in one line.
fn place(at: &BlockedThread) -> String {
    let mut text = format!("`{}` in {}", at.instruction, at.function);
    if at.function.starts_with(SYMBOL_PREFIX) {
        text.push_str(" (the tester's own code, on behalf of the program)");
    }
    if let Some(line) = at.ptx_line {
        text.push_str(&format!(", PTX line {line}"));
    }
    if let Some(source) = &at.source {
        text.push_str(&format!(", {}:{}", source.file, source.line));
    }
    text
}
