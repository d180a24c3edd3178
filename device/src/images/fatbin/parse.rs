//! Header and entries of a fat binary that lies in memory as a whole.

use std::fmt;

use thiserror::Error;

/// What a fat binary starts with.
pub const HEADER_MAGIC: u32 = 0xba55_ed50;
/// Bytes of a fat binary's header, at least.
pub const HEADER: usize = 16;
/// The one version of the header that there is.
pub(super) const VERSION: u16 = 1;
/// Bytes of an entry's header, at least.
pub(super) const ENTRY_HEADER: usize = 64;

/// Flags of an entry.
const LZ4: u64 = 1 << 13;
const ZSTD: u64 = 1 << 15;
const ENCRYPTED_OR_IR: u64 = 1 << 16;
const SPECIFIC: u64 = 1 << 20;
const FAMILY: u64 = 1 << 21;

/// What is wrong with a fat binary.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FatError {
    /// It ends before what it declares.
    #[error("{what} at byte {at}: {needed} bytes declared, {present} there")]
    Truncated {
        /// Of what.
        what: &'static str,
        /// Offset in the fat binary.
        at: usize,
        /// As declared.
        needed: u64,
        /// As there are.
        present: u64,
    },
    /// A number that no fat binary has there.
    #[error("{what} at byte {at}: {value:#x} is not one that is known")]
    Unknown {
        /// Which number.
        what: &'static str,
        /// Offset in the fat binary.
        at: usize,
        /// The number.
        value: u64,
    },
    /// A payload that does not unpack.
    #[error("the payload of the entry at byte {at} ({architecture}): {reason}")]
    Payload {
        /// Offset of the entry in the fat binary.
        at: usize,
        /// Its architecture.
        architecture: Architecture,
        /// What is wrong.
        reason: String,
    },
    /// The program's memory ends before what is declared there.
    #[error("{what} at address {address:#x}: no readable memory there ({bytes} bytes)")]
    Memory {
        /// Of what.
        what: &'static str,
        /// Where.
        address: u64,
        /// How many.
        bytes: u64,
    },
    /// Bigger than any program's.
    #[error("{what} of {bytes} bytes: more than Bugaroo reads ({most})")]
    TooBig {
        /// Of what.
        what: &'static str,
        /// As declared.
        bytes: u64,
        /// The limit.
        most: u64,
    },
}

/// An architecture: 75 of `sm_75`, and what follows the number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Architecture {
    /// 75 of `sm_75`.
    pub number: u32,
    /// `a` (this one only) or `f` (its family).
    pub suffix: Option<char>,
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sm_{}", self.number)?;
        self.suffix.map_or(Ok(()), |suffix| write!(f, "{suffix}"))
    }
}

/// What an entry holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// PTX text.
    Ptx,
    /// Machine code (an ELF file).
    Elf,
    /// Intermediate code for optimisation at link time (`-dlto`, `code=lto_90`).
    LinkTimeIr,
    /// Something else.
    Other(u16),
}

/// How a payload is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// It is not.
    None,
    /// One LZ4 block.
    Lz4,
    /// One Zstandard frame.
    Zstd,
}

/// An entry of a fat binary.
#[derive(Clone, Copy, Debug)]
pub struct FatBinaryEntry<'a> {
    /// Offset of its header in the fat binary.
    pub at: usize,
    /// What it holds.
    pub kind: EntryKind,
    /// What it is for.
    pub architecture: Architecture,
    /// How it is packed.
    pub compression: Compression,
    /// Bytes of the payload once unpacked, as stated.
    pub unpacked_size: u64,
    /// The payload as it lies there, without padding.
    pub payload: &'a [u8],
}

/// A fat binary.
#[derive(Clone, Debug)]
pub struct FatBinary<'a> {
    /// Its entries in order.
    pub entries: Vec<FatBinaryEntry<'a>>,
}

impl<'a> FatBinary<'a> {
    /// Bytes of a fat binary, header included, as its header declares: from its first
    /// [`HEADER`] bytes.
    ///
    /// # Errors
    /// When they are no header.
    pub fn length(header: &[u8]) -> Result<u64, FatError> {
        let fields = Fields { bytes: header, at: 0, what: "the header" };
        fields.need(HEADER)?;
        let (magic, version) = (fields.u32(0), fields.u16(4));
        if magic != HEADER_MAGIC {
            return Err(FatError::Unknown { what: "the header's magic", at: 0, value: magic.into() });
        }
        if version != VERSION {
            return Err(FatError::Unknown { what: "the header's version", at: 4, value: version.into() });
        }
        let own = fields.u16(6);
        if usize::from(own) < HEADER {
            return Err(FatError::Unknown { what: "the header's size", at: 6, value: own.into() });
        }
        Ok(fields.u64(8).saturating_add(own.into()))
    }

