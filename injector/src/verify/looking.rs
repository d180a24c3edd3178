//! What passes owe that have a kit look for races on the device, whichever it is: barriers of blocks and ends of threads are told by the
//! right function, once, and what is told is passed over where nothing is looked at.

use bugaroo_ptx::ast::{Statement, StatementKind};

use super::invariants::{defined_once, prologues};
use super::logging::nothing_is_passed_over;
use super::places;
use super::places::{Judgement, evaluate, guard_opens, instruction, require};
use super::questions::{Term, number};
use super::view::{Place, View, jump_target};
use super::violation::Violation;
use crate::emit::{LOGGING, PHASE, label};
use crate::logging::{Log, LogPoint, Told};
use crate::looking::Names;

/// What the verifier knows of a kit.
pub(super) struct Looking {
    /// What its code is called by.
    pub(super) names: &'static Names,
    /// All functions of its code that places call.
    pub(super) functions: &'static [&'static str],
    /// What the passes that are its own owe a place.
    pub(super) owes: fn(&str, &Place<'_>, &LogPoint) -> Judgement,
}

/// Checks the pass of this name.
pub(super) fn check(
    pass: &'static str,
    view: &View<'_>,
    log: &Log,
    looking: &Looking,
) -> Result<(), Violation> {
    match pass {
        "declare-detection" => return prologues(view),
        "append-detector" => return defined_once(view, "append-detector", looking.functions),
        _ => {}
    }
    for (place, told) in view.places().zip(&log.points) {
        let broken = |what: &str| {
            let text = &view.original.source[place.point.span.start..place.point.span.end];
            let function = &view.table.functions[place.point.function].name;
            Violation { rule: pass, what: format!("'{text}' in {function}: {what}") }
        };
        owes(pass, &place, told, looking.names).map_err(broken)?;
        (looking.owes)(pass, &place, told).map_err(broken)?;
    }
    // By the names that the log has for the same.
    match pass {
        "look-at-accesses" => nothing_is_passed_over("tell-accesses", view, log),
        "look-at-exits" => nothing_is_passed_over("tell-events", view, log),
        _ => Ok(()),
    }
}

/// What all kits owe a place.
fn owes(pass: &str, place: &Place<'_>, told: &LogPoint, names: &Names) -> Judgement {
    match (pass, told.before) {
        ("open-guards", _) => guard_opens(place),
        ("close-guards", _) => places::owes("close-guards", place),
        ("look-at-barriers", Some(Told::Arrive { waits: true, .. })) => {
            let number = barrier(told)?;
            let comes = (names.arrive, std::slice::from_ref(&number));
            calls(&place.before, comes, &label(place.index, "looked"))?;
            let goes = [number.clone(), Term::register(PHASE)];
            calls(&place.after, (names.leave, &goes), &label(place.index, "left"))
        }
        ("look-at-exits", Some(Told::Exit)) => {
            calls(&place.before, (names.exit, &[]), &label(place.index, "looked"))
        }
        _ => Ok(()),
    }
}

/// The number of a place's barrier, or its members.
pub(super) fn barrier(told: &LogPoint) -> Result<Term, &'static str> {
    told.operand.as_deref().map(number).ok_or("it has no operand")
}

/// A function is called once, with these parameters, and passed over to the label behind it where nothing is looked at.
pub(super) fn calls(
    around: &[&Statement],
    (function, parameters): (&str, &[Term]),
    label: &str,
) -> Judgement {
    let calls = evaluate(around).calls;
    let mut right = calls.iter().filter(|call| call.handler == function);
    let once = right.next().is_some_and(|call| call.parameters == parameters) && right.next().is_none();
    require(once, "it is not told once, with what it is")?;
    passed_over(around, label)
}

/// A jump to the label goes there, before it, where nothing is looked at.
pub(super) fn passed_over(around: &[&Statement], label: &str) -> Judgement {
    let at = |is: &dyn Fn(&Statement) -> bool| around.iter().position(|one| is(one));
    let jump = at(&|one| {
        instruction(one).is_some_and(|one| {
            let unless = one.guard.as_ref().is_some_and(|guard| guard.register == LOGGING && guard.negated);
            jump_target(one) == Some(label) && unless
        })
    });
    let landing = at(&|one| matches!(&one.kind, StatementKind::Label(name) if name == label));
    let between = jump.zip(landing).is_some_and(|(jump, landing)| jump < landing);
    require(between, "it is told where nothing is looked at")
}
