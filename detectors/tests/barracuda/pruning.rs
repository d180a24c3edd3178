//! Accesses that need no look: with and without them the same words race.

use std::collections::BTreeSet;

use bugaroo_detectors::{RaceDetector, RacingKind as Found};
use bugaroo_semantics::inferred::{AccessedOperand, Order, Reach, Role, Step, What, Writes, roles};

use crate::run::Run;
use crate::support::Random;
use crate::support::{At, Size};
use crate::trace::{Access, Kind, Op};

/// A straight piece of program, each step with what it does to registers.
fn program(random: &mut Random) -> Vec<Step<'static>> {
    const REGISTERS: [&[u32]; 3] = [&[0], &[1], &[2]];
    let count = 6 + random.below(14);
    (0..count)
        .map(|_| {
            let register = random.below(3) as u32;
            let operand = AccessedOperand {
                register: Some(register),
                offset: random.below(2) * 4,
                space: 1,
                size: 4,
                elements: 1,
            };
            let mut step = Step {
                what: What::Other,
                order: Order::Weak,
                guard: None,
                operand: None,
                writes: Writes::These(&[]),
                begins_block: false,
            };
            match random.below(12) {
                0 => step.writes = Writes::These(REGISTERS[register as usize]),
                1 => step.what = What::Stop,
                2 => step.what = What::Fence { reach: Reach::Grid, acquire: true, release: true },
                3..=6 => (step.what, step.operand) = (What::Store, Some(operand)),
                _ => (step.what, step.operand) = (What::Load, Some(operand)),
            }
            step
        })
        .collect()
}

/// Each thread is a warp of its own, and they take turns.
fn words(steps: &[Step<'_>], roles: &[Role], seed: u64) -> (BTreeSet<u64>, u64) {
    let size = Size { blocks: 4, threads: 1 };
    let mut random = Random(seed);
    let mut run = Run::new(size, roles.to_vec());
    let (mut at, mut racing, mut skipped) = ([0; 4], BTreeSet::new(), 0);
    let mut registers = [[0; 3]; 4];
    registers.iter_mut().flatten().for_each(|register| *register = random.below(4) * 8);
    while at.iter().any(|at| *at < steps.len()) {
        let warp = random.below(4) as usize;
        let Some(step) = steps.get(at[warp]) else { continue };
        if let Writes::These(&[register]) = step.writes {
            registers[warp][register as usize] = random.below(4) * 8;
        }
        let kind = if step.what == What::Load { Kind::Read } else { Kind::Write };
        if let Some(AccessedOperand { register: Some(register), offset, .. }) = step.operand {
            let role = roles[at[warp]];
            skipped += u64::from(role.covered);
            let access = Access {
                kind,
                lanes: 1,
                shared: false,
                size: 4,
                elements: 1,
                at: At::Consecutive(0x1000 + registers[warp][register as usize] + offset),
                values: Box::new([0; 32]),
                role,
            };
            run.access(at[warp] as u32, warp as u32, &access);
            racing.extend(run.detector.take_findings().iter().map(|found| found.address / 4));
        }
        at[warp] += 1;
    }
    (racing, skipped)
}

#[test]
fn the_same_words_race_without_the_accesses_that_are_covered() {
    let (mut racy, mut clean, mut skipped) = (0, 0, 0);
    for seed in 0..20_000 {
        let steps = program(&mut Random(seed));
        let pruned = roles(&steps);
        let whole: Vec<Role> = pruned.iter().map(|role| Role { covered: false, ..*role }).collect();
        let (some, skips) = words(&steps, &pruned, seed);
        let (all, _) = words(&steps, &whole, seed);
        assert_eq!(some, all, "seed {seed}: {steps:?}");
        skipped += skips;
        racy += u64::from(!all.is_empty());
        clean += u64::from(all.is_empty());
    }
    println!("{racy} programs race, {clean} do not; {skipped} accesses skipped");
    assert!(racy > 1000 && clean > 100 && skipped > 10_000, "{racy} {clean} {skipped}");
}

#[test]
fn a_covered_store_of_lanes_to_one_place_is_looked_at() {
    let size = Size { blocks: 1, threads: 32 };
    let covered = Role { covered: true, ..Role::default() };
    let store = |values: [u64; 32], role| {
        let at = At::Same(0x1000);
        let values = Box::new(values);
        Op::Access(
            0,
            Access { kind: Kind::Write, lanes: 3, shared: false, size: 4, elements: 1, at, values, role },
        )
    };
    let same = store([1; 32], Role::default());
    let different = store(std::array::from_fn(|lane| lane as u64), covered);
    let mut run = Run::all(size, &[same, different]);
    let found = run.findings();
    assert!(matches!(&found[..], [one] if one.kind == Found::Race), "{found:?}");
}
