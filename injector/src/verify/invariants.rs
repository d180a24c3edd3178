//! What each pass owes its places, checked on the text.

use bugaroo_device_handlers::constants::event;
use bugaroo_device_handlers::symbols;
use bugaroo_ptx::ast::{FunctionKind, Instruction, Item, Operand, Statement, StatementKind};
use bugaroo_ptx::op::Op;

use super::Violation;
use super::view::{Place, Token, View, jump_target};
use crate::access::{Access, Element};
use crate::collect_sites::PointKind;
use crate::emit::{FLAGGED, RESTORE, ROUTE, label};

/// Checks the pass of this name.
pub(super) fn check(pass: &'static str, view: &View<'_>) -> Result<(), Violation> {
    match pass {
        "declare-state" => return prologues(view),
        "append-handlers" => return handlers(view),
        _ => {}
    }
    for place in view.places() {
        let broken = |what: &str| {
            let text = &view.original.source[place.point.span.start..place.point.span.end];
            let function = &view.table.functions[place.point.function].name;
            Violation { rule: pass, what: format!("'{text}' in {function}: {what}") }
        };
        place_owes(pass, view, &place).map_err(broken)?;
    }
    every_kind_has_its_place(pass, view)
}

fn place_owes(pass: &str, view: &View<'_>, place: &Place<'_>) -> Result<(), &'static str> {
    let kind = &place.point.kind;
    let site = place.point.site;
    match (pass, kind) {
        ("open-guards", _) => match &place.point.guard {
            None => Ok(()),
            Some(guard) => {
                let first = place.before.iter().find_map(|statement| instruction(statement));
                let opens = first.is_some_and(|first| {
                    jump_target(first) == Some(label(place.index, "skip").as_str())
                        && first.guard.as_ref().is_some_and(|ours| {
                            ours.register == guard.register && ours.negated != guard.negated
                        })
                });
                require(opens, "lanes without the guard are not sent past it first")
            }
        },
        ("close-guards", _) if place.point.guard.is_some() || *kind == PointKind::Fence => {
            let last = place.after.last().map(|statement| &statement.kind);
            let closed =
                matches!(last, Some(StatementKind::Label(name)) if *name == label(place.index, "skip"));
            require(closed, "its skip label is not behind everything of it")
        }
        ("route-stores", PointKind::Store { access, slot }) => {
            let site = site.ok_or("it has no number")?;
            let words = |element| access.word(site, *slot, element).encode();
            require(
                asks(view, &place.before, symbols::STORE, access, words),
                "its handler is not asked once an element",
            )?;
            require(asks(view, &place.after, symbols::RESTORE, access, words), "elements are not restored")?;
            require(
                jumps(&place.before, None, &label(place.index, "run")) == 0,
                "the original is skipped blindly",
            )?;
            require(
                jumps(&place.before, Some(ROUTE), &label(place.index, "run")) == 1,
                "it is routed without need",
            )?;
            require(
                jumps(&place.before, Some(crate::emit::P), &label(place.index, "done")) == 1,
                "a delayed store runs",
            )?;
            require(
                jumps(&place.after, Some(RESTORE), &label(place.index, "done")) == 1,
                "it is restored without need",
            )
        }
        ("route-loads", PointKind::Load(access)) => {
            let site = site.ok_or("it has no number")?;
            let words = |element| access.word(site, 0, element).encode();
            require(
                asks(view, &place.before, symbols::LOAD, access, words),
                "its handler is not asked once an element",
            )?;
            let given =
                place.before.iter().chain(&place.after).filter_map(|statement| instruction(statement));
            let given: Vec<&str> = given.filter_map(written).collect();
            let registers = access.elements.iter().filter_map(|element| match element {
                Element::Register { name, .. } => Some(name.as_str()),
                Element::Bits(_) | Element::Sink => None,
            });
            let each_once =
                registers.clone().all(|name| given.iter().filter(|given| **given == name).count() >= 1);
            require(each_once, "a found value does not reach its register")
        }
        ("drain-before-atomics", PointKind::Atomic(access)) => {
            let site = site.ok_or("it has no number")?;
            let words = |element| access.word(site, 0, element).encode();
            require(asks(view, &place.before, symbols::ATOMIC, access, words), "its handler is not asked")
        }
        ("drain-before-fences", PointKind::Fence) => {
            let site = site.ok_or("it has no number")?;
            let omits = constants(view, &place.before, symbols::OMITTED) == [u64::from(site)];
            require(
                omits && jumps(&place.before, Some(FLAGGED), &label(place.index, "kept")) == 1,
                "it cannot be omitted",
            )?;
            drains(view, place, event::FENCE)
        }
        ("drain-before-barriers", PointKind::Barrier) => drains(view, place, event::BARRIER),
        ("drain-before-barriers", PointKind::WarpBarrier) => drains(view, place, event::WARP_BARRIER),
        ("drain-before-collectives", PointKind::Collective) => drains(view, place, event::COLLECTIVE),
        ("drain-before-unknown", PointKind::Unknown) => drains(view, place, event::UNKNOWN),
        ("drain-at-exit", PointKind::Exit) => drains(view, place, event::EXIT),
        ("insert-fence-candidates", _) if place.point.takes_fence => {
            let site = site.ok_or("it has no number")?;
            let there = constants(view, &place.after, symbols::INSERTED_FENCE) == [u64::from(site)];
            require(there, "there is no candidate fence behind it")?;
            require(
                jumps(&place.after, Some(FLAGGED), &label(place.index, "passed")) == 1,
                "the fence is not optional",
            )
        }
        _ => Ok(()),
    }
}

