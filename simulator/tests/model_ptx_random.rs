//! Random small programs on the PTX machine: every final state that it shows is one that the axioms allow, as an
//! independent check of all candidate executions finds.
//!
//! `BUGAROO_RANDOM_PROGRAMS` sets how many (default 1,500).

use crate::model_ptx::axioms::allowed;
use crate::model_ptx::{Draw, Op, Test, run};
use bugaroo_ptx::op::FenceKind;
use bugaroo_simulator::Rng;
use bugaroo_simulator::model::ptx::{AtomicOrder, Chances, Strength};

impl Draw {
    fn strength(&mut self) -> (Strength, bool) {
        match self.below(3) {
            0 => (Strength::Weak, false),
            1 => (Strength::Strong(self.scope()), false),
            _ => (Strength::Strong(self.scope()), true),
        }
    }

    /// A program of two to four threads and at most eight accesses. Values are all different.
    fn program(&mut self, number: usize) -> Test {
        let threads = 2 + self.below(3);
        let locations = 1 + self.below(3);
        let mut test = Test { name: format!("random {number}"), ..Test::default() };
        test.locations = (0..locations).map(|index| (format!("l{index}"), 0)).collect();
        let ctas = self.below(3) as u32;
        let barriers = self.below(6) == 0;
        let fences = self.below(3);
        let mut accesses = 3 + self.below(5);
        test.threads = (0..threads).map(|thread| (thread as u32 % (ctas + 1), Vec::new())).collect();
        let (mut value, mut registers, mut atomics) = (0, vec![0; threads], 0);
        while accesses > 0 {
            let thread = self.below(threads);
            let location = self.below(locations);
            accesses -= 1;
            let kind = self.below(8);
            value += 1;
            let (strength, ordered) = self.strength();
            let op = if kind < 3 || registers[thread] == 4 {
                Op::Store { location, value, strength, release: ordered }
            } else {
                let register = registers[thread];
                registers[thread] += 1;
                if kind == 7 && atomics < 3 {
                    atomics += 1;
                    let order = AtomicOrder {
                        scope: self.scope(),
                        acquire: self.below(3) == 0,
                        release: self.below(3) == 0,
                    };
                    Op::Atomic {
                        register,
                        location,
                        operand: value * 16,
                        exchange: self.below(2) == 0,
                        order,
                    }
                } else {
                    Op::Load { register, location, strength, acquire: ordered }
                }
            };
            let ops = &mut test.threads[thread].1;
            if !ops.is_empty() && self.below(3) < fences {
                let kinds =
                    [FenceKind::Sc, FenceKind::Sc, FenceKind::AcqRel, FenceKind::Acquire, FenceKind::Release];
                let kind = kinds[self.below(5)];
                ops.push(Op::Fence { scope: self.scope(), kind });
            }
            test.threads[thread].1.push(op);
        }
        if barriers {
            // One barrier for all threads of the first CTA.
            for (cta, ops) in &mut test.threads {
                if *cta == 0 {
                    let place = self.below(ops.len() + 1);
                    ops.insert(place, Op::Barrier);
                }
            }
        }
        test
    }
}

#[test]
fn whatever_the_machine_shows_the_axioms_allow() {
    let programs: usize =
        std::env::var("BUGAROO_RANDOM_PROGRAMS").ok().and_then(|value| value.parse().ok()).unwrap_or(1_500);
    let seed = std::env::var("BUGAROO_RANDOM_SEED").ok().and_then(|value| value.parse().ok()).unwrap_or(7);
    let mut draw = Draw(Rng::new(seed));
    let (mut shown, mut of) = (0, 0);
    for number in 0..programs {
        let test = draw.program(number);
        let allowed = allowed(&test);
        let mut seen = std::collections::BTreeSet::new();
        for trial in 0..400 {
            let chances = Chances::new([0.5, 0.75][trial % 2], [0.5, 0.75, 0.3][trial % 3]);
            let state = run(&test, chances, &mut draw.0);
            assert!(allowed.contains(&state), "{test:#?}\nends in {state:?}, which is forbidden");
            seen.insert(state);
        }
        shown += seen.len();
        of += allowed.len();
    }
    println!("{shown} of {of} outcomes of {programs} programs");
}
