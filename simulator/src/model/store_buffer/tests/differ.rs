//! The model against the plain one ([`super::plain`]) on random kernels: every answer to every hook, what whoever looks on is
//! told, memory after each step, and what is counted have to be the same.

use std::cell::RefCell;
use std::fmt::Write;
use std::rc::Rc;

use bugaroo_injector::collect_sites::collect_sites;

use super::super::*;
use super::plain::Plain;
use crate::address::SHARED_WINDOW;
use crate::model::notes::Notes;
use crate::{
    AllocationKind, DeviceConfig, LaunchSpec, Memory, PctScheduler, Program, RandomScheduler, Rng,
    SchedulerStrategy, launch_with,
};

/// Bytes of global memory, and of each block's shared memory.
const BYTES: u32 = 2048;
const THREADS: u32 = 80;
const BLOCKS: u32 = 3;

/// What a model did, a line for each hook.
type Trace = Rc<RefCell<Vec<String>>>;

/// A model whose doings are written down.
struct Traced<M> {
    under: M,
    trace: Trace,
    /// Taken where somebody is to look on.
    notes: Option<Notes>,
    global: u64,
}

impl<M: MemoryModel> Traced<M> {
    fn hook<T: std::fmt::Debug>(
        &mut self,
        at: &At,
        what: &str,
        world: &mut World<'_>,
        hook: impl FnOnce(&mut M, &mut World<'_>) -> T,
    ) -> T {
        let mut below = World {
            memory: world.memory,
            shared: world.shared,
            shared_stride: world.shared_stride,
            shared_bytes: world.shared_bytes,
            lost: None,
            changed: false,
            known: None,
            known_read: std::cell::Cell::new(None),
            notes: self.notes.as_mut(),
            held: None,
        };
        let answer = hook(&mut self.under, &mut below);
        let changed = below.changed;
        let mut hash = 0u64;
        let mut mix = |word: Option<u64>| {
            hash = (hash ^ word.unwrap_or(7)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
        };
        for offset in (0..u64::from(BYTES)).step_by(8) {
            mix(world.read(at.cta, self.global + offset, 8));
            mix(world.read(at.cta, SHARED_WINDOW + offset, 8));
        }
        let mut line =
            format!("{what} {:x} of {} at {}: {answer:?} {changed} {hash:x}", at.lanes, at.warp, at.pc);
        write!(line, " {}", self.under.is_restless()).expect("memory takes all");
        if let Some(notes) = &mut self.notes {
            notes.list.drain(..).for_each(|note| write!(line, " {note:?}").expect("memory takes all"));
        }
        self.trace.borrow_mut().push(line);
        answer
    }
}

impl<M: MemoryModel> MemoryModel for Traced<M> {
    fn in_lockstep(&mut self) -> bool {
        self.under.in_lockstep()
    }

    fn begin(&mut self, shape: &Shape) {
        self.under.begin(shape);
    }

    fn start_block(&mut self, cta: u32, block: u64) {
        self.under.start_block(cta, block);
    }

    fn end_block(&mut self, cta: u32, world: &mut World<'_>) {
        let at = At { warp: 0, cta, block: 0, first_thread: 0, lanes: 0, pc: 0 };
        self.hook(&at, "end", world, |under, world| under.end_block(cta, world));
    }

    fn load(&mut self, at: &At, access: &Accessed<'_>, world: &mut World<'_>) -> NextOperation {
        self.hook(at, "load", world, |under, world| match under.passes_load(at) {
            // What needs no model ages nothing, either; the plain one says of no load that it needs none.
            true => NextOperation::run(at.lanes),
            false => under.load(at, access, world),
        })
    }

    fn store(&mut self, at: &At, access: &Accessed<'_>, world: &mut World<'_>) -> NextOperation {
        self.hook(at, "store", world, |under, world| under.store(at, access, world))
    }

    fn atomic(&mut self, at: &At, access: &Accessed<'_>, world: &mut World<'_>) -> NextOperation {
        self.hook(at, "atomic", world, |under, world| under.atomic(at, access, world))
    }

    fn fence(&mut self, at: &At, fence: Fence, world: &mut World<'_>) -> NextOperation {
        self.hook(at, "fence", world, |under, world| under.fence(at, fence, world))
    }

    fn event(&mut self, at: &At, event: ModelEvent, world: &mut World<'_>) -> NextOperation {
        self.hook(at, &format!("{event:?}"), world, |under, world| under.event(at, event, world))
    }

    fn counts(&self) -> ModelCounts {
        // What they take of the host's memory differs, of course.
        ModelCounts { bytes: 0, ..self.under.counts() }
    }
}

fn pick<'a>(numbers: &mut Rng, of: &[&'a str]) -> &'a str {
    of[numbers.next() as usize % of.len()]
}

