//! What the passes owe that make a module log: every place tells what it is listed with, once, by the right function, with the
//! right number and word, and commits its record in the one way there is; and no access, fence or barrier is passed over.

use bugaroo_device_handlers::logging::prepare;
use bugaroo_ptx::ast::{Instruction, Statement, StatementKind};
use bugaroo_ptx::op::Op;
use bugaroo_ptx::types::Space;
use bugaroo_semantics::effect::Effect;

use super::invariants::{defined_once, prologues};
use super::places;
use super::places::{Judgement, evaluate, guard_opens, instruction, require};
use super::questions::{Term, address, chosen, logged, widened};
use super::view::{Place, Token, View, jump_target};
use super::violation::Violation;
use crate::collect_sites::PointKind;
use crate::emit::{ADDRESS, LOGGING, P, label};
use crate::logging::{Log, LogPoint, Told};

/// What follows the call of the logger, each time; `AGAIN`, `WAIT` and `PLACE` differ.
const PIECE: &str = "\
ld.param.b64 %bugaroo_queue, [bugaroo_out+0];
ld.param.b64 %bugaroo_write, [bugaroo_out+8];
ld.param.b64 %bugaroo_logged, [bugaroo_out+16];
ld.param.b32 %bugaroo_lanes, [bugaroo_out+24];
ld.param.b32 %bugaroo_warp, [bugaroo_out+28];
activemask.b32 %bugaroo_word;
setp.eq.u32 %bugaroo_p, %bugaroo_word, %bugaroo_lanes;
vote.sync.all.pred %bugaroo_p, %bugaroo_p, %bugaroo_word;
@!%bugaroo_p bra AGAIN;
brev.b32 %bugaroo_first, %bugaroo_lanes;
clz.b32 %bugaroo_first, %bugaroo_first;
mov.u32 %bugaroo_word, %laneid;
setp.eq.u32 %bugaroo_leader, %bugaroo_word, %bugaroo_first;
ld.const.u32 %bugaroo_high, [__bugaroo_log+28];
cvt.u64.u32 %bugaroo_capacity, %bugaroo_high;
ld.relaxed.gpu.global.u64 %bugaroo_next, [%bugaroo_write];
ld.acquire.sys.global.u64 %bugaroo_at, [%bugaroo_queue+128];
sub.u64 %bugaroo_at, %bugaroo_next, %bugaroo_at;
setp.lt.and.u64 %bugaroo_p, %bugaroo_at, %bugaroo_capacity, %bugaroo_leader;
add.u64 %bugaroo_record, %bugaroo_next, 1;
not.b64 %bugaroo_at, %bugaroo_next;
@%bugaroo_p atom.relaxed.gpu.global.cas.b64 %bugaroo_at, [%bugaroo_write], %bugaroo_next, %bugaroo_record;
setp.eq.u64 %bugaroo_p, %bugaroo_at, %bugaroo_next;
vote.sync.any.pred %bugaroo_p, %bugaroo_p, %bugaroo_lanes;
@!%bugaroo_p bra AGAIN;
mov.b64 {%bugaroo_word, %bugaroo_high}, %bugaroo_next;
shfl.sync.idx.b32 %bugaroo_word, %bugaroo_word, %bugaroo_first, 31, %bugaroo_lanes;
shfl.sync.idx.b32 %bugaroo_high, %bugaroo_high, %bugaroo_first, 31, %bugaroo_lanes;
mov.b64 %bugaroo_next, {%bugaroo_word, %bugaroo_high};
rem.u64 %bugaroo_record, %bugaroo_next, %bugaroo_capacity;
mad.lo.u64 %bugaroo_record, %bugaroo_record, 272, %bugaroo_queue;
mov.u32 %bugaroo_word, %laneid;
mul.wide.u32 %bugaroo_at, %bugaroo_word, 8;
add.u64 %bugaroo_at, %bugaroo_record, %bugaroo_at;
st.global.u64 [%bugaroo_at+256], %bugaroo_logged;
WAIT:
ld.acquire.sys.global.u64 %bugaroo_at, [%bugaroo_queue+0];
setp.ne.u64 %bugaroo_p, %bugaroo_at, %bugaroo_next;
@%bugaroo_p bra WAIT;
ld.const.u64 %bugaroo_at, [__bugaroo_log+8];
@%bugaroo_leader atom.relaxed.gpu.global.add.u64 %bugaroo_at, [%bugaroo_at+0], 1;
cvt.u32.u64 %bugaroo_ticket, %bugaroo_at;
mov.u32 %bugaroo_word, PLACE;
@%bugaroo_leader st.global.v4.u32 [%bugaroo_record+512], {%bugaroo_lanes, %bugaroo_word, %bugaroo_warp, %bugaroo_ticket};
add.u64 %bugaroo_next, %bugaroo_next, 1;
bar.warp.sync %bugaroo_lanes;
@%bugaroo_leader st.release.sys.global.u64 [%bugaroo_queue+0], %bugaroo_next;
";

