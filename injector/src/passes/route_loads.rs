//! route-loads: a thread reads its own delayed stores.
//!
//! A thread without entries goes straight to the original. Otherwise a scalar load takes the buffered
//! value or runs; a vector load has each element looked up first (which drains partial overlaps),
//! then runs, and the elements that were found replace what it loaded.

use bugaroo_device_handlers::symbols;

use crate::access::AccessOperand;
use crate::collect_sites::{PointKind, SiteTable};
use crate::emit::{ANSWER, CHOICE, Code, Concern, HELD, P, THREAD, immediate, label};
use crate::plan::{Around, Plan};

use super::places::each;

pub(super) fn run(table: &SiteTable, plan: &mut Plan) {
    for (index, point, around) in each(table, plan) {
        let (PointKind::Load(access), Some(site)) = (&point.kind, point.site) else { continue };
        if access.elements.len() == 1 {
            scalar(index, access, site, around);
        } else {
            vector(index, access, site, around);
        }
    }
}

/// Looks one element up: its value in `HELD`, whether it was found in `CHOICE`.
fn look_up(code: &mut Code, access: &AccessOperand, site: u32, element: usize) {
    let at = code.element_address(access, element);
    let word = immediate(access.word(site, 0, element as u8));
    let results = [format!("{HELD}{element}"), format!("{CHOICE}{element}")];
    code.call(symbols::LOAD, &[("b32", THREAD), ("b64", at), ("b64", &word)], &[&results[0], &results[1]]);
}

fn scalar(index: usize, access: &AccessOperand, site: u32, around: &mut Around) {
    let (run, done) = (label(index, "run"), label(index, "done"));
    let mut code = Code::default();
    code.unless_pending(Concern::of(access), &run);
    code.address(access);
    look_up(&mut code, access, site, 0);
    code.op(format!("setp.eq.u64 {P}, {CHOICE}0, 0;"));
    code.op(format!("@{P} bra {run};"));
    code.give(&access.elements[0], access.ty, &format!("{HELD}0"), "");
    code.op(format!("bra {done};"));
    code.label(&run);
    around.before.push_str(&code.finish());

    let mut code = Code::default();
    code.label(&done);
    around.after.push_str(&code.finish());
}

fn vector(index: usize, access: &AccessOperand, site: u32, around: &mut Around) {
    let (run, done) = (label(index, "run"), label(index, "done"));
    let elements = 0..access.elements.len();
    let mut code = Code::default();
    // Lanes that go straight to the original have found nothing.
    code.op(format!("mov.u64 {ANSWER}, 0;"));
    code.unless_pending(Concern::of(access), &run);
    code.address(access);
    for element in elements.clone() {
        look_up(&mut code, access, site, element);
    }
    code.op(format!("mov.u64 {ANSWER}, 0;"));
    for element in elements.clone() {
        code.op(format!("or.b64 {ANSWER}, {ANSWER}, {CHOICE}{element};"));
    }
    code.label(&run);
    around.before.push_str(&code.finish());

    let mut code = Code::default();
    code.op(format!("setp.eq.u64 {P}, {ANSWER}, 0;"));
    code.op(format!("@{P} bra {done};"));
    for element in elements {
        code.op(format!("setp.ne.u64 {P}, {CHOICE}{element}, 0;"));
        code.give(&access.elements[element], access.ty, &format!("{HELD}{element}"), &format!("@{P} "));
    }
    code.label(&done);
    around.after.push_str(&code.finish());
}
