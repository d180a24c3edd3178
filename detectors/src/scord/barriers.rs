//! Barriers of a block. The paper has those of all its threads alone; others are counted as these, so that they order more than they
//! should and no race is made up.

use bugaroo_semantics::event::Lanes;

use super::grid::Grid;
use super::report::{self, Reports};

impl Grid {
    /// Lanes come to a barrier.
    pub fn arrive(&mut self, by: &Lanes, barrier: u32, waits: bool) {
        let Some(cta) = self.ctas.get_mut(by.cta as usize) else { return };
        let index = barrier as usize;
        if cta.barriers.len() <= index {
            cta.barriers.resize(index + 1, 0);
        }
        if waits {
            cta.barriers[index] += by.mask.count_ones();
        }
    }

    /// Lanes go on behind it. The first ones tell that it has completed.
    pub fn leave(&mut self, by: &Lanes, barrier: u32, reports: &mut Reports) {
        let Some(cta) = self.ctas.get_mut(by.cta as usize) else { return };
        let Some(barrier) = cta.barriers.get_mut(barrier as usize) else { return };
        let waiting = std::mem::take(barrier);
        if waiting == 0 {
            return;
        }
        if waiting < cta.live {
            reports.warn_once(report::SOME_THREADS);
        }
        self.count_barrier(by.cta, reports);
    }

    fn count_barrier(&mut self, slot: u32, reports: &mut Reports) {
        if let Some(number) = self.ctas.get(slot as usize).and_then(|cta| cta.here) {
            let barriers = self.blocks.meet(number);
            self.tell_barriers(number, barriers, reports);
        }
    }

    /// All blocks of a cluster meet, those that have ended, too.
    fn count_cluster(&mut self, slot: u32, reports: &mut Reports) {
        let Some(number) = self.ctas.get(slot as usize).and_then(|cta| cta.here) else { return };
        let first = number / self.cluster() * self.cluster();
        for number in first..first.saturating_add(self.cluster()) {
            let barriers = self.blocks.meet_cluster(number);
            self.tell_barriers(number, barriers, reports);
        }
    }

    /// Lanes go on behind the barrier of their cluster. Each warp tells so when it does; it counts where somebody has accessed memory since the
    /// last time, which is too often rather than too seldom.
    pub fn cluster_leave(&mut self, by: &Lanes, reports: &mut Reports) {
        let accesses = self.accesses;
        let Some(cta) = self.ctas.get_mut(by.cta as usize) else { return };
        if std::mem::replace(&mut cta.cluster_at, accesses) != accesses {
            self.count_cluster(by.cta, reports);
        }
    }

    /// A lane has found a phase of an mbarrier completed. Counted once for all phases that have completed since.
    pub fn mbarrier_passed(&mut self, by: &Lanes, reports: &mut Reports) {
        let phases = self.phases;
        let Some(cta) = self.ctas.get_mut(by.cta as usize) else { return };
        if std::mem::replace(&mut cta.phases, phases) == phases {
            return;
        }
        if self.cluster() > 1 {
            self.count_cluster(by.cta, reports);
        } else {
            self.count_barrier(by.cta, reports);
        }
    }
}
