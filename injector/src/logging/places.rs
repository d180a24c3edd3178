//! What there is to tell in a module: the sites that all passes share, and branches with the places where lanes meet again.

use std::collections::{BTreeMap, BTreeSet};

use bugaroo_ptx::ast::{
    Function, FunctionKind, Instruction, Item, Module, Operand, Span, Statement, StatementKind,
};
use bugaroo_ptx::cfg::Cfg;
use bugaroo_ptx::op::{AtomOp, BarrierKind, Op};
use bugaroo_semantics::effect::{Effect, Stated};
use bugaroo_semantics::event::AccessKind;

use super::blind;
use super::calls::Calls;
use super::error::Unknown;
use super::log::{Loads, Log, LogOptions, LogPoint};
use super::looks::Looks;
use super::told::{Told, Waited};
use crate::collect_sites::{InjectionPoint, PointKind, SiteTable, collect_sites};

/// Finds everything.
pub(super) fn collect(module: &Module, options: LogOptions, looks: &Looks) -> Log {
    let mut sites = collect_sites(module);
    let taken_first = if options.branches { add_forks(module, &mut sites) } else { BTreeSet::new() };
    let functions = || {
        module.items.iter().filter_map(|item| match item {
            Item::Function(function) if function.body.is_some() => Some(function),
            _ => None,
        })
    };
    let instructions: BTreeMap<usize, &Instruction> = functions()
        .flat_map(Function::instructions)
        .map(|instruction| (instruction.span.start, instruction))
        .collect();
    let mut points = Vec::with_capacity(sites.points.len());
    let mut unknown: BTreeMap<String, Unknown> = BTreeMap::new();
    let mut is_unknown = |function: &str, instruction: String, line: u32| {
        let why = Unknown { by: looks.name, instruction, line, function: function.to_owned() };
        unknown.entry(function.to_owned()).or_insert(why);
    };
    for point in &sites.points {
        let instruction = instructions.get(&point.span.start).copied();
        let found = tell(module, point, instruction, (options, &taken_first, looks.harmless));
        points.push(found.unwrap_or_else(|what| {
            let line = instruction.map_or(0, |instruction| instruction.line);
            is_unknown(&sites.functions[point.function].name, what, line);
            LogPoint::default()
        }));
    }
    for function in functions().filter(|_| options.branches) {
        for indexed in function.instructions().iter().filter(|one| matches!(one.op, Op::Brx { .. })) {
            is_unknown(&function.name, text(module, indexed.span), indexed.line);
        }
    }
    let calls = Calls::new(functions());
    let blind = blind::kernels(&calls, &unknown);
    let waited = waited(&calls, &sites, &points);
    // What has something that is not told stays as it is.
    let is_known = |point: &InjectionPoint| !unknown.contains_key(&sites.functions[point.function].name);
    let known: Vec<bool> = sites.points.iter().map(is_known).collect();
    let mut each = known.iter();
    points.retain(|_| each.next() == Some(&true));
    let mut each = known.iter();
    sites.points.retain(|_| each.next() == Some(&true));
    let kernel = |name: &str| functions().any(|f| f.name == name && f.kind == FunctionKind::Entry);
    let kernels = sites.functions.iter().map(|function| kernel(&function.name)).collect();
    let number = |name: &&str| sites.functions.iter().position(|function| function.name == **name);
    let reached = |kernel: &str| {
        let functions = calls.reached(kernel);
        (kernel.to_owned(), functions.iter().filter_map(number).collect())
    };
    let reached = calls.kernels().map(reached).collect();
    let left = unknown.into_keys().collect();
    Log { sites, points, kernels, blind, left, waited, reached, options }
}

/// By kernel: how many threads a barrier waits for that it reaches, where these may be fewer than those of a block; the fewest.
fn waited(calls: &Calls<'_>, sites: &SiteTable, points: &[LogPoint]) -> BTreeMap<String, Waited> {
    let mut fewest: BTreeMap<&str, Waited> = BTreeMap::new();
    for (point, told) in sites.points.iter().zip(points) {
        if let Some(Told::Arrive { waits, threads }) = told.before {
            // Who comes and does not wait is none of those that the barrier orders.
            let threads = if waits { threads } else { Waited::Unknown };
            let known = fewest.entry(&sites.functions[point.function].name).or_insert(Waited::All);
            *known = threads.min(*known);
        }
    }
    let reached = |kernel: &str| {
        let all = calls.reached(kernel).into_iter().filter_map(|function| fewest.get(function)).min();
        Some((kernel.to_owned(), *all.filter(|threads| **threads != Waited::All)?))
    };
    calls.kernels().filter_map(reached).collect()
}

