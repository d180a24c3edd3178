//! The reader of one queue.

use bugaroo_device_handlers::logging::{queue, record};

use crate::trial::logging::broken::{Broken, Visible};

/// What a warp's lanes have told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The lanes.
    pub lanes: u32,
    /// The place, by which the injector's table knows what it is about.
    pub place: u32,
    /// The warp's number in the launch.
    pub warp: u32,
    /// The low half of the ticket.
    pub ticket: u32,
    /// A word of each lane; of lanes that take no part, anything.
    pub words: [u64; 32],
}

impl Record {
    fn parse(bytes: &[u8; record::BYTES as usize]) -> Record {
        let half = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let word = |lane: usize| u64::from(half(8 * lane)) | u64::from(half(8 * lane + 4)) << 32;
        Record {
            lanes: half(record::LANES),
            place: half(record::PLACE),
            warp: half(record::WARP),
            ticket: half(record::TICKET),
            words: std::array::from_fn(word),
        }
    }
}

/// Reads a queue from its beginning on. Indices only grow.
#[derive(Clone, Debug)]
pub struct Tail {
    address: u64,
    capacity: u64,
    read: u64,
    /// The commit index as last seen.
    committed: u64,
}

impl Tail {
    /// The reader of an empty queue.
    pub fn new(address: u64, capacity: u32) -> Tail {
        Tail { address, capacity: capacity.into(), read: 0, committed: 0 }
    }

    /// Takes the next record, if one is committed, and gives its room back.
    ///
    /// # Errors
    /// Where the queue cannot be read.
    pub fn take(&mut self, memory: &mut dyn Visible) -> Result<Option<Record>, Broken> {
        if self.read == self.committed {
            self.committed = memory.acquire(self.address + queue::COMMIT)?;
        }
        if self.read == self.committed {
            return Ok(None);
        }
        if self.committed.wrapping_sub(self.read) > self.capacity {
            return Err(Broken::Damaged {
                ticket: self.read,
                what: "more is committed than the queue can hold",
            });
        }
        let mut bytes = [0; record::BYTES as usize];
        let at = self.read % self.capacity * record::BYTES;
        memory.read(self.address + queue::RECORDS + at, &mut bytes)?;
        self.read += 1;
        memory.release(self.address + queue::READ, self.read)?;
        Ok(Some(Record::parse(&bytes)))
    }
}
