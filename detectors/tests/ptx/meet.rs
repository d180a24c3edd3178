//! Random executions: barriers, ends, clusters.

use bugaroo_semantics::event::WorkId;

use crate::generate::{Episode, Generator, Meeting};
use crate::world::Thread;

impl Generator {
    /// The lanes of each warp of a block that have not ended.
    pub fn lanes(&self, grid: WorkId, block: u64) -> Vec<(u32, u32)> {
        let threads = self.world.shape(grid).threads_per_cta;
        let ended = |first: u32| {
            let of =
                |exit: &&((WorkId, u64), Vec<usize>, u32)| exit.0 == (grid, block) && (exit.2 & !31) == first;
            self.exits.iter().filter(of).fold(0u32, |mask, exit| mask | 1 << (exit.2 & 31))
        };
        (0..threads.div_ceil(32))
            .map(|warp| {
                let count = (threads - warp * 32).min(32);
                let full = if count == 32 { u32::MAX } else { (1 << count) - 1 };
                (warp * 32, full & !ended(warp * 32))
            })
            .filter(|(_, mask)| *mask != 0)
            .collect()
    }

    pub fn begin_episode(&mut self, thread: Thread) {
        let (grid, block, _) = thread;
        if self.episodes.iter().any(|episode| (episode.grid, episode.block) == (grid, block)) {
            return;
        }
        let whole = self.random.chance(60);
        let mut parties = Vec::new();
        for (first, mask) in self.lanes(grid, block) {
            let waits = whole || self.random.chance(60);
            let mask = if whole || self.random.chance(60) { mask } else { mask & self.random.next() as u32 };
            if mask == 0 {
                continue;
            }
            if self.random.chance(30) && mask.count_ones() > 1 {
                let low = mask & mask.wrapping_neg();
                parties.push((first, low, waits, false));
                parties.push((first, mask & !low, waits, false));
            } else {
                parties.push((first, mask, waits, false));
            }
        }
        if parties.is_empty() {
            return;
        }
        let barrier = self.random.below(3) as u32;
        self.episodes.push(Episode { grid, block, barrier, parties, arrived: Vec::new() });
    }

    pub fn drain_lanes(&mut self, grid: WorkId, block: u64, first: u32, mask: u32) {
        for actor in 0..self.actors.len() {
            let of = self.actors[actor].thread;
            if (of.0, of.1, of.2 & !31) == (grid, block, first) && mask >> (of.2 & 31) & 1 != 0 {
                self.drain(actor);
            }
        }
    }

    /// Somebody arrives at a barrier under way.
    pub fn advance(&mut self) {
        if self.episodes.is_empty() {
            return;
        }
        let at = self.random.below(self.episodes.len() as u64) as usize;
        let episode = &self.episodes[at];
        if !self.ready(episode.grid) {
            return;
        }
        let (grid, block, barrier) = (episode.grid, episode.block, episode.barrier);
        let open: Vec<usize> =
            (0..episode.parties.len()).filter(|party| !episode.parties[*party].3).collect();
        let party = self.random.of(&open);
        let (first, mask, waits, _) = self.episodes[at].parties[party];
        self.drain_lanes(grid, block, first, mask);
        let thread = (grid, block, first);
        let arrived = self.world.arrive(thread, mask, barrier, waits);
        let episode = &mut self.episodes[at];
        episode.arrived.extend(arrived);
        episode.parties[party].3 = true;
        if !episode.parties.iter().all(|party| party.3) {
            return;
        }
        let mut episode = self.episodes.remove(at);
        let lanes: u32 = episode.parties.iter().map(|party| party.1.count_ones()).sum();
        let exits: Vec<&((WorkId, u64), Vec<usize>, u32)> =
            self.exits.iter().filter(|exit| exit.0 == (grid, block)).collect();
        if lanes + exits.len() as u32 == self.world.shape(grid).threads_per_cta {
            episode.arrived.extend(exits.iter().flat_map(|exit| exit.1.iter().copied()));
        }
        if !episode.parties.iter().any(|party| party.2) {
            self.world.completed(thread, barrier);
        }
        let mut warps: Vec<(u32, u32)> = Vec::new();
        for party in episode.parties.iter().filter(|party| party.2) {
            match warps.iter_mut().find(|warp| warp.0 == party.0) {
                Some(warp) => warp.1 |= party.1,
                None => warps.push((party.0, party.1)),
            }
        }
        for (first, mask) in warps {
            let left = self.world.leave((grid, block, first), mask, barrier);
            let arrived = episode.arrived.clone();
            self.world.edges(&arrived, &left);
        }
    }

