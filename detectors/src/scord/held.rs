//! Who of a warp holds which locks.
//!
//! The paper's table is the warp's: what one lane locks protects what all of them do. That is right for a lane that locks on behalf of
//! its warp, and wrong for lanes that take locks of their own. So the table is the warp's as long as one lane alone takes locks, and
//! each lane's from then on, until nobody holds any.

use bugaroo_semantics::event::each;

use super::locks::LockTable;

/// The locks of a warp.
#[derive(Clone, Debug, Default)]
pub(super) struct Held {
    /// The warp's, while there are none by lane.
    warp: LockTable,
    /// The lane that took them.
    owner: u32,
    lanes: Option<Box<[LockTable; 32]>>,
}

impl Held {
    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.warp.is_empty() && self.lanes.is_none()
    }

    /// Whether lanes hold different ones.
    #[inline]
    pub fn by_lane(&self) -> bool {
        self.lanes.is_some()
    }

    /// Lanes have taken locks by one instruction. Says whether a table ran over.
    pub fn take(&mut self, lanes: u32, device: bool, lock: impl Fn(u32) -> u64) -> bool {
        let first = lanes.trailing_zeros();
        let alone = lanes.is_power_of_two() && (self.warp.is_empty() || self.owner == first);
        if self.lanes.is_none() && alone {
            self.owner = first;
            return self.warp.insert(lock(first), device);
        }
        let (warp, owner) = (std::mem::take(&mut self.warp), self.owner);
        let tables = self.lanes.get_or_insert_with(|| {
            let mut tables = Box::new([LockTable::default(); 32]);
            tables[owner as usize & 31] = warp;
            tables
        });
        each(lanes).fold(false, |over, lane| tables[lane as usize].insert(lock(lane), device) | over)
    }

    /// Lanes unlock what is there to unlock. Gives those that did.
    pub fn release(&mut self, lanes: u32, device: bool, lock: impl Fn(u32) -> u64) -> u32 {
        let mut did = 0;
        for lane in each(lanes) {
            let released = match &mut self.lanes {
                None => self.warp.release(lock(lane), device),
                // A lane may unlock for another one.
                Some(tables) => {
                    let others = (0..32).filter(|other| *other != lane);
                    std::iter::once(lane)
                        .chain(others)
                        .any(|of| tables[of as usize].release(lock(lane), device))
                }
            };
            did |= u32::from(released) << lane;
        }
        self.tidy();
        did
    }

    /// Lanes fence. Says whether a lock that they would hold had gone already.
    pub fn activate(&mut self, lanes: u32, device: bool) -> bool {
        match &mut self.lanes {
            None => self.warp.activate(device),
            Some(tables) => {
                each(lanes).fold(false, |lost, lane| tables[lane as usize].activate(device) | lost)
            }
        }
    }

    /// Lanes go on to access memory: what they have swapped in before without a fence behind it was no lock.
    pub fn drop_inactive(&mut self, lanes: u32) {
        match &mut self.lanes {
            None if lanes >> self.owner & 1 != 0 => self.warp.drop_inactive(),
            None => {}
            Some(tables) => each(lanes).for_each(|lane| tables[lane as usize].drop_inactive()),
        }
        self.tidy();
    }

    /// The summary of what a lane holds.
    #[inline]
    pub fn bloom(&self, lane: u32, bits: u32, block: u32) -> u16 {
        if bits == 0 {
            return 0;
        }
        match &self.lanes {
            None if self.warp.is_empty() => 0,
            None => self.warp.bloom(bits, block),
            Some(tables) => tables[lane as usize & 31].bloom(bits, block),
        }
    }

    fn tidy(&mut self) {
        if self.lanes.as_ref().is_some_and(|tables| tables.iter().all(|table| table.is_empty())) {
            self.lanes = None;
        }
    }

    /// Bytes that it holds besides itself.
    pub fn bytes(&self) -> u64 {
        self.lanes.as_ref().map_or(0, |_| size_of::<[LockTable; 32]>() as u64)
    }
}
