//! What an instruction means for memory is said once, by its operation; what the decoded program says is the same.

use std::collections::BTreeMap;
use std::path::PathBuf;

use bugaroo_ptx::ast::{Instruction, Item, Statement, StatementKind};
use bugaroo_ptx::op::{Op, ShflMode, VoteMode};
use bugaroo_ptx::types::{Semantics, Space, Type};
use bugaroo_semantics::effect::{Effect, Stated};
use bugaroo_simulator::{DeviceConfig, Memory, Program};

fn files() -> Vec<PathBuf> {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let mut found: Vec<PathBuf> = ["tests/ptx", "tests/kernels"]
        .iter()
        .flat_map(|folder| std::fs::read_dir(here.join(folder)).expect("the folder is there"))
        .map(|entry| entry.expect("it can be read").path())
        .chain(
            ["cbe_dot", "ct_octree", "cub_scan", "sdk_red", "kmeans"]
                .map(|app| here.join("../apps").join(app).join("kernel.ptx")),
        )
        .filter(|path| path.extension().is_some_and(|extension| extension == "ptx"))
        .collect();
    found.sort();
    found
}

fn instructions<'m>(statements: &'m [Statement], into: &mut Vec<&'m Instruction>) {
    for statement in statements {
        match &statement.kind {
            StatementKind::Instruction(instruction) => into.push(instruction),
            StatementKind::Block(inner) => instructions(inner, into),
            _ => {}
        }
    }
}

/// As the decoded program can say it: constant memory is global, elements are their size, a pair of halves is two.
fn as_decoded(effect: Effect) -> Effect {
    match effect {
        Effect::Access(stated) => {
            let (mut bytes, mut elements) = (stated.ty.bytes(), stated.elements.max(1));
            let atomic = matches!(stated.kind, bugaroo_semantics::event::AccessKind::Atomic(_));
            if bytes == 16 && !atomic {
                (bytes, elements) = (8, elements * 2);
            }
            if atomic {
                // The elements of a vector go one by one.
                elements = 1;
            }
            let ty = [Type::B8, Type::B16, Type::B32, Type::B64, Type::B128][bytes.trailing_zeros() as usize];
            let space = if stated.space == Space::Const { Space::Global } else { stated.space };
            Effect::Access(Stated { ty, elements, space, ..stated })
        }
        Effect::ClusterBarrier { wait, .. } => Effect::ClusterBarrier { wait, order: Semantics::Weak },
        other => other,
    }
}

/// Whether an operation's effect does not show in the decoded program: accesses of parameters, which are moves of
/// registers there, calls of what the device has itself, and hints.
fn is_hidden(op: &Op) -> bool {
    match Effect::of(op) {
        Effect::Access(stated) => matches!(stated.space, Space::Param | Space::Local),
        Effect::Hint | Effect::Call | Effect::Nothing => true,
        _ => matches!(
            op,
            Op::Shfl { mode: ShflMode::Idx, sync: false } | Op::Vote { mode: VoteMode::Any, sync: false }
        ),
    }
}

#[test]
fn operation_and_decoded_instruction_agree() {
    let (mut compared, mut kinds) = (0, BTreeMap::<String, u32>::new());
    for path in files() {
        let text = std::fs::read_to_string(&path).expect("it can be read");
        let Ok(module) = bugaroo_ptx::parse(&text) else { continue };
        let config = DeviceConfig::default();
        let mut memory = Memory::new(1 << 30).expect("a gibibyte can be had");
        let Ok(program) = Program::load(&module, &mut memory, &config) else { continue };
        let mut by_span: BTreeMap<(usize, usize), Vec<Effect>> = BTreeMap::new();
        for (pc, span) in program.spans().enumerate() {
            let effect = program.effect(pc as u32);
            if effect != Effect::Nothing {
                by_span.entry(span).or_default().push(as_decoded(effect));
            }
        }
        for item in &module.items {
            let Item::Function(function) = item else { continue };
            let Some(body) = &function.body else { continue };
            let mut all = Vec::new();
            instructions(&body.statements, &mut all);
            for instruction in all.iter().filter(|instruction| !is_hidden(&instruction.op)) {
                let said = as_decoded(Effect::of(&instruction.op));
                let span = (instruction.span.start, instruction.span.end);
                // A function that nothing reaches is not translated.
                let Some(found) = by_span.get(&span) else { continue };
                let what = &text[span.0..span.1];
                assert!(found.contains(&said), "{}: {what}: {said:?}, decoded {found:?}", path.display());
                compared += 1;
                let kind = format!("{said:?}");
                let kind = kind.split(['(', ' ']).next().unwrap_or_default().to_owned();
                *kinds.entry(kind).or_default() += 1;
            }
        }
    }
    assert!(compared > 1_000, "only {compared} instructions");
    for kind in [
        "Access",
        "Fence",
        "BlockBarrier",
        "WarpBarrier",
        "Collective",
        "Mbarrier",
        "Copy",
        "CopyGroup",
        "Exit",
    ] {
        assert!(kinds.contains_key(kind), "no {kind} among {kinds:?}");
    }
}
