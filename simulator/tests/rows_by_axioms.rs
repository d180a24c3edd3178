//! Random small programs whose lanes load and store alike, but for some steps that one lane does alone: what a warp shows under the
//! `ptx` model, where its lanes' stores wait and are written as rows, the axioms allow, as an independent check of all candidate
//! executions finds.
//!
//! `BUGAROO_RANDOM_PROGRAMS` sets how many (default 600).

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::injected::{Injection, Prepared, Work, run, under_ptx, words};
use crate::model_ptx::axioms::allowed;
use crate::model_ptx::{Draw, Final, Op, Test};
use bugaroo_device_handlers::HandlerModel;
use bugaroo_ptx::op::FenceKind;
use bugaroo_simulator::Rng;
use bugaroo_simulator::model::ptx::{AtomicOrder, Scope, Strength};

/// Runs of each program.
const RUNS: u64 = 80;
const WARPS: usize = 2;

/// What the lanes of a warp do together, or one of them.
#[derive(Clone, Copy, Debug)]
struct Step {
    op: Op,
    alone: Option<usize>,
    /// Of lane 0; and how many locations further on the next lane's is, round the end.
    location: usize,
    apart: usize,
}

/// A program: of each warp what its lanes do.
#[derive(Debug)]
struct Program {
    lanes: usize,
    locations: usize,
    /// Both warps are of one block.
    one_block: bool,
    warps: [Vec<Step>; WARPS],
}

fn strength(draw: &mut Draw) -> (Strength, bool) {
    match draw.below(5) {
        0 | 1 => (Strength::Weak, false),
        2 | 3 => (Strength::Strong(draw.scope()), false),
        _ => (Strength::Strong(draw.scope()), true),
    }
}

fn program(draw: &mut Draw) -> Program {
    let lanes = 2 + draw.below(2);
    let locations = 1 + draw.below(3);
    let mut program =
        Program { lanes, locations, one_block: draw.below(2) == 0, warps: [Vec::new(), Vec::new()] };
    let (fences, mut registers, mut atomics) = (draw.below(3), [0; WARPS], 0);
    let (mut accesses, mut access) = (0, 0);
    while accesses + lanes <= 8 {
        access += 1;
        let warp = draw.below(WARPS);
        let alone = if draw.below(3) == 0 { Some(draw.below(lanes)) } else { None };
        accesses += if alone.is_some() { 1 } else { lanes };
        let (strength, ordered) = strength(draw);
        let value = (access * 16) as u32;
        let kind = draw.below(8);
        let register = registers[warp];
        let op = match kind {
            _ if register == 4 => Op::Store { location: 0, value, strength, release: ordered },
            0..4 => Op::Store { location: 0, value, strength, release: ordered },
            7 if atomics == 0 => {
                atomics = 1;
                let (acquire, release) = (draw.below(3) == 0, draw.below(3) == 0);
                let order = AtomicOrder { scope: draw.scope(), acquire, release };
                let exchange = draw.below(2) == 0;
                Op::Atomic { register, location: 0, operand: value * 16, exchange, order }
            }
            _ => Op::Load { register, location: 0, strength, acquire: ordered },
        };
        registers[warp] += usize::from(!matches!(op, Op::Store { .. }));
        if !program.warps[warp].is_empty() && draw.below(3) < fences {
            let kind = [FenceKind::Sc, FenceKind::AcqRel][draw.below(2)];
            let op = Op::Fence { scope: draw.scope(), kind };
            program.warps[warp].push(Step { op, alone, location: 0, apart: 0 });
        }
        let (location, apart) = (draw.below(locations), draw.below(2));
        program.warps[warp].push(Step { op, alone, location, apart });
    }
    program
}

impl Program {
    fn location(&self, step: &Step, lane: usize) -> usize {
        (step.location + step.apart * lane) % self.locations
    }

    /// As the axioms want it, thread by thread.
    fn test(&self) -> Test {
        let locations = (0..self.locations).map(|index| (format!("l{index}"), 0)).collect();
        let mut test = Test { locations, ..Test::default() };
        for (warp, steps) in self.warps.iter().enumerate() {
            let cta = if self.one_block { 0 } else { warp as u32 };
            for lane in 0..self.lanes {
                let own = |step: &Step| {
                    let (location, more) = (self.location(step, lane), lane as u32);
                    match step.op {
                        Op::Store { value, strength, release, .. } => {
                            Op::Store { location, value: value + more, strength, release }
                        }
                        Op::Load { register, strength, acquire, .. } => {
                            Op::Load { register, location, strength, acquire }
                        }
                        Op::Atomic { register, operand, exchange, order, .. } => {
                            Op::Atomic { register, location, operand: operand + more, exchange, order }
                        }
                        other => other,
                    }
                };
                let does = |step: &&Step| step.alone.is_none_or(|alone| alone == lane);
                test.threads.push((cta, steps.iter().filter(does).map(own).collect()));
            }
        }
        test
    }

