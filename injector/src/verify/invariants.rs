//! What each pass owes the module: its places ([`super::places`]), none of them passed over.

use bugaroo_device_handlers::symbols;
use bugaroo_ptx::ast::{FunctionKind, Item, Statement, StatementKind};
use bugaroo_ptx::op::Op;
use bugaroo_ptx::types::Space;

use bugaroo_semantics::effect::Effect;

use super::places;
use super::view::{Token, View};
use super::violation::Violation;

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
        places::owes(pass, &place).map_err(broken)?;
    }
    every_kind_has_its_place(pass, view)
}

/// Nothing that the pass answers for is missing from the table: looked up in the original itself.
fn every_kind_has_its_place(pass: &'static str, view: &View<'_>) -> Result<(), Violation> {
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
            let StatementKind::Instruction(instruction) = &statement.kind else { continue };
            let belongs = match (pass, &instruction.op) {
                ("route-stores", Op::St { space, .. }) => routed(*space),
                ("route-loads", Op::Ld { space, .. } | Op::Ldu { space, .. }) => routed(*space),
                ("drain-before-atomics", Op::Atom { space, .. } | Op::Red { space, .. }) => routed(*space),
                ("drain-before-fences", Op::Fence { .. }) => true,
                ("drain-before-barriers", Op::Barrier { .. } | Op::WarpSync) => true,
                ("drain-before-unknown", op) => {
                    let effect = Effect::of(op);
                    matches!(effect, Effect::Unknown) || effect.works_on_memory()
                }
                ("drain-before-collectives", op) => Effect::of(op).only_waits(),
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
pub(super) fn prologues(view: &View<'_>) -> Result<(), Violation> {
    for (index, function) in view.table.functions.iter().enumerate() {
        let broken =
            |what: &str| Violation { rule: "declare-state", what: format!("{}: {what}", function.name) };
        let twin = view.functions.iter().find(|twin| twin.name == function.name);
        let twin = twin.ok_or_else(|| broken("the function is gone"))?;
        let executes = |token: &Token<'_>| match token {
            Token::Open(_) | Token::Close => true,
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

/// Every handler is defined once, where there is somebody to call it.
fn handlers(view: &View<'_>) -> Result<(), Violation> {
    defined_once(view, "append-handlers", &symbols::ALL)
}

/// Each of these functions is defined once, where there is somebody to call it.
pub(super) fn defined_once(view: &View<'_>, rule: &'static str, symbols: &[&str]) -> Result<(), Violation> {
    let broken = |what: String| Violation { rule, what };
    let functions = view.output.items.iter().filter_map(|item| match item {
        Item::Function(function) => Some(function),
        _ => None,
    });
    let bodies: Vec<&str> =
        functions.filter(|function| function.body.is_some()).map(|function| function.name.as_str()).collect();
    let wanted = usize::from(!view.table.functions.is_empty());
    for symbol in symbols {
        let times = bodies.iter().filter(|name| *name == symbol).count();
        if times != wanted {
            return Err(broken(format!("{symbol} is defined {times} times")));
        }
    }
    Ok(())
}
