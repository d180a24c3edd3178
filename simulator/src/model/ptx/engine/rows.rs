//! Loads and stores that a warp's lanes do alike, as rows: whole granules, in one memory, where no load is late.
//! Whoever looks on changes nothing of it: what happens is the same, in the same order.

use super::bytes::{Seen, order};
use super::{At, LoadedRow, PtxModel};
use crate::address::SHARED_WINDOW;
use crate::exec::lanes;
use crate::model::Accessed;
use crate::model::ptx::kept::AtOnce;
use crate::model::ptx::spans::Spans;
use crate::model::ptx::waiting::{Manner, Stored};
use crate::model::ptx::{MemorySpace, Strength};
use crate::model::targets::Targets;

impl PtxModel {
    /// Where these lanes access, if they do so alike.
    fn spans(
        &self,
        at: &At,
        access: &Accessed<'_>,
        among: u32,
        memory: &Seen<'_, '_>,
    ) -> Option<(MemorySpace, Spans)> {
        let bytes = access.bytes();
        let alike = among != 0
            && matches!(bytes, 4 | 8 | 16)
            && memory.holds_all()
            && self.warps.pending[at.warp as usize].is_empty();
        if !alike {
            return None;
        }
        let mut targets = Targets::stepped(0, 0);
        let (space, block) = if access.aim(among, &mut targets)? {
            targets.base = targets.base.wrapping_sub(SHARED_WINDOW);
            if targets.step.is_none() {
                targets.each = targets.each.map(|address| address.wrapping_sub(SHARED_WINDOW));
            }
            (MemorySpace::Shared, at.cta)
        } else {
            (MemorySpace::Global, 0)
        };
        Some((space, Spans::new(space, block, (bytes / 4) as u8, targets)))
    }

    /// A store by these lanes, if it can be done as a row; answers whether it has been.
    pub(super) fn store_row(
        &mut self,
        at: &At,
        among: u32,
        access: &Accessed<'_>,
        memory: &mut Seen<'_, '_>,
    ) -> bool {
        let (strength, _, release) = order(access.semantics);
        if release {
            return false;
        }
        let Some((space, spans)) = self.spans(at, access, among, memory) else { return false };
        let chances = self.chances(at, space, strength == Strength::Weak);
        self.machine.set_chances(chances);
        if !self.machine.knows_nothing_of_any(&spans, among) {
            for lane in lanes(among) {
                let span = spans.span(lane, u32::MAX);
                if spans.count > 1 || !self.machine.agrees(span.first, access.read(lane, 0) as u32) {
                    self.machine.believe(memory, span);
                }
            }
        }
        let waits = chances.stores_wait(among, || self.draw());
        access.fetch();
        let mut own = None;
        let row = Stored {
            lanes: among,
            spans: &spans,
            manner: Manner { strength, origin: at.pc, narrow: false },
            values: access.planes(among, &mut own),
        };
        self.machine.store_row(memory, at.warp as usize, &row, waits);
        true
    }

    /// A load by these lanes that is not late, if they load alike. Answers which have been given their values, and which are to draw
    /// them; the others read what memory holds.
    pub(super) fn load_row(
        &mut self,
        at: &At,
        among: u32,
        access: &Accessed<'_>,
        memory: &mut Seen<'_, '_>,
    ) -> Option<LoadedRow> {
        let (strength, acquire, _) = order(access.semantics);
        if acquire {
            return None;
        }
        let (_, spans) = self.spans(at, access, among, memory)?;
        let warp = at.warp as usize;
        self.machine.step_lanes(memory, warp, among);
        let direct = access.bytes() == 4 && access.elements == 1 && memory.is_memory_itself();
        let mut own = [0; 32];
        let (whole, partly) = self.machine.forward(warp, among, &spans, &mut own);
        let (given, partly) = if direct { (whole, partly) } else { (0, whole | partly) };
        let mut loaded = LoadedRow { given, to_draw: 0 };
        if given == 0 && partly == 0 && self.machine.knows_nothing_of_any(&spans, among) {
            return Some(loaded);
        }
        for lane in lanes(partly) {
            self.machine.write_partly_own(memory, Self::slot(at, lane), spans.span(lane, u32::MAX));
        }
        for lane in lanes(among & !given) {
            let held = || direct.then(|| access.read(lane, 0) as u32);
            let how = (strength == Strength::Weak, partly >> lane & 1 != 0);
            match self.machine.at_once(Self::slot(at, lane), spans.span(lane, u32::MAX), how, held) {
                AtOnce::Memory => {}
                AtOnce::Value(value) => {
                    own[lane] = value;
                    loaded.given |= 1 << lane;
                }
                AtOnce::No => loaded.to_draw |= 1 << lane,
            }
        }
        if !access.supply_plane(loaded.given, 0, &own) {
            lanes(loaded.given).for_each(|lane| access.supply(lane, 0, own[lane].into()));
        }
        Some(loaded)
    }
}
