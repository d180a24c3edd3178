//! Logging on the device: what host, injected code and `logging.cu` agree on.
//!
//! Source: BARRACUDA (Eizenberg et al., PLDI 2017), section 4.2: several queues of fixed-size records, one of them for each
//! block; a record holds the operation of a whole warp; write head, commit index and read head only grow, and are taken modulo
//! the queue's capacity.
//!
//! Where it departs:
//! - Nothing is reserved before there is room: a group of lanes whose queue is full looks again until the host has read. So
//!   whoever holds a slot waits for nobody but those that hold earlier ones, and these wait for nothing else: from slot to commit
//!   the injected code is one piece.
//! - A record carries a ticket: its place in one order over all queues, so that the reader can tell the events of
//!   different blocks in the order in which they were told of.
//! - Queues are 272-byte records all the same. What an operation is (kind, size, order, scope) does not stand in the record: the
//!   header's place names it, in the table that the injector keeps.
//!
//! Whose address has at most 57 bits, has room for what is to be said of single lanes: the top bits of the lane's word.

/// The variable (in constant memory) that the host writes a [`LogState`] to before each launch.
pub const LOG_VARIABLE: &str = "__bugaroo_log";

/// `logging.cu` as nvcc 13.0 compiled it (`-ptx -rdc=true -arch=compute_75`), header and all.
pub const LOGGING_PTX: &str = include_str!("../logging.ptx");

/// Names of the functions that injected code calls before each record; each answers with a [`prepared`].
pub mod prepare {
    /// `(u64 word)`: for something that is no access. The word is the lane's, as it stands.
    pub const EVENT: &str = "__bugaroo_prepare";
    /// `(u64 generic address)`: for a load or an atomic.
    pub const ACCESS: &str = "__bugaroo_prepare_access";
    /// `(u64 generic address, u64 value, u64 value, u64 value, u64 value)`: for a store, with what it stores (elements that it does
    /// not have are 0).
    pub const STORE: &str = "__bugaroo_prepare_store";
    /// All of them.
    pub const ALL: [&str; 3] = [EVENT, ACCESS, STORE];
}

/// Offsets of what the functions answer with.
pub mod prepared {
    /// Address of the queue (64 bits).
    pub const QUEUE: usize = 0;
    /// Address of the queue's write head (64 bits).
    pub const WRITE: usize = 8;
    /// The lane's word (64 bits).
    pub const WORD: usize = 16;
    /// The lanes that were there together (32 bits).
    pub const LANES: usize = 24;
    /// The warp's number in the launch (32 bits).
    pub const WARP: usize = 28;
    /// Bytes in all.
    pub const BYTES: usize = 32;
}

/// A record: 32 words of lanes, and a header.
pub mod record {
    /// Bytes.
    pub const BYTES: u64 = 272;
    /// Offset of the mask of the lanes that the record is about.
    pub const LANES: usize = 256;
    /// Offset of the place.
    pub const PLACE: usize = 260;
    /// Offset of the warp's number in the launch: the block's linear index times the warps of a block, plus the warp's in the
    /// block.
    pub const WARP: usize = 264;
    /// Offset of the low half of the ticket.
    pub const TICKET: usize = 268;
    /// The place of a thread's beginning.
    pub const BEGIN: u32 = u32::MAX;
}

/// Bits of an access's word.
pub mod word {
    /// Mask of the address: an offset where [`SHARED`] is set.
    pub const ADDRESS: u64 = 0x01ff_ffff_ffff_ffff;
    /// The lane goes to shared memory.
    pub const SHARED: u64 = 1 << 63;
    /// The lane goes to memory that nobody else sees.
    pub const PRIVATE: u64 = 1 << 62;
    /// The lane stores what all lanes of the record store that go to the same address.
    pub const SAME: u64 = 1 << 61;
}

/// A queue in memory that host and device see: two indices, then the records.
pub mod queue {
    /// Offset of the commit index: records below it can be read.
    pub const COMMIT: u64 = 0;
    /// Offset of the read head: records below it have been read.
    pub const READ: u64 = 128;
    /// Offset of the records.
    pub const RECORDS: u64 = 256;
    /// What queues are aligned to.
    pub const ALIGN: u64 = 256;
}

/// What only the device touches.
pub mod control {
    /// Offset of the next ticket.
    pub const TICKET: u64 = 0;
    /// Offset of the write head of queue 0.
    pub const WRITE: u64 = 128;
    /// Distance of two write heads.
    pub const STRIDE: u64 = 128;
}

/// The queues of a launch: how they lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queues {
    /// How many.
    pub count: u32,
    /// Records of each.
    pub capacity: u32,
}

impl Queues {
    /// Bytes from one queue to the next; None where 64 bits do not hold it.
    pub fn stride(self) -> Option<u64> {
        u64::from(self.capacity)
            .checked_mul(record::BYTES)?
            .checked_add(queue::RECORDS)?
            .checked_next_multiple_of(queue::ALIGN)
    }

    /// Bytes of all queues.
    pub fn bytes(self) -> Option<u64> {
        self.stride()?.checked_mul(u64::from(self.count))
    }

    /// Bytes of what only the device touches.
    pub fn control_bytes(self) -> u64 {
        control::WRITE + control::STRIDE * u64::from(self.count)
    }
}

/// The device's view of a launch's queues: `struct Log` of `logging.cu`, byte for byte.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogState {
    /// Address of the queues; 0: nothing is logged.
    pub queues: u64,
    /// Address of what only the device touches.
    pub control: u64,
    /// Bytes from one queue to the next.
    pub stride: u64,
    /// How many queues.
    pub count: u32,
    /// Records of each.
    pub capacity: u32,
}

impl LogState {
    /// Bytes of the device's struct.
    pub const BYTES: usize = size_of::<LogState>();

    /// What to write to the variable: little-endian, without padding.
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let last = u64::from(self.count) | u64::from(self.capacity) << 32;
        let mut bytes = [0; Self::BYTES];
        for (field, long) in bytes.chunks_exact_mut(8).zip([self.queues, self.control, self.stride, last]) {
            field.copy_from_slice(&long.to_le_bytes());
        }
        bytes
    }
}
