//! Memory that the store buffers take: the layout that host and device share, asked for its size.

use bugaroo_device_handlers::Layout;

use crate::paper;

/// As many threads as the paper reckons with, as CTAs and threads of each: 65,535 is no multiple of 32.
pub const PAPER_LAUNCH: (u64, u64) = (257, 255);
const _: () = assert!(PAPER_LAUNCH.0 * PAPER_LAUNCH.1 == paper::MEMORY_THREADS);

/// Bytes of the buffers of a launch of so many CTAs of so many threads, with all the memory that they ask for.
/// The number of store sites does not matter: coin counters are no buffers.
pub fn of_launch(launch: (u64, u64)) -> u64 {
    Layout::new(launch, 1, paper::BUFFER_ENTRIES, u64::MAX).buffer_bytes()
}

#[cfg(test)]
mod tests;
