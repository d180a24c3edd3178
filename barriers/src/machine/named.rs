//! Barriers that threads are counted at: named ones, those of warps and the cluster's. How warps arrive at named ones stands in
//! [`super::gather`].

use super::barrier::Barrier;
use super::known::join;
use super::observer::Observer;
use super::part::Part;
use super::runner::{Meeting, State};
use super::state::Machine;
use crate::program::{Count, Packed};
use crate::verdict::{Generation, Misuse, Recycling, RecyclingRule, Resource};

impl Machine<'_> {
    /// The barrier of that name.
    pub(super) fn barrier(&mut self, resource: Resource) -> u32 {
        let next = self.barriers.len() as u32;
        let index = *self.names.entry(resource).or_insert(next);
        if index == next {
            self.barriers.push(Barrier::new(resource, self.nothing()));
        }
        index
    }

    /// Threads of the CTA, or of all, and how many of them have exited.
    fn population(&self, resource: Resource) -> (u32, u32) {
        let threads = self.program.shape().threads;
        match resource {
            Resource::Named { cta, .. } => (threads, self.gone.threads[cta as usize]),
            _ => (threads * self.program.shape().ctas, self.gone.threads.iter().sum()),
        }
    }

    /// Counts as they are compared: all threads of a CTA are its warps' lanes.
    fn number(&self, count: Count) -> u32 {
        match count {
            Count::Threads(n) => n,
            Count::All if self.program.ptx_counts() => self.program.shape().warps_per_cta() * 32,
            Count::All => self.program.shape().threads,
        }
    }

    /// Registers a chain (`sync` where it waits, else `arrive`).
    #[expect(clippy::too_many_arguments, reason = "a command's parts and its place")]
    pub(super) fn register<O: Observer>(
        &mut self,
        chain: u32,
        command: &Packed,
        index: u32,
        resource: Resource,
        count: Count,
        waits: bool,
        observer: &mut O,
    ) -> Result<(), Misuse> {
        let barrier = self.barrier(resource);
        let is_cluster = resource == Resource::Cluster;
        if !is_cluster {
            // Who arrives at the cluster's barrier again has waited for the use before.
            self.check_recycling(&[chain], (chain, index), barrier);
        }
        let stamp = self.stamp(chain, index);
        // Relaxed arrivals at the cluster's barrier, and exchanges of warps.
        let orders = !command.flag();
        let part = Part { chain, stamp, command: index, waits, orders };
        let (lanes, warp) = {
            let own = &self.layout.chains[chain as usize];
            (own.lanes & command.lanes, own.warp)
        };
        self.enrol(barrier, part, count, lanes.count_ones())?;
        let state = &mut self.barriers[barrier as usize];
        if self.program.ptx_counts() && matches!(resource, Resource::Named { .. }) {
            // In lockstep: a warp comes as a whole.
            state.present.weight += 32;
            state.present.warps |= 1 << (warp % self.program.shape().warps_per_cta());
        } else {
            state.present.weight += lanes.count_ones();
        }
        let generation = state.generation;
        if waits {
            self.runners[chain as usize].state = State::AtBarrier(barrier);
        }
        match self.is_complete(barrier) {
            Some(false) => {
                let place = self.place(chain, index);
                return Err(Misuse::TooManyArrivals { resource, generation, place });
            }
            Some(true) => self.complete(barrier, Some(chain), observer),
            None => {}
        }
        Ok(())
    }

    /// Makes a chain a participant of the present generation, but for what the barrier counts it as.
    pub(super) fn enrol(
        &mut self,
        barrier: u32,
        part: Part,
        count: Count,
        threads: u32,
    ) -> Result<(), Misuse> {
        let number = self.number(count);
        let resource = self.barriers[barrier as usize].resource;
        let mut state = std::mem::replace(&mut self.barriers[barrier as usize], Barrier::taken_out(resource));
        let first = *state.present.count.get_or_insert((count, part));
        if self.number(first.0) != number {
            return Err(Misuse::CountsDiffer {
                resource,
                generation: state.generation,
                first: self.place(first.1.chain, first.1.command),
                first_count: first.0,
                second: self.place(part.chain, part.command),
                second_count: count,
            });
        }
        if count == Count::All {
            // So that exited threads count, if anyone means all.
            state.present.count = Some((count, first.1));
        }
        state.present.threads += threads;
        state.present.parts.push(part);
        if part.orders || resource == Resource::Cluster {
            self.contribute(part.chain, (part.stamp, part.orders), &mut state.present.known);
        } else {
            self.join_time(part.chain, part.stamp, &mut state.present.known.fenced);
        }
        self.barriers[barrier as usize] = state;
        Ok(())
    }

    /// `None`: not yet; `Some(false)`: more came than fit.
    pub(super) fn is_complete(&self, barrier: u32) -> Option<bool> {
        let state = &self.barriers[barrier as usize];
        match (state.resource, state.present.count?.0) {
            (Resource::Warp { cta, warp, members }, _) => {
                let first = cta * self.program.shape().warps_per_cta() + warp;
                let gone = self.gone.lanes[first as usize];
                (state.present.threads >= (members & !gone).count_ones()).then_some(true)
            }
            (Resource::Named { cta, .. }, Count::All) if self.program.ptx_counts() => {
                let gone = self.gone.warps[cta as usize];
                let gone = (gone & !state.present.warps).count_ones();
                (state.present.weight / 32 + gone >= self.program.shape().warps_per_cta()).then_some(true)
            }
            (resource, Count::All) => {
                let (all, exited) = self.population(resource);
                let twice = if exited == 0 { 0 } else { self.arrived_and_exited(&state.present.parts) };
                (state.present.threads + exited - twice >= all).then_some(true)
            }
            (_, Count::Threads(n)) => (state.present.weight >= n).then_some(state.present.weight == n),
        }
    }

    /// Threads among the participants that have exited since.
    fn arrived_and_exited(&self, parts: &[Part]) -> u32 {
        let exited = |part: &Part| {
            let lanes = self.place(part.chain, part.command).threads.lanes;
            (lanes & self.runners[part.chain as usize].exited).count_ones()
        };
        parts.iter().map(exited).sum()
    }

    /// Ends a generation: who waits goes on, knowing what all participants knew and did.
    pub(super) fn complete<O: Observer>(&mut self, barrier: u32, running: Option<u32>, observer: &mut O) {
        let mut state =
            std::mem::replace(&mut self.barriers[barrier as usize], Barrier::taken_out(Resource::Cluster));
        let is_of_warp = matches!(state.resource, Resource::Warp { .. });
        let is_meeting = is_of_warp && state.present.parts.iter().all(|part| !part.orders);
        if !is_meeting {
            observer.completed(state.resource, state.generation, &state.present.parts);
        }
        if !is_of_warp {
            self.uses.completed += 1;
        }
        let waited = state.present.parts.iter().any(|part| part.waits);
        let is_named = matches!(state.resource, Resource::Named { .. });
        if is_named && !waited && self.uses.unwaited.iter().all(|known| known.resource != state.resource) {
            self.uses.unwaited.push(Generation {
                resource: state.resource,
                number: state.generation,
                participants: self.participants(&state.present.parts),
            });
        }
        for part in &state.present.parts {
            if part.waits {
                let time = self.layout.time_of(0);
                let runner = &mut self.runners[part.chain as usize];
                if !is_meeting {
                    runner.known.set(&state.present.known);
                } else if let (Some(into), Some(from)) =
                    (runner.known.fenced.get_mut(time..), state.present.known.fenced.get(time..))
                {
                    join(into, from);
                }
                runner.last_wait = Some(part.command);
                runner.state = State::Ready;
                if Some(part.chain) != running && is_meeting {
                    // Next, as if it had not waited: it was its turn.
                    self.ready.push_front(part.chain);
                } else if Some(part.chain) != running {
                    self.ready.push_back(part.chain);
                }
            }
        }
        state.end_generation();
        let resource = state.resource;
        self.barriers[barrier as usize] = state;
        if resource == Resource::Cluster {
            self.wake_cluster(observer);
        }
    }

    /// Checks that who takes part in a generation knows that the one before is over: one of `knowers` is enough, as they come
    /// together. The place is that of the chain and command `at`.
    pub(super) fn check_recycling(&mut self, knowers: &[u32], at: (u32, u32), barrier: u32) {
        let state = &self.barriers[barrier as usize];
        let (chain, index) = at;
        let known = |machine: &Machine<'_>, part: &Part| {
            machine.came_before(chain, part, barrier)
                || knowers.iter().any(|c| machine.knows_in_time(*c, part))
        };
        if state.before.needed.iter().all(|part| known(self, part)) {
            return;
        }
        self.report_recycling(|machine| {
            let state = &machine.barriers[barrier as usize];
            let unknown = |part: &&Part| !known(machine, part);
            let unordered: Vec<Part> = state.before.all.iter().filter(unknown).copied().collect();
            // Where all arrivals are known and the completion is not, it is those who waited that are missing.
            let runner = &machine.runners[chain as usize];
            Recycling {
                earlier: Generation {
                    resource: state.resource,
                    number: state.generation - 1,
                    participants: machine.participants(&state.before.all),
                },
                later: state.generation,
                place: machine.place(chain, index),
                knows_from: runner.last_wait.map(|c| machine.place(chain, c)),
                unordered: machine.participants(&unordered),
                rule: RecyclingRule::EarlierComplete,
                count: 1,
            }
        });
    }

    /// A barrier of a warp, or an exchange, which orders time alone: its members know how far the others' waits and arrivals have come, and
    /// nothing of what they have written.
    pub(super) fn warp_sync<O: Observer>(
        &mut self,
        chain: u32,
        command: &Packed,
        index: u32,
        observer: &mut O,
    ) -> Result<(), Misuse> {
        if self.program.warp_synchronous() {
            return Ok(());
        }
        let own = &self.layout.chains[chain as usize];
        let members = command.a & self.program.warps()[own.warp as usize].lanes();
        if members == own.lanes {
            let stamp = self.stamp(chain, index);
            let time = self.layout.time_of(chain);
            let runner = &mut self.runners[chain as usize];
            runner.last_wait = Some(index);
            if command.flag() {
                if let Some(known) = runner.known.fenced.get_mut(time) {
                    *known = stamp;
                }
                return Ok(());
            }
            runner.known.clock[chain as usize] = stamp;
            for (kind, component) in own.groups.iter().enumerate() {
                if let Some(component) = component {
                    let slot = &mut runner.known.clock[*component as usize];
                    *slot = (*slot).max(runner.copies.groups[kind].waited);
                }
            }
            return Ok(());
        }
        let shape = self.program.shape();
        let resource =
            Resource::Warp { cta: shape.cta_of(own.warp), warp: own.warp % shape.warps_per_cta(), members };
        let count = Count::Threads(members.count_ones());
        self.register(chain, command, index, resource, count, true, observer)
    }

    pub(super) fn exit<O: Observer>(
        &mut self,
        chain: u32,
        lanes: u32,
        index: u32,
        observer: &mut O,
    ) -> Result<(), Misuse> {
        if lanes == 0 {
            return Ok(());
        }
        // Barriers no longer wait for the thread, but it takes no part in them: what it did is ordered with nothing after.
        self.stamp(chain, index);
        let warp = self.layout.chains[chain as usize].warp;
        let cta = self.program.shape().cta_of(warp) as usize;
        self.runners[chain as usize].exited |= lanes;
        self.gone.lanes[warp as usize] |= lanes;
        self.gone.threads[cta] += lanes.count_ones();
        self.gather(warp, None, observer)?;
        let shape = self.program.shape();
        if self.gone.lanes[warp as usize] == shape.lanes(warp) {
            self.gone.warps[cta] |= 1 << (warp % shape.warps_per_cta());
        }
        for barrier in 0..self.barriers.len() as u32 {
            let waiting = &self.barriers[barrier as usize];
            let counts_exits = match waiting.resource {
                Resource::Warp { cta: c, warp: w, .. } => {
                    c * self.program.shape().warps_per_cta() + w == warp && waiting.present.count.is_some()
                }
                _ => matches!(waiting.present.count, Some((Count::All, _))),
            };
            if counts_exits && self.is_complete(barrier) == Some(true) {
                self.complete(barrier, None, observer);
            }
        }
        Ok(())
    }

    pub(super) fn cluster_wait<O: Observer>(
        &mut self,
        chain: u32,
        index: u32,
        observer: &mut O,
    ) -> Result<(), Misuse> {
        let Some(generation) = self.runners[chain as usize].cluster.arrived else {
            let place = self.place(chain, index);
            return Err(Misuse::ClusterOrder { place });
        };
        let barrier = self.barrier(Resource::Cluster);
        self.runners[chain as usize].last_wait = Some(index);
        if self.barriers[barrier as usize].generation > generation {
            self.pass_cluster(chain, barrier, observer);
        } else {
            self.runners[chain as usize].state = State::AtCluster;
        }
        Ok(())
    }

    fn pass_cluster<O: Observer>(&mut self, chain: u32, barrier: u32, observer: &mut O) {
        if let Some(command) = self.runners[chain as usize].last_wait {
            let part = Part { chain, stamp: 0, command, waits: true, orders: false };
            observer.passed(Resource::Cluster, &part);
        }
        let state = &self.barriers[barrier as usize];
        let runner = &mut self.runners[chain as usize];
        runner.known.join(&state.before.known);
        runner.cluster = Meeting { arrived: None, met: true };
        runner.state = State::Ready;
    }

    fn wake_cluster<O: Observer>(&mut self, observer: &mut O) {
        let barrier = self.barrier(Resource::Cluster);
        for chain in 0..self.runners.len() as u32 {
            if self.runners[chain as usize].state == State::AtCluster {
                self.pass_cluster(chain, barrier, observer);
                self.ready.push_back(chain);
            }
        }
    }

    /// Of a barrier that a chain waits at: what it is, its generation, threads that came and that it takes.
    pub(super) fn standing(&self, barrier: u32) -> (Resource, u32, u32, u32) {
        let state = &self.barriers[barrier as usize];
        let (arrived, expected) = match (state.resource, state.present.count) {
            (Resource::Warp { members, .. }, _) => (state.present.threads, members.count_ones()),
            (Resource::Named { cta, .. }, Some((Count::All, _)) | None) if self.program.ptx_counts() => {
                let shape = self.program.shape();
                let left = |w: u32| {
                    let warp = cta * shape.warps_per_cta() + w;
                    (shape.lanes(warp) & !self.gone.lanes[warp as usize]).count_ones()
                };
                let warps = 0..shape.warps_per_cta();
                let arrived = warps.clone().filter(|w| state.present.warps >> w & 1 != 0).map(left).sum();
                (arrived, warps.map(left).sum())
            }
            (resource, Some((Count::All, _)) | None) => {
                let (all, exited) = self.population(resource);
                (state.present.threads, all - exited)
            }
            (_, Some((Count::Threads(n), _))) => (state.present.weight, n),
        };
        (state.resource, state.generation, arrived, expected)
    }
}
