//! Random kernels that load, store and update wild addresses, and the check that none of them leaves its
//! sandbox. The kernels come from a stream of bytes, so that a fuzzer can steer them.
//!
//! **What shows an escape.** Device memory holds only [`INSIDE`] bytes, and kernels store only those.
//! Host memory next door, whose very address the kernels use, and device memory that was freed hold [`OUTSIDE`]
//! bytes. Everything that a kernel loads goes to its results. A result with an outside byte was read where nothing
//! may be read; a changed byte next door was written there; and what is called a fault has to be one.

mod edges;

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use bugaroo_device_handlers::{HandlerModel, LAUNCH_VARIABLE, LaunchState, Layout};
use bugaroo_injector::collect_sites::collect_sites;
use bugaroo_ptx::ast::Module;
use bugaroo_simulator::model::{ptx, store_buffer};
use bugaroo_simulator::{
    AllocationKind, CODE_BASE, DeviceConfig, End, GLOBAL_BASE, LOCAL_WINDOW, LaunchSpec, Memory, MemoryModel,
    PARAM_WINDOW, Program, RandomScheduler, SHARED_WINDOW, StopKind, launch_with,
};

/// What device memory is filled with.
const INSIDE: u8 = 0x5a;
/// What lies where kernels must not reach.
const OUTSIDE: u8 = 0xc3;
/// Threads of the block: two warps, the second of them incomplete.
const THREADS: u32 = 40;
/// Results of a thread, 8 bytes each.
const RESULTS: u64 = 32;
/// Sizes of the buffers that kernels know.
const BUFFERS: [u64; 3] = [40, 4099, 512];
/// Which of them is freed before the launch.
const FREED: usize = 2;

/// What delays stores, and loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Nothing,
    /// The injected device code.
    Handlers,
    /// The simulator's own models.
    StoreBuffer,
    Ptx,
}

/// How a kernel is run.
#[derive(Clone, Copy, Debug)]
struct Launch {
    form: Form,
    lockstep: bool,
    late_copies: bool,
    /// Blocks, which are one cluster.
    cluster: u32,
}

/// Random choices, made of bytes.
pub struct Choices<'a> {
    next: &'a mut dyn FnMut() -> u8,
    names: u32,
}

impl<'a> Choices<'a> {
    /// From a stream of bytes.
    pub fn new(next: &'a mut dyn FnMut() -> u8) -> Choices<'a> {
        Choices { next, names: 0 }
    }

    /// A number for a name that nobody has yet.
    fn fresh(&mut self) -> u32 {
        self.names += 1;
        self.names
    }

    fn word(&mut self) -> u64 {
        (0..8).fold(0, |word, _| word << 8 | u64::from((self.next)()))
    }

    fn below(&mut self, limit: u64) -> u64 {
        u64::from((self.next)()) % limit
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }
}

/// How a kernel ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It ran through.
    Complete,
    /// It was stopped at an access.
    Stopped,
    /// It was not taken: an address that even the text shows to be wrong.
    Refused,
}

/// Makes a kernel, runs it, mostly under some memory model, and checks that it stayed inside.
pub fn try_kernel(choices: &mut Choices<'_>) -> Ended {
    // The same for all kernels of a thread: whoever changes it is told at once.
    thread_local! {
        static NEXT_DOOR: [AtomicU8; 1 << 16] = const { [const { AtomicU8::new(OUTSIDE) }; 1 << 16] };
    }
    NEXT_DOOR.with(|next_door| try_beside(choices, next_door))
}

/// The same beside this piece of the host's memory.
fn try_beside(choices: &mut Choices<'_>, next_door: &[AtomicU8]) -> Ended {
    let text = kernel(choices, next_door.as_ptr() as u64);
    // Handlers take as long as all the others together.
    let form = match choices.below(16) {
        0 => Form::Handlers,
        1..7 => Form::StoreBuffer,
        7..13 => Form::Ptx,
        _ => Form::Nothing,
    };
    let launch = Launch {
        form,
        lockstep: choices.below(4) == 0,
        late_copies: choices.below(2) == 0,
        cluster: choices.one_of(&[1, 1, 2]),
    };
    let ended = run(&text, launch);
    assert!(
        next_door.iter().all(|byte| byte.load(Ordering::Relaxed) == OUTSIDE),
        "host memory was written by\n{text}"
    );
    ended
}