fn require(holds: bool, otherwise: &'static str) -> Result<(), &'static str> {
    if holds { Ok(()) } else { Err(otherwise) }
}

/// Exactly one call of the drain handler, for this event, passed only by threads without entries.
fn drains(view: &View<'_>, place: &Place<'_>, event: u32) -> Result<(), &'static str> {
    let asked = constants(view, &place.before, symbols::DRAIN) == [u64::from(event)];
    require(asked, "it is not drained before, or for another reason")?;
    let run = label(place.index, "run");
    let past = jumps(&place.before, Some(ROUTE), &run) + jumps(&place.before, Some(crate::emit::P), &run);
    require(past == 2 && jumps(&place.before, None, &run) == 0, "the drain can be passed")
}

/// Whether a handler is called once for each element, in order, with its word.
fn asks(
    view: &View<'_>,
    statements: &[&Statement],
    handler: &str,
    access: &Access,
    word: impl Fn(u8) -> u64,
) -> bool {
    let expected: Vec<u64> = (0..access.elements.len().max(1) as u8).map(word).collect();
    constants(view, statements, handler) == expected
}

/// The last parameter of each call of a handler, where it is a constant.
fn constants(_view: &View<'_>, statements: &[&Statement], handler: &str) -> Vec<u64> {
    let mut passed = None;
    let mut found = Vec::new();
    for instruction in statements.iter().filter_map(|statement| instruction(statement)) {
        match &instruction.op {
            Op::St { .. } => {
                passed = match instruction.operands.last() {
                    Some(Operand::Integer(value)) => Some(*value as u64),
                    _ => None,
                }
            }
            Op::Call { .. } => {
                let called =
                    |operand: &Operand| matches!(operand, Operand::Symbol { name, .. } if name == handler);
                if instruction.operands.iter().any(called) {
                    found.extend(passed);
                }
                passed = None;
            }
            _ => {}
        }
    }
    found
}

/// How many jumps go to a label, under a guard on this register (None: without a guard).
fn jumps(statements: &[&Statement], guard: Option<&str>, target: &str) -> usize {
    let jump = |instruction: &&Instruction| {
        jump_target(instruction) == Some(target)
            && instruction.guard.as_ref().map(|guard| guard.register.as_str()) == guard
    };
    statements.iter().filter_map(|statement| instruction(statement)).filter(jump).count()
}

fn instruction(statement: &Statement) -> Option<&Instruction> {
    match &statement.kind {
        StatementKind::Instruction(instruction) => Some(instruction),
        _ => None,
    }
}

