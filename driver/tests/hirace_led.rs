//! Accesses that go by an earlier one of their basic block count as done when that one is: the same elements race, and whether
//! the engine tells of them one by one is the same.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use bugaroo_detectors::{Hirace, RaceDetector, RaceFinding};
use bugaroo_semantics::event::{Access, Event};
use bugaroo_semantics::{Both, Observer, Spares, Wants};
use bugaroo_simulator::{
    AllocationKind, DeviceConfig, End, Grid, LaunchSpec, LaunchWatch, Memory, Program, RandomScheduler,
};

use crate::logging_support::random;

struct Kernel {
    memory: Memory,
    program: Arc<Program>,
    out: u64,
}

impl Kernel {
    fn new(source: &str) -> Kernel {
        let module = bugaroo_ptx::parse(source).expect("a generated kernel parses");
        let mut memory = Memory::new(1 << 28).expect("room");
        let program = Program::load(&module, &mut memory, &DeviceConfig::default());
        let program = Arc::new(program.unwrap_or_else(|error| panic!("{error:?}\n{source}")));
        let out = memory.alloc(1 << 16, 256, AllocationKind::Program).expect("room");
        Kernel { memory, program, out }
    }

    /// Accesses that go by others.
    fn led(&self) -> usize {
        self.program.roles().iter().filter(|role| role.led_by.is_some()).count()
    }

    /// A detector that goes by leaders, or by each access alone.
    fn detector(&self, by_leaders: bool) -> Rc<RefCell<Hirace>> {
        let mut roles = self.program.roles();
        if !by_leaders {
            roles.iter_mut().for_each(|role| role.led_by = None);
        }
        let mut detector = Hirace::default();
        detector.learn_program(0, &roles);
        Rc::new(RefCell::new(detector))
    }

    fn run(&mut self, seed: u64, lockstep: bool, observer: Rc<RefCell<dyn Observer>>) {
        let params = self.out.to_le_bytes();
        let spec = LaunchSpec {
            kernel: "k",
            grid: [2, 1, 1],
            block: [96, 1, 1],
            dynamic_shared: 0,
            params: &params,
            cluster: None,
            step_budget: Some(50_000_000),
        };
        let config = DeviceConfig { lockstep, ..DeviceConfig::default() };
        let scheduler = Box::new(RandomScheduler::new(seed));
        let watch = Some(LaunchWatch { observer, grid: 1, first_site: 0 });
        let grid = Grid::with_model(self.program.clone(), &config, &spec, None, scheduler, None, watch);
        let end = grid.expect("a legal launch").advance(&mut self.memory, u64::MAX);
        assert_eq!(end, Some(End::Complete));
    }
}

/// Who is told of everything but what is spared here.
struct Told(Rc<RefCell<Hirace>>, Spares);

impl Observer for Told {
    fn wants(&self) -> Wants {
        self.0.borrow().wants()
    }

    fn spares(&self) -> Spares {
        self.1
    }

    fn access(&mut self, access: &Access<'_>) {
        self.0.borrow_mut().access(access);
    }

    fn event(&mut self, event: &Event<'_>) {
        self.0.borrow_mut().event(event);
    }
}

fn findings(detector: &RefCell<Hirace>) -> Vec<RaceFinding> {
    detector.borrow_mut().take_findings()
}

/// An element races once: it stays in that state.
fn racing(findings: &[RaceFinding]) -> u64 {
    findings.iter().map(|finding| finding.count).sum()
}

fn compare(source: &str, seed: u64, lockstep: bool) -> (usize, u64) {
    let mut kernel = Kernel::new(source);
    let (by_leaders, one_by_one) = (kernel.detector(true), kernel.detector(false));
    let both = Both(by_leaders.clone(), Rc::new(RefCell::new(Told(one_by_one.clone(), Spares::default()))));
    kernel.run(seed, lockstep, Rc::new(RefCell::new(both)));
    let (by_leaders, one_by_one) = (findings(&by_leaders), findings(&one_by_one));
    let what = format!("seed {seed}, lockstep {lockstep}\n{source}\n{by_leaders:#?}\n{one_by_one:#?}");
    assert_eq!(racing(&by_leaders), racing(&one_by_one), "{what}");
    // The engine does not tell of them at all where nobody else looks on, nor of what is covered or overwritten. (It tells of loads
    // of what nobody writes: strong ones are atomics here, which race with other loads.)
    let mut kernel = Kernel::new(source);
    let alone = kernel.detector(true);
    let spares = Spares { unwritten: false, ..alone.borrow().spares() };
    kernel.run(seed, lockstep, Rc::new(RefCell::new(Told(alone.clone(), spares))));
    assert_eq!(racing(&findings(&alone)), racing(&by_leaders), "{what}");
    (kernel.led(), racing(&by_leaders))
}