/// A kernel `k(results, first, second, freed)`.
fn kernel(choices: &mut Choices<'_>, next_door: u64) -> String {
    let accesses = 1 + choices.below(8);
    let mut results = 0;
    let body: String = (0..accesses).map(|_| access(choices, next_door, &mut results)).collect();
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n\
         .extern .func (.param .b32 got) vprintf (.param .b64 format, .param .b64 values);\n\
         .extern .func free (.param .b64 block);\n{}\
         .global .align 8 .b8 variable[64];\n.const .align 8 .b8 bank[32];\n\
         .visible .entry k(.param .u64 results, .param .u64 first, .param .u64 second, .param .u64 freed)\n{{\n\
         .reg .b64 %rd<32>;\n.reg .b32 %r<32>;\n.reg .b16 %h<8>;\n\
         .shared .align 8 .b8 tile[48];\n.local .align 8 .b8 own[24];\n\
         mov.u32 %r0, %tid.x;\ncvt.u64.u32 %rd0, %r0;\n\
         mul.lo.u64 %rd1, %rd0, {};\nld.param.u64 %rd2, [results];\nadd.u64 %rd1, %rd1, %rd2;\n\
         mov.b64 %rd3, 0x5a5a5a5a5a5a5a5a;\nmov.b32 %r3, 0x5a5a5a5a;\nmov.b16 %h3, 0x5a5a;\n\
         .reg .b128 %w<2>;\nmov.b128 %w0, {{%rd3, %rd3}};\n{}{body}ret;\n}}\n",
        edges::ITEMS,
        RESULTS * 8,
        edges::DECLARATIONS,
    )
}

/// An address in `%rd4`, and one access to it.
fn access(choices: &mut Choices<'_>, next_door: u64, results: &mut u64) -> String {
    // Most accesses are well-behaved, so that kernels come to a second and a third.
    let tame = choices.below(4) > 0;
    let (space, mut text, size) = base(choices, next_door, tame);
    let offset = match choices.below(8) {
        _ if tame => (choices.word() % size) & !15,
        0..2 => (choices.word() % size) & !7,
        2..5 => (size.wrapping_sub(choices.below(16))) & !3,
        5 => choices.word() % 64,
        6 => 0_u64.wrapping_sub(choices.word() % 64),
        _ => choices.word() >> choices.below(64),
    };
    let stride = match choices.below(8) {
        _ if tame => 0,
        0..5 => 0,
        5 => choices.one_of(&[1_u64, 2, 4, 8, 16]),
        6 => choices.one_of(&[4096, 1 << 31, 1 << 32, 1 << 62]),
        _ => choices.word(),
    };
    text += &format!(
        "add.u64 %rd4, %rd4, {offset};\nmul.lo.u64 %rd5, %rd0, {stride};\nadd.u64 %rd4, %rd4, %rd5;\n"
    );
    let immediate = match choices.below(6) {
        _ if tame => 0,
        0 => choices.below(64) as i64 - 32,
        1 => i64::from(choices.word() as i32),
        _ => 0,
    };
    let place = format!("[%rd4+{immediate}]");
    // A result has 8 bytes; what is loaded narrower is widened.
    let mut keep = |text: &mut String, rows: &[&str]| {
        for row in rows.iter().take((RESULTS - *results) as usize) {
            *text += &match row.as_bytes()[1] {
                b'h' => format!("cvt.u64.u16 %rd6, {row};\nst.global.b64 [%rd1+{}], %rd6;\n", *results * 8),
                b'r' if row.as_bytes()[2] == b'd' => {
                    format!("st.global.b64 [%rd1+{}], {row};\n", *results * 8)
                }
                _ => format!("cvt.u64.u32 %rd6, {row};\nst.global.b64 [%rd1+{}], %rd6;\n", *results * 8),
            };
            *results += 1;
        }
    };
    let volatile = choices.one_of(&["", "", ".volatile", ".relaxed.gpu"]);
    // Constants and parameters are only read; what is volatile or relaxed is not for them.
    let load_only = matches!(space, ".const" | ".param");
    let order = if load_only || space == ".local" { "" } else { volatile };
    let kind = choices.below(8);
    if kind < 3 {
        let (written, rows) = if kind == 0 { special(choices, &place) } else { edges::instruction(choices) };
        text += &written;
        keep(&mut text, rows);
        return text;
    }
    match choices.below(if load_only { 5 } else { 12 }) {
        0 => {
            text += &format!("ld{order}{space}.u8 %h4, {place};\n");
            keep(&mut text, &["%h4"]);
        }
        1 => {
            text += &format!("ld{order}{space}.u16 %h4, {place};\n");
            keep(&mut text, &["%h4"]);
        }
        2 => {
            text += &format!("ld{order}{space}.u32 %r4, {place};\n");
            keep(&mut text, &["%r4"]);
        }
        3 => {
            text += &format!("ld{space}.v2.u64 {{%rd8, %rd9}}, {place};\n");
            keep(&mut text, &["%rd8", "%rd9"]);
        }
        4 => {
            text += &format!("ld{space}.v4.u32 {{%r4, %r5, %r6, %r7}}, {place};\n");
            keep(&mut text, &["%r4", "%r5", "%r6", "%r7"]);
        }
        5 => text += &format!("st{order}{space}.u8 {place}, %h3;\n"),
        6 => text += &format!("st{order}{space}.u32 {place}, %r3;\n"),
        7 => text += &format!("st{order}{space}.u64 {place}, %rd3;\n"),
        8 => text += &format!("st{space}.v4.u32 {place}, {{%r3, %r3, %r3, %r3}};\n"),
        9 if space != ".local" => {
            let operation = choices.one_of(&["exch.b32", "or.b32", "and.b32", "max.u32", "min.u32"]);
            text += &format!("atom{space}.{operation} %r4, {place}, %r3;\n");
            keep(&mut text, &["%r4"]);
        }
        10 if space != ".local" => {
            text += &format!("atom{space}.cas.b64 %rd8, {place}, %rd3, %rd3;\n");
            keep(&mut text, &["%rd8"]);
        }
        11 if space != ".local" => text += &format!("red{space}.or.b64 {place}, %rd3;\n"),
        _ => text += &format!("prefetch.global.L2 {place};\n"),
    }
    text
}

