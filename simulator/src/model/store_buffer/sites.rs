//! Which site of the module an instruction of the program belongs to.

use bugaroo_injector::collect_sites::{PointKind, SiteTable};
use rustc_hash::FxHashMap;

use crate::load::Program;

/// The site of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Site {
    /// Its number in the module; [`NONE`] without one.
    pub number: u32,
    /// Its place among the store sites, for stores that may be delayed; else [`NONE`].
    pub slot: u32,
}

/// No site, or no slot.
pub(super) const NONE: u32 = u32::MAX;

/// The sites of a program, by number of the instruction.
#[derive(Clone, Debug)]
pub struct Sites {
    by_pc: Vec<Site>,
    pub(super) store_sites: u32,
}

impl Sites {
    /// Finds them: the table is that of the text which the program was loaded from.
    pub fn new(program: &Program, table: &SiteTable) -> Sites {
        let of = |point: &bugaroo_injector::collect_sites::InjectionPoint| {
            let slot = match point.kind {
                PointKind::Store { slot, .. } => slot,
                _ => NONE,
            };
            point.site.map(|number| ((point.span.start, point.span.end), Site { number, slot }))
        };
        let by_span: FxHashMap<(usize, usize), Site> = table.points.iter().filter_map(of).collect();
        let none = Site { number: NONE, slot: NONE };
        let by_pc = program.spans().map(|span| by_span.get(&span).copied().unwrap_or(none)).collect();
        Sites { by_pc, store_sites: table.store_sites }
    }

    pub(super) fn at(&self, pc: u32) -> Site {
        self.by_pc[pc as usize]
    }
}
