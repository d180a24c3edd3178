//! What the passes owe that have HiRace look at a module: every access, barrier and end of a thread is told by the right function,
//! once, with the right word, and none is passed over.

use bugaroo_device_handlers::hirace::call;
use bugaroo_ptx::ast::{Statement, StatementKind};

use super::invariants::{defined_once, prologues};
use super::logging::nothing_is_passed_over;
use super::places::{Judgement, evaluate, guard_opens, instruction, require};
use super::questions::{Term, address, number};
use super::view::{Place, View, jump_target};
use super::{Violation, places};
use crate::collect_sites::PointKind;
use crate::emit::{LOGGING, PHASE, label};
use crate::hirace::word;
use crate::logging::{Log, LogPoint, Told};

/// Checks the pass of this name.
pub(super) fn check(pass: &'static str, view: &View<'_>, log: &Log) -> Result<(), Violation> {
    match pass {
        "declare-detection" => return prologues(view),
        "append-detector" => return defined_once(view, "append-detector", &call::ALL),
        _ => {}
    }
    for (place, told) in view.places().zip(&log.points) {
        let broken = |what: &str| {
            let text = &view.original.source[place.point.span.start..place.point.span.end];
            let function = &view.table.functions[place.point.function].name;
            Violation { rule: pass, what: format!("'{text}' in {function}: {what}") }
        };
        owes(pass, &place, told).map_err(broken)?;
    }
    // By the names that the log has for the same.
    match pass {
        "look-at-accesses" => nothing_is_passed_over("tell-accesses", view),
        "look-at-exits" => nothing_is_passed_over("tell-events", view),
        _ => Ok(()),
    }
}

fn owes(pass: &str, place: &Place<'_>, told: &LogPoint) -> Judgement {
    let operand = || told.operand.as_deref().map(number).ok_or("it has no operand");
    match (pass, told.before) {
        ("open-guards", _) => guard_opens(place),
        ("close-guards", _) => places::owes("close-guards", place),
        ("look-at-accesses", Some(Told::Access(stated))) => {
            let (PointKind::Store { access, .. } | PointKind::Load(access) | PointKind::Atomic(access)) =
                &place.point.kind
            else {
                return require(false, "it is told of what is no access");
            };
            let parameters = [address(access, 0), Term::constant(word(place.index, &stated))];
            calls(&place.before, (call::ACCESS, &parameters), &label(place.index, "looked"))
        }
        ("look-at-barriers", Some(Told::Arrive { waits: true, .. })) => {
            let number = operand()?;
            calls(
                &place.before,
                (call::ARRIVE, std::slice::from_ref(&number)),
                &label(place.index, "looked"),
            )?;
            calls(&place.after, (call::LEAVE, &[number, Term::register(PHASE)]), &label(place.index, "left"))
        }
        ("look-at-barriers", Some(Told::Meet)) => {
            calls(&place.before, (call::MEET, &[operand()?]), &label(place.index, "looked"))
        }
        ("look-at-exits", Some(Told::Exit)) => {
            calls(&place.before, (call::EXIT, &[]), &label(place.index, "looked"))
        }
        _ => Ok(()),
    }
}

/// A function is called once, with these parameters, and passed over to the label behind it where nothing is looked at.
fn calls(around: &[&Statement], (function, parameters): (&str, &[Term]), label: &str) -> Judgement {
    let calls = evaluate(around).calls;
    let mut right = calls.iter().filter(|call| call.handler == function);
    let once = right.next().is_some_and(|call| call.parameters == parameters) && right.next().is_none();
    require(once, "it is not told once, with what it is")?;
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
