//! Fat binaries: what nvcc puts into a program, PTX and machine code for several architectures.
//!
//! There is no specification. The form was worked out from what nvcc 13.0's `fatbinary` writes (all
//! compression modes, several architectures, `-rdc=true`, debug builds, link-time optimisation) and from
//! `fatbinary_section.h` of its headers:
//!
//! - A **wrapper** ([`wrapper`]) is a structure in the program's data: magic, version, a pointer to a
//!   fat binary, and one that version 2 (the linked half of `-rdc=true`) points at a list of fat
//!   binaries that ends with null. They are the modules that nvlink linked; the PTX of all of them is one program.
//! - A **fat binary** is a header (magic, version, its own size, the size of what follows) and entries.
//! - An **entry** is a header of 64 bytes or more ([`FatBinaryEntry`] has the fields that are known) and a
//!   payload, plain or compressed with LZ4 (one block, no frame) or Zstandard (one frame).
//!
//! All numbers are little-endian. Nothing here trusts them: every offset is checked against the bytes
//! there are, and a payload unpacks to the size that it states or not at all.

mod parse;
mod select;
mod unpack;
mod wrapper;
mod write;

pub use parse::{
    Architecture, Compression, EntryKind, FatBinary, FatBinaryEntry, FatError, HEADER, HEADER_MAGIC,
};
pub use select::{Chosen, ImageChoice, choose};
pub use unpack::MOST_UNPACKED;
pub use wrapper::{ImageMemory, ThisProcess, WRAPPER_MAGIC, Wrapped, Wrapper, fat_binary_at, wrapper_at};
pub use write::of_ptx;

#[cfg(test)]
mod tests;
