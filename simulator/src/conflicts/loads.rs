//! The last loads of each thread: a store looks among them for what it was computed from.

use super::shadow::Seen;

/// Loads of a thread that are kept.
pub(super) const KEPT: usize = 16;

/// A thread's ring.
#[derive(Clone, Copy, Debug)]
struct Ring {
    next: u8,
    /// Granules, and whether they are shared ones in the lowest bit.
    keys: [u64; KEPT],
    loads: [Seen; KEPT],
}

const EMPTY: Ring = Ring { next: 0, keys: [u64::MAX; KEPT], loads: [NOTHING; KEPT] };
const NOTHING: Seen =
    Seen { time: 0, block: 0, pc: 0, epoch: 0, lane_epoch: 0, value: 0, thread: 0, mask: 0, flags: 0 };

/// The rings of a launch's threads, by slot of the warp and lane.
#[derive(Debug, Default)]
pub(super) struct Loads {
    /// A warp that has loaded nothing has none.
    warps: Vec<Option<Box<[Ring; 32]>>>,
}

impl Loads {
    pub fn new(warps: u32) -> Loads {
        Loads { warps: vec![None; warps as usize] }
    }

    /// A block begins in these slots.
    pub fn forget(&mut self, warps: std::ops::Range<u32>) {
        for rings in self.warps[warps.start as usize..warps.end as usize].iter_mut().flatten() {
            rings.fill(EMPTY);
        }
    }

    /// A lane has loaded from a granule.
    pub fn push(&mut self, (warp, lane): (u32, u32), key: u64, load: Seen) {
        let rings = self.warps[warp as usize].get_or_insert_with(|| Box::new([EMPTY; 32]));
        let ring = &mut rings[lane as usize];
        let at = usize::from(ring.next);
        (ring.keys[at], ring.loads[at]) = (key, load);
        ring.next = ((at + 1) % KEPT) as u8;
    }

    /// The last load of a lane from bytes of a granule in the mask.
    pub fn last(&self, (warp, lane): (u32, u32), key: u64, mask: u8) -> Option<&Seen> {
        let ring = &self.warps[warp as usize].as_ref()?[lane as usize];
        let of = |at: &usize| ring.keys[*at] == key && ring.loads[*at].mask & mask != 0;
        let found = (0..KEPT).filter(of).max_by_key(|at| ring.loads[*at].time)?;
        Some(&ring.loads[found])
    }
}
