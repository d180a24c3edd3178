//! What the passes owe that make a module log: every place tells what it is listed with, once, by the right function, with the
//! right number and word, and commits its record in the one way there is; and no access, fence or barrier is passed over.

use bugaroo_device_handlers::logging::{record, tell};
use bugaroo_ptx::ast::{Statement, StatementKind};
use bugaroo_semantics::effect::Effect;

use super::invariants::{defined_once, prologues};
use super::places::{Judgement, evaluate, guard_opens, instruction, require};
use super::questions::{Term, address, chosen, logged, widened};
use super::view::{Place, Token, View, jump_target};
use super::{Violation, places};
use crate::collect_sites::PointKind;
use crate::emit::{ADDRESS, LOGGING, P, label};
use crate::logging::{Log, LogPoint, Told};

/// What follows the call of the logger, each time.
fn commit() -> [String; 12] {
    [
        "ld.param.b64 %bugaroo_record, [bugaroo_out+0];".to_owned(),
        "ld.param.b64 %bugaroo_queue, [bugaroo_out+8];".to_owned(),
        "ld.param.b64 %bugaroo_next, [bugaroo_out+16];".to_owned(),
        "ld.param.b64 %bugaroo_lanes, [bugaroo_out+24];".to_owned(),
        "setp.ne.u64 %bugaroo_p, %bugaroo_record, 0;".to_owned(),
        "ld.const.u64 %bugaroo_ticket, [__bugaroo_log+8];".to_owned(),
        "@%bugaroo_p atom.relaxed.gpu.global.add.u64 %bugaroo_ticket, [%bugaroo_ticket+0], 1;".to_owned(),
        "cvt.u32.u64 %bugaroo_word, %bugaroo_ticket;".to_owned(),
        format!("@%bugaroo_p st.global.u32 [%bugaroo_record+{}], %bugaroo_word;", record::TICKET),
        "@%bugaroo_p st.release.sys.global.u64 [%bugaroo_queue], %bugaroo_next;".to_owned(),
        "cvt.u32.u64 %bugaroo_word, %bugaroo_lanes;".to_owned(),
        "bar.warp.sync %bugaroo_word;".to_owned(),
    ]
}

/// Checks the pass of this name.
pub(super) fn check(pass: &'static str, view: &View<'_>, log: &Log) -> Result<(), Violation> {
    match pass {
        "declare-log-state" => return prologues(view),
        "append-logger" => return defined_once(view, "append-logger", &tell::ALL),
        _ => {}
    }
    for (place, told) in view.places().zip(&log.points) {
        let broken = |what: &str| {
            let text = &view.original.source[place.point.span.start..place.point.span.end];
            let function = &view.table.functions[place.point.function].name;
            Violation { rule: pass, what: format!("'{text}' in {function}: {what}") }
        };
        owes(pass, view, &place, told).map_err(broken)?;
    }
    nothing_is_passed_over(pass, view)
}

