//! drain-before-fences: everything drains before a fence, to memory, or, when its scope is the CTA, as far
//! as the CTA sees; one that the site table omits does nothing, neither drains nor fences, and one that it
//! narrows drains as a fence of scope cta.

use bugaroo_device_handlers::constants::event;
use bugaroo_device_handlers::symbols;
use bugaroo_ptx::types::Scope;

use crate::collect_sites::{PointKind, SiteTable};
use crate::emit::{Code, EVENT, FLAGGED, P, label};
use crate::plan::Plan;

use super::drain::drain;
use super::places::{each, skip_label};

pub(super) fn run(table: &SiteTable, plan: &mut Plan) {
    for (index, point, around) in each(table, plan) {
        let (PointKind::Fence(scope), Some(site)) = (&point.kind, point.site) else { continue };
        let kept = label(index, "kept");
        let event = if *scope == Scope::Cta { event::CTA_FENCE } else { event::FENCE };
        let mut code = Code::default();
        code.op(format!("mov.u32 {EVENT}, {event};"));
        code.op(format!("@!{FLAGGED} bra {kept};"));
        code.call(symbols::FENCE, &[("b32", &site.to_string()), ("b32", EVENT)], &[EVENT]);
        code.op(format!("setp.eq.u32 {P}, {EVENT}, {};", event::OMITTED));
        code.op(format!("@{P} bra {};", skip_label(index)));
        code.label(&kept);
        drain(&mut code, index, EVENT);
        around.before.push_str(&code.finish());
    }
}
