//! Who stands where, when a launch cannot or may not go on.

use super::Machine;
use super::warp::State;
use crate::fault::{Activity, Group, LaunchDiagnosis, ThreadId};

impl Machine<'_> {
    /// The indices of a lane's thread.
    pub(super) fn thread(&self, w: usize, lane: u32) -> ThreadId {
        let warp = &self.residents.warps[w];
        let index = &self.given.layout.tids[warp.index as usize];
        let thread = [0, 1, 2].map(|d| index[d][lane as usize]);
        ThreadId { block: self.residents.ctas[warp.cta as usize].index, thread }
    }

    /// All threads that have not exited, in groups.
    #[cold]
    pub(super) fn diagnose(&self) -> LaunchDiagnosis {
        let mut order: Vec<usize> = (0..self.residents.ctas.len()).collect();
        order.sort_by_key(|slot| self.residents.ctas[*slot].block);
        let mut diagnosis = LaunchDiagnosis {
            blocks_pending: self.given.plan.blocks - self.residents.next_block,
            ..LaunchDiagnosis::default()
        };
        for slot in order {
            let cta = &self.residents.ctas[slot];
            // By instruction and activity, in order of the first thread.
            let mut groups: Vec<(u32, Activity, ThreadId, u32)> = Vec::new();
            for w in cta.first_warp as usize..(cta.first_warp + self.given.plan.warps_per_block) as usize {
                let mut fragments: Vec<_> = self.residents.warps[w].fragments.iter().collect();
                fragments.sort_by_key(|f| f.mask.trailing_zeros());
                for fragment in fragments {
                    let activity = match fragment.state {
                        State::Ready => Activity::Running,
                        State::Mask(mask) => Activity::WarpMask { mask },
                        State::Mbarrier => self.mbarrier_activity(w, fragment.mask),
                        State::Cluster => self.cluster_activity(slot),
                        State::Gathering(barrier) => {
                            let (arrived, expected) = self.gathering(w, barrier);
                            Activity::BarrierWarp { barrier, arrived, expected }
                        }
                        State::Barrier(barrier) => {
                            let (arrived, expected) = self.arrivals(slot, barrier);
                            Activity::Barrier { barrier, arrived, expected }
                        }
                    };
                    let threads = fragment.mask.count_ones();
                    match groups.iter_mut().find(|g| (g.0, g.1) == (fragment.pc, activity)) {
                        Some(group) => group.3 += threads,
                        None => {
                            let first = self.thread(w, fragment.mask.trailing_zeros());
                            groups.push((fragment.pc, activity, first, threads));
                        }
                    }
                }
            }
            for (pc, activity, first, threads) in groups {
                if diagnosis.groups.len() == LaunchDiagnosis::MAX_GROUPS {
                    diagnosis.omitted += 1;
                    continue;
                }
                let place = self.given.program.place(pc);
                let (block, first_thread) = (first.block, first.thread);
                diagnosis.groups.push(Group { block, first_thread, threads, activity, place });
            }
        }
        diagnosis
    }
}