/// Where an access goes: in `%r8`, an offset that each thread and turn has computed, aligned.
fn place(text: &mut String, numbers: &mut Rng, bytes: u32) {
    let step = [0, 1, 1, 1, 2, 4, 8, 3, 32][numbers.next() as usize % 9] * bytes;
    let turn = [0, 0, bytes, 16, 4, 128, 640][numbers.next() as usize % 7];
    let offset = numbers.next() as u32 % BYTES;
    // Its own, the others' the other way round, or anywhere.
    let of_thread = match numbers.next() % 8 {
        0..4 => format!("mul.lo.u32 %r8, %r1, {step};"),
        4 => format!("sub.u32 %r8, 127, %r1;\nmul.lo.u32 %r8, %r8, {step};"),
        5 => "mul.lo.u32 %r8, %r1, 2654435761;\nshr.u32 %r8, %r8, 18;".into(),
        6 => "and.b32 %r8, %r6, 1020;".into(),
        _ => "and.b32 %r8, %r1, 31;\nmul.lo.u32 %r8, %r8, 28;".into(),
    };
    writeln!(text, "{of_thread}\nmad.lo.u32 %r8, %r5, {turn}, %r8;\nadd.u32 %r8, %r8, {offset};")
        .expect("memory takes all");
    writeln!(text, "and.b32 %r8, %r8, {};", (BYTES - 1) & !(bytes - 1)).expect("memory takes all");
}

