//! The litmus tests of `tests/litmus`, translated to PTX, under store buffers: nothing outside of what
//! the PTX memory model allows is ever seen, and what store buffers can show is seen.
//!
//! Each test runs in copies side by side within a launch. A litmus thread is one thread of the GPU, either
//! in a warp of its own or beside the others of its CTA in one warp. `BUGAROO_LITMUS_SEEDS` sets the
//! launches per test and setting (default 8, of 8 copies each).

mod injected;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use bugaroo_device_handlers::Model;
use injected::{Injection, Prepared, Work, as_words, run, words};

/// Copies of a test in one launch.
const COPIES: u32 = 8;
/// Bytes between two locations of a copy: neighbours within eight bytes, to see that they are kept apart.
const STRIDE: u32 = 4;
/// Words that a copy has for its locations and for its registers.
const WORDS: u32 = 16;

/// A litmus test, as far as it is needed.
struct Litmus {
    name: String,
    locations: Vec<(String, u32)>,
    /// Per thread: its CTA and its instructions.
    threads: Vec<(u32, Vec<String>)>,
}

impl Litmus {
    fn parse(text: &str) -> Litmus {
        let mut lines = text.lines();
        let name = lines.next().and_then(|line| line.strip_prefix("PTX ")).expect("a name").trim().to_owned();
        let mut locations = Vec::new();
        let mut threads: Vec<(u32, Vec<String>)> = Vec::new();
        for line in lines {
            let line = line.trim();
            if line.starts_with("exists") {
                break;
            } else if let Some((location, value)) =
                line.strip_suffix(';').and_then(|line| line.split_once('='))
            {
                locations.push((location.to_owned(), value.parse().expect("an initial value")));
            } else if line.starts_with("P0@") {
                let cta = |cell: &str| {
                    let number = cell.split("cta ").nth(1)?.split(',').next()?;
                    number.trim().parse().ok()
                };
                let cells = line.trim_end_matches(';').split('|');
                threads = cells.map(|cell| (cta(cell).expect("a CTA"), Vec::new())).collect();
            } else if line.ends_with(';') {
                for (cell, thread) in line.trim_end_matches(';').split('|').zip(&mut threads) {
                    if !cell.trim().is_empty() {
                        thread.1.push(cell.trim().to_owned());
                    }
                }
            }
        }
        Litmus { name, locations, threads }
    }

    /// Number of CTAs, and the most threads that one has.
    fn shape(&self) -> (u32, u32) {
        let ctas = self.threads.iter().map(|(cta, _)| cta + 1).max().expect("a thread");
        let size = |cta| self.threads.iter().filter(|(of, _)| *of == cta).count() as u32;
        (ctas, (0..ctas).map(size).max().expect("a CTA"))
    }

