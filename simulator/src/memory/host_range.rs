//! The program's own host memory that it registered for the device.

/// A registered range.
#[derive(Clone, Copy, Debug)]
pub(super) struct HostRange {
    pub start: u64,
    pub bytes: u64,
    /// The device may write to it.
    pub writable: bool,
}

/// All of them, by ascending address; none overlaps another.
#[derive(Debug, Default)]
pub(super) struct HostRanges(Vec<HostRange>);

impl HostRanges {
    /// The range that holds `address`.
    pub fn find(&self, address: u64) -> Option<HostRange> {
        let after = self.0.partition_point(|range| range.start <= address);
        let found = self.0[after.checked_sub(1)?];
        (address - found.start < found.bytes).then_some(found)
    }

    /// Takes a range in, unless a part of it is there already.
    pub fn insert(&mut self, range: HostRange) -> bool {
        let after = self.0.partition_point(|other| other.start <= range.start);
        let before = after.checked_sub(1).map(|index| self.0[index]);
        let free_below = before.is_none_or(|other| range.start - other.start >= other.bytes);
        let free_above = self.0.get(after).is_none_or(|other| other.start - range.start >= range.bytes);
        if free_below && free_above {
            self.0.insert(after, range);
        }
        free_below && free_above
    }

    /// Forgets the range that starts at `start`.
    pub fn remove(&mut self, start: u64) -> bool {
        let found = self.0.binary_search_by_key(&start, |range| range.start);
        if let Ok(index) = found {
            self.0.remove(index);
        }
        found.is_ok()
    }
}