/// An instruction of a random kind.
fn instruction(text: &mut String, numbers: &mut Rng) {
    let guard = pick(numbers, &["", "", "", "@%p1 ", "@!%p1 ", "@%p2 ", "@%p3 "]);
    let kind = numbers.next() % 24;
    if kind >= 20 {
        let line = match kind {
            20 => pick(numbers, &["bar.sync 0;", "bar.warp.sync 0xffffffff;"]).to_owned(),
            21 => "shfl.sync.bfly.b32 %r9, %r6, 1, 31, 0xffffffff;\nadd.u32 %r6, %r6, %r9;".into(),
            _ => {
                let fence =
                    pick(numbers, &["membar.cta;", "membar.cta;", "fence.acq_rel.gpu;", "membar.sys;"]);
                format!("{guard}{fence}")
            }
        };
        // Barriers are for all.
        writeln!(text, "{line}").expect("memory takes all");
        return;
    }
    let log = [0, 1, 2, 2, 2, 2, 3][numbers.next() as usize % 7];
    let log = if kind >= 17 { log.max(2) } else { log };
    let vector = match kind {
        0..17 if log < 3 => [1, 1, 1, 1, 2, 4][numbers.next() as usize % 6],
        0..17 => [1, 1, 2][numbers.next() as usize % 3],
        _ => 1,
    };
    let bits = 8 << log;
    place(text, numbers, (vector << log) as u32);
    let (space, base, sum) = match numbers.next() % 5 {
        0 | 1 => (".global", "%rd1", "%rd3"),
        2 | 3 => (".shared", "%r3", "%r10"),
        _ => ("", ["%rd1", "%rd2"][numbers.next() as usize % 2], "%rd3"),
    };
    let width = if sum == "%r10" { 32 } else { 64 };
    let offset = if width == 32 { "%r8" } else { "%rd4" };
    writeln!(text, "cvt.u64.u32 %rd4, %r8;\nadd.u{width} {sum}, {base}, {offset};")
        .expect("memory takes all");
    let register = if bits == 64 { "%rd" } else { "%r" };
    let list = |first: usize| {
        let names: Vec<String> = (0..vector as usize).map(|i| format!("{register}{}", first + i)).collect();
        if vector == 1 { names[0].clone() } else { format!("{{{}}}", names.join(", ")) }
    };
    let vec = ["", "", ".v2", "", ".v4"][vector as usize];
    let strong = pick(numbers, &["", "", "", "", ".volatile", ".relaxed.gpu"]);
    // Registers of 20 on take what is loaded, those of 30 on have what is stored.
    let line = match kind {
        0..7 => format!("{guard}ld{strong}{space}{vec}.u{bits} {}, [{sum}];", list(20)),
        7 => format!("{guard}ld.acquire.gpu{space}.b{bits} {register}20, [{sum}];"),
        8..16 => format!("{guard}st{strong}{space}{vec}.u{bits} [{sum}], {};", list(30)),
        16 => format!("{guard}st.release.cta{space}.b{bits} [{sum}], {register}30;"),
        _ => {
            let order = pick(numbers, &[".relaxed.gpu", ".relaxed.gpu", ".relaxed.cta", ".acq_rel.gpu"]);
            format!("{guard}atom{order}{space}.add.u{bits} {register}20, [{sum}], {register}30;")
        }
    };
    writeln!(text, "{line}").expect("memory takes all");
    for i in 0..4 {
        writeln!(text, "add.u32 %r6, %r6, %r{};\nmad.lo.u32 %r{}, %r6, {}, %r1;", 20 + i, 30 + i, 3 + 2 * i)
            .expect("memory takes all");
        writeln!(
            text,
            "cvt.u64.u32 %rd{}, %r{};\ncvt.u32.u64 %r9, %rd{};\nadd.u32 %r6, %r6, %r9;",
            30 + i,
            30 + i,
            20 + i
        )
        .expect("memory takes all");
    }
}

/// A kernel: random instructions, as often as its second parameter says.
fn kernel(numbers: &mut Rng) -> String {
    let mut body = String::new();
    (0..3 + numbers.next() % 9).for_each(|_| instruction(&mut body, numbers));
    let begin: String = (20..24)
        .flat_map(|i| [i, i + 10])
        .map(|i| format!("mov.u32 %r{i}, {i};\nmov.u64 %rd{i}, {i};\n"))
        .collect();
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n)\n{{\n\
         .reg .pred %p<5>;\n.reg .b32 %r<40>;\n.reg .b64 %rd<40>;\n.shared .align 16 .b8 s[{BYTES}];\n\
         ld.param.u64 %rd1, [p];\nld.param.u32 %r4, [n];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\n\
         mov.u32 %r3, s;\ncvt.u64.u32 %rd2, %r3;\ncvta.shared.u64 %rd2, %rd2;\nmov.u32 %r5, 0;\n\
         mad.lo.u32 %r6, %r2, 77777, %r1;\nand.b32 %r7, %r1, 1;\nsetp.eq.u32 %p1, %r7, 0;\n\
         and.b32 %r7, %r1, 31;\nsetp.eq.u32 %p2, %r7, 9;\nmul.lo.u32 %r7, %r1, 2654435761;\n\
         setp.lt.u32 %p3, %r7, 3000000000;\n{begin}AGAIN:\n{body}add.u32 %r5, %r5, 1;\n\
         setp.lt.u32 %p4, %r5, %r4;\n@%p4 bra AGAIN;\nret;\n}}\n"
    )
}

/// What came of a launch: the trace, memory and counts.
#[derive(PartialEq)]
struct Outcome {
    trace: Vec<String>,
    digest: u64,
    counted: String,
}