    /// The test as a kernel: `lanes` threads of the GPU stand for each litmus thread, the first of them
    /// acts. Locations lie in `space`; shared ones are set first and copied out last, between barriers.
    /// Parameters: the locations, and the registers of all threads (4 each), of all copies.
    fn kernel(&self, lanes: u32, space: &str) -> String {
        let (ctas, _) = self.shape();
        let mut text = String::from(
            ".version 9.0\n.target sm_75\n.address_size 64\n\
             .visible .entry test(.param .u64 memory, .param .u64 registers)\n{\n\
             .reg .pred %p;\n.reg .b32 %t<8>;\n.reg .b32 %v<8>;\n.reg .b64 %m, %s, %o, %c;\n\
             .shared .align 8 .b8 cells[64];\n",
        );
        let mut line = |text_line: String| writeln!(text, "{text_line}").expect("a string takes everything");
        line(format!(
            "ld.param.u64 %m, [memory];\nld.param.u64 %o, [registers];\nmov.u32 %t0, %ctaid.x;\n\
             div.u32 %t1, %t0, {ctas};\nrem.u32 %t2, %t0, {ctas};\nmul.wide.u32 %c, %t1, {};\n\
             add.u64 %m, %m, %c;\nadd.u64 %o, %o, %c;\nmov.u32 %t5, %tid.x;\nrem.u32 %t4, %t5, {lanes};\n\
             div.u32 %t3, %t5, {lanes};\nmov.u64 %s, {};",
            WORDS * 4,
            if space == "shared" { "cells" } else { "%m" }
        ));
        let copies = |from: &str, to: &str| -> Vec<String> {
            let copy = |index: u32| {
                let offset = index * STRIDE;
                format!("@!%p ld.{from}+{offset}];\n@!%p st.{to}+{offset}], %v7;")
            };
            (0..self.locations.len() as u32).map(copy).collect()
        };
        if space == "shared" {
            line("setp.ne.u32 %p, %t5, 0;".into());
            copies("global.u32 %v7, [%m", "shared.u32 [%s").into_iter().for_each(&mut line);
            line("barrier.sync 0;".into());
        }
        line("setp.ne.u32 %p, %t4, 0;\n@%p bra END;".into());
        let mut seen = BTreeMap::new();
        for (index, (cta, _)) in self.threads.iter().enumerate() {
            let place = seen.entry(*cta).or_insert(0u32);
            line(format!(
                "mad.lo.u32 %t4, %t2, 64, %t3;\nsetp.eq.u32 %p, %t4, {};\n@%p bra P{index};",
                cta * 64 + *place
            ));
            *place += 1;
        }
        line("bra END;".into());
        for (index, (_, instructions)) in self.threads.iter().enumerate() {
            line(format!("P{index}:"));
            let mut registers = BTreeSet::new();
            for instruction in instructions {
                line(self.translate(instruction, space, &mut registers));
            }
            for register in registers {
                line(format!("st.global.u32 [%o+{}], %v{register};", (index as u32 * 4 + register) * 4));
            }
            line("bra END;".into());
        }
        line("END:".into());
        if space == "shared" {
            line("barrier.sync 0;\nsetp.ne.u32 %p, %t5, 0;".into());
            copies("shared.u32 %v7, [%s", "global.u32 [%m").into_iter().for_each(&mut line);
        }
        text.push_str("ret;\n}\n");
        text
    }

    fn translate(&self, instruction: &str, space: &str, registers: &mut BTreeSet<u32>) -> String {
        let (opcode, operands) = instruction.split_once(' ').unwrap_or((instruction, ""));
        let operands: Vec<&str> = operands.split(',').map(str::trim).collect();
        let location = |name: &str| {
            let index = self.locations.iter().position(|(location, _)| location == name).expect("a location");
            format!("[%s+{}]", index as u32 * STRIDE)
        };
        let mut register = |name: &str| {
            let number: u32 =
                name.strip_prefix('r').and_then(|number| number.parse().ok()).expect("a register");
            assert!(number < 4);
            registers.insert(number);
            format!("%v{number}")
        };
        match opcode.split('.').next() {
            Some("st") => format!("{opcode}.{space}.u32 {}, {};", location(operands[0]), operands[1]),
            Some("ld") => {
                let register = register(operands[0]);
                format!("{opcode}.{space}.u32 {register}, {};", location(operands[1]))
            }
            Some("atom") => {
                let (order, operation) = opcode.rsplit_once('.').expect("an operation");
                let ty = if operation == "exch" { "b32" } else { "u32" };
                let register = register(operands[0]);
                let (place, value) = (location(operands[1]), operands[2]);
                format!("{order}.{space}.{operation}.{ty} {register}, {place}, {value};")
            }
            Some("fence") => format!("{opcode};"),
            Some("bar") => "barrier.sync 0;".into(),
            _ => panic!("{}: '{instruction}' is not translated", self.name),
        }
    }
}

/// What is known about a test.
struct Known {
    keys: Vec<String>,
    allowed: BTreeSet<Vec<u32>>,
    weak: BTreeSet<Vec<u32>>,
}

fn known() -> BTreeMap<String, Known> {
    let text = include_str!("litmus/outcomes.json");
    let json: serde_json::Value = serde_json::from_str(text).expect("outcomes.json is JSON");
    let states = |value: &serde_json::Value| -> BTreeSet<Vec<u32>> {
        let state = |state: &serde_json::Value| serde_json::from_value(state.clone()).expect("numbers");
        value.as_array().expect("a list").iter().map(state).collect()
    };
    let tests = json.as_object().expect("an object").iter();
    tests
        .map(|(name, test)| {
            let keys = serde_json::from_value(test["keys"].clone()).expect("names");
            (name.clone(), Known { keys, allowed: states(&test["allowed"]), weak: states(&test["weak"]) })
        })
        .collect()
}

