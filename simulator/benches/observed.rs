//! What it costs to look on: kernels alone, and with an observer that does nothing with what it is told.
//!
//! Prints milliseconds of processor time a launch, the median of several runs that take turns, and how many times as long it takes
//! observed. Run with `cargo bench -p bugaroo-simulator --bench observed`.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use bugaroo_semantics::event::{Access, Event};
use bugaroo_semantics::{Observer, Wants};
use bugaroo_simulator::{
    AllocationKind, DeviceConfig, End, Grid, LaunchSpec, LaunchWatch, Memory, Program, RandomScheduler,
};

const RUNS: u64 = 9;

/// Counts, so that nothing is left out.
#[derive(Default)]
struct Nobody {
    accesses: u64,
    events: u64,
}

impl Observer for Nobody {
    fn wants(&self) -> Wants {
        Wants { branches: true, sources: true, before: false }
    }

    fn access(&mut self, access: &Access<'_>) {
        self.accesses += u64::from(access.by.mask != 0);
    }

    fn event(&mut self, _event: &Event<'_>) {
        self.events += 1;
    }
}

/// A kernel `k(out)`, a loop of 64 turns around this.
fn text(body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 out)\n{{\n.reg .b64 %rd<8>;\n\
         .reg .b32 %r<16>;\n.reg .f32 %f<8>;\n.reg .pred %p<4>;\n.shared .align 4 .b8 tile[4096];\nld.param.u64 %rd0, [out];\n\
         mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmad.lo.u32 %r4, %r2, %r3, %r1;\n\
         mul.wide.u32 %rd1, %r4, 4;\nadd.u64 %rd1, %rd0, %rd1;\nmov.u32 %r5, tile;\nshl.b32 %r6, %r1, 2;\n\
         add.u32 %r5, %r5, %r6;\nmul.lo.u32 %r8, %r1, 36;\nand.b32 %r8, %r8, 4092;\nmul.wide.u32 %rd2, %r8, 1;\n\
         add.u64 %rd2, %rd0, %rd2;\nmov.u32 %r7, 64;\nmov.f32 %f1, 0f3f800000;\nLOOP:\n{body}\nsub.u32 %r7, %r7, 1;\n\
         setp.ne.u32 %p1, %r7, 0;\n@%p1 bra LOOP;\nst.global.f32 [%rd1], %f1;\nret;\n}}\n"
    )
}

/// Processor time of this thread, in milliseconds.
fn now() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is that of a local variable.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

fn main() {
    let arithmetic = "fma.rn.f32 %f1, %f1, %f1, %f1;\n".repeat(12);
    let kernels = [
        (
            "coalesced",
            "ld.global.f32 %f2, [%rd1];\nadd.f32 %f1, %f1, %f2;\nst.global.f32 [%rd1], %f1;".to_owned(),
        ),
        (
            "scattered",
            "ld.global.f32 %f2, [%rd2];\nadd.f32 %f1, %f1, %f2;\nst.global.f32 [%rd2], %f1;".to_owned(),
        ),
        ("counter", "red.global.add.u32 [%rd0], 1;".to_owned()),
        (
            "tile",
            format!(
                "ld.global.f32 %f2, [%rd1];\nst.shared.f32 [%r5], %f2;\nbar.sync 0;\nld.shared.f32 %f3, [%r5];\n{arithmetic}bar.sync 0;"
            ),
        ),
        ("arithmetic", arithmetic.clone()),
    ];
    for (name, body) in kernels {
        let module = bugaroo_ptx::parse(&text(&body)).expect("the bench's own PTX parses");
        let config = DeviceConfig::default();
        let mut memory = Memory::new(1 << 28).expect("address space");
        let program = Arc::new(Program::load(&module, &mut memory, &config).expect("it loads"));
        let out = memory.alloc(1 << 20, 256, AllocationKind::Program).expect("room");
        let mut times = [Vec::new(), Vec::new()];
        let mut told = (0, 0);
        for seed in 0..RUNS {
            for (watched, times) in [false, true].into_iter().zip(&mut times) {
                let observer = Rc::new(RefCell::new(Nobody::default()));
                let watch = LaunchWatch { observer: observer.clone(), grid: 1, first_site: 0 };
                let spec = LaunchSpec {
                    kernel: "k",
                    grid: [256, 1, 1],
                    block: [256, 1, 1],
                    dynamic_shared: 0,
                    params: &out.to_le_bytes(),
                    cluster: None,
                    step_budget: None,
                };
                let scheduler = Box::new(RandomScheduler::new(seed));
                let start = now();
                let watch = watched.then_some(watch);
                let grid =
                    Grid::with_model(Arc::clone(&program), &config, &spec, None, scheduler, None, watch);
                let mut grid = grid.expect("a legal launch");
                let end = grid.advance(&mut memory, u64::MAX);
                times.push(now() - start);
                assert_eq!(end, Some(End::Complete));
                let observer = observer.borrow();
                told = (observer.accesses, observer.events);
            }
        }
        let median = times.map(|mut times| {
            times.sort_by(f64::total_cmp);
            times[times.len() / 2]
        });
        println!(
            "{name:10}: {:8.2} ms, observed {:8.2} ms ({:.2} times; {} accesses, {} events)",
            median[0],
            median[1],
            median[1] / median[0],
            told.0,
            told.1
        );
    }
}
