//! Random kernels whose course depends on what is not known (branches around barriers and around accesses, loops of any number of rounds, roles
//! that hand over by named barriers, mbarriers or flags in memory, locks, groups of copies, blocks of a cluster, values that one warp hands to all,
//! votes and exchanges of a warp, what a barrier counts),
//! against all executions with each of many inputs. Those are found without the verifier: from the kernel's statements by
//! [`crate::whole::run`], and from there by the definitions in [`crate::reference`].
//!
//! `BUGAROO_WHOLE=N` looks at that many kernels, from the one numbered `BUGAROO_WHOLE_FROM` on.

use std::collections::HashMap;

use bugaroo_barriers::emulate::{KernelOptions, KernelText};
use bugaroo_barriers::findings::{KernelFindings, verify};

use crate::reference::{Command, Cta, Reference, explore, reference};
use crate::whole::{Inputs, Kernel, Place, Statement, Test, Trips, make, run, text};

/// States of an exploration, at most. A kernel of which no input has more counts as explored whole.
const STATES: usize = 3000;

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Wrong {
    /// Threads wait for ever, or barriers are not used as they can be.
    Barriers,
    Race,
}

fn verdict(kernel: &Kernel) -> KernelFindings {
    let ptx = text::ptx(kernel);
    let text = KernelText::new(&ptx).unwrap_or_else(|refusal| panic!("{refusal}\n{ptx}"));
    verify(&text, "k", &KernelOptions { max_steps: 1_000_000, ..KernelOptions::default() }).unwrap().findings
}

/// What goes wrong in some execution of some threads, and whether each was looked at by itself; None if that is not known.
type Judged = Option<(Option<Wrong>, bool)>;

fn judge(cta: &Cta) -> Judged {
    let copies = cta.threads.iter().flatten().any(|command| matches!(command, Command::GroupCopy { .. }));
    let product: usize = cta.threads.iter().map(|thread| thread.len() + 1).product();
    let flags = cta.threads.iter().flatten().any(Command::is_of_flags);
    let limit = if copies || flags { 200_000 } else { STATES };
    if (copies || flags || product <= STATES)
        && let Some(all) = explore(cta, limit)
    {
        // Whether anybody raises a flag that is waited for is not looked at.
        if flags && all.deadlock {
            return None;
        }
        let wrong = match (all.well_synchronised(), all.races.is_empty()) {
            (false, _) => Some(Wrong::Barriers),
            (true, false) => Some(Wrong::Race),
            _ => None,
        };
        // A barrier waited for a thread's return, which orders the two in time, and no memory.
        if !all.without_returned || copies || flags {
            return (wrong.is_some() || !all.without_returned).then_some((wrong, true));
        }
    }
    if flags {
        return None;
    }
    // One execution stands for all (PLDI 2015, section 4). Copies are not in that.
    match reference(cta, |_| 0) {
        Reference::WellSynchronised { .. } if copies => None,
        Reference::WellSynchronised { races } => Some(((!races.is_empty()).then_some(Wrong::Race), false)),
        _ => Some((Some(Wrong::Barriers), false)),
    }
}

/// All that is tried, of what the kernel uses at all.
fn inputs(kernel: &Kernel) -> Vec<Inputs> {
    let uses = |test: fn(&Test) -> bool, trips: Trips| {
        kernel.has(|statement| match statement {
            Statement::If(of, ..) => test(of),
            Statement::Loop(of, _) => *of == trips || trips == Trips::Loaded && *of == Trips::Voted,
            Statement::Access(_, Place::Chosen) => trips == Trips::Loaded,
            _ => false,
        })
    };
    let n = uses(|test| matches!(test, Test::Above(_) | Test::Before(_)), Trips::N);
    let m = uses(|test| *test == Test::Flag, Trips::M);
    let w = uses(|test| matches!(test, Test::Loaded | Test::Voted | Test::Handed), Trips::Loaded);
    let n: &[u32] = if n { &[0, 1, 2, 3, 4, 6] } else { &[0] };
    let m: &[u32] = if m { &[0, 1, 3] } else { &[0] };
    let sets = if w { 1 << kernel.warps } else { 1 };
    let mut all = Vec::new();
    for n in n {
        for m in m {
            for set in 0..sets {
                let w = (0..kernel.warps).map(|warp| set >> warp & 1).collect();
                all.push(Inputs { n: *n, m: *m, w });
            }
        }
    }
    all
}

