//! Which warps are candidates for a turn, and who of a warp has it.

use super::Machine;
use super::warp::{NOBODY, Parting, Passing};
use crate::schedule::{Candidate, SchedulerStrategy};

impl Machine<'_> {
    /// Decides who of a warp goes first this turn, see [`warp`], and for how many of the `operations` granted.
    #[inline(always)]
    pub(super) fn favour(
        &mut self,
        warp: u32,
        operations: u32,
        scheduler: &mut dyn SchedulerStrategy,
    ) -> u32 {
        let warp = &mut self.residents.warps[warp as usize];
        warp.favoured = NOBODY;
        if self.given.config.lockstep {
            return operations;
        }
        if warp.fragments.len() == 1 {
            // Every 64th turn: whose that is, is random.
            if self.progress.counts.turns & 63 == self.progress.phase {
                warp.passing = Passing::default();
                if !self.given.program.leans_on_convergence {
                    warp.part(scheduler.random());
                }
            }
            return operations;
        }
        let bits = scheduler.random();
        if bits & 7 == 0 {
            let ready = warp.ready();
            if ready != 0 {
                let nth = ((bits >> 32) * u64::from(ready.count_ones())) >> 32;
                warp.favoured = (0..nth).fold(ready, |lanes, _| lanes & (lanes - 1)).trailing_zeros();
            }
            return operations;
        }
        match warp.parting {
            Parting::Apart { lead: 0, .. } => operations,
            Parting::Apart { lead, .. } => operations.min(lead),
            Parting::None => warp.pass_on(&self.residents.frames, self.given.turns, operations, bits),
        }
    }

    /// Makes a warp a candidate, if it is none.
    pub(super) fn enqueue(&mut self, slot: u32) {
        let warp = &mut self.residents.warps[slot as usize];
        if warp.queued.is_none() {
            warp.queued = Some(self.residents.runnable.len() as u32);
            let block = self.residents.ctas[warp.cta as usize].block;
            let number = block * u64::from(self.given.plan.warps_per_block) + u64::from(warp.index);
            self.residents.runnable.push(Candidate { warp: number, slot });
        }
    }

    pub(super) fn dequeue(&mut self, slot: u32) {
        if let Some(at) = self.residents.warps[slot as usize].queued.take() {
            self.residents.runnable.swap_remove(at as usize);
            if let Some(moved) = self.residents.runnable.get(at as usize) {
                self.residents.warps[moved.slot as usize].queued = Some(at);
            }
        }
    }
}
