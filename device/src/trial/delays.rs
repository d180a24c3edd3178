//! What a launch did with its store buffers, as the handlers counted it in device memory, or the virtual GPU's own model.

use bugaroo_device_handlers::{BufferSpace, Layout};
use bugaroo_protocol::FlushLengths;
use bugaroo_simulator::ModelCounts;

/// Counts of one launch.
#[derive(Clone, Debug, Default)]
pub struct Delays {
    /// Stores that were delayed.
    pub stores: u64,
    /// How full buffers were when they drained.
    pub flush_lengths: FlushLengths,
    /// Memory that the buffers took: the device's, or, for a model, the host's.
    pub buffer_bytes: u64,
    /// What a memory model forgot for lack of memory.
    pub forgotten: u64,
}

impl Delays {
    /// What a memory model has counted.
    pub fn counted(counts: &ModelCounts) -> Self {
        let histogram = |space: BufferSpace| {
            let counts = (0u32..).zip(&counts.flushes[space as usize]);
            counts.filter(|(_, count)| **count != 0).map(|(length, count)| (length, *count)).collect()
        };
        Delays {
            stores: counts.delayed,
            flush_lengths: FlushLengths {
                global: histogram(BufferSpace::Global),
                shared: histogram(BufferSpace::Shared),
            },
            buffer_bytes: counts.bytes,
            forgotten: counts.forgotten,
        }
    }

    /// Reads the counts; `read` gives the bytes at an offset in the buffers.
    pub fn read(layout: &Layout, read: impl Fn(u64, &mut [u8])) -> Self {
        let words = |offset: u64, count: usize| {
            let mut bytes = vec![0; 8 * count];
            read(offset, &mut bytes);
            bytes.chunks_exact(8).map(word).collect::<Vec<u64>>()
        };
        let lengths = layout.capacity as usize + 1;
        let flushes = words(layout.flushes, 2 * lengths);
        let histogram = |space: BufferSpace| {
            let counts = (0u32..).zip(&flushes[space as usize * lengths..][..lengths]);
            counts.filter(|(_, count)| **count != 0).map(|(length, count)| (length, *count)).collect()
        };
        Delays {
            stores: words(layout.delayed, 1)[0],
            flush_lengths: FlushLengths {
                global: histogram(BufferSpace::Global),
                shared: histogram(BufferSpace::Shared),
            },
            buffer_bytes: layout.buffer_bytes(),
            forgotten: 0,
        }
    }
}

fn word(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().expect("chunks of eight bytes"))
}
