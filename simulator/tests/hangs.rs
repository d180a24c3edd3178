//! Launches of `tests/kernels/hangs.cu` that go on for ever are told as that, with what their threads read, and none of those
//! that end is: under every memory model and both schedulers.

use std::sync::{Arc, LazyLock};

use bugaroo_injector::collect_sites::collect_sites;
use bugaroo_ptx::ast::Module;
use bugaroo_simulator::model::ptx::{self, PtxModel};
use bugaroo_simulator::model::store_buffer::{Sites, StoreBuffer, StoreBufferSettings};
use bugaroo_simulator::{
    AllocationKind, DeviceConfig, End, LaunchDiagnosis, LaunchSpec, Memory, MemoryModel, PctScheduler,
    Program, RandomScheduler, SchedulerStrategy, SpunOnWrite, launch_with,
};

static MODULE: LazyLock<Module> =
    LazyLock::new(|| bugaroo_ptx::parse(include_str!("kernels/hangs.ptx")).expect("nvcc's PTX parses"));

#[derive(Clone, Copy, Debug, PartialEq)]
enum Model {
    None,
    StoreBuffer,
    Ptx,
}

const MODELS: [Model; 3] = [Model::None, Model::StoreBuffer, Model::Ptx];

#[derive(Clone)]
struct Case {
    model: Model,
    pct: bool,
    seed: u64,
    config: DeviceConfig,
    budget: Option<u64>,
    n: u32,
}

impl Default for Case {
    fn default() -> Self {
        let config = DeviceConfig::default();
        Case { model: Model::None, pct: false, seed: 0, config, budget: Some(400_000_000), n: 3000 }
    }
}

/// How a launch ends, after how many instructions.
fn run(kernel: &str, (grid, block): (u32, u32), case: &Case) -> (End, u64) {
    let mut memory = Memory::new(1 << 28).expect("address space");
    let program = Program::load(&MODULE, &mut memory, &case.config).expect("it loads");
    let [a, b] = [0, 1].map(|_| memory.alloc(4096, 256, AllocationKind::Program).expect("room"));
    let mut params: Vec<u8> = [a, b].into_iter().flat_map(u64::to_le_bytes).collect();
    params.extend(case.n.to_le_bytes());
    let spec = LaunchSpec {
        kernel,
        grid: [grid, 1, 1],
        block: [block, 1, 1],
        dynamic_shared: 0,
        params: &params,
        cluster: None,
        step_budget: case.budget,
    };
    let (pw, seed) = ([0.75; 2], (case.seed, 0));
    let table = collect_sites(&MODULE);
    let model: Option<Box<dyn MemoryModel>> = match case.model {
        Model::None => None,
        Model::StoreBuffer => {
            let settings = StoreBufferSettings { pw, seed, capacity: 256 };
            Some(Box::new(StoreBuffer::new(&settings, Arc::new(Sites::new(&program, &table)))))
        }
        Model::Ptx => {
            let settings = ptx::PtxSettings { pw, pr: [0.5; 2], seed, memory: 1 << 30 };
            Some(Box::new(PtxModel::new(&settings, Arc::new(ptx::Facts::new(&program)))))
        }
    };
    let mut scheduler: Box<dyn SchedulerStrategy> = match case.pct {
        true => Box::new(PctScheduler::new(case.seed, 3, None)),
        false => Box::new(RandomScheduler::new(case.seed)),
    };
    let result = launch_with(&program, &mut memory, &case.config, &spec, &mut *scheduler, model);
    let (result, _) = result.expect("a legal launch");
    (result.end, result.counts.warp_instructions)
}

fn every(seeds: u64, mut f: impl FnMut(&Case)) {
    for model in MODELS {
        for pct in [false, true] {
            (0..seeds).for_each(|seed| f(&Case { model, pct, seed, ..Case::default() }));
        }
    }
}