/// Checks the pass of this name.
pub(super) fn check(pass: &'static str, view: &View<'_>, log: &Log) -> Result<(), Violation> {
    match pass {
        "declare-log-state" => return prologues(view),
        "append-logger" => return defined_once(view, "append-logger", &prepare::ALL),
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
    nothing_is_passed_over(pass, view, log)
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
                let mut parameters = vec![address(access, 0)];
                parameters.extend(access.elements.iter().filter_map(|element| logged(element, access)));
                parameters.resize(5, Term::constant(0));
                return tells(view, &place.before, (prepare::STORE, &parameters), (place.index, before));
            }
            if told.before.is_some() {
                let parameters = [address(access, 0)];
                return tells(view, &place.before, (prepare::ACCESS, &parameters), (place.index, before));
            }
            let kept = evaluate(&place.before).held(ADDRESS) == address(access, 0);
            require(kept, "its address is not kept")?;
            let parameters = [Term::register(ADDRESS)];
            tells(view, &place.after, (prepare::ACCESS, &parameters), (place.index, behind))
        }
        "tell-outcomes" if told.behind == Some(Told::Outcome) => {
            let calls = evaluate(&place.after).calls;
            let right =
                calls.iter().filter(|call| call.handler == prepare::EVENT && call.parameters == [chosen(P)]);
            require(right.count() == 1, "its outcome is not told")?;
            committed(view, &place.after, &label(place.index, "outcome"), behind)
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
                    Some(predicate) if matches!(kind, Told::Branch { .. }) => chosen(predicate),
                    Some(operand) => widened(operand),
                    None => Term::constant(0),
                };
                let calls = evaluate(around).calls;
                let right = calls
                    .iter()
                    .filter(|call| call.handler == prepare::EVENT && call.parameters == [known.clone()]);
                require(right.count() == 1, "it is not told once")?;
                committed(view, around, &label(place.index, name), number)?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// A function is called once, with these parameters, and what it answers is committed as the record of this number.
fn tells(
    view: &View<'_>,
    around: &[&Statement],
    (function, parameters): (&str, &[Term]),
    (index, number): (usize, u64),
) -> Judgement {
    let calls = evaluate(around).calls;
    let mut right = calls.iter().filter(|call| call.handler == function);
    let once = right.next().is_some_and(|call| call.parameters == parameters) && right.next().is_none();
    require(once, "it is not told once, with its address")?;
    committed(view, around, &label(index, "told"), number)
}

/// What stands before the label is a call with its piece, and lanes that do not log go past all of it. The way back goes to the
/// call, with its parameters.
fn committed(view: &View<'_>, around: &[&Statement], label: &str, place: u64) -> Judgement {
    let find = |name: &str| {
        around.iter().position(|one| matches!(&one.kind, StatementKind::Label(found) if found == name))
    };
    let Some(at) = find(label) else { return require(false, "its label is not there") };
    let jumps = around[..at].iter().filter_map(|one| instruction(one)).filter(|one| {
        let unless = one.guard.as_ref().is_some_and(|guard| guard.register == LOGGING && guard.negated);
        jump_target(one) == Some(label) && unless
    });
    require(jumps.count() == 1, "it is told where there are no queues")?;
    let (again, wait) = (format!("{label}_again"), format!("{label}_wait"));
    let text = |one: &&Statement| view.text(one).split_whitespace().collect::<Vec<_>>().join(" ");
    let piece =
        PIECE.replace("AGAIN", &again).replace("WAIT", &wait).replace("PLACE", &format!("{place:#x}"));
    let piece: Vec<&str> = piece.lines().collect();
    let from = at.checked_sub(piece.len());
    let stands = from.filter(|from| around[*from..at].iter().map(text).eq(piece.iter().copied()));
    let Some(from) = stands else { return require(false, "its record is not committed") };
    let back = find(&again).is_some_and(|back| {
        let called: Vec<&Instruction> =
            around[back..from].iter().filter_map(|one| instruction(one)).collect();
        let (last, before) = (called.last(), &called[..called.len().saturating_sub(1)]);
        let passes = |one: &&Instruction| matches!(one.op, Op::St { space: Space::Param, .. });
        last.is_some_and(|one| matches!(one.op, Op::Call { .. })) && before.iter().all(passes)
    });
    require(back, "the way back is not to its call")
}

/// Whatever is to be told is in the table: looked up in the original itself.
pub(super) fn nothing_is_passed_over(
    pass: &'static str,
    view: &View<'_>,
    log: &Log,
) -> Result<(), Violation> {
    for function in
        view.functions.iter().filter(|function| !log.left.iter().any(|left| *left == function.name))
    {
        for token in &function.tokens {
            let Token::Statement(statement) = token else { continue };
            let Some(found) = instruction(statement) else { continue };
            let belongs = match (pass, Effect::of(&found.op)) {
                ("tell-accesses", Effect::Access(stated)) => {
                    matches!(stated.space, Space::Global | Space::Shared)
                }
                ("tell-events", effect) => {
                    let fence = matches!(effect, Effect::Fence(_) | Effect::ProxyFence);
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
