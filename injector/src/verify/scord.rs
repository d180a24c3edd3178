//! What the passes owe that have ScoRD look at a module, besides what all such kits owe ([`super::looking`]): every access but those of
//! shared memory is told by the right function, once, with the right word, a compare-and-swap behind it, with whether it has written; and
//! every fence with its scope.

use bugaroo_device_handlers::scord::call;
use bugaroo_ptx::ast::{Operand, Statement};
use bugaroo_ptx::types::Scope;
use bugaroo_semantics::effect::Stated;

use super::looking::{Looking, calls, passed_over};
use super::places::{Judgement, evaluate, instruction, require};
use super::questions::{Term, address, chosen, number, wide};
use super::view::Place;
use crate::access::AccessOperand;
use crate::emit::{ADDRESS, ANSWER, COMPARAND, P, label};
use crate::logging::{LogPoint, Told};
use crate::scord::names::NAMES;
use crate::scord::word::{is_wide, looked_at, releases, word};

/// ScoRD.
pub(super) const LOOKING: Looking = Looking { names: &NAMES, functions: &call::ALL, owes };

fn owes(pass: &str, place: &Place<'_>, told: &LogPoint) -> Judgement {
    let looked = label(place.index, "looked");
    match (pass, told.before, looked_at(&place.point.kind)) {
        ("look-at-accesses", Some(Told::Access(stated)), Some(access)) => match told.compared {
            Some(_) => Ok(()),
            None => calls(&place.before, (call::ACCESS, &access_known(place, access, &stated)), &looked),
        },
        ("look-at-outcomes", Some(Told::Access(stated)), Some(access)) => {
            let Some((result, comparand, bits)) = &told.compared else { return Ok(()) };
            let [at, word] = access_known(place, access, &stated);
            kept(place, &at, wide(&number(comparand), *bits))?;
            if releases(&stated) {
                let scope = Term::constant(is_wide(&stated).into());
                calls(&place.before, (call::RELEASE, &[at, scope]), &label(place.index, "kept"))?;
            }
            outcome(&place.after, wide(&number(result), *bits), word, &label(place.index, "outcome"))
        }
        ("look-at-fences", Some(Told::Fence(fence)), _) => {
            let scope = Term::constant((fence.scope != Scope::Cta).into());
            calls(&place.before, (call::FENCE, &[scope]), &looked)
        }
        _ => Ok(()),
    }
}

/// What the detector has to know of an access: address and word.
fn access_known(place: &Place<'_>, access: &AccessOperand, stated: &Stated) -> [Term; 2] {
    [address(access, 0), Term::constant(word(place.index, stated))]
}

/// Before a compare-and-swap its address and comparand are kept, as its result may go where they stand.
fn kept(place: &Place<'_>, address: &Term, comparand: Term) -> Judgement {
    let before = evaluate(&place.before);
    let early = before.calls.iter().any(|call| call.handler == call::ACCESS);
    require(!early, "it is told before it is known whether it writes")?;
    require(before.held(ADDRESS) == *address, "its address is not kept")?;
    require(before.held(COMPARAND) == comparand, "its comparand is not kept")?;
    passed_over(&place.before, &label(place.index, "kept"))
}

/// Behind a compare-and-swap the detector is told what was kept of it, and whether its result is what it was compared with.
fn outcome(after: &[&Statement], result: Term, word: Term, label: &str) -> Judgement {
    let compares = after.iter().filter_map(|one| instruction(one)).filter(|one| {
        let names = one.operands.iter().map(|operand| match operand {
            Operand::Register(name) => name.as_str(),
            _ => "",
        });
        one.opcode == "setp" && one.modifiers == ["eq", "u64"] && names.eq([P, ANSWER, COMPARAND])
    });
    require(compares.count() == 1, "its result is not compared")?;
    require(evaluate(after).held(ANSWER) == result, "something else than its result is compared")?;
    calls(after, (call::SWAPPED, &[Term::register(ADDRESS), word, chosen(P)]), label)
}
