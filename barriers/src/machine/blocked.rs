//! Who is blocked, and where those that are would have come next.

use super::runner::State;
use super::state::Machine;
use crate::chains::warpgroup;
use crate::program::{GroupKind, Opcode};
use crate::verdict::{Resource, ThreadsPlace, Waiting};

impl Machine<'_> {
    /// The chains that wait.
    pub(crate) fn blocked(&self) -> Vec<(u32, Waiting)> {
        let mut all = Vec::new();
        for (chain, runner) in self.runners.iter().enumerate() {
            let chain = chain as u32;
            let mut in_warp = false;
            let (resource, generation, arrived, expected, bytes_missing) = match runner.state {
                State::Ready | State::Finished => continue,
                State::Gathering(barrier) => {
                    in_warp = true;
                    let (resource, generation, ..) = self.standing(barrier);
                    let warp = self.layout.chains[chain as usize].warp;
                    let (here, left) = self.gathered(warp, barrier);
                    (resource, generation, here.count_ones(), left.count_ones(), 0)
                }
                State::AtBarrier(barrier) => {
                    let (resource, generation, arrived, expected) = self.standing(barrier);
                    (resource, generation, arrived, expected, 0)
                }
                State::AtCluster => {
                    let barrier = self.names.get(&Resource::Cluster).copied().unwrap_or(0);
                    let (resource, generation, arrived, expected) = self.standing(barrier);
                    (resource, generation, arrived, expected, 0)
                }
                State::AtWarpgroup(groups) => {
                    let (resource, committed) = self.warpgroup_standing(chain);
                    (resource, groups, committed, groups, 0)
                }
                State::AtMbarrier(component) => {
                    let (address, generation, arrived, expected, bytes) = self.mbarrier_standing(component);
                    let resource = Resource::Mbarrier { address };
                    (resource, generation, arrived, expected, bytes)
                }
            };
            let warp = self.layout.chains[chain as usize].warp as usize;
            let command = self.layout.synchronising[warp][runner.at.next - 1];
            all.push((
                chain,
                Waiting {
                    place: self.place(chain, command),
                    resource,
                    generation,
                    arrived,
                    expected,
                    bytes_missing,
                    in_warp,
                    waits_for: Vec::new(),
                },
            ));
        }
        all
    }

    /// The barriers that a chain would still have come to, each with the first place.
    pub(crate) fn to_come(&self, chain: u32) -> Vec<(Resource, ThreadsPlace)> {
        let own = &self.layout.chains[chain as usize];
        let shape = self.program.shape();
        let cta = shape.cta_of(own.warp);
        let commands = self.program.warps()[own.warp as usize].packed();
        let list = &self.layout.synchronising[own.warp as usize];
        let mut found: Vec<(Resource, ThreadsPlace)> = Vec::new();
        let runner = &self.runners[chain as usize];
        // Who waits for its warp has not arrived yet.
        let from = runner.at.next - usize::from(matches!(runner.state, State::Gathering(_)));
        for &index in &list[from..] {
            let command = &commands[index as usize];
            if command.lanes & own.lanes == 0 {
                continue;
            }
            let address = command.a;
            let resource = match command.opcode() {
                Opcode::Sync | Opcode::Arrive => Resource::Named { cta, id: command.a },
                Opcode::WarpSync => Resource::Warp {
                    cta,
                    warp: own.warp % shape.warps_per_cta(),
                    members: command.a & self.program.warps()[own.warp as usize].lanes(),
                },
                Opcode::ClusterArrive => Resource::Cluster,
                Opcode::CommitGroup if command.group() == GroupKind::Wgmma => {
                    let (cta, number) = warpgroup(shape, own.warp);
                    Resource::Warpgroup { cta, number }
                }
                Opcode::MbarrierArrive | Opcode::MbarrierCompleteTx | Opcode::CpAsyncArrive => {
                    Resource::Mbarrier { address }
                }
                Opcode::Access => match command.completion().mbarrier() {
                    Some(address) => Resource::Mbarrier { address },
                    None => continue,
                },
                _ => continue,
            };
            if !found.iter().any(|(r, _)| *r == resource) {
                found.push((resource, self.place(chain, index)));
            }
        }
        found
    }
}
