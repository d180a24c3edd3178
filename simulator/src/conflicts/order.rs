//! What has happened before what, for the threads of a launch.
//!
//! A warp's *epoch* grows when it arrives at a CTA barrier, a lane's when it meets others at a warp barrier. Of each other warp of
//! its CTA a warp knows up to which epoch everything lies behind it, and a lane the same of the other lanes of its warp. For all
//! else there is a *floor* for each lane: a moment before which everything lies behind it.

use bugaroo_semantics::event::Lanes;

use super::shadow::Seen;

/// Warps that a CTA may have.
const WARPS: usize = 32;
/// Barriers of a CTA.
const BARRIERS: usize = 16;

/// What a warp's threads know.
#[derive(Clone, Debug)]
struct Warp {
    epoch: u32,
    /// By warp of the CTA; its own, too.
    known: [u32; WARPS],
    lane_epoch: [u32; 32],
    /// By lane that knows, and lane that is known of.
    lanes: Box<[[u32; 32]; 32]>,
    floor: [u64; 32],
    /// What a fence makes the floor.
    pending: [u64; 32],
    /// When the lane's last fence was; 0 without one.
    fenced: [u64; 32],
    /// Lanes that have ended.
    ended: u32,
    /// Lanes that have waited since their last access.
    waited: u32,
}

impl Warp {
    fn new() -> Warp {
        Warp {
            epoch: 1,
            known: [0; WARPS],
            lane_epoch: [1; 32],
            lanes: Box::new([[0; 32]; 32]),
            floor: [0; 32],
            pending: [0; 32],
            fenced: [0; 32],
            ended: 0,
            waited: 0,
        }
    }
}

/// A use of a CTA barrier.
#[derive(Clone, Copy, Debug, Default)]
struct Barrier {
    known: [u32; WARPS],
    floor: u64,
    /// Somebody has gone on: the next arrival is another use's.
    over: bool,
}

/// The order of a launch.
#[derive(Debug, Default)]
pub(super) struct Order {
    warps: Vec<Warp>,
    barriers: Vec<[Barrier; BARRIERS]>,
    per_cta: u32,
    threads: u32,
    lockstep: bool,
    /// The place of each warp in its CTA.
    indices: Vec<u32>,
}

fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    (0..32).filter(move |lane| mask >> lane & 1 != 0)
}

fn join(to: &mut [u32; 32], from: &[u32; 32]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = (*to).max(*from);
    }
}

impl Order {
    /// A launch of so many slots for warps, of which `per_cta` make up a CTA of so many threads.
    pub fn new(warps: u32, per_cta: u32, threads: u32, lockstep: bool) -> Order {
        let ctas = warps.div_ceil(per_cta.max(1)) as usize;
        Order {
            warps: vec![Warp::new(); warps as usize],
            barriers: vec![[Barrier::default(); BARRIERS]; ctas],
            per_cta,
            threads,
            lockstep,
            indices: (0..warps).map(|warp| warp % per_cta).collect(),
        }
    }

    /// A block begins in a slot.
    pub fn start_block(&mut self, cta: u32) {
        let first = (cta * self.per_cta) as usize;
        for (index, warp) in self.warps[first..first + self.per_cta as usize].iter_mut().enumerate() {
            *warp = Warp::new();
            // Lanes that the CTA has no threads for.
            let threads = self.threads.saturating_sub(index as u32 * 32).min(32);
            warp.ended = !u32::MAX.checked_shr(32 - threads).unwrap_or(0);
        }
        self.barriers[cta as usize] = [Barrier::default(); BARRIERS];
    }

    /// The place of a warp in its CTA.
    pub fn index(&self, warp: u32) -> u32 {
        self.indices[warp as usize]
    }

    /// The epochs that an access by this lane has.
    pub fn epochs(&self, warp: u32, lane: u32) -> (u32, u32) {
        let warp = &self.warps[warp as usize];
        (warp.epoch, warp.lane_epoch[lane as usize])
    }

    /// A lane is about to access memory, at this moment.
    pub fn comes(&mut self, warp: u32, lane: u32, now: u64) {
        let warp = &mut self.warps[warp as usize];
        if warp.waited >> lane & 1 != 0 {
            warp.waited &= !(1 << lane);
            warp.floor[lane as usize] = now;
        }
    }

