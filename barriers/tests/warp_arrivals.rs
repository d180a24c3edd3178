//! How warps arrive at named barriers: the virtual GPU, the verifier and the exploration of all interleavings agree on random
//! programs with counts, subsets, early exits, arrivals and divergence. `BUGAROO_PROGRAMS` sets how many.

use std::collections::BTreeMap;

use crate::arrivals::explore::{Everything, explore};
use crate::arrivals::generate::{Random, program};
use crate::arrivals::{Cta, Line, What};

use bugaroo_barriers::emulate::{KernelOptions, KernelText};
use bugaroo_barriers::findings::{KernelFindings, verify};
use bugaroo_simulator::{
    DeviceConfig, End, LaunchSpec, Memory, PctScheduler, Program, RandomScheduler, SchedulerStrategy,
    StopKind, launch,
};

const STATES: usize = 100_000;
const SCHEDULES: u64 = 6;

/// How a launch ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Completes,
    Deadlocks,
    Misuse,
}

fn outcomes(cta: &Cta, ptx: &str, seed: u64) -> Vec<Outcome> {
    let module = bugaroo_ptx::parse(ptx).unwrap();
    let config = DeviceConfig::default();
    let mut memory = Memory::new(1 << 26).unwrap();
    let program = Program::load(&module, &mut memory, &config).unwrap();
    let spec = LaunchSpec {
        kernel: "k",
        grid: [1, 1, 1],
        block: [cta.threads, 1, 1],
        dynamic_shared: 0,
        cluster: None,
        params: &[],
        step_budget: Some(100_000),
    };
    let run = |schedule: u64| {
        let seed = seed * SCHEDULES + schedule;
        let mut random = RandomScheduler::new(seed);
        let mut pct = PctScheduler::new(seed, 3, Some(200));
        let scheduler: &mut dyn SchedulerStrategy =
            if schedule.is_multiple_of(2) { &mut random } else { &mut pct };
        match launch(&program, &mut memory, &config, &spec, scheduler).unwrap().end {
            End::Complete => Outcome::Completes,
            End::Deadlock(_) => Outcome::Deadlocks,
            End::Fault(fault) => match fault.kind {
                StopKind::BadBarrier { .. } | StopKind::BarrierDivergence { .. } => Outcome::Misuse,
                other => panic!("{other:?}: {ptx}"),
            },
            End::StepBudget(_) => panic!("no end: {ptx}"),
        }
    };
    (0..SCHEDULES).map(run).collect()
}

fn verified(cta: &Cta, ptx: &str) -> KernelFindings {
    let text = KernelText::new(ptx).unwrap();
    let options = KernelOptions { block: Some([cta.threads, 1, 1]), ..KernelOptions::default() };
    verify(&text, "k", &options).unwrap().findings
}

/// Compares all three, and answers the verifier's verdict.
fn compare(cta: &Cta, seed: u64) -> Option<(&'static str, Everything)> {
    let everything = explore(cta, STATES)?;
    let ptx = cta.ptx();
    let findings = verified(cta, &ptx);
    let context = || format!("seed {seed}: {}: {cta:x?}\n{everything:?}\n{findings:?}", findings.verdict);
    for outcome in outcomes(cta, &ptx, seed) {
        let possible = match outcome {
            Outcome::Completes => everything.completes,
            Outcome::Deadlocks => everything.deadlocks,
            Outcome::Misuse => everything.misuse,
        };
        assert!(possible, "{outcome:?}, {}", context());
    }
    match findings.verdict {
        "verified" => assert!(everything.well_synchronised(), "{}", context()),
        "deadlock" => {
            assert!(everything.deadlocks, "{}", context());
            let waiting = &findings.deadlock.as_ref().unwrap().waiting;
            assert!(!waiting.is_empty() && waiting.iter().all(|w| w.arrived < w.expected), "{}", context());
        }
        "misuse" | "illegal" => assert!(everything.misuse, "{}", context()),
        "unsafe-recycling" => {
            let unlike_time = everything.by_exit || everything.twice;
            assert!(unlike_time || !everything.well_synchronised(), "{}", context());
        }
        _ => panic!("{}", context()),
    }
    Some((findings.verdict, everything))
}