#[test]
fn random_kernels_race_in_the_same_elements() {
    let (mut led, mut raced) = (0, 0);
    for seed in 0..300 {
        let (some, found) = compare(&random::kernel(seed), seed, seed % 5 == 0);
        led += some;
        raced += found;
    }
    assert!(led > 0 && raced > 10_000, "{led} led accesses, {raced} elements");
}

/// Rows and columns of a tile, as compilers unroll loops: many accesses by one register, reads and writes in turn, before barriers and
/// behind them, with a register that changes on the way.
fn unrolled(seed: u64) -> String {
    let mut numbers = random::Numbers(seed ^ 0x1ed);
    let mut body = String::new();
    for _ in 0..3 + numbers.next(5) {
        let bases = ["%r4", "%r9", "%rd1", "%rd0", "%rd3"];
        for _ in 0..1 + numbers.next(12) {
            let base = bases[numbers.next(5) as usize];
            let (space, step) =
                (if base.starts_with("%rd") { "global" } else { "shared" }, 4 << numbers.next(5));
            let at = step * numbers.next(12);
            let guard = if numbers.next(9) == 0 { "@%p1 " } else { "" };
            // In some kernels threads only write to places of their own.
            let what = numbers.next(12);
            body += &match if seed % 4 == 3 && (7..=8).contains(&what) { 12 } else { what } {
                0..=6 => format!("{guard}ld.{space}.u32 %r5, [{base}+{at}];\n"),
                7 | 8 => format!("{guard}st.{space}.u32 [{base}+{at}], %r1;\n"),
                9 => format!("ld.{space}.v2.u32 {{%r5, %r6}}, [{base}+{}];\n", at / 8 * 8),
                12 => format!("st.global.u32 [%rd2+{}], %r1;\n", at % 8),
                10 => format!("add.u32 %r9, %r9, {};\n", 64 * numbers.next(4)),
                11 if seed % 4 != 3 => format!("atom.{space}.add.u32 %r5, [{base}+{at}], 1;\n"),
                _ => String::new(),
            };
        }
        body += ["bar.sync 0;\n", "bar.sync 0;\n", "bar.warp.sync -1;\n", ""][numbers.next(4) as usize];
    }
    format!(
        ".version 8.4\n.target sm_80\n.address_size 64\n\
         .visible .entry k(.param .u64 out)\n{{\n.reg .b64 %rd<8>;\n.reg .b32 %r<16>;\n.reg .pred %p<4>;\n\
         .shared .align 16 .b8 values[16384];\nld.param.u64 %rd0, [out];\nmov.u32 %r1, %tid.x;\nand.b32 %r2, %r1, 15;\n\
         shr.u32 %r3, %r1, 4;\nmul.wide.u32 %rd1, %r1, 8;\nadd.u64 %rd1, %rd0, %rd1;\nmul.wide.u32 %rd3, %r3, 64;\n\
         add.u64 %rd3, %rd0, %rd3;\nmov.u32 %r4, values;\nshl.b32 %r9, %r2, 3;\nadd.u32 %r9, %r4, %r9;\nshl.b32 %r8, %r3, 6;\n\
         add.u32 %r4, %r4, %r8;\nsetp.lt.u32 %p1, %r2, 9;\n\
         mov.u32 %r10, %ctaid.x;\nmad.lo.u32 %r10, %r10, 96, %r1;\nmul.wide.u32 %rd2, %r10, 8;\nadd.u64 %rd2, %rd0, %rd2;\n\
         add.u64 %rd2, %rd2, 32768;\n{body}ret;\n}}\n"
    )
}

#[test]
fn unrolled_loops_race_in_the_same_elements() {
    let (mut led, mut raced, mut clean) = (0, 0, 0);
    for seed in 0..400 {
        let (some, found) = compare(&unrolled(seed), seed, seed % 5 == 0);
        led += some;
        raced += found;
        clean += u32::from(found == 0);
    }
    assert!(
        led > 2000 && raced > 10_000 && clean > 80,
        "{led} led accesses, {raced} elements, {clean} clean"
    );
}
