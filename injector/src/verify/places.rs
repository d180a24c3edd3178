//! What each pass owes each of its places, checked on the text around it.

use bugaroo_device_handlers::constants::event;
use bugaroo_device_handlers::symbols;
use bugaroo_ptx::ast::{Instruction, Statement, StatementKind};
use bugaroo_ptx::types::Scope;

use super::questions::{Call, Evaluation, Term, address, loaded, stored};
use super::view::{Place, jump_target};
use crate::access::{AccessOperand, Element};
use crate::collect_sites::PointKind;
use crate::emit::{AT, FLAGGED, HELD, P, RESTORE, ROUTE, THREAD, label};

pub(super) type Judgement = Result<(), &'static str>;

pub(super) fn require(holds: bool, otherwise: &'static str) -> Judgement {
    if holds { Ok(()) } else { Err(otherwise) }
}

/// Whether a pass has done what it has to at a place; what it has not, otherwise.
pub(super) fn owes(pass: &str, place: &Place<'_>) -> Judgement {
    match (pass, &place.point.kind) {
        ("open-guards", _) => guard_opens(place),
        ("close-guards", kind) if place.point.guard.is_some() || matches!(kind, PointKind::Fence(_)) => {
            let last = place.after.last().map(|statement| &statement.kind);
            let skip = place.label("skip");
            let closed = matches!(last, Some(StatementKind::Label(name)) if *name == skip);
            require(closed, "its skip label is not behind everything of it")
        }
        ("route-stores", PointKind::Store { access, slot }) => store(place, access, *slot),
        ("route-loads", PointKind::Load(access)) => load(place, access),
        ("drain-before-atomics", PointKind::Atomic(access)) => atomic(place, access),
        ("drain-before-fences", PointKind::Fence(scope)) => {
            let event = if *scope == Scope::Cta { event::CTA_FENCE } else { event::FENCE };
            let parameters = [Term::constant(place.site()?.into()), Term::constant(event.into())];
            let omits = calls_once(&place.before, symbols::FENCE, &parameters);
            let optional = jumps(&place.before, Some(FLAGGED), &place.label("kept")) == 1;
            require(omits && optional, "it cannot be omitted")?;
            require(jumps(&place.before, Some(P), &place.label("skip")) == 1, "it is never omitted")?;
            drains(place, event)
        }
        ("drain-before-barriers", PointKind::Barrier) => drains(place, event::BARRIER),
        ("drain-before-barriers", PointKind::WarpBarrier) => drains(place, event::WARP_BARRIER),
        ("drain-before-collectives", PointKind::Collective) => drains(place, event::COLLECTIVE),
        ("drain-before-unknown", PointKind::Unknown) => drains(place, event::UNKNOWN),
        ("drain-at-exit", PointKind::Exit) => {
            let parameters = [Term::register(THREAD), Term::constant(event::EXIT.into())];
            let told = calls_once(&place.before, symbols::DRAIN, &parameters);
            require(told, "its handler is not told")?;
            let run = place.label("run");
            let past = jumps(&place.before, Some(ROUTE), &run) == 1;
            require(past && jumps(&place.before, Some(P), &run) == 0, "not every thread tells its end")
        }
        ("insert-fence-candidates", _) if place.point.takes_fence => {
            let parameters = [Term::register(THREAD), Term::constant(place.site()?.into())];
            let there = calls_once(&place.after, symbols::INSERTED_FENCE, &parameters);
            require(there, "there is no candidate fence behind it")?;
            let optional = jumps(&place.after, Some(FLAGGED), &place.label("passed")) == 1;
            require(optional, "the fence is not optional")
        }
        _ => Ok(()),
    }
}

impl Place<'_> {
    fn label(&self, name: &str) -> String {
        label(self.index, name)
    }

    /// Before and after. An element's address does not outlive the instruction.
    fn around(&self) -> Evaluation {
        let mut evaluation = evaluate(&self.before);
        evaluation.forget(AT);
        evaluation.follow(self.after.iter().filter_map(|statement| instruction(statement)));
        evaluation
    }

    fn site(&self) -> Result<u32, &'static str> {
        self.point.site.ok_or("it has no number")
    }
}

pub(super) fn guard_opens(place: &Place<'_>) -> Judgement {
    let Some(guard) = &place.point.guard else { return Ok(()) };
    let first = place.before.iter().find_map(|statement| instruction(statement));
    let opens = first.is_some_and(|first| {
        let turned =
            |ours: &bugaroo_ptx::ast::Guard| ours.register == guard.register && ours.negated != guard.negated;
        jump_target(first) == Some(place.label("skip").as_str()) && first.guard.as_ref().is_some_and(turned)
    });
    require(opens, "lanes without the guard are not sent past it first")
}