    pub fn warp_barrier(&mut self, thread: Thread) {
        if self.episodes.iter().any(|episode| (episode.grid, episode.block) == (thread.0, thread.1)) {
            return;
        }
        let first = thread.2 & !31;
        let Some((_, mask)) = self.lanes(thread.0, thread.1).into_iter().find(|lanes| lanes.0 == first)
        else {
            return;
        };
        // With ended lanes, who counts is not told: all that live, and none ended, or some of them.
        let ended = self.exits.iter().any(|exit| exit.0 == (thread.0, thread.1));
        let some = mask & (self.random.next() as u32 | 1 << (thread.2 & 31));
        let mask = if ended || self.random.chance(50) { some } else { mask };
        let all = self.lanes(thread.0, thread.1).into_iter().any(|lanes| lanes == (first, mask));
        if mask == 0 || (ended && all) {
            return;
        }
        self.drain_lanes(thread.0, thread.1, first, mask);
        self.world.warp_barrier(thread, mask);
    }

    pub fn exit(&mut self, actor: usize) {
        let thread = self.actors[actor].thread;
        let in_episode = self.episodes.iter().any(|episode| {
            (episode.grid, episode.block) == (thread.0, thread.1)
                && episode
                    .parties
                    .iter()
                    .any(|party| party.0 == (thread.2 & !31) && party.1 >> (thread.2 & 31) & 1 != 0)
        });
        let meets = self.world.shape(thread.0).cluster > 1;
        if in_episode || meets || self.random.chance(50) {
            return;
        }
        self.drain(actor);
        let points = self.world.exit(thread, 1 << (thread.2 & 31));
        self.exits.push(((thread.0, thread.1), points, thread.2));
        self.actors[actor].exited = true;
    }

    /// A cluster's barrier: all warps of its blocks arrive, and leave, one after the other.
    pub fn cluster(&mut self, thread: Thread) {
        let shape = self.world.shape(thread.0);
        if shape.cluster < 2 || self.episodes.iter().any(|episode| episode.grid == thread.0) {
            return;
        }
        let first = thread.1 / u64::from(shape.cluster) * u64::from(shape.cluster);
        let at = self.meetings.iter().position(|meeting| {
            meeting.parties[0].0.0 == thread.0 && meeting.parties.iter().any(|party| party.0.1 == first)
        });
        let at = at.unwrap_or_else(|| {
            let mut parties = Vec::new();
            for block in first..first + u64::from(shape.cluster) {
                for (first, mask) in self.lanes(thread.0, block) {
                    parties.push(((thread.0, block, first), mask, 0));
                }
            }
            self.meetings.push(Meeting { arrived: Vec::new(), parties });
            self.meetings.len() - 1
        });
        for _ in 0..1 + self.random.below(6) {
            let meeting = &self.meetings[at];
            let all = meeting.parties.iter().all(|party| party.2 > 0);
            let open: Vec<usize> = (0..meeting.parties.len())
                .filter(|party| meeting.parties[*party].2 == if all { 1 } else { 0 })
                .collect();
            if open.is_empty() {
                self.meetings.remove(at);
                return;
            }
            let party = self.random.of(&open);
            let (who, mask, _) = self.meetings[at].parties[party];
            if all {
                let left = self.world.cluster_leave(who, mask);
                let arrived = self.meetings[at].arrived.clone();
                self.world.edges(&arrived, &left);
                self.meetings[at].parties[party].2 = 2;
            } else {
                self.drain_lanes(who.0, who.1, who.2, mask);
                let relaxed = self.random.chance(20);
                let arrived = self.world.cluster_arrive(who, mask, relaxed);
                self.meetings[at].arrived.extend(arrived);
                self.meetings[at].parties[party].2 = 1;
            }
        }
    }
}
