//! drain-before-fences: both buffers drain before a fence; one that the site table omits does nothing,
//! neither drains nor fences.

use bugaroo_device_handlers::constants::event;
use bugaroo_device_handlers::symbols;

use crate::collect_sites::{PointKind, SiteTable};
use crate::emit::{Code, FLAGGED, P, WORD, label};
use crate::plan::Plan;

use super::{drain, each, skip_label};

pub(super) fn run(table: &SiteTable, plan: &mut Plan) {
    for (index, point, around) in each(table, plan) {
        let (PointKind::Fence, Some(site)) = (&point.kind, point.site) else { continue };
        let kept = label(index, "kept");
        let mut code = Code::default();
        code.op(format!("@!{FLAGGED} bra {kept};"));
        code.call(symbols::OMITTED, &[("b32", &site.to_string())], &[WORD]);
        code.op(format!("setp.ne.u32 {P}, {WORD}, 0;"));
        code.op(format!("@{P} bra {};", skip_label(index)));
        code.label(&kept);
        drain(&mut code, index, event::FENCE);
        around.before.push_str(&code.finish());
    }
}
