//! route-stores: every store asks its handler whether it is delayed, and runs only if it is not.
//!
//! A delayed store touches its address with a load, so that a bad address faults here, at the program's
//! own line, and not in the handler that would write it out later.
//!
//! A vector asks element by element; the handler sees to it that all elements agree on whether the
//! original runs. Under model bugaroo the original runs, and elements that are delayed are restored
//! afterwards.

use bugaroo_device_handlers::constants::choice;
use bugaroo_device_handlers::symbols;

use crate::collect_sites::{PointKind, SiteTable};
use crate::emit::{ADDRESS, CHOICE, Code, HALF, HELD, P, RESTORE, THREAD, VALUE, immediate, label};
use crate::plan::Plan;

use super::places::each;

pub(super) fn run(table: &SiteTable, plan: &mut Plan) {
    for (index, point, around) in each(table, plan) {
        let (PointKind::Store { access, slot }, Some(site)) = (&point.kind, point.site) else { continue };
        let (run, done) = (label(index, "run"), label(index, "done"));
        let last = access.elements.len() - 1;
        let word = |element: usize| immediate(access.word(site, *slot, element as u8));

        let mut code = Code::default();
        code.unless_routed(&run);
        code.address(access);
        for (element, data) in access.elements.iter().enumerate() {
            let at = code.element_address(access, element);
            code.take(data);
            let parameters = [("b32", THREAD), ("b64", at), ("b64", VALUE), ("b64", &word(element))];
            let results = [format!("{HELD}{element}"), format!("{CHOICE}{element}")];
            code.call(symbols::STORE, &parameters, &[&results[0], &results[1]]);
        }
        code.op(format!("setp.eq.u64 {P}, {CHOICE}{last}, {};", choice::DELAYED));
        code.op(format!("@{P} ld.volatile.u8 {HALF}, [{ADDRESS}];"));
        code.op(format!("@{P} bra {done};"));
        code.label(&run);
        around.before.push_str(&code.finish());

        let mut code = Code::default();
        code.op(format!("@!{RESTORE} bra {done};"));
        for element in 0..access.elements.len() {
            let next = label(index, &format!("next{element}"));
            code.op(format!("setp.ne.u64 {P}, {CHOICE}{element}, {};", choice::RUN_AND_RESTORE));
            code.op(format!("@{P} bra {next};"));
            let at = code.element_address(access, element);
            let held = format!("{HELD}{element}");
            let parameters = [("b32", THREAD), ("b64", at), ("b64", held.as_str()), ("b64", &word(element))];
            code.call(symbols::RESTORE, &parameters, &[]);
            code.label(&next);
        }
        code.label(&done);
        around.after.push_str(&code.finish());
    }
}
