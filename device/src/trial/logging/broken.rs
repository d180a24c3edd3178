//! What readers of the log look at memory through, and how a log can be broken.

use bugaroo_simulator::Memory;

/// Memory that host and device see.
pub trait Visible {
    /// Copies what is there.
    ///
    /// # Errors
    /// Where it is not the device's memory any more.
    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), Broken>;

    /// A 64-bit word, with all that its writer had written before.
    ///
    /// # Errors
    /// As [`Self::read`].
    fn acquire(&self, address: u64) -> Result<u64, Broken>;

    /// Writes a 64-bit word; what this thread has read before, it has read.
    ///
    /// # Errors
    /// As [`Self::read`].
    fn release(&mut self, address: u64, value: u64) -> Result<(), Broken>;
}

impl Visible for Memory {
    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), Broken> {
        Memory::read(self, address, into).map_err(|_| Broken::Memory { address })
    }

    fn acquire(&self, address: u64) -> Result<u64, Broken> {
        let mut bytes = [0; 8];
        Visible::read(self, address, &mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn release(&mut self, address: u64, value: u64) -> Result<(), Broken> {
        Memory::write(self, address, &value.to_le_bytes()).map_err(|_| Broken::Memory { address })
    }
}

/// Why nothing more is told.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    /// A queue is not there.
    #[error("logging: no memory at {address:#x}")]
    Memory {
        /// Where.
        address: u64,
    },
    /// There is no room for queues.
    #[error("logging: no room for {0} queues of {1} records")]
    Room(u32, u32),
    /// The grid has more warps than a record can number.
    #[error("logging: {0} warps; a record can number 2^32")]
    Warps(u64),
    /// The module does not log.
    #[error("logging: the module has no logger")]
    NoLogger,
    /// There is no room for shadow words.
    #[error("hirace: the device has no room for shadow words")]
    NoShadow,
    /// The module does not look for races.
    #[error("hirace: the module has no detector")]
    NoDetector,
    /// There is no room for metadata.
    #[error("scord: the device has no room for metadata")]
    NoMetadata,
    /// The module does not look for scoped races.
    #[error("scord: the module has no detector")]
    NoScord,
    /// A record is none that the module's code writes: the program has written over the queues, most likely.
    #[error("logging: record {ticket} is damaged: {what}")]
    Damaged {
        /// Its ticket.
        ticket: u64,
        /// What about it.
        what: &'static str,
    },
    /// A record never came.
    #[error("logging: {left} records behind a gap at ticket {ticket}")]
    Gap {
        /// The ticket that is missing.
        ticket: u64,
        /// Records with later ones.
        left: usize,
    },
}