/// What is told at a place; the text of what cannot be told.
fn tell(
    module: &Module,
    point: &InjectionPoint,
    instruction: Option<&Instruction>,
    (options, taken_first, harmless): (LogOptions, &BTreeSet<usize>, &[&str]),
) -> Result<LogPoint, String> {
    let mut told = LogPoint { line: instruction.map_or(0, |one| one.line), ..LogPoint::default() };
    // The end of a body has no instruction.
    let Some(instruction) = instruction else {
        told.before = Some(Told::Exit);
        return Ok(told);
    };
    let refused = || text(module, instruction.span);
    let operand = |index: usize| match instruction.operands.get(index) {
        Some(Operand::Register(name)) => Some(name.clone()),
        Some(Operand::Integer(value)) => Some(format!("{:#x}", *value as u32)),
        _ => None,
    };
    match (&point.kind, Effect::of(&instruction.op)) {
        (PointKind::Fork, _) => match instruction.op {
            Op::Bra { .. } if point.span == instruction.span => {
                told.before = Some(Told::Branch { taken_first: taken_first.contains(&point.span.start) });
            }
            _ => told.before = Some(Told::Join),
        },
        (PointKind::Store { access, .. }, Effect::Access(stated)) => {
            if access.elements.len() > 4 {
                return Err(refused());
            }
            told.before = Some(Told::Access(stated));
        }
        (PointKind::Load(_), Effect::Access(stated)) => match options.loads {
            Loads::Before => told.before = Some(Told::Access(stated)),
            Loads::Behind => told.behind = Some(Told::Access(stated)),
        },
        (PointKind::Atomic(_), Effect::Access(stated)) => {
            told.before = Some(Told::Access(stated));
            if stated.kind == AccessKind::Atomic(AtomOp::Cas) {
                told.behind = Some(Told::Outcome);
                told.compared = Some(compared(instruction, stated).ok_or_else(refused)?);
            }
        }
        (PointKind::Fence(_), Effect::Fence(fence)) => {
            told.before = Some(Told::Fence(fence));
        }
        (PointKind::Unknown, Effect::ProxyFence) => told.before = Some(Told::ProxyFence),
        (PointKind::Unknown, Effect::Call) if calls_one_of(instruction, harmless) => {}
        (PointKind::Barrier, _) => {
            let Op::Barrier { kind, .. } = instruction.op else { return Err(refused()) };
            let index = usize::from(matches!(kind, BarrierKind::Red(_)));
            // `barrier.sync` alone is barrier 0.
            let number = if instruction.operands.is_empty() { Some("0".into()) } else { operand(index) };
            told.operand = Some(number.ok_or_else(refused)?);
            // Behind it the number would be another one.
            if index == 1 && operand(0) == told.operand {
                return Err(refused());
            }
            let waits = kind != BarrierKind::Arrive;
            // Behind the number, and of a reduction before its predicate.
            let counted = instruction.operands.len() > 1 + 2 * index;
            let threads = match instruction.operands.get(1 + index) {
                _ if !counted => Waited::All,
                Some(Operand::Integer(count)) => Waited::These(u32::try_from(*count).unwrap_or(0)),
                _ => Waited::Unknown,
            };
            told.before = Some(Told::Arrive { waits, threads });
            told.behind = waits.then_some(Told::Leave);
        }
        (PointKind::WarpBarrier, _) => {
            told.operand = Some(operand(0).ok_or_else(refused)?);
            (told.before, told.behind) = (Some(Told::Meet), Some(Told::Met));
        }
        (PointKind::Exit, _) => told.before = Some(Told::Exit),
        (PointKind::Collective, Effect::Collective) => told.behind = options.branches.then_some(Told::Join),
        _ => return Err(refused()),
    }
    if let Some(Told::Branch { .. }) = told.before {
        let guard = instruction.guard.as_ref().ok_or_else(refused)?;
        told.operand =
            Some(if guard.negated { format!("!{}", guard.register) } else { guard.register.clone() });
    }
    Ok(told)
}