/// Instructions and functions with addresses of their own kind, among them `place` and the address in `%rd4`;
/// and the rows that they loaded.
fn special(choices: &mut Choices<'_>, place: &str) -> (String, &'static [&'static str]) {
    let narrow = "cvt.u32.u64 %r8, %rd4;\nmov.u32 %r9, tile;\n";
    let call = |arguments: &str, callee: &str| {
        format!("{{\n.param .b32 got;\n{arguments}call (got), {callee};\n}}\n")
    };
    match choices.below(10) {
        0 => (
            format!(
                "{narrow}cp.async.ca.shared.global [%r9], {place}, 16;\ncp.async.wait_all;\nld.shared.u32 %r4, [%r9];\n"
            ),
            &["%r4"],
        ),
        1 => (format!("{narrow}cp.async.ca.shared.global [%r8], {place}, 8;\ncp.async.wait_all;\n"), &[]),
        2 => (format!("{narrow}ldmatrix.sync.aligned.m8n8.x1.shared.b16 {{%r4}}, [%r8];\n"), &["%r4"]),
        3 => (format!("{narrow}stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r8], {{%r3}};\n"), &[]),
        4 => (
            format!(
                "wmma.store.d.sync.aligned.row.m16n16k16.f32 {place}, {{%r3, %r3, %r3, %r3, %r3, %r3, %r3, %r3}};\n"
            ),
            &[],
        ),
        5 => (
            format!(
                "wmma.load.a.sync.aligned.row.m16n16k16.f16 {{%r4, %r5, %r6, %r7, %r10, %r11, %r12, %r13}}, {place};\n"
            ),
            &["%r4", "%r7", "%r13"],
        ),
        6 => (format!("ld.v2.b64 {{%rd8, %rd9}}, {place};\n"), &["%rd8", "%rd9"]),
        // What printf prints of it would show an escape by a crash at least.
        7 => (
            call(
                ".param .b64 format;\n.param .b64 values;\nst.param.b64 [format], %rd4;\nst.param.b64 [values], %rd4;\n",
                "vprintf, (format, values)",
            ),
            &[],
        ),
        8 => (
            "{\n.param .b64 freed_now;\nst.param.b64 [freed_now], %rd4;\ncall free, (freed_now);\n}\n"
                .to_string(),
            &[],
        ),
        _ => (format!("{narrow}mbarrier.arrive.shared.b64 %rd8, [%r8];\n"), &[]),
    }
}

/// Puts a base address into `%rd4`: the space to access it in, the text, and how far it may go.
fn base(choices: &mut Choices<'_>, next_door: u64, tame: bool) -> (&'static str, String, u64) {
    let parameter = |name| format!("ld.param.u64 %rd4, [{name}];\n");
    let generic = |space, name| format!("mov.u64 %rd4, {name};\ncvta.{space}.u64 %rd4, %rd4;\n");
    let number = |value: u64| format!("mov.u64 %rd4, {value};\n");
    let global = choices.one_of(&["", ".global"]);
    match choices.below(if tame { 10 } else { 20 }) {
        2 if tame => (global, parameter("results"), RESULTS * 8),
        0 => (global, parameter("first"), BUFFERS[0]),
        1 => (global, parameter("second"), BUFFERS[1]),
        2 => (global, parameter("freed"), BUFFERS[2]),
        3 => (global, parameter("results"), RESULTS * 8 * u64::from(THREADS)),
        4 => (global, generic("global", "variable"), 64),
        5 => (".shared", "mov.u64 %rd4, tile;\n".into(), 48),
        6 => ("", generic("shared", "tile"), 48),
        7 => (".local", "mov.u64 %rd4, own;\n".into(), 24),
        8 => ("", generic("local", "own"), 24),
        9 => (".const", "mov.u64 %rd4, bank;\n".into(), 32),
        10 => (".param", number(0), 32),
        11 => ("", number(PARAM_WINDOW), 32),
        12 => (global, number(next_door), 1 << 16),
        // Where host code and stacks tend to lie, and what a confused program uses.
        13 => (global, number(next_door.wrapping_add(GLOBAL_BASE)), 1 << 16),
        14 => (global, number(choices.one_of(&[0, 8, 1 << 20, u64::MAX, 1 << 63, 0x7fff_ffff_f000])), 4096),
        15 => (global, number(choices.one_of(&[SHARED_WINDOW, LOCAL_WINDOW, PARAM_WINDOW, CODE_BASE])), 64),
        16 => (global, number(GLOBAL_BASE), 1 << 20),
        17 => (choices.one_of(&["", ".global", ".shared", ".local"]), number(choices.word()), 4096),
        18 => (".shared", number(choices.word() >> 32), 4096),
        _ => (".local", number(choices.word() >> 32), 4096),
    }
}

fn run(text: &str, how: Launch) -> Ended {
    let form = how.form;
    let instrumented = (form == Form::Handlers).then(|| match bugaroo_injector::instrument(text) {
        Ok(instrumented) => instrumented,
        Err(error) => panic!("{error}\n{text}"),
    });
    let module = match bugaroo_ptx::parse(instrumented.as_ref().map_or(text, |done| &done.ptx)) {
        Ok(module) => module,
        Err(error) => panic!("{error}\n{text}"),
    };
    let config =
        DeviceConfig { lockstep: how.lockstep, late_copies: how.late_copies, ..DeviceConfig::default() };
    let capacity = if form == Form::Handlers { 1 << 24 } else { 1 << 20 };
    let mut memory = Memory::new(capacity).expect("a host gives a test some addresses");
    let Ok(program) = Program::load(&module, &mut memory, &config) else { return Ended::Refused };
    let (variable, size) = program.variable("variable").expect("the module has it");
    memory.fill(variable, size, &[INSIDE]).expect("it is there");
    let mut allocate = |bytes: u64, filled: u8| {
        let address = memory.alloc(bytes, 256, AllocationKind::Program).expect("room");
        memory.fill(address, bytes, &[filled]).expect("it was just allocated");
        address
    };
    let result_bytes = RESULTS * 8 * u64::from(THREADS);
    let results = allocate(result_bytes, INSIDE);
    let mut buffers = [0; BUFFERS.len()];
    for (index, bytes) in BUFFERS.into_iter().enumerate() {
        buffers[index] = allocate(bytes, if index == FREED { OUTSIDE } else { INSIDE });
    }
    memory.free(buffers[FREED]).expect("it is allocated");
    if let Some(done) = &instrumented {
        arrange(&program, &mut memory, done.store_sites, how.cluster);
    }
    let params: Vec<u8> =
        [&[results], &buffers[..]].concat().iter().flat_map(|p: &u64| p.to_le_bytes()).collect();
    assert!(!params.contains(&OUTSIDE), "an address looks like what lies outside");
    let spec = LaunchSpec {
        kernel: "k",
        grid: [how.cluster, 1, 1],
        block: [THREADS, 1, 1],
        dynamic_shared: 0,
        params: &params,
        cluster: (how.cluster > 1).then_some([how.cluster, 1, 1]),
        step_budget: Some(if form == Form::Handlers { 2_000_000 } else { 100_000 }),
    };
    let model = model(form, &program, &module);
    let mut scheduler = RandomScheduler::new(7);
    let Ok((ran, _)) = launch_with(&program, &mut memory, &config, &spec, &mut scheduler, model) else {
        return Ended::Refused;
    };
    let mut read = vec![0; result_bytes as usize];
    memory.read(results, &mut read).expect("it is still allocated");
    assert!(!read.contains(&OUTSIDE), "memory outside of all allocations was read by\n{text}");
    match ran.end {
        End::Complete => Ended::Complete,
        End::Fault(fault) => {
            let known = matches!(
                fault.kind,
                StopKind::OutOfBounds { .. }
                    | StopKind::Freed { .. }
                    | StopKind::Misaligned { .. }
                    | StopKind::NoAccess { .. }
                    | StopKind::BadFree { .. }
                    | StopKind::BadMbarrier { .. }
                    | StopKind::BadTensorMap { .. }
                    | StopKind::BadClusterAddress { .. }
                    | StopKind::BadBarrier { .. }
                    | StopKind::BarrierDivergence { .. }
                    | StopKind::BadMemberMask { .. }
                    | StopKind::BadCall { .. }
                    | StopKind::BadBranch { .. }
                    | StopKind::StackOverflow { .. }
            );
            assert!(known, "{fault}\n{text}");
            Ended::Stopped
        }
        // Barriers with wild counts and masks wait for ever, loops of pollers there are none.
        End::Deadlock(_) => Ended::Stopped,
        // The handlers' locks are none for lockstep, which is why the two do not go together.
        End::StepBudget(_) if form == Form::Handlers && how.lockstep => Ended::Stopped,
        other @ End::StepBudget(_) => panic!("{other:?}\n{text}"),
    }
}

/// A model of the simulator that delays three stores in four, and half of the loads if it delays them.
fn model(form: Form, program: &Program, module: &Module) -> Option<Box<dyn MemoryModel>> {
    let (pw, seed) = ([0.75; 2], (3, 0));
    let table = collect_sites(module);
    match form {
        Form::Nothing | Form::Handlers => None,
        Form::StoreBuffer => {
            let settings = store_buffer::StoreBufferSettings { pw, seed, capacity: 8 };
            let sites = Arc::new(store_buffer::Sites::new(program, &table));
            Some(Box::new(store_buffer::StoreBuffer::new(&settings, sites)))
        }
        Form::Ptx => {
            let settings = ptx::PtxSettings { pw, pr: [0.5; 2], seed, memory: 1 << 16 };
            Some(Box::new(ptx::PtxModel::new(&settings, Arc::new(ptx::Facts::new(program)))))
        }
    }
}

/// A launch state that delays three stores in four.
fn arrange(program: &Program, memory: &mut Memory, sites: u32, blocks: u32) {
    let layout = Layout::new((u64::from(blocks), u64::from(THREADS)), sites, 8, 8 << 20);
    let base =
        memory.alloc(layout.total_bytes, Layout::ALIGN, AllocationKind::Tool).expect("room for buffers");
    let state = LaunchState::new(HandlerModel::StoreBuffer, (0.75, 0.75), (3, 0), &layout, base, None);
    let (variable, _) = program.variable(LAUNCH_VARIABLE).expect("an instrumented module has it");
    memory.write(variable, &state.to_bytes()).expect("a module variable can be written");
}