/// Launches a kernel under the model, or under the plain one.
fn outcome(text: &str, seed: u64, plain: bool) -> Outcome {
    let mut numbers = Rng::new(seed);
    let mut choose = |of: &[u32]| of[numbers.next() as usize % of.len()];
    let module = bugaroo_ptx::parse(text).expect("the test's own PTX parses");
    let config = DeviceConfig { lockstep: choose(&[0, 0, 0, 1]) == 1, ..DeviceConfig::default() };
    let table = collect_sites(&module);
    let mut memory = Memory::new(1 << 24).expect("room");
    let program = Program::load(&module, &mut memory, &config).expect("the test's own PTX loads");
    let global = memory.alloc(BYTES.into(), 256, AllocationKind::Program).expect("room");
    memory.fill(global, BYTES.into(), &[0]).expect("allocated");
    let mut probability = || f64::from(choose(&[2, 5, 8, 10, 10])) / 10.0;
    let pw = [probability(), probability()];
    let settings = StoreBufferSettings {
        pw,
        seed: (seed, u64::from(choose(&[0, 1, 5]))),
        capacity: choose(&[1, 3, 20, 256, 256]),
    };
    let notes = (choose(&[0, 0, 1]) == 1).then(Notes::default);
    let turns = choose(&[1, 3, 10, 40, 70]);
    let mut params = global.to_le_bytes().to_vec();
    params.extend(turns.to_le_bytes());
    let spec = LaunchSpec {
        kernel: "k",
        grid: [BLOCKS, 1, 1],
        block: [THREADS, 1, 1],
        dynamic_shared: 0,
        params: &params,
        cluster: None,
        step_budget: None,
    };
    let mut scheduler: Box<dyn SchedulerStrategy> = match choose(&[0, 1]) {
        0 => Box::new(RandomScheduler::new(seed)),
        _ => Box::new(PctScheduler::new(seed, 3, None)),
    };
    let sites = Arc::new(Sites::new(&program, &table));
    let trace = Trace::default();
    let traced = trace.clone();
    let model: Box<dyn MemoryModel> = if plain {
        Box::new(Traced { under: Plain::new(&settings, sites), trace: traced, notes, global })
    } else {
        let mut under = StoreBuffer::new(&settings, sites);
        if seed % 2 == 1 {
            under.given.isa = Isa::Portable;
        }
        Box::new(Traced { under, trace: traced, notes, global })
    };
    let result = launch_with(&program, &mut memory, &config, &spec, &mut *scheduler, Some(model));
    let counted = format!("{:?}", result.expect("a legal launch"));
    Outcome { trace: trace.take(), digest: memory.digest(), counted }
}

/// `BUGAROO_KERNELS` says how many are tried.
#[test]
fn buffers_by_row_do_what_plain_ones_do() {
    let kernels = std::env::var("BUGAROO_KERNELS").ok().and_then(|many| many.parse().ok()).unwrap_or(150);
    let (mut delayed, mut longest) = (0, 0);
    for seed in 0..kernels {
        let text = kernel(&mut Rng::new(seed));
        for run in 0..2 {
            let seed = seed * 1000 + run;
            let [expected, found] = [true, false].map(|plain| outcome(&text, seed, plain));
            let differs = expected.trace.iter().zip(&found.trace).position(|(a, b)| a != b);
            if let Some(at) = differs {
                let from = at.saturating_sub(12);
                panic!(
                    "seed {seed}: hook {at} differs\n{text}\nbefore:\n{}\nexpected: {}\nfound:    {}",
                    found.trace[from..at].join("\n"),
                    expected.trace[at],
                    found.trace[at]
                );
            }
            assert_eq!(expected.counted, found.counted, "seed {seed}\n{text}");
            assert!(expected == found, "seed {seed}: memory differs\n{text}");
            delayed += found.trace.iter().filter(|line| line.starts_with("store")).count();
            longest = longest.max(found.trace.len());
        }
    }
    // The kernels do store, and some for long.
    assert!(delayed > 1000 && longest > 1000, "{delayed} {longest}");
}
