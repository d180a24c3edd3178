//! Clusters: blocks that start together, meet at a barrier of their own, and reach each other's shared
//! memory (PTX ISA, "Cluster of Cooperative Thread Arrays", "barrier.cluster", "mapa").
//!
//! Blocks of a cluster lie in consecutive slots, in order of rank. An address in another block's shared memory
//! is the address there with the rank plus one in the bits from 24 on; a block's own variables have zeros there. What
//! `mapa` gives is good for every block of the cluster, the owner of the memory and whoever it is handed on to
//! included. Memory models and store buffers count on one address for every byte that a block can reach: they are told the one
//! with zeros ([`crate::model::Accessed::address`]). Code that the injector has put in cannot be told: there `mapa` of a block's own
//! rank gives the address with zeros, and the other one, which a neighbour may have handed over, ends the launch with a fault.

use bugaroo_ptx::types::Space;

use super::step::Flow;
use super::warp::State;
use super::{Machine, Trouble};
use crate::address::{SHARED_WINDOW, Window, window};
use crate::fault::{Activity, StopKind, TouchKind};

/// The bits of a shared address that tell blocks of a cluster apart.
pub(crate) const RANK_SHIFT: u32 = 24;
/// What they are for a rank that no block has: all of them, as a cluster has 16 blocks at most.
const NO_RANK: u64 = 0xff;

