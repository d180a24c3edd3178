//! Local memory of a warp's lanes: bytes that are known or not.

use std::hash::{Hash, Hasher};

use super::registers::{Why, lanes, points_to_shared};

/// Local memory of a warp's lanes. It grows as it is written.
#[derive(Clone, Default)]
pub(super) struct Local {
    lanes: Vec<Lane>,
}

#[derive(Clone, Default)]
struct Lane {
    bytes: Vec<u8>,
    known: Vec<bool>,
    /// Why bytes that were written are not known: the latest reason.
    why: Option<Why>,
    /// A generic address of shared memory may have been written.
    points: bool,
}

impl Local {
    fn lane(&mut self, lane: usize) -> &mut Lane {
        if self.lanes.is_empty() {
            self.lanes = vec![Lane::default(); 32];
        }
        &mut self.lanes[lane]
    }

    /// Writes bytes of a lane, low ones first.
    pub fn write(&mut self, lane: usize, at: usize, size: usize, value: Result<u64, Why>) {
        let lane = self.lane(lane);
        if lane.bytes.len() < at + size {
            lane.bytes.resize(at + size, 0);
            lane.known.resize(at + size, false);
        }
        lane.points |= points_to_shared(size, value);
        match value {
            Ok(value) => {
                lane.bytes[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
                lane.known[at..at + size].fill(true);
            }
            Err(why) => {
                lane.known[at..at + size].fill(false);
                lane.why = Some(why);
            }
        }
    }

    /// A write to a place that is not known.
    pub fn forget(&mut self, lane: usize, why: Why) {
        let lane = self.lane(lane);
        lane.known.fill(false);
        lane.why = Some(why);
    }

    /// Reads bytes of a lane.
    pub fn read(&mut self, lane: usize, at: usize, size: usize) -> Result<u64, Why> {
        let lane = self.lane(lane);
        let known = lane.known.get(at..at + size).is_some_and(|known| known.iter().all(|k| *k));
        if !known {
            return Err(lane.why.unwrap_or(Why::LOCAL).tainted(lane.points));
        }
        let mut value = [0; 8];
        value[..size].copy_from_slice(&lane.bytes[at..at + size]);
        Ok(u64::from_le_bytes(value))
    }

    /// Why what is read at a place that is not known is not, where `why` is why the place is not.
    pub fn open(&self, lane: usize, why: Why) -> Why {
        why.tainted(self.lanes.get(lane).is_some_and(|lane| lane.points))
    }

    /// Takes over the lanes of `mask`.
    pub fn take(&mut self, other: &Local, mask: u32) {
        if self.lanes.is_empty() && other.lanes.is_empty() {
            return;
        }
        for lane in lanes(mask) {
            *self.lane(lane) = other.lanes.get(lane).cloned().unwrap_or_default();
        }
    }

    /// Leaves known of the lanes of `mask` what is the same there; answers whether anything was forgotten.
    pub fn join(&mut self, other: &Local, mask: u32, why: Why) -> bool {
        if self.lanes.is_empty() && other.lanes.is_empty() {
            return false;
        }
        let mut changed = false;
        for lane in lanes(mask) {
            let mine = self.lane(lane);
            let theirs = other.lanes.get(lane);
            if theirs.is_some_and(|theirs| theirs.points) && !mine.points {
                (mine.points, changed) = (true, true);
            }
            let same = |at: usize, byte: u8| {
                theirs.is_some_and(|lane| lane.known.get(at) == Some(&true) && lane.bytes[at] == byte)
            };
            for at in 0..mine.known.len() {
                if mine.known[at] && !same(at, mine.bytes[at]) {
                    mine.known[at] = false;
                    mine.why = Some(why);
                    changed = true;
                }
            }
        }
        changed
    }

    /// Whether the lanes of `mask` of another state are among those that this one stands for.
    pub fn covers(&self, other: &Local, mask: u32) -> bool {
        let nothing = Lane::default();
        lanes(mask).all(|lane| {
            let (mine, theirs) =
                (self.lanes.get(lane).unwrap_or(&nothing), other.lanes.get(lane).unwrap_or(&nothing));
            let known = |of: &Lane, at: usize| of.known.get(at).is_some_and(|known| *known);
            let may_point = mine.points;
            let bytes = mine.known.len().max(theirs.known.len());
            (may_point || !theirs.points)
                && (0..bytes).all(|at| match (known(mine, at), known(theirs, at)) {
                    (true, is_known) => is_known && mine.bytes[at] == theirs.bytes[at],
                    (false, is_known) => !is_known || may_point,
                })
        })
    }

    /// Tells a hasher what is known.
    pub fn hash_known(&self, hasher: &mut impl Hasher) {
        for lane in &self.lanes {
            let known = lane.known.iter().zip(&lane.bytes).enumerate().filter(|(_, (known, _))| **known);
            known.for_each(|(at, (_, byte))| (at, byte).hash(hasher));
            lane.points.hash(hasher);
        }
    }
}