/// It is a deadlock by its state, in every case, and soon.
fn hangs(kernel: &str, shape: (u32, u32), check: impl Fn(&LaunchDiagnosis)) {
    every(3, |case| {
        let (end, instructions) = run(kernel, shape, case);
        let of = format!("{kernel} {:?} pct {} seed {}", case.model, case.pct, case.seed);
        let End::Deadlock(diagnosis) = end else { panic!("{of}: {end:?}") };
        assert!(diagnosis.spinning, "{of}: {diagnosis}");
        assert!(instructions < 10_000_000, "{of}: {instructions} instructions");
        check(&diagnosis);
    });
}

/// Some thread reads `value` by an instruction with this text, and `last` is true of who wrote it.
fn reads(diagnosis: &LaunchDiagnosis, text: &str, value: u64, last: impl Fn(&SpunOnWrite) -> bool) {
    let found = diagnosis.spins.iter().any(|spin| {
        spin.place.instruction.contains(text)
            && spin.place.source.iter().any(|at| at.file.ends_with("hangs.cu"))
            && spin.value == value
            && last(&spin.last)
    });
    assert!(found, "no `{text}` that reads {value}: {diagnosis}");
}

fn nobody(last: &SpunOnWrite) -> bool {
    *last == SpunOnWrite::Nobody
}

#[test]
fn one_thread_waits_for_a_flag_that_nobody_sets() {
    hangs("flag_volatile", (1, 1), |d| reads(d, "ld.volatile", 0, nobody));
    hangs("flag_atomic", (1, 1), |d| reads(d, "atom", 0, nobody));
    hangs("flag_acquire", (1, 1), |d| reads(d, "ld.acquire", 0, nobody));
    hangs("flag_weak", (1, 1), |d| reads(d, "ld.global", 0, nobody));
    hangs("flag_shared", (1, 1), |d| {
        reads(d, "ld.volatile.shared", 0, |last| matches!(last, SpunOnWrite::Thread { .. }));
    });
}

#[test]
fn many_threads_wait_for_a_flag_that_nobody_sets() {
    hangs("flag_volatile", (40, 96), |d| {
        reads(d, "ld.volatile", 0, nobody);
        assert_eq!(d.spins[0].threads, 40 * 96);
    });
    hangs("flag_atomic", (8, 64), |d| reads(d, "atom", 0, nobody));
    hangs("flag_shared", (8, 64), |_| {});
}

#[test]
fn two_blocks_wait_for_each_other() {
    hangs("each_other", (2, 1), |d| assert_eq!(d.spins.len(), 2, "{d}"));
}

#[test]
fn a_lock_that_nobody_gives_back_is_told_with_who_has_it() {
    let taken = |last: &SpunOnWrite| match last {
        SpunOnWrite::Thread { place, .. } => place.instruction.contains("atom"),
        _ => false,
    };
    hangs("lock_kept", (2, 48), |d| reads(d, "atom", 1, taken));
    hangs("lock_kept_exchange", (2, 48), |d| reads(d, "atom", 1, taken));
    hangs("called", (2, 40), |d| reads(d, "atom", 1, taken));
    hangs("ticket_kept", (2, 8), |d| {
        reads(d, "ld.volatile", 3, |last| matches!(last, SpunOnWrite::Thread { .. }));
    });
}

#[test]
fn a_grid_barrier_without_all_blocks_hangs_with_blocks_that_have_not_started() {
    every(2, |case| {
        let config = DeviceConfig { sm_count: 1, blocks_per_sm: 4, ..DeviceConfig::default() };
        let case = Case { config, ..case.clone() };
        let (end, _) = run("grid_barrier", (6, 64), &case);
        let End::Deadlock(diagnosis) = end else { panic!("{end:?}") };
        assert_eq!(diagnosis.blocks_pending, 2);
        reads(&diagnosis, "ld.volatile", 4, |last| matches!(last, SpunOnWrite::Thread { .. }));
        assert!(diagnosis.to_string().contains("wait at barrier 0"), "{diagnosis}");
    });
}

#[test]
fn spinning_beside_and_within_barriers_is_told() {
    hangs("round_barrier", (2, 96), |d| reads(d, "ld.volatile.global", 0, nobody));
    hangs("warp_barrier", (1, 32), |d| {
        reads(d, "ld.volatile", 0, nobody);
        assert!(d.to_string().contains("wait for lanes"), "{d}");
    });
    hangs("shuffled", (2, 32), |d| reads(d, "ld.volatile", 0, nobody));
    hangs("sleeper", (2, 33), |d| reads(d, "ld.volatile", 0, nobody));
}