impl Machine<'_> {
    /// Blocks of a cluster.
    pub(super) fn cluster_size(&self) -> u32 {
        self.given.plan.cluster.iter().product()
    }

    /// The rank of the block in a slot within its cluster.
    pub(super) fn rank(&self, slot: u32) -> u32 {
        slot % self.cluster_size()
    }

    /// Starts the next cluster in the slots from `first` on.
    pub(super) fn start_cluster(&mut self, first: u32) {
        let size = u64::from(self.cluster_size());
        let number = self.residents.next_block / size;
        let extent = self.given.plan.cluster;
        let along = |d: usize| u64::from(self.given.plan.spec.grid[d] / extent[d]);
        let (x, y) = (along(0), along(1));
        let corner = [number % x, number / x % y, number / x / y];
        for rank in 0..size as u32 {
            let within = [rank % extent[0], rank / extent[0] % extent[1], rank / extent[0] / extent[1]];
            let index = [0, 1, 2].map(|d| corner[d] as u32 * extent[d] + within[d]);
            self.start_block(first + rank, index);
        }
    }

    /// A block has ended: when its cluster has, the next one takes its place.
    pub(super) fn next_cluster(&mut self, slot: u32) {
        let size = self.cluster_size();
        let first = slot - slot % size;
        let ended =
            self.residents.ctas[first as usize..(first + size) as usize].iter().all(|cta| cta.warps == 0);
        if ended && self.residents.next_block < self.given.plan.blocks {
            self.start_cluster(first);
        }
    }

    /// `barrier.cluster.arrive`, `barrier.cluster.wait`
    pub(super) fn cluster_barrier(
        &mut self,
        w: usize,
        fragment: usize,
        extra: u32,
        active: u32,
    ) -> Result<Flow, Trouble> {
        let cta = self.residents.warps[w].cta as usize;
        if extra & 1 == 0 {
            self.observed_cluster_arrive(w, active, extra & 2 != 0);
            self.progress.counts.barriers += u64::from(active.count_ones());
            self.residents.cluster_arrived[w] |= active;
            self.complete_cluster(cta);
            return Ok(Flow::Visible);
        }
        let waiting = active & self.residents.cluster_arrived[w];
        self.observed_cluster_leave(w, active & !waiting);
        if waiting == 0 {
            return Ok(Flow::Visible);
        }
        let through = active & !waiting;
        if through != 0 {
            let at = self.residents.warps[w].split(fragment, through);
            self.residents.warps[w].fragments[at].pc += 1;
        }
        let at = self.isolate(w, fragment, waiting, waiting);
        self.residents.warps[w].fragments[at].state = State::Cluster;
        Ok(Flow::Select)
    }

    /// Slots of warps of the cluster that a CTA belongs to.
    fn cluster_warps(&self, cta: usize) -> std::ops::Range<usize> {
        let size = self.cluster_size() as usize;
        let (first, per_block) = (cta - cta % size, self.given.plan.warps_per_block as usize);
        first * per_block..(first + size) * per_block
    }

    fn cluster_arrivals(&self, cta: usize) -> (u32, u32) {
        self.cluster_warps(cta).fold((0, 0), |(arrived, alive), w| {
            let lanes = self.residents.warps[w].alive;
            (arrived + (self.residents.cluster_arrived[w] & lanes).count_ones(), alive + lanes.count_ones())
        })
    }

    /// Opens the cluster's barrier when everybody who has not exited is there.
    pub(super) fn complete_cluster(&mut self, cta: usize) {
        if self.cluster_warps(cta).all(|w| self.residents.cluster_arrived[w] == 0) {
            return;
        }
        let (arrived, alive) = self.cluster_arrivals(cta);
        if arrived < alive {
            return;
        }
        self.asynchrony.progress();
        for w in self.cluster_warps(cta) {
            self.residents.cluster_arrived[w] = 0;
            let mut released = 0;
            for fragment in self.residents.warps[w].fragments.iter_mut().filter(|f| f.state == State::Cluster)
            {
                fragment.state = State::Ready;
                fragment.pc += 1;
                released |= fragment.mask;
            }
            self.observed_cluster_leave(w, released);
            if released != 0 {
                self.enqueue(w as u32);
                self.progress.woken = true;
            }
        }
    }

    /// For a diagnosis.
    pub(super) fn cluster_activity(&self, cta: usize) -> Activity {
        let (arrived, expected) = self.cluster_arrivals(cta);
        Activity::ClusterBarrier { arrived, expected }
    }

    /// `mapa`: the same place in the block of this rank. An address outside shared memory stays as it is. A rank that no
    /// block has gives an address that no access may use.
    pub(super) fn map_address(&self, w: usize, address: u64, rank: u32) -> u64 {
        if address >> 32 > 1 {
            return address;
        }
        let plain = address & !(NO_RANK << RANK_SHIFT);
        let alone = self.given.injected || self.cluster_size() == 1;
        if alone && rank == self.rank(self.residents.warps[w].cta) {
            return plain;
        }
        plain | u64::from(rank).saturating_add(1).min(NO_RANK) << RANK_SHIFT
    }

    /// The bits from 24 on of a generic address of a block's own shared memory that has the rank in it; 0 when there
    /// are none.
    pub(super) fn own_window(&self, w: usize) -> u64 {
        if self.cluster_size() == 1 {
            return 0;
        }
        SHARED_WINDOW >> RANK_SHIFT | u64::from(self.rank(self.residents.warps[w].cta) + 1)
    }

    /// Is a generic address one of the block's own shared memory?
    pub(super) fn is_own_shared(&self, w: usize, address: u64) -> bool {
        let tag = address >> RANK_SHIFT;
        tag == SHARED_WINDOW >> RANK_SHIFT || tag == self.own_window(w)
    }

    /// `getctarank`
    pub(super) fn rank_of(&self, w: usize, address: u64) -> u32 {
        match (address >> RANK_SHIFT & 0xff) as u32 {
            0 => self.rank(self.residents.warps[w].cta),
            rank => rank - 1,
        }
    }

    /// Where an address in another block's shared memory lies on the host; None for any other address.
    pub(super) fn other_block(
        &self,
        w: usize,
        space: Space,
        address: u64,
        bytes: u64,
    ) -> Result<Option<*mut u8>, StopKind> {
        let offset = match space {
            Space::Shared => address,
            Space::Generic if window(address) == Window::Shared => address - SHARED_WINDOW,
            _ => return Ok(None),
        };
        let rank = offset >> RANK_SHIFT;
        let size = self.cluster_size();
        if rank == 0 || rank > NO_RANK || size == 1 {
            return Ok(None);
        }
        let bad = |problem| Err(StopKind::BadClusterAddress { address, problem });
        let slot = self.residents.warps[w].cta;
        if rank > u64::from(size) {
            return bad("the cluster has no block of this rank");
        }
        if self.given.injected && rank as u32 - 1 == self.rank(slot) {
            return bad(
                "another block's address of this block's own memory, which injected code does not know",
            );
        }
        let there = &self.residents.ctas[(slot - slot % size + rank as u32 - 1) as usize];
        if there.warps == 0 {
            return bad("the block has ended");
        }
        let within = offset & ((1 << RANK_SHIFT) - 1);
        if bytes > u64::from(self.given.plan.shared_bytes)
            || within > u64::from(self.given.plan.shared_bytes) - bytes
        {
            let (size, access) = (bytes as u32, TouchKind::Read);
            return Err(StopKind::OutOfBounds { address, size, access, near: None });
        }
        Ok(Some(there.shared.wrapping_add(within as usize)))
    }
}
