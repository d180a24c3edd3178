//! Groups of `wgmma`: what a warpgroup reads of shared memory is over when any of its threads has waited for it.
//!
//! Source: PTX ISA, "wgmma.commit_group", "wgmma.wait_group". All four warps execute the same `wgmma`s, and each commits its part of a
//! group; a multiplication is over when it is for all four. So a wait cannot end before each of them has committed as many groups,
//! and whoever has waited knows that the reads of all of them are over. What else the other warps did before they committed lies before
//! that in time, which is enough for which phase of a barrier an arrival or a wait belongs to; memory does not follow.

use super::known::join;
use super::runner::State;
use super::state::Machine;
use crate::chains::{WARPGROUP, group_index, warpgroup};
use crate::program::{GroupKind, Packed};
use crate::verdict::Resource;

impl Machine<'_> {
    /// `wgmma.wait_group`
    pub(super) fn wait_warpgroup(&mut self, chain: u32, command: &Packed) {
        let kind = group_index(GroupKind::Wgmma);
        let committed = self.runners[chain as usize].copies.commits[kind].len() as u32;
        let groups = committed.saturating_sub(command.a);
        if self.warpgroup_committed(chain) >= groups {
            self.pass_warpgroup(chain, groups);
        } else {
            self.runners[chain as usize].state = State::AtWarpgroup(groups);
        }
    }

    /// A chain commits a group.
    pub(super) fn commit_warpgroup(&mut self, chain: u32, index: u32) {
        let stamp = self.stamp(chain, index);
        let mut time = vec![0; self.layout.fenced_len()];
        self.join_time(chain, stamp, &mut time);
        time.drain(..self.layout.time_of(0).min(time.len()));
        self.runners[chain as usize].copies.committed.push(time);
        self.wake_warpgroup(chain);
    }

    /// A chain has committed a group or come to its end: who waited for that goes on.
    pub(super) fn wake_warpgroup(&mut self, chain: u32) {
        for other in self.warpgroup_of(chain) {
            let State::AtWarpgroup(groups) = self.runners[other as usize].state else { continue };
            if self.warpgroup_committed(other) >= groups {
                self.runners[other as usize].state = State::Ready;
                self.pass_warpgroup(other, groups);
                self.ready.push_back(other);
            }
        }
    }

    fn pass_warpgroup(&mut self, chain: u32, groups: u32) {
        let kind = group_index(GroupKind::Wgmma);
        let component = self.layout.chains[chain as usize].groups[kind];
        let Some(last) = groups.checked_sub(1) else { return };
        let (time, mut fenced) =
            (self.layout.time_of(0), std::mem::take(&mut self.runners[chain as usize].known.fenced));
        if let Some(into) = fenced.get_mut(time..) {
            for other in self.warpgroup_of(chain) {
                if let Some(time) = self.runners[other as usize].copies.committed.get(last as usize) {
                    join(into, time);
                }
            }
        }
        let runner = &mut self.runners[chain as usize];
        runner.known.fenced = fenced;
        let waited = runner.copies.commits[kind][last as usize];
        runner.copies.groups[kind].waited = runner.copies.groups[kind].waited.max(waited);
        if let Some(component) = component {
            let slot = &mut runner.known.clock[component as usize];
            *slot = (*slot).max(waited);
        }
    }

    /// Groups that all warps of a chain's warpgroup have committed. The lanes of a warp do so together; those that have exited do no more.
    fn warpgroup_committed(&self, chain: u32) -> u32 {
        let kind = group_index(GroupKind::Wgmma);
        let shape = self.program.shape();
        // Of each warp: what all of the lanes that it has left have committed, and what any have.
        let mut committed = [(None, 0); WARPGROUP as usize];
        let mut warps = 0;
        for other in self.warpgroup_of(chain) {
            let warp = self.layout.chains[other as usize].warp % shape.warps_per_cta() % WARPGROUP;
            let runner = &self.runners[other as usize];
            let own = runner.copies.commits[kind].len() as u32;
            let (left, any) = &mut committed[warp as usize];
            if runner.state != State::Finished {
                *left = Some(left.map_or(own, |least: u32| least.min(own)));
            }
            *any = own.max(*any);
            warps = warps.max(warp + 1);
        }
        let of_warp = |(left, any): &(Option<u32>, u32)| left.unwrap_or(*any);
        committed[..warps as usize].iter().map(of_warp).min().unwrap_or(0)
    }

    fn warpgroup_of(&self, chain: u32) -> Vec<u32> {
        let shape = self.program.shape();
        let of = |chain: u32| warpgroup(shape, self.layout.chains[chain as usize].warp);
        let own = of(chain);
        (0..self.layout.chains.len() as u32).filter(|other| of(*other) == own).collect()
    }

    /// Of a chain that waits for its warpgroup: for what, and how many groups all of it has committed.
    pub(super) fn warpgroup_standing(&self, chain: u32) -> (Resource, u32) {
        let (cta, number) = warpgroup(self.program.shape(), self.layout.chains[chain as usize].warp);
        (Resource::Warpgroup { cta, number }, self.warpgroup_committed(chain))
    }
}
