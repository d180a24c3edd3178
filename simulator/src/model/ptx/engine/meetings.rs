//! Barriers: who has met whom, and what they know together from then on.

use super::{At, PtxModel};
use crate::exec::lanes;
use crate::model::Shape;
use crate::model::ptx::WriterSet;

/// The lanes that a warp of a CTA has, by its number in there.
pub(super) fn lanes_of(shape: &Shape, warp: u32) -> u32 {
    u32::MAX >> (32 - (shape.threads_per_cta - warp * 32).min(32))
}

impl PtxModel {
    /// See [`crate::model::MemoryModel::released`].
    pub(super) fn meet(&mut self, at: &At, barrier: Option<u32>) {
        let slots = |warp: u32, among: u32| lanes(among).map(move |lane| warp as usize * 32 + lane);
        let Some(barrier) = barrier else {
            let together: Vec<usize> = slots(at.warp, at.lanes).collect();
            let whole = at.lanes == lanes_of(&self.shape, at.warp % self.shape.warps_per_cta);
            let writers = whole.then(|| WriterSet::warp(self.machine.key(together[0])));
            self.machine.barrier(&together, &together, writers);
            return;
        };
        let first = at.cta * self.shape.warps_per_cta;
        let warps = first..first + self.shape.warps_per_cta;
        let shape = self.shape;
        let all = |warp: u32| lanes_of(&shape, warp - first);
        let here = &mut self.barriers[at.cta as usize];
        let known = here.known(barrier, |arrivals| {
            // Of those that arrived some may have ended since, so that numbers would not do.
            let came =
                |warp: u32| arrivals.iter().filter(|a| a.warp == warp).fold(0, |lanes, a| lanes | a.lanes);
            let everybody = warps.clone().all(|warp| self.warps.alive[warp as usize] & !came(warp) == 0);
            let mut arrived: Vec<usize> =
                arrivals.iter().flat_map(|arrival| slots(arrival.warp, arrival.lanes)).collect();
            let mut writers: Vec<WriterSet> = Vec::new();
            if everybody {
                // Threads that have ended count as having come.
                let ended = |warp: u32| slots(warp, all(warp) & !self.warps.alive[warp as usize]);
                arrived.extend(warps.clone().flat_map(ended));
                writers.push(WriterSet::cta(self.machine.key(arrived[0]).cta()));
            } else {
                for arrival in arrivals {
                    let mut each = slots(arrival.warp, arrival.lanes).map(|slot| self.machine.key(slot));
                    match arrival.lanes == all(arrival.warp) {
                        true => writers.extend(each.next().map(WriterSet::warp)),
                        false => writers.extend(each.map(WriterSet::thread)),
                    }
                }
            }
            self.machine.gathered(&arrived, &writers)
        });
        for slot in slots(at.warp, at.lanes) {
            self.machine.knows_all(slot, &known);
        }
        let alive: u32 = warps.map(|warp| self.warps.alive[warp as usize].count_ones()).sum();
        if self.barriers[at.cta as usize].let_go(barrier, at.lanes) >= alive {
            self.machine.shared_is_known(at.cta);
        }
    }
}
