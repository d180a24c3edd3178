//! What detectors on the device have in common on the host's side: how much memory a launch gets, and how its report is read.

use bugaroo_detectors::watched::{Numbers, Watched};
use bugaroo_device_handlers::looking::{page, race};
use bugaroo_simulator::{AllocationKind, Memory};

/// Entries of the report: pairs of places, each at most some dozens of times, as the kinds of accesses before and how they stand to
/// each other tell entries apart.
const RACES: u64 = 1 << 13;
/// What arrays are aligned to.
const ALIGN: u64 = 256;

/// How much memory a launch gets.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Bytes of words.
    pub words: u64,
    /// Entries of the report: a power of two.
    pub races: u64,
    /// Whose memory it is: the tool's, of which no observer is told, and where no other thread gets its turn.
    pub kind: AllocationKind,
}

impl Sizes {
    /// For a device with so many bytes free, of which words may take at most so many.
    pub fn for_device(available: u64, most_bytes: u64) -> Sizes {
        Sizes { words: most_bytes.min(available / 2), races: RACES, kind: AllocationKind::Tool }
    }

    /// Units of so many words each, and pages for them.
    pub(crate) fn units(&self, unit: u64) -> (u64, u64) {
        let units = (self.words / 8 / unit).clamp(1, (1 << page::UNIT_BITS) - 1);
        (units, units.saturating_mul(2).next_power_of_two().clamp(u64::from(page::PROBES), 1 << 31))
    }
}

/// Memory of a launch: first addresses.
#[derive(Debug, Default)]
pub(crate) struct Arrays {
    all: Vec<u64>,
}

impl Arrays {
    /// So many elements of so many bytes, all 0; None where there is no room.
    pub fn take(&mut self, memory: &mut Memory, count: u64, bytes: u64, kind: AllocationKind) -> Option<u64> {
        let found = memory.alloc(count.checked_mul(bytes)?, ALIGN, kind).ok();
        self.all.extend(found);
        found
    }

    /// These bytes.
    pub fn put(&mut self, memory: &mut Memory, bytes: &[u8], kind: AllocationKind) -> Option<u64> {
        let found = self.take(memory, bytes.len() as u64, 1, kind)?;
        memory.write(found, bytes).ok()?;
        Some(found)
    }

    /// Gives them back.
    pub fn free(&self, memory: &mut Memory) {
        for address in &self.all {
            // It was allocated here, and nobody else frees it.
            let _ = memory.free(*address);
        }
    }
}

/// What device code is told of what is looked at ([`bugaroo_device_handlers::looking::watched`]).
pub(crate) fn watched_table(watched: &Watched) -> Vec<u8> {
    let Watched { global, shared, blocks, warps, one_block_in } = watched;
    let kinds: [&Numbers; 4] = [global, shared, blocks, warps];
    let (count, seed) = one_block_in.unwrap_or((1, 0));
    let counts = kinds.iter().map(|kind| kind.ranges().len() as u64);
    let ranges = kinds.iter().flat_map(|kind| kind.ranges()).flat_map(|range| [range.start, range.end]);
    counts.chain([count, seed]).chain(ranges).flat_map(u64::to_le_bytes).collect()
}

/// Words of the device's memory; None where it is not there any more.
pub(crate) fn words<const N: usize>(memory: &Memory, address: u64) -> Option<[u64; N]> {
    let mut bytes = vec![0; 8 * N];
    memory.read(address, &mut bytes).ok()?;
    let mut words = [0; N];
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks::<8>().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    Some(words)
}

/// The entries of a report that are whole, of N words each, in the order in which they came to be.
pub(crate) fn entries<const N: usize>(memory: &Memory, report: u64, count: u64) -> Vec<[u64; N]> {
    let mut entries: Vec<[u64; N]> = (0..count)
        .filter_map(|at| words(memory, report + at * (8 * N) as u64))
        .filter(|entry: &[u64; N]| entry[race::NUMBER / 8] != 0)
        .collect();
    entries.sort_unstable_by_key(|entry| entry[race::NUMBER / 8]);
    entries
}