fn store(place: &Place<'_>, access: &AccessOperand, slot: u32) -> Judgement {
    let site = place.site()?;
    let word = |element| access.word(site, slot, element).encode();
    let value = |element: usize| stored(&access.elements[element]);
    let asked = asks(&evaluate(&place.before), symbols::STORE, access, value, word);
    require(asked, "its handler is not asked once an element")?;

    let old = |element: usize| Some(Term::register(&format!("{HELD}{element}")));
    let around = place.around();
    require(asks(&around, symbols::RESTORE, access, old, word), "elements are not restored")?;

    let (run, done) = (place.label("run"), place.label("done"));
    require(jumps(&place.before, None, &run) == 0, "it is not routed")?;
    require(jumps(&place.before, Some(ROUTE), &run) == 1, "it is routed without need")?;
    require(jumps(&place.before, Some(P), &done) == 1, "a delayed store runs")?;
    require(jumps(&place.after, Some(RESTORE), &done) == 1, "it is restored without need")
}

fn load(place: &Place<'_>, access: &AccessOperand) -> Judgement {
    let site = place.site()?;
    let word = |element| access.word(site, 0, element).encode();
    let asked = asks(&evaluate(&place.before), symbols::LOAD, access, |_| None, word);
    require(asked, "its handler is not asked once an element")?;

    let around = place.around();
    let arrives = access.elements.iter().enumerate().all(|(index, element)| match element {
        Element::Register { name, bits } => {
            around.held(name) == loaded(access, *bits, &format!("{HELD}{index}"))
        }
        Element::Bits(_) | Element::Sink => true,
    });
    require(arrives, "a found value does not reach its register")?;

    let (run, done) = (place.label("run"), place.label("done"));
    require(jumps(&place.before, Some(ROUTE), &run) == 1, "it is looked up without need")?;
    // A scalar that was found does not run; a vector always does, and is patched.
    let passes = usize::from(access.elements.len() == 1);
    require(jumps(&place.before, None, &done) == passes, "what was found is loaded again")
}

fn atomic(place: &Place<'_>, access: &AccessOperand) -> Judgement {
    let site = place.site()?;
    let word = |element| access.word(site, 0, element).encode();
    let asked = asks(&evaluate(&place.before), symbols::ATOMIC, access, |_| None, word);
    require(asked, "its handler is not asked")?;
    require(jumps(&place.before, Some(ROUTE), &place.label("run")) == 1, "it is looked up without need")
}

/// Exactly one call of the drain handler, for this event, passed only by threads without entries.
fn drains(place: &Place<'_>, event: u32) -> Judgement {
    let parameters = [Term::register(THREAD), Term::constant(event.into())];
    let asked = calls_once(&place.before, symbols::DRAIN, &parameters);
    require(asked, "it is not drained before, or for another reason")?;
    let run = place.label("run");
    let past = jumps(&place.before, Some(ROUTE), &run) + jumps(&place.before, Some(P), &run);
    require(past == 2 && jumps(&place.before, None, &run) == 0, "the drain can be passed")
}

/// Whether a handler is called once for each element, in order: with the thread, the element's address,
/// the value if there is one, and the site's word.
fn asks(
    evaluation: &Evaluation,
    handler: &str,
    access: &AccessOperand,
    value: impl Fn(usize) -> Option<Term>,
    word: impl Fn(u8) -> u64,
) -> bool {
    let calls: Vec<&Call> = evaluation.calls.iter().filter(|call| call.handler == handler).collect();
    let expected = |element: usize| {
        let mut parameters = vec![Term::register(THREAD), address(access, element)];
        parameters.extend(value(element));
        parameters.push(Term::constant(word(element as u8)));
        parameters
    };
    let elements = access.elements.len().max(1);
    calls.len() == elements
        && calls.iter().enumerate().all(|(index, call)| call.parameters == expected(index))
}

pub(super) fn evaluate(statements: &[&Statement]) -> Evaluation {
    let mut evaluation = Evaluation::new();
    evaluation.follow(statements.iter().filter_map(|statement| instruction(statement)));
    evaluation
}

/// Whether a handler is called exactly once, with these parameters.
fn calls_once(statements: &[&Statement], handler: &str, parameters: &[Term]) -> bool {
    let evaluation = evaluate(statements);
    let mut calls = evaluation.calls.iter().filter(|call| call.handler == handler);
    calls.next().is_some_and(|call| call.parameters == parameters) && calls.next().is_none()
}

/// How many jumps go to a label, under a guard on this register (None: without a guard).
fn jumps(statements: &[&Statement], guard: Option<&str>, target: &str) -> usize {
    let jump = |instruction: &&Instruction| {
        jump_target(instruction) == Some(target)
            && instruction.guard.as_ref().map(|guard| guard.register.as_str()) == guard
    };
    statements.iter().filter_map(|statement| instruction(statement)).filter(jump).count()
}

pub(super) fn instruction(statement: &Statement) -> Option<&Instruction> {
    match &statement.kind {
        StatementKind::Instruction(instruction) => Some(instruction),
        _ => None,
    }
}