    fn ptx(&self) -> String {
        let mut text = String::from(
            ".version 8.0\n.target sm_75\n.address_size 64\n\
             .visible .entry k(.param .u64 places, .param .u64 pointer)\n{\n\
             .reg .b32 lane, warp, value, number, read<4>;\n.reg .b64 place, all, out, offset;\n.reg .pred p;\n\
             ld.param.u64 all, [places];\nld.param.u64 out, [pointer];\n\
             mov.u32 lane, %tid.x;\nshr.u32 warp, lane, 5;\nand.b32 lane, lane, 31;\n\
             mov.u32 number, %ctaid.x;\nadd.u32 warp, warp, number;\n",
        );
        let _ = writeln!(text, "setp.ge.u32 p, lane, {};\n@p ret;", self.lanes);
        let _ = writeln!(text, "mad.lo.u32 number, warp, {}, lane;", self.lanes);
        text.push_str("mad.wide.u32 out, number, 16, out;\n");
        for read in 0..4 {
            let _ = writeln!(text, "mov.u32 read{read}, 0;");
        }
        text.push_str("setp.eq.u32 p, warp, 1;\n@p bra SECOND;\n");
        for (warp, steps) in self.warps.iter().enumerate() {
            if warp == 1 {
                text.push_str("SECOND:\n");
            }
            steps.iter().for_each(|step| self.step(step, &mut text));
            for read in 0..4 {
                let _ = writeln!(text, "st.global.u32 [out+{}], read{read};", 4 * read);
            }
            text.push_str("ret;\n");
        }
        text.push_str("}\n");
        text
    }

    fn step(&self, step: &Step, text: &mut String) {
        let scope = |scope: Scope| match scope {
            Scope::Cta => "cta",
            Scope::Sys => "sys",
            _ => "gpu",
        };
        let how = |strength: Strength, strong: &str| match strength {
            Strength::Weak => String::from("weak"),
            Strength::Strong(reach) => format!("{strong}.{}", scope(reach)),
        };
        let _ = writeln!(text, "mad.lo.u32 number, lane, {}, {};", step.apart, step.location);
        let _ = writeln!(
            text,
            "rem.u32 number, number, {};\nmad.wide.u32 place, number, 4, all;",
            self.locations
        );
        let guard = step.alone.map_or("", |_| "@p ");
        if let Some(lane) = step.alone {
            let _ = writeln!(text, "setp.eq.u32 p, lane, {lane};");
        }
        let _ = match step.op {
            Op::Store { value, strength, release, .. } => {
                let how = how(strength, if release { "release" } else { "relaxed" });
                writeln!(text, "add.u32 value, lane, {value};\n{guard}st.{how}.global.u32 [place], value;")
            }
            Op::Load { register, strength, acquire, .. } => {
                let how = how(strength, if acquire { "acquire" } else { "relaxed" });
                writeln!(text, "{guard}ld.{how}.global.u32 read{register}, [place];")
            }
            Op::Atomic { register, operand, exchange, order, .. } => {
                let kind = match (order.acquire, order.release) {
                    (true, true) => "acq_rel",
                    (true, false) => "acquire",
                    (false, true) => "release",
                    (false, false) => "relaxed",
                };
                let (reach, change) = (scope(order.scope), if exchange { "exch.b32" } else { "add.u32" });
                writeln!(
                    text,
                    "add.u32 value, lane, {operand};\n{guard}atom.{kind}.{reach}.global.{change} read{register}, [place], value;"
                )
            }
            Op::Fence { scope: reach, kind } => {
                let kind = if kind == FenceKind::Sc { "sc" } else { "acq_rel" };
                writeln!(text, "{guard}fence.{kind}.{};", scope(reach))
            }
            Op::Barrier => unreachable!("none is drawn"),
        };
    }
}

#[test]
fn whatever_a_warp_shows_the_axioms_allow() {
    let programs: usize =
        std::env::var("BUGAROO_RANDOM_PROGRAMS").ok().and_then(|value| value.parse().ok()).unwrap_or(600);
    let mut draw = Draw(Rng::new(11));
    let injection = Injection::new(HandlerModel::StoreBuffer, 0.75);
    let (mut shown, mut of) = (0, 0);
    for number in 0..programs {
        let program = program(&mut draw);
        let (ptx, threads) = (program.ptx(), WARPS * program.lanes);
        let allowed = allowed(&program.test());
        let prepared = Prepared::new(&ptx);
        let (grid, block) = if program.one_block { (1, 64) } else { (2, 32) };
        let buffers = [words(&vec![0; program.locations]), words(&vec![0; 4 * threads])];
        let work = Work::new("k", grid, block, &buffers);
        let mut seen: BTreeSet<Final> = BTreeSet::new();
        for seed in 0..RUNS {
            let outcome = under_ptx(|| run(&prepared, &work, Some(&injection), seed)).complete();
            let registers = outcome.words(1).chunks(4).map(|of| [of[0], of[1], of[2], of[3]]).collect();
            let state = (registers, outcome.words(0));
            assert!(
                allowed.contains(&state),
                "program {number}, seed {seed}:\n{program:#?}\n{ptx}\nends in {state:?}, which is forbidden"
            );
            seen.insert(state);
        }
        shown += seen.len();
        of += allowed.len();
    }
    println!("{shown} of {of} outcomes of {programs} programs");
}