#[test]
fn a_store_that_may_be_late_for_ever_hangs_its_reader_in_injected_trials_only() {
    for seed in 0..20 {
        assert_eq!(run("no_fence", (2, 1), &Case { seed, ..Case::default() }).0, End::Complete);
    }
    let mut hung = 0;
    for seed in 0..20 {
        let case = Case { seed, model: Model::StoreBuffer, ..Case::default() };
        match run("no_fence", (2, 1), &case).0 {
            End::Complete => {}
            End::Deadlock(diagnosis) => {
                hung += 1;
                let held = |last: &SpunOnWrite| matches!(last, SpunOnWrite::Thread { held: true, .. });
                reads(&diagnosis, "ld.volatile", 0, held);
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(hung > 5, "{hung} of 20");
}

#[test]
fn what_cannot_be_proven_ends_by_its_budget_or_when_patience_does_with_the_same_report() {
    for kernel in ["counting", "timed"] {
        every(1, |case| {
            let (end, _) = run(kernel, (2, 33), &Case { budget: Some(300_000), ..case.clone() });
            let End::StepBudget(diagnosis) = end else { panic!("{kernel}: {end:?}") };
            assert!(!diagnosis.spinning);
            reads(&diagnosis, "ld.volatile", 0, nobody);
            let config = DeviceConfig { patience: Some(1 << 22), ..DeviceConfig::default() };
            let (end, instructions) = run(kernel, (2, 33), &Case { budget: None, config, ..case.clone() });
            let End::StepBudget(diagnosis) = end else { panic!("{kernel}: {end:?}") };
            reads(&diagnosis, "ld.volatile", 0, nobody);
            assert!(instructions < 1 << 24, "{instructions}");
        });
    }
}

#[test]
fn a_launch_is_the_same_however_often_it_hangs() {
    let case = Case { model: Model::StoreBuffer, ..Case::default() };
    assert_eq!(run("each_other", (2, 40), &case), run("each_other", (2, 40), &case));
}

const GOOD: [(&str, (u32, u32)); 20] = [
    ("good_late_flag", (4, 32)),
    ("good_late_lane", (1, 32)),
    ("good_gives_up", (4, 64)),
    ("good_gives_up_shared", (2, 64)),
    ("good_gives_up_local", (2, 40)),
    ("good_gives_up_pair", (2, 64)),
    ("good_timeout", (2, 40)),
    ("good_global_timer", (2, 40)),
    ("good_lock", (2, 40)),
    ("good_lock_slow", (2, 20)),
    ("good_ticket", (2, 8)),
    ("good_cas_loop", (3, 20)),
    ("good_grid_barrier", (6, 64)),
    ("good_chain", (10, 32)),
    ("good_round_barrier", (3, 64)),
    ("good_rewritten", (3, 32)),
    ("good_ball", (3, 1)),
    ("good_shuffled", (3, 32)),
    ("good_called", (2, 8)),
    ("good_warp_rounds", (3, 32)),
];

#[test]
fn what_spins_long_and_ends_is_never_told() {
    every(2, |case| {
        for (kernel, shape) in GOOD.into_iter().chain([("good_fenced", (2, 1))]) {
            let (end, instructions) = run(kernel, shape, case);
            let of = format!("{kernel} {:?} pct {} seed {}", case.model, case.pct, case.seed);
            assert_eq!(end, End::Complete, "{of}, {instructions} instructions");
        }
    });
}

/// Lanes of a warp that spin on a lock do not keep the one that has it from giving it back. (Before fragments took turns: 7.9
/// million instructions.)
#[test]
fn lanes_that_spin_let_the_one_go_on_that_they_wait_for() {
    every(2, |case| {
        let (end, instructions) = run("good_lock", (2, 40), case);
        assert_eq!(end, End::Complete);
        assert!(instructions < 10_000_000, "{instructions} instructions, {:?}, pct {}", case.model, case.pct);
    });
}