fn owes(pass: &str, view: &View<'_>, place: &Place<'_>, told: &LogPoint) -> Judgement {
    let access = match &place.point.kind {
        PointKind::Store { access, .. } | PointKind::Load(access) | PointKind::Atomic(access) => Some(access),
        _ => None,
    };
    let (before, behind) = (2 * place.index as u64, 2 * place.index as u64 + 1);
    match pass {
        "open-guards" => guard_opens(place),
        "close-guards" => places::owes("close-guards", place),
        _ if told.pruned => Ok(()),
        "tell-accesses" => {
            let Some(access) = access else { return Ok(()) };
            if let PointKind::Store { .. } = place.point.kind {
                let mut parameters = vec![Term::constant(before), address(access, 0)];
                parameters.extend(access.elements.iter().filter_map(|element| logged(element, access)));
                parameters.resize(6, Term::constant(0));
                return tells(view, &place.before, (tell::STORE, &parameters), &label(place.index, "told"));
            }
            if told.before.is_some() {
                let parameters = [Term::constant(before), address(access, 0)];
                return tells(view, &place.before, (tell::ACCESS, &parameters), &label(place.index, "told"));
            }
            let kept = evaluate(&place.before).held(ADDRESS) == address(access, 0);
            require(kept, "its address is not kept")?;
            let parameters = [Term::constant(behind), Term::register(ADDRESS)];
            tells(view, &place.after, (tell::ACCESS, &parameters), &label(place.index, "told"))
        }
        "tell-outcomes" if told.behind == Some(Told::Outcome) => {
            let calls = evaluate(&place.after).calls;
            let right = calls.iter().filter(|call| {
                call.handler == tell::EVENT && call.parameters == [Term::constant(behind), chosen(P)]
            });
            require(right.count() == 1, "its outcome is not told")?;
            committed(view, &place.after, &label(place.index, "outcome"))
        }
        "tell-events" => {
            for (told_here, number, around, name) in
                [(told.before, before, &place.before, "told"), (told.behind, behind, &place.after, "left")]
            {
                let Some(kind) = told_here.filter(|one| !matches!(one, Told::Access(_) | Told::Outcome))
                else {
                    continue;
                };
                let known = match &told.operand {
                    Some(predicate) if kind == Told::Branch => chosen(predicate),
                    Some(operand) => widened(operand),
                    None => Term::constant(0),
                };
                let calls = evaluate(around).calls;
                let right = calls.iter().filter(|call| {
                    call.handler == tell::EVENT && call.parameters == [Term::constant(number), known.clone()]
                });
                require(right.count() == 1, "it is not told once")?;
                committed(view, around, &label(place.index, name))?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// A function is called once, with these parameters, and what it answers is committed.
fn tells(
    view: &View<'_>,
    around: &[&Statement],
    (function, parameters): (&str, &[Term]),
    label: &str,
) -> Judgement {
    let calls = evaluate(around).calls;
    let mut right = calls.iter().filter(|call| call.handler == function);
    let once = right.next().is_some_and(|call| call.parameters == parameters) && right.next().is_none();
    require(once, "it is not told once, with its address")?;
    committed(view, around, label)
}

/// What stands before the label is a call with its commit, and lanes that do not log go past all of it.
fn committed(view: &View<'_>, around: &[&Statement], label: &str) -> Judgement {
    let at = around.iter().position(|one| matches!(&one.kind, StatementKind::Label(name) if name == label));
    let Some(at) = at else { return require(false, "its label is not there") };
    let jumps = around[..at].iter().filter_map(|one| instruction(one)).filter(|one| {
        let unless = one.guard.as_ref().is_some_and(|guard| guard.register == LOGGING && guard.negated);
        jump_target(one) == Some(label) && unless
    });
    require(jumps.count() == 1, "it is told where there are no queues")?;
    let text = |one: &&Statement| view.text(one).split_whitespace().collect::<Vec<_>>().join(" ");
    let commit = commit();
    let from = at.checked_sub(commit.len());
    let stands = from.is_some_and(|from| around[from..at].iter().map(text).eq(commit.iter().cloned()));
    require(stands, "its record is not committed")
}

/// Whatever is to be told is in the table: looked up in the original itself.
fn nothing_is_passed_over(pass: &'static str, view: &View<'_>) -> Result<(), Violation> {
    use bugaroo_ptx::types::Space;
    for function in &view.functions {
        for token in &function.tokens {
            let Token::Statement(statement) = token else { continue };
            let Some(found) = instruction(statement) else { continue };
            let belongs = match (pass, Effect::of(&found.op)) {
                ("tell-accesses", Effect::Access(stated)) => {
                    matches!(stated.space, Space::Global | Space::Shared)
                }
                ("tell-events", effect) => {
                    let fence = matches!(effect, Effect::Fence { .. } | Effect::ProxyFence);
                    fence || matches!(effect, Effect::BlockBarrier | Effect::WarpBarrier | Effect::Exit)
                }
                _ => false,
            };
            if belongs && !view.table.points.iter().any(|point| point.span == found.span) {
                let text = &view.original.source[statement.span.start..statement.span.end];
                let what = format!("'{text}' in {} was passed over", function.name);
                return Err(Violation { rule: pass, what });
            }
        }
    }
    Ok(())
}