/// Destination and comparand of a compare-and-swap in registers (or a constant), and their width.
fn compared(instruction: &Instruction, stated: Stated) -> Option<(String, String, u32)> {
    let [Operand::Register(result), Operand::Address { .. }, comparand, ..] = &instruction.operands[..]
    else {
        return None;
    };
    let comparand = match comparand {
        Operand::Register(name) => name.clone(),
        Operand::Integer(value) => format!("{value:#x}"),
        _ => return None,
    };
    let bits = stated.ty.bits();
    matches!(bits, 16 | 32 | 64).then(|| (result.clone(), comparand, bits))
}

fn calls_one_of(instruction: &Instruction, names: &[&str]) -> bool {
    instruction
        .operands
        .iter()
        .any(|operand| matches!(operand, Operand::Symbol { name, .. } if names.contains(&name.as_str())))
}

fn text(module: &Module, span: Span) -> String {
    module.source[span.start..span.end].split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Adds the branches at which lanes may part, and the places where they may meet again. Answers where the branches begin whose
/// lanes have the first turn in lockstep.
fn add_forks(module: &Module, sites: &mut SiteTable) -> BTreeSet<usize> {
    let (mut forks, mut taken_first) = (Vec::new(), BTreeSet::new());
    for (index, listed) in sites.functions.iter().enumerate() {
        let function = module.items.iter().find_map(|item| match item {
            Item::Function(function) if function.name == listed.name && function.body.is_some() => {
                Some(function)
            }
            _ => None,
        });
        let Some((function, body)) = function.and_then(|f| Some((f, f.body.as_ref()?))) else { continue };
        let cfg = Cfg::build(function);
        let turns = cfg.turns();
        let turn = |at: usize| (turns[at], at);
        let all = function.instructions();
        let mut meeting = Vec::new();
        for (at, instruction) in all.iter().enumerate() {
            if matches!(instruction.op, Op::Call { .. }) {
                let end = call_block(&body.statements, instruction.span.start)
                    .map_or(instruction.span.end, |block| block.end);
                meeting.extend(all.iter().position(|next| next.span.start >= end));
            }
            if !matches!(instruction.op, Op::Bra { uni: false }) || instruction.guard.is_none() {
                continue;
            }
            forks.push(fork(index, instruction.span, instruction.span.start));
            if cfg.targets[at].first().is_some_and(|target| turn(*target) < turn(at + 1)) {
                taken_first.insert(instruction.span.start);
            }
            meeting.extend(cfg.reconvergence(at));
        }
        meeting
            .extend(cfg.blocks.iter().filter(|block| block.predecessors.len() > 1).map(|block| block.start));
        meeting.sort_unstable();
        meeting.dedup();
        for at in meeting {
            let start = all[at].span.start;
            // Nothing may stand between a call's parameters and the call.
            let before_at = call_block(&body.statements, start).map_or(start, |block| block.start);
            forks.push(fork(index, Span { start, end: start }, before_at));
        }
    }
    sites.points.append(&mut forks);
    // Where lanes meet comes before what the instruction there does.
    sites.points.sort_by_key(|point| (point.function, point.before_at, point.span.end));
    taken_first
}

fn fork(function: usize, span: Span, before_at: usize) -> InjectionPoint {
    InjectionPoint {
        function,
        kind: PointKind::Fork,
        span,
        before_at,
        guard: None,
        site: None,
        takes_fence: false,
    }
}

/// The block `{ … }` of a call that this place is in.
fn call_block(statements: &[Statement], at: usize) -> Option<Span> {
    let block = statements.iter().find(|one| one.span.start <= at && at < one.span.end)?;
    let StatementKind::Block(inner) = &block.kind else { return None };
    let calls = |one: &Statement| matches!(&one.kind, StatementKind::Instruction(instruction) if matches!(instruction.op, Op::Call { .. }));
    if inner.iter().any(calls) { Some(block.span) } else { call_block(inner, at) }
}