/// The register that an instruction writes.
fn written(instruction: &Instruction) -> Option<&str> {
    match instruction.operands.first() {
        Some(Operand::Register(name)) => Some(name),
        _ => None,
    }
}

/// Nothing that the pass answers for is missing from the table: looked up in the original itself.
fn every_kind_has_its_place(pass: &'static str, view: &View<'_>) -> Result<(), Violation> {
    use bugaroo_ptx::types::Space;
    let routed = |space: Space| matches!(space, Space::Global | Space::Shared);
    let kernels: Vec<&str> = view
        .original
        .items
        .iter()
        .filter_map(|item| match item {
            Item::Function(function) if function.kind == FunctionKind::Entry => Some(function.name.as_str()),
            _ => None,
        })
        .collect();
    for function in &view.functions {
        for token in &function.tokens {
            let Token::Statement(statement) = token else { continue };
            let Some(instruction) = instruction(statement) else { continue };
            let belongs = match (pass, &instruction.op) {
                ("route-stores", Op::St { space, .. }) => routed(*space),
                ("route-loads", Op::Ld { space, .. } | Op::Ldu { space, .. }) => routed(*space),
                ("drain-before-atomics", Op::Atom { space, .. } | Op::Red { space, .. }) => routed(*space),
                ("drain-before-fences", Op::Fence { .. }) => true,
                ("drain-before-barriers", Op::Barrier { .. } | Op::WarpSync) => true,
                ("drain-before-unknown", Op::Other) => true,
                ("drain-at-exit", Op::Exit) => true,
                ("drain-at-exit", Op::Ret { .. }) => kernels.contains(&function.name),
                _ => false,
            };
            let listed = || view.table.points.iter().any(|point| point.span == instruction.span);
            if belongs && !listed() {
                let text = &view.original.source[statement.span.start..statement.span.end];
                return Err(Violation {
                    rule: pass,
                    what: format!("'{text}' in {} was passed over", function.name),
                });
            }
        }
    }
    Ok(())
}

/// Every function with places declares our registers and asks who it is before anything else.
fn prologues(view: &View<'_>) -> Result<(), Violation> {
    for (index, function) in view.table.functions.iter().enumerate() {
        let broken =
            |what: &str| Violation { rule: "declare-state", what: format!("{}: {what}", function.name) };
        let twin = view.functions.iter().find(|twin| twin.name == function.name);
        let twin = twin.ok_or_else(|| broken("the function is gone"))?;
        let executes = |token: &Token<'_>| match token {
            Token::Open | Token::Close => true,
            Token::Statement(statement) => {
                matches!(statement.kind, StatementKind::Instruction(_) | StatementKind::Label(_))
            }
        };
        let first = twin.tokens.iter().position(executes).unwrap_or(twin.tokens.len());
        let early: Vec<&Statement> = twin.gaps[..=first].iter().flatten().copied().collect();
        let declared = early.iter().any(|one| matches!(one.kind, StatementKind::Registers(_)));
        let entered = crate::emit::function_label(index, "entered");
        let labelled =
            early.iter().any(|one| matches!(&one.kind, StatementKind::Label(name) if *name == entered));
        if !declared || !labelled {
            return Err(broken("no prologue before its first instruction"));
        }
    }
    Ok(())
}

/// Every handler is defined once, and everything that a call of ours names is a handler.
fn handlers(view: &View<'_>) -> Result<(), Violation> {
    let broken = |what: String| Violation { rule: "append-handlers", what };
    let functions = view.output.items.iter().filter_map(|item| match item {
        Item::Function(function) => Some(function),
        _ => None,
    });
    let bodies: Vec<&str> =
        functions.filter(|function| function.body.is_some()).map(|function| function.name.as_str()).collect();
    for symbol in symbols::ALL {
        let times = bodies.iter().filter(|name| **name == symbol).count();
        if times != 1 {
            return Err(broken(format!("{symbol} is defined {times} times")));
        }
    }
    Ok(())
}
