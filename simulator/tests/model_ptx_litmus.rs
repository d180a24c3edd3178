//! The litmus tests of `litmus/tests` on the PTX machine itself: nothing outside of what the model allows is
//! ever seen, and nearly all of the weak outcomes that the tests ask for are.
//!
//! `BUGAROO_LITMUS_TRIALS` sets the trials of each test (default 2,000).

use std::collections::{BTreeMap, BTreeSet};

use crate::model_ptx::{Final, Op, Test, axioms, run};
use bugaroo_ptx::op::FenceKind;
use bugaroo_simulator::Rng;
use bugaroo_simulator::model::ptx::{AtomicOrder, Chances, Scope, Strength};

fn scope(word: &str) -> Scope {
    match word {
        "cta" => Scope::Cta,
        "gpu" => Scope::Gpu,
        "sys" => Scope::Sys,
        other => panic!("the scope {other}"),
    }
}

/// The order that the words behind an opcode say: its strength, and whether it acquires or releases.
fn order(words: &[&str]) -> (Strength, bool) {
    match words {
        ["weak"] => (Strength::Weak, false),
        [how, reach] => (Strength::Strong(scope(reach)), *how != "relaxed"),
        other => panic!("the order {other:?}"),
    }
}

fn op(text: &str, locations: &[(String, u32)]) -> Op {
    let (opcode, operands) = text.split_once(' ').unwrap_or((text, ""));
    let words: Vec<&str> = opcode.split('.').collect();
    let operands: Vec<&str> = operands.split(',').map(str::trim).collect();
    let location = |name: &str| locations.iter().position(|known| known.0 == name).expect("a location");
    let register = |name: &str| name[1..].parse().expect("a register");
    match words[0] {
        "ld" => {
            let (strength, acquire) = order(&words[1..]);
            Op::Load { register: register(operands[0]), location: location(operands[1]), strength, acquire }
        }
        "st" => {
            let (strength, release) = order(&words[1..]);
            let value = operands[1].parse().expect("a value");
            Op::Store { location: location(operands[0]), value, strength, release }
        }
        "atom" => Op::Atomic {
            register: register(operands[0]),
            location: location(operands[1]),
            operand: operands[2].parse().expect("a value"),
            exchange: words[3] == "exch",
            order: AtomicOrder { scope: scope(words[2]), acquire: false, release: false },
        },
        "fence" => Op::Fence {
            scope: scope(words[2]),
            kind: match words[1] {
                "sc" => FenceKind::Sc,
                "acq_rel" => FenceKind::AcqRel,
                "acquire" => FenceKind::Acquire,
                "release" => FenceKind::Release,
                other => panic!("fence.{other}"),
            },
        },
        "bar" => Op::Barrier,
        other => panic!("the opcode {other}"),
    }
}

fn parse(text: &str) -> Test {
    let mut test = Test::default();
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix("PTX ") {
            test.name = name.trim().to_owned();
        } else if line.starts_with("exists") {
            break;
        } else if let Some((location, value)) = line.strip_suffix(';').and_then(|line| line.split_once('=')) {
            test.locations.push((location.to_owned(), value.parse().expect("a value")));
        } else if line.starts_with("P0@") {
            for cell in line.trim_end_matches(';').split('|') {
                let cta = cell.split("cta ").nth(1).and_then(|rest| rest.split(',').next()).expect("a CTA");
                test.threads.push((cta.trim().parse().expect("a CTA"), Vec::new()));
            }
        } else if line.ends_with(';') {
            for (cell, thread) in line.trim_end_matches(';').split('|').zip(&mut test.threads) {
                if !cell.trim().is_empty() {
                    thread.1.push(op(cell.trim(), &test.locations));
                }
            }
        }
    }
    test
}

struct Known {
    keys: Vec<String>,
    allowed: BTreeSet<Vec<u32>>,
    weak: BTreeSet<Vec<u32>>,
    allowed_weak: bool,
}