fn tests() -> Vec<Litmus> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/litmus");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).expect("the folder").flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "litmus"));
    files.sort();
    files.iter().map(|path| Litmus::parse(&std::fs::read_to_string(path).expect("a test"))).collect()
}

/// Every final state that a test shows in some launches.
fn observe(
    litmus: &Litmus,
    prepared: &Prepared,
    lanes: u32,
    injection: &Injection,
    seeds: u64,
    known: &Known,
) -> BTreeSet<Vec<u32>> {
    let (ctas, size) = litmus.shape();
    let mut initial = vec![0; (COPIES * WORDS) as usize];
    for copy in 0..COPIES as usize {
        for (index, (_, value)) in litmus.locations.iter().enumerate() {
            initial[copy * WORDS as usize + index] = *value;
        }
    }
    let arguments = [words(&initial), words(&vec![0; (COPIES * WORDS) as usize])];
    let work = Work::new("test", ctas * COPIES, size * lanes, &arguments);
    let mut seen = BTreeSet::new();
    for seed in 0..seeds {
        let outcome = run(prepared, &work, Some(injection), seed).complete();
        let (memory, registers) = (as_words(&outcome.buffers[0]), as_words(&outcome.buffers[1]));
        for copy in 0..COPIES as usize {
            let value = |key: &String| match key.split_once(':') {
                Some((thread, register)) => {
                    let number = |text: &str| text[1..].parse::<usize>().expect("a number");
                    registers[copy * WORDS as usize + number(thread) * 4 + number(register)]
                }
                None => {
                    let index = litmus.locations.iter().position(|(location, _)| location == key);
                    memory[copy * WORDS as usize + index.expect("a location")]
                }
            };
            seen.insert(known.keys.iter().map(value).collect());
        }
    }
    seen
}

/// Runs a test in one space, under every setting; whether a weak outcome was seen.
fn shows_weak(litmus: &Litmus, space: &str, known: &Known, seeds: u64) -> bool {
    let mut weak = false;
    for lanes in [32, 1] {
        let prepared = Prepared::new(&litmus.kernel(lanes, space));
        for pw in [0.5, 1.0] {
            let injection = Injection::new(Model::StoreBuffer, pw);
            let seen = observe(litmus, &prepared, lanes, &injection, seeds, known);
            let forbidden: Vec<_> = seen.difference(&known.allowed).collect();
            assert!(
                forbidden.is_empty(),
                "{} in {space} memory: {:?} = {forbidden:?} is forbidden (p_w {pw}, {lanes} lanes)",
                litmus.name,
                known.keys
            );
            weak |= !seen.is_disjoint(&known.weak);
        }
    }
    weak
}

/// Shapes whose weak outcome is a store that comes late: without any fence they have to show it.
fn has_to_show(name: &str, known: &Known) -> bool {
    let shape = name.split('+').next().unwrap_or_default();
    let late = ["SB", "MP", "R"].contains(&shape) || name.starts_with("2+2W");
    let plain = name.contains("+weak+") || name.contains("+rlx");
    late && plain && name.ends_with("+n-n") && !known.weak.is_empty()
}

fn seeds() -> u64 {
    std::env::var("BUGAROO_LITMUS_SEEDS").ok().and_then(|value| value.parse().ok()).unwrap_or(8)
}

#[test]
fn only_allowed_outcomes_and_the_weak_ones_of_store_buffers() {
    let (known, tests) = (known(), tests());
    assert_eq!((known.len(), tests.len()), (582, 582));
    let mut shown = 0;
    for litmus in &tests {
        let facts = &known[&litmus.name];
        let weak = shows_weak(litmus, "global", facts, seeds());
        assert!(weak || !has_to_show(&litmus.name, facts), "{} shows no weak outcome", litmus.name);
        shown += u32::from(weak);
    }
    println!("{shown} of {} tests show a weak outcome", tests.len());
}

#[test]
fn the_same_in_shared_memory_within_one_cta() {
    let known = known();
    let tests: Vec<_> = tests().into_iter().filter(|litmus| litmus.shape().0 == 1).collect();
    assert!(tests.len() > 200, "{}", tests.len());
    for litmus in &tests {
        let facts = &known[&litmus.name];
        let weak = shows_weak(litmus, "shared", facts, seeds());
        assert!(weak || !has_to_show(&litmus.name, facts), "{} shows no weak outcome", litmus.name);
    }
}
