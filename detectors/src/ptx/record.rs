//! One access, or those of a warp at one instruction, as the shadow keeps them: which bytes of a row, by whom, when.

use bugaroo_semantics::event::{AccessKind, SiteNumber, WorkId};
use bugaroo_semantics::scope::{Strength, ThreadKey};
use rustc_hash::FxHashMap;

use super::release::Reach;
use crate::shadow::Bytes;

/// It writes.
pub(super) const WRITES: u8 = 1;
/// It is strong.
pub(super) const STRONG: u8 = 2;
/// It is the work of an asynchronous copy, `link` its number in the table.
pub(super) const COPY: u8 = 4;
/// It is the host's or a transfer's.
pub(super) const HOST: u8 = 8;
/// Its scope is that of the system.
pub(super) const SYSTEM: u8 = 16;
/// Each byte is one thread's: the one of `base + (byte >> shift)`. So whole rows are one.
pub(super) const ONE: u8 = 7;

/// Accesses alike, of bytes of one row.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Record {
    /// Which bytes.
    pub mask: Bytes,
    /// Lanes that each access all of the bytes; 0: each byte is one thread's.
    pub lanes: u32,
    /// With `lanes`: of these warps of the CTA. Of a strong access: 1 + a CTA of whose strong access it has been found dominated.
    pub warps: u32,
    pub grid: WorkId,
    /// The block's linear index.
    pub cta: u32,
    /// Its CTA's clock.
    pub time: u32,
    /// What and where in the program: see [`Kinds`].
    pub kind: u32,
    /// Of a strong write, where its observers are; of a copy's, the copy. 0: none.
    pub link: u32,
    pub base: i16,
    /// Bytes of a thread, and of an element, as powers of two: three bits each.
    pub shape: u8,
    /// The flags above; how far it reaches in the two highest bits.
    pub flags: u8,
}

/// Some threads of a record: those that access one byte.
#[derive(Clone, Copy, Debug)]
pub(super) enum Who {
    One(u32),
    /// Warps, and lanes of each.
    Many(u32, u32),
}

impl Who {
    /// Their places in the CTA.
    pub fn each(self) -> impl Iterator<Item = u32> {
        let (warps, lanes) = match self {
            Who::One(place) => (1 << (place >> 5), 1 << (place & 31)),
            Who::Many(warps, lanes) => (warps, lanes),
        };
        let of = move |warp: u32| bugaroo_semantics::event::each(lanes).map(move |lane| warp << 5 | lane);
        bugaroo_semantics::event::each(warps).flat_map(of)
    }
}

impl Record {
    #[inline]
    pub fn is(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// Bytes of a thread, as a power of two.
    #[inline]
    pub fn shift(&self) -> u8 {
        self.shape & 7
    }

    /// Bytes of an element, as a power of two.
    #[inline]
    pub fn size(&self) -> u8 {
        self.shape >> 3
    }

    /// How far it reaches, if it is strong.
    #[inline]
    pub fn reach(&self) -> Reach {
        match self.flags >> 6 {
            0 => Reach::Cta,
            1 => Reach::Cluster,
            2 => Reach::Device,
            _ => Reach::System,
        }
    }

    /// Who accesses a byte.
    #[inline]
    pub fn who(&self, byte: u32) -> Who {
        if self.lanes != 0 {
            return Who::Many(self.warps, self.lanes);
        }
        Who::One((i32::from(self.base) + (byte >> self.shift()) as i32) as u32 & 0x3ff)
    }

    /// The bytes next to a byte that the same threads access.
    #[inline]
    pub fn block_shift(&self) -> u8 {
        if self.lanes != 0 { ONE } else { self.shift() }
    }

    /// Whether both are, byte by byte, the same threads'.
    #[inline]
    pub fn same_threads(&self, other: &Record) -> bool {
        (self.grid, self.cta, self.base, self.shift(), self.lanes)
            == (other.grid, other.cta, other.base, other.shift(), other.lanes)
            && (self.lanes == 0
                || (self.warps == other.warps
                    && self.lanes.is_power_of_two()
                    && self.warps.is_power_of_two()))
            && (self.flags | other.flags) & (COPY | HOST) == 0
    }
}

/// A thread.
#[inline]
pub(super) fn key(cta: u32, place: u32) -> ThreadKey {
    ThreadKey::new(cta & 0x3f_ffff, place)
}

/// What the accesses of an instruction are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Kind {
    pub site: SiteNumber,
    pub kind: AccessKind,
    pub strength: Strength,
    pub size: u32,
    pub asynchronous: bool,
}

/// All that have come by, numbered.
#[derive(Debug, Default)]
pub(super) struct Kinds {
    all: Vec<Kind>,
    numbers: FxHashMap<Kind, u32>,
    last: [u32; 16],
}

impl Kinds {
    /// The number of one.
    #[inline]
    pub fn number(&mut self, kind: Kind) -> u32 {
        let at = kind.site as usize & 15;
        let last = self.last[at];
        if self.all.get(last as usize) == Some(&kind) {
            return last;
        }
        let all = &mut self.all;
        let number = *self.numbers.entry(kind).or_insert_with(|| {
            all.push(kind);
            (all.len() - 1) as u32
        });
        self.last[at] = number;
        number
    }

    /// The one of a number.
    pub fn of(&self, number: u32) -> Kind {
        self.all[number as usize]
    }
}
