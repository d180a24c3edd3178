//! An access as shadow memory keeps it: the epochs of a warp's lanes for bytes of a row.

use bugaroo_ptx::op::AtomOp;
use bugaroo_semantics::event::{AccessKind, SiteNumber};
use bugaroo_semantics::scope::{Scope, Strength};

/// Bytes of a row.
pub(super) const ROW: u64 = 128;

/// Which lane has accessed which byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// One lane all of them.
    One(u8),
    /// Each lane all of them.
    All,
    /// Each lane two to this many bytes behind the one before, or would be.
    Row(u8),
}

/// What an access does, in a few bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct What {
    kind: u8,
    /// Element's bytes as a power of two, strength and scope.
    flags: u8,
}

// Each in the order of its numbers, as is checked below.
const OPS: [AtomOp; 10] = [
    AtomOp::And,
    AtomOp::Or,
    AtomOp::Xor,
    AtomOp::Cas,
    AtomOp::Exch,
    AtomOp::Add,
    AtomOp::Inc,
    AtomOp::Dec,
    AtomOp::Min,
    AtomOp::Max,
];
const SCOPES: [Scope; 4] = [Scope::Cta, Scope::Cluster, Scope::Gpu, Scope::Sys];

const _: () = {
    let mut at = 0;
    while at < OPS.len() {
        assert!(OPS[at] as usize == at);
        assert!(at >= SCOPES.len() || SCOPES[at] as usize == at);
        at += 1;
    }
};

/// Bits of `kind` above the number of the operation.
const ATOMIC: u8 = 0x80;
const STRONG: u8 = 0x40;

impl What {
    /// `atomic`: it does not race with others that are atomic.
    pub fn new(kind: AccessKind, size: u32, strength: Strength, atomic: bool) -> What {
        let op = match kind {
            AccessKind::Load => 0,
            AccessKind::Store => 1,
            AccessKind::Atomic(op) => 2 + op as u8,
        };
        let (strong, scope) = match strength {
            Strength::Weak => (0, 0),
            Strength::Strong(scope) => (STRONG, scope as u8),
        };
        let size = size.trailing_zeros() as u8 & 7;
        let atomic = if atomic { ATOMIC } else { 0 };
        What { kind: op | strong | atomic, flags: size | scope << 3 }
    }

    /// Whether it does not race with others like it.
    #[inline]
    pub fn atomic(self) -> bool {
        self.kind & ATOMIC != 0
    }

    pub fn kind(self) -> AccessKind {
        match self.kind & 0x3f {
            0 => AccessKind::Load,
            1 => AccessKind::Store,
            op => AccessKind::Atomic(OPS[usize::from(op) - 2]),
        }
    }

    /// Bytes of an element.
    pub fn size(self) -> u32 {
        1 << (self.flags & 7)
    }

    pub fn strength(self) -> Strength {
        if self.kind & STRONG == 0 {
            return Strength::Weak;
        }
        Strength::Strong(SCOPES[usize::from(self.flags >> 3)])
    }
}

/// Accesses of a warp's lanes, at one time, to bytes of a row. Without bytes it is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    bytes: [u64; 2],
    /// Number of the warp in the grid.
    pub warp: u32,
    /// The lanes' own time.
    pub clock: u32,
    pub site: SiteNumber,
    /// All lanes that have bytes here.
    pub lanes: u32,
    /// Where the first byte of lane 0's access would be, or the first byte of the one that is, from the row's begin.
    base: i16,
    pub what: What,
    layout: u8,
}

const ALL: u8 = 32;
const CONSECUTIVE: u8 = 33;

impl Mark {
    /// No access.
    pub const NONE: Mark = Mark {
        bytes: [0; 2],
        warp: 0,
        clock: 0,
        site: 0,
        lanes: 0,
        base: 0,
        what: What { kind: 0, flags: 0 },
        layout: 0,
    };

    /// An access whose bytes come later.
    pub fn new(warp: u32, clock: u32, site: SiteNumber, what: What) -> Mark {
        Mark { warp, clock, site, what, ..Mark::NONE }
    }

    /// The same in a layout.
    #[inline]
    pub fn with(mut self, layout: Layout) -> Mark {
        self.layout = match layout {
            Layout::One(lane) => lane,
            Layout::All => ALL,
            Layout::Row(bytes) => CONSECUTIVE + bytes,
        };
        self
    }

    /// Its part in one row.
    #[inline]
    pub fn at(mut self, base: i64, bytes: u128, lanes: u32) -> Mark {
        self.base = base as i16;
        self.lanes = lanes;
        self.set_bytes(bytes);
        self
    }

    /// The bytes of the row.
    #[inline]
    pub fn bytes(&self) -> u128 {
        u128::from(self.bytes[0]) | u128::from(self.bytes[1]) << 64
    }

    #[inline]
    pub fn set_bytes(&mut self, bytes: u128) {
        self.bytes = [bytes as u64, (bytes >> 64) as u64];
    }

    /// Takes bytes away.
    #[inline]
    pub fn clear(&mut self, bytes: u128) {
        self.bytes[0] &= !(bytes as u64);
        self.bytes[1] &= !((bytes >> 64) as u64);
    }

    #[inline]
    pub fn is_none(&self) -> bool {
        self.bytes[0] | self.bytes[1] == 0
    }

    /// The lanes that have accessed a byte of it.
    #[inline]
    pub fn lanes_at(&self, byte: u32) -> u32 {
        match self.layout {
            ALL => self.lanes,
            lane if lane < ALL => 1 << lane,
            bytes => 1 << ((byte as i32 - i32::from(self.base)) >> (bytes - CONSECUTIVE) & 31),
        }
    }

    /// Where the access of a lane with this byte begins, from the row's begin.
    pub fn start(&self, byte: u32) -> i32 {
        let base = i32::from(self.base);
        if self.layout < CONSECUTIVE {
            return base;
        }
        let shift = self.layout - CONSECUTIVE;
        base + ((byte as i32 - base) >> shift << shift)
    }

    /// Where the element with this byte begins, from the row's begin.
    pub fn element(&self, byte: u32) -> i32 {
        let (start, size) = (self.start(byte), self.what.size() as i32);
        start + (byte as i32 - start) / size * size
    }

    /// What marks have in common where the same lanes access the same bytes, as far as both have them.
    #[inline]
    pub fn lanes_key(&self) -> (u32, i16, u8, u32) {
        // Where each lane accesses all bytes, the lanes have to be the same.
        (self.warp, self.base, self.layout, if self.layout == ALL { self.lanes } else { 0 })
    }

    /// Whether `later` is of the same lanes, has all of its bytes, and races with whatever it races with.
    #[inline]
    pub fn is_replaced_by(&self, later: &Mark) -> bool {
        self.warp == later.warp
            && self.lanes_key() == later.lanes_key()
            && (self.bytes[0] & !later.bytes[0]) | (self.bytes[1] & !later.bytes[1]) == 0
            && later.what.atomic() <= self.what.atomic()
    }

    /// The word that all of its bytes are in, if it is one.
    #[inline]
    pub fn word(&self) -> Option<usize> {
        let bytes = self.bytes();
        let (low, high) = (bytes.trailing_zeros(), 127 - bytes.leading_zeros() as i32);
        (low as i32 / 4 == high / 4).then_some(low as usize / 4)
    }
}