/// What goes wrong with an input, each program looked at once.
#[derive(Default)]
struct Judge {
    known: HashMap<Vec<Vec<Command>>, Judged>,
    explored: bool,
}

impl Judge {
    /// None if that is not known.
    fn wrong(&mut self, kernel: &Kernel, inputs: &Inputs) -> Option<Option<Wrong>> {
        let Some(cta) = run::run(kernel, inputs) else {
            self.explored = false;
            return None;
        };
        let found = self.known.entry(cta.threads.clone()).or_insert_with(|| judge(&cta));
        self.explored &= found.is_some_and(|(_, explored)| explored);
        found.map(|(wrong, _)| wrong)
    }
}

#[derive(Debug, Default)]
struct Counts {
    verified: u32,
    /// For certain.
    wrong: u32,
    /// The same, with values of parameters.
    with_example: u32,
    possible: u32,
    /// Of these, with no input tried that shows it.
    spurious: u32,
    refused: u32,
    /// Of these, right with all inputs tried.
    harmless: u32,
    /// Kernels of which every interleaving with every input was looked at.
    explored: u32,
}

fn compare(seed: u64, counts: &mut Counts) {
    let kernel = make::kernel(seed);
    let found = verdict(&kernel);
    let mut judge = Judge { explored: true, ..Judge::default() };
    let context = || format!("seed {seed}: {kernel:#?}\n{}\n{found:#?}", text::ptx(&kernel));
    if ["deadlock", "misuse", "unsafe-recycling", "race", "benign-race"].contains(&found.verdict) {
        counts.wrong += 1;
        counts.with_example += u32::from(!found.example.is_empty());
        let given = |name: &str| {
            let (_, value) = found.example.iter().find(|(found, _)| found.ends_with(name))?;
            Some(value.parse().expect("a number"))
        };
        let mut tried = inputs(&kernel);
        tried.iter_mut().for_each(|inputs| {
            inputs.n = given("_n").unwrap_or(inputs.n);
            inputs.m = given("_m").unwrap_or(inputs.m);
        });
        let expected = if found.verdict.ends_with("race") { Wrong::Race } else { Wrong::Barriers };
        let of_cluster = found.misuse.as_ref().is_some_and(|misuse| misuse.of == "cluster");
        // When a block ends is nothing that the reference knows of.
        let shows =
            |inputs: &Inputs| judge.wrong(&kernel, inputs).is_none_or(|wrong| wrong == Some(expected));
        assert!(of_cluster || tried.iter().any(shows), "{}", context());
        return;
    }
    let right = inputs(&kernel).iter().all(|inputs| {
        let wrong = judge.wrong(&kernel, inputs).flatten();
        assert!(wrong.is_none() || found.verdict != "verified", "{inputs:?}: {wrong:?}\n{}", context());
        wrong.is_none()
    });
    counts.explored += u32::from(judge.explored);
    match found.verdict {
        "verified" => counts.verified += 1,
        "possible-race" => {
            counts.possible += 1;
            counts.spurious += u32::from(right);
        }
        "not-verifiable" => {
            counts.refused += 1;
            counts.harmless += u32::from(right);
        }
        other => panic!("{other}: {}", context()),
    }
    if right && !found.is_clean() && std::env::var("BUGAROO_WHOLE_SHOWN").is_ok() {
        println!("open: {}", context());
    }
}

#[test]
fn verdicts_hold_in_all_executions_with_all_inputs() {
    let number = |name: &str| std::env::var(name).ok().and_then(|n| n.parse().ok());
    let (from, asked) = (number("BUGAROO_WHOLE_FROM").unwrap_or(0), number("BUGAROO_WHOLE"));
    let mut counts = Counts::default();
    for seed in from..from + asked.unwrap_or(600u64) {
        compare(seed, &mut counts);
        if (seed + 1 - from) % 10_000 == 0 {
            println!("{}: {counts:?}", seed + 1 - from);
        }
    }
    println!("{counts:?}");
    assert!(
        asked.is_some() || counts.verified > 60 && counts.wrong > 60 && counts.possible > 4,
        "{counts:?}"
    );
}