fn known() -> BTreeMap<String, Known> {
    let text = include_str!("../../litmus/tests/outcomes.json");
    let json: serde_json::Value = serde_json::from_str(text).expect("outcomes.json is JSON");
    let states = |value: &serde_json::Value| serde_json::from_value(value.clone()).expect("states");
    let tests = json.as_object().expect("an object").iter();
    tests
        .map(|(name, test)| {
            let keys = serde_json::from_value(test["keys"].clone()).expect("names");
            let allowed_weak = test["target"] == "allowed-weak";
            (
                name.clone(),
                Known { keys, allowed: states(&test["allowed"]), weak: states(&test["weak"]), allowed_weak },
            )
        })
        .collect()
}

/// What a final state says of a test's keys.
fn projected(test: &Test, facts: &Known, (registers, memory): &Final) -> Vec<u32> {
    let value = |key: &String| match key.split_once(':') {
        Some((thread, register)) => {
            let number = |text: &str| text[1..].parse::<usize>().expect("a number");
            registers[number(thread)][number(register)]
        }
        None => memory[test.locations.iter().position(|location| location.0 == *key).expect("a location")],
    };
    facts.keys.iter().map(value).collect()
}

fn tests() -> Vec<Test> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../litmus/tests");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).expect("the folder").flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "litmus"));
    files.sort();
    files.iter().map(|path| parse(&std::fs::read_to_string(path).expect("a test"))).collect()
}

/// The axioms, as the other tests use them, agree with the table that was made by another checker.
#[test]
fn the_axioms_agree_with_the_table() {
    let known = known();
    for test in tests() {
        let facts = &known[&test.name];
        let states = axioms::allowed(&test);
        let states: BTreeSet<Vec<u32>> = states.iter().map(|state| projected(&test, facts, state)).collect();
        assert_eq!(states, facts.allowed, "{}: {:?}", test.name, facts.keys);
    }
}

#[test]
fn nothing_forbidden_and_nearly_everything_allowed() {
    let known = known();
    let trials: u64 =
        std::env::var("BUGAROO_LITMUS_TRIALS").ok().and_then(|value| value.parse().ok()).unwrap_or(2_000);
    let mut random = Rng::new(1);
    let (mut shown, mut missing) = (0, Vec::new());
    let (mut outcomes, mut of) = (0, 0);
    for test in tests() {
        let facts = &known[&test.name];
        let mut seen: BTreeSet<Vec<u32>> = BTreeSet::new();
        for trial in 0..trials {
            let chances = if trial % 4 == 3 { Chances::new(0.25, 0.25) } else { Chances::new(0.5, 0.5) };
            let state = projected(&test, facts, &run(&test, chances, &mut random));
            assert!(
                facts.allowed.contains(&state),
                "{}: {:?} = {state:?} is forbidden",
                test.name,
                facts.keys
            );
            seen.insert(state);
        }
        outcomes += seen.len();
        of += facts.allowed.len();
        if facts.allowed_weak {
            if seen.is_disjoint(&facts.weak) {
                missing.push(test.name);
            } else {
                shown += 1;
            }
        }
    }
    println!(
        "{shown} of {} targets, {outcomes} of {of} outcomes; missing: {missing:#?}",
        shown + missing.len()
    );
    assert!(shown >= 372, "{shown} targets are shown; missing: {missing:?}");
}

/// Message passing with one fence on each side: `fence.release` cures the writer and `fence.acquire` the reader, and neither the
/// other way round.
#[test]
fn fences_on_one_side_order_what_they_say() {
    let mut random = Rng::new(3);
    for (writer, reader, cured) in [
        ("release", "acquire", true),
        ("acquire", "acquire", false),
        ("release", "release", false),
        ("acquire", "release", false),
        ("sc", "acquire", true),
        ("release", "acq_rel", true),
    ] {
        let test = parse(&format!(
            "PTX MP+{writer}-{reader}\nx=0;\ny=0;\nP0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\nst.weak x, 1 | ld.relaxed.gpu r0, y ;\n\
             fence.{writer}.gpu | fence.{reader}.gpu ;\nst.relaxed.gpu y, 1 | ld.weak r1, x ;\nexists"
        ));
        let stale = |(registers, _): &Final| registers[1][..2] == [1, 0];
        let allowed = axioms::allowed(&test);
        assert_eq!(allowed.iter().any(stale), !cured, "{}", test.name);
        let shown = (0..4_000).map(|_| run(&test, Chances::new(0.5, 0.5), &mut random)).filter(stale).count();
        assert_eq!(shown > 0, !cured, "{}: {shown}", test.name);
    }
}