    /// Whether an access lies behind what this lane of a block does at this moment.
    pub fn is_behind(&self, earlier: &Seen, (warp, lane): (u32, u32), block: u32, now: u64) -> bool {
        let of = &self.warps[warp as usize];
        if earlier.time < of.floor[lane as usize] {
            return true;
        }
        if earlier.block != block {
            return false;
        }
        let (index, from) = (u32::from(earlier.thread) / 32, usize::from(earlier.thread) % 32);
        if earlier.epoch <= of.known[index as usize] {
            return true;
        }
        index == self.index(warp)
            && (from == lane as usize
                || self.lockstep && earlier.time < now
                || earlier.lane_epoch <= of.lanes[lane as usize][from])
    }

    /// Lanes execute a fence.
    pub fn fence(&mut self, by: Lanes, now: u64) {
        let warp = &mut self.warps[by.warp as usize];
        for lane in lanes(by.mask) {
            warp.floor[lane] = warp.floor[lane].max(warp.pending[lane]);
            warp.fenced[lane] = now;
        }
    }

    /// A lane has read, by a strong read, what a write released of which everything before that moment lies behind: a fence makes
    /// that its floor, and so does the read itself if it acquires.
    pub fn reads_released(&mut self, (warp, lane): (u32, u32), released: u64, acquires: bool) {
        let (warp, lane) = (&mut self.warps[warp as usize], lane as usize);
        warp.pending[lane] = warp.pending[lane].max(released);
        if acquires {
            warp.floor[lane] = warp.floor[lane].max(released);
        }
    }

    /// Up to which moment a strong write of a lane releases what came before, if it does not release itself; 0 for not at all.
    pub fn fenced(&self, (warp, lane): (u32, u32)) -> u64 {
        self.warps[warp as usize].fenced[lane as usize]
    }

    /// A warp arrives at a CTA barrier.
    pub fn arrive(&mut self, by: Lanes, barrier: u32) {
        let index = self.index(by.warp) as usize;
        let warp = &mut self.warps[by.warp as usize];
        let barrier = &mut self.barriers[by.cta as usize][barrier as usize % BARRIERS];
        if barrier.over {
            *barrier = Barrier::default();
        }
        join(&mut barrier.known, &warp.known);
        barrier.known[index] = warp.epoch;
        barrier.floor = lanes(by.mask).fold(barrier.floor, |floor, lane| floor.max(warp.floor[lane]));
        warp.epoch += 1;
    }

    /// Lanes of a warp go on behind a CTA barrier.
    pub fn leave(&mut self, by: Lanes, barrier: u32) {
        let first = (by.cta * self.per_cta) as usize;
        let barrier = &mut self.barriers[by.cta as usize][barrier as usize % BARRIERS];
        if !barrier.over {
            barrier.over = true;
            for (known, warp) in
                barrier.known.iter_mut().zip(&self.warps[first..first + self.per_cta as usize])
            {
                if warp.ended == !0 {
                    *known = u32::MAX;
                }
            }
        }
        if by.mask == 0 {
            return;
        }
        let warp = &mut self.warps[by.warp as usize];
        join(&mut warp.known, &barrier.known);
        for lane in lanes(by.mask) {
            warp.floor[lane] = warp.floor[lane].max(barrier.floor);
        }
    }

    /// Lanes have met at a warp barrier.
    pub fn meet(&mut self, by: Lanes) {
        let warp = &mut self.warps[by.warp as usize];
        let mut known = [0; 32];
        let mut floor = 0;
        // Who has ended has come to every barrier.
        for lane in lanes(by.mask | warp.ended) {
            join(&mut known, &warp.lanes[lane]);
            known[lane] = known[lane].max(warp.lane_epoch[lane]);
            floor = floor.max(warp.floor[lane]);
        }
        for lane in lanes(by.mask) {
            warp.lanes[lane] = known;
            warp.lane_epoch[lane] += 1;
            warp.floor[lane] = floor;
        }
    }

    /// Lanes wait for an mbarrier or their cluster.
    pub fn wait(&mut self, by: Lanes) {
        self.warps[by.warp as usize].waited |= by.mask;
    }

    /// Lanes end.
    pub fn exit(&mut self, by: Lanes) {
        self.warps[by.warp as usize].ended |= by.mask;
    }
}