#[test]
fn random_programs() {
    let programs = std::env::var("BUGAROO_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(4000);
    let mut verdicts: BTreeMap<&str, u64> = BTreeMap::new();
    let (mut compared, mut decided, mut in_parts) = (0, 0, 0);
    for seed in 0..programs {
        let cta = program(&mut Random(seed));
        let Some((verdict, everything)) = compare(&cta, seed) else { continue };
        compared += 1;
        *verdicts.entry(verdict).or_default() += 1;
        let ends = [everything.completes, everything.deadlocks, everything.misuse];
        decided += u64::from(ends.iter().filter(|end| **end).count() == 1);
        in_parts +=
            u64::from(cta.warps.iter().enumerate().any(|(w, l)| l.iter().any(|l| l.lanes != cta.lanes(w))));
    }
    println!(
        "{compared} of {programs} compared, {decided} of them with one end, {in_parts} with warps in parts: {verdicts:?}"
    );
    assert!(compared * 100 >= programs * 99, "{compared}");
    for (verdict, percent) in
        [("verified", 20), ("deadlock", 7), ("misuse", 2), ("illegal", 1), ("unsafe-recycling", 5)]
    {
        let share = verdicts.get(verdict).copied().unwrap_or(0);
        assert!(share * 100 >= programs * percent, "{verdict}: {verdicts:?}");
    }
    assert!(in_parts * 2 > programs, "{in_parts}");
}

const ALL: u32 = !0;

fn at(lanes: u32, id: usize, count: u32, waits: bool) -> Line {
    Line { lanes, what: What::Barrier { id, count: Some(count), waits, aligned: false } }
}

fn exit(lanes: u32) -> Line {
    Line { lanes, what: What::Exit }
}

fn check(threads: u32, warps: Vec<Vec<Line>>, verdict: &str) -> KernelFindings {
    let cta = Cta { threads, warps };
    let (found, everything) = compare(&cta, 0).unwrap();
    assert_eq!(found, verdict, "{everything:?}");
    verified(&cta, &cta.ptx())
}

#[test]
fn lanes_that_arrive_and_exit_count_once() {
    // 20 lanes of each producer arrive and are gone before the others come.
    let producer = vec![at(0xf_ffff, 1, 96, false), exit(0xf_ffff), at(!0xf_ffff, 1, 96, false)];
    check(96, vec![producer.clone(), producer, vec![at(ALL, 1, 96, true)]], "verified");
}

#[test]
fn lanes_that_have_exited_are_not_waited_for() {
    let producer = vec![exit(0xffff_0000), at(0xffff, 1, 64, false)];
    check(64, vec![producer, vec![at(ALL, 1, 64, true)]], "verified");
    // They exit without coming while others of their warp are there.
    let producer = vec![at(0xffff, 1, 64, true), exit(0xffff_0000)];
    check(64, vec![producer, vec![at(ALL, 1, 64, true)]], "verified");
}

#[test]
fn a_small_last_warp_counts_as_a_whole_one() {
    let last = vec![at(0b111, 1, 64, false), at(0xf8, 1, 64, false)];
    check(40, vec![vec![at(ALL, 1, 64, true)], last], "verified");
}

#[test]
fn two_parts_of_a_warp_are_one_arrival() {
    let mixed = vec![at(0xff, 1, 64, true), at(!0xff, 1, 64, false)];
    check(64, vec![mixed.clone(), vec![at(ALL, 1, 64, true)]], "verified");
    // Not two: the count of 96 is not reached.
    check(
        64,
        vec![mixed.iter().map(|l| at(l.lanes, 1, 96, true)).collect(), vec![at(ALL, 1, 96, true)]],
        "deadlock",
    );
}

#[test]
fn lanes_of_a_warp_at_different_barriers_wait_for_ever() {
    let parted = vec![at(0xff, 1, 64, true), at(!0xff, 2, 64, true)];
    let other = vec![at(ALL, 1, 64, true), at(ALL, 2, 64, true)];
    let found = check(64, vec![parted, other], "deadlock");
    let deadlock = found.deadlock.unwrap();
    let in_warp: Vec<(bool, u32, u32)> =
        deadlock.waiting.iter().map(|w| (w.in_warp, w.arrived, w.expected)).collect();
    assert_eq!(in_warp, [(true, 8, 32), (true, 24, 32), (false, 32, 64)]);
    // The two parts wait for each other.
    assert_eq!(deadlock.cycle, [0, 1]);
    // So they do where the first has only to arrive, before it goes on to the second.
    let parted =
        vec![at(0xff, 1, 64, false), at(!0xff, 2, 64, true), at(0xff, 2, 64, true), at(!0xff, 1, 64, false)];
    check(64, vec![parted, vec![at(ALL, 1, 64, true), at(ALL, 2, 64, true)]], "deadlock");
}