    /// Parses a fat binary; what follows its declared size is not looked at.
    ///
    /// # Errors
    /// When it is none, or is cut off.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, FatError> {
        let length = Self::length(bytes)?;
        let Some(whole) = usize::try_from(length).ok().and_then(|length| bytes.get(..length)) else {
            let present = bytes.len() as u64;
            return Err(FatError::Truncated { what: "the fat binary", at: 0, needed: length, present });
        };
        let mut at = usize::from(u16::from_le_bytes([whole[6], whole[7]]));
        let mut entries = Vec::new();
        while at < whole.len() {
            let (entry, next) = FatBinaryEntry::parse(whole, at)?;
            entries.push(entry);
            at = next;
        }
        Ok(FatBinary { entries })
    }
}

impl<'a> FatBinaryEntry<'a> {
    /// The entry at an offset, and the offset of what follows.
    fn parse(whole: &'a [u8], at: usize) -> Result<(Self, usize), FatError> {
        let fields = Fields { bytes: &whole[at..], at, what: "an entry's header" };
        fields.need(ENTRY_HEADER)?;
        let header = fields.u32(4) as usize;
        if header < ENTRY_HEADER {
            let value = header as u64;
            return Err(FatError::Unknown { what: "an entry's header size", at: at + 4, value });
        }
        fields.need(header)?;
        let size = fields.u64(8);
        let rest = &fields.bytes[header..];
        let Some(padded) = usize::try_from(size).ok().and_then(|size| rest.get(..size)) else {
            let present = rest.len() as u64;
            return Err(FatError::Truncated {
                what: "an entry's payload",
                at: at + header,
                needed: size,
                present,
            });
        };
        let packed_size = fields.u32(16);
        let flags = fields.u64(40);
        let compression = match (flags & LZ4 != 0, flags & ZSTD != 0) {
            (false, false) => Compression::None,
            (true, false) => Compression::Lz4,
            (false, true) => Compression::Zstd,
            (true, true) => {
                return Err(FatError::Unknown { what: "an entry's compression", at: at + 40, value: flags });
            }
        };
        let (payload, unpacked_size) = match compression {
            Compression::None => (padded, size),
            _ => {
                let Some(payload) = padded.get(..packed_size as usize) else {
                    return Err(FatError::Truncated {
                        what: "an entry's compressed payload",
                        at: at + header,
                        needed: packed_size.into(),
                        present: size,
                    });
                };
                (payload, fields.u64(56))
            }
        };
        let kind = match fields.u16(0) {
            1 => EntryKind::Ptx,
            2 => EntryKind::Elf,
            8 => EntryKind::LinkTimeIr,
            other => EntryKind::Other(other),
        };
        // Only intermediate code carries the flag; PTX that does is not text.
        let kind =
            if kind == EntryKind::Ptx && flags & ENCRYPTED_OR_IR != 0 { EntryKind::LinkTimeIr } else { kind };
        let suffix = match (flags & SPECIFIC != 0, flags & FAMILY != 0) {
            (true, _) => Some('a'),
            (_, true) => Some('f'),
            _ => None,
        };
        let architecture = Architecture { number: fields.u32(28), suffix };
        let next = at + header + padded.len();
        Ok((FatBinaryEntry { at, kind, architecture, compression, unpacked_size, payload }, next))
    }
}

/// Numbers of a header; `need` comes first.
struct Fields<'a> {
    bytes: &'a [u8],
    at: usize,
    what: &'static str,
}

impl Fields<'_> {
    fn need(&self, bytes: usize) -> Result<(), FatError> {
        let (needed, present) = (bytes as u64, self.bytes.len() as u64);
        if present >= needed {
            return Ok(());
        }
        Err(FatError::Truncated { what: self.what, at: self.at, needed, present })
    }

    fn field<const N: usize>(&self, offset: usize) -> [u8; N] {
        let mut field = [0; N];
        field.copy_from_slice(&self.bytes[offset..offset + N]);
        field
    }

    fn u16(&self, offset: usize) -> u16 {
        u16::from_le_bytes(self.field(offset))
    }

    fn u32(&self, offset: usize) -> u32 {
        u32::from_le_bytes(self.field(offset))
    }

    fn u64(&self, offset: usize) -> u64 {
        u64::from_le_bytes(self.field(offset))
    }
}
