//! A fat binary of one PTX module: what a link gives, so that every function that takes an image takes
//! it, with the size in it that a pointer lacks.

use super::parse::{ENTRY_HEADER, HEADER, HEADER_MAGIC, VERSION};

/// Kind of an entry: PTX.
const PTX: u16 = 1;
/// What nvcc writes there.
const ENTRY_VERSION: u16 = 0x101;
/// 64-bit addresses, Linux.
const FLAGS: u64 = 0x11;

/// The fat binary of a text for an architecture (75 of `sm_75`).
pub fn of_ptx(text: &str, architecture: u32) -> Vec<u8> {
    // A NUL at least, as for any text that a pointer leads to.
    let padded = (text.len() + 1).next_multiple_of(8);
    let mut bytes = Vec::with_capacity(HEADER + ENTRY_HEADER + padded);
    bytes.extend(HEADER_MAGIC.to_le_bytes());
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend((HEADER as u16).to_le_bytes());
    bytes.extend(((ENTRY_HEADER + padded) as u64).to_le_bytes());
    bytes.extend(PTX.to_le_bytes());
    bytes.extend(ENTRY_VERSION.to_le_bytes());
    bytes.extend((ENTRY_HEADER as u32).to_le_bytes());
    bytes.extend((padded as u64).to_le_bytes());
    bytes.extend([0; 12]);
    bytes.extend(architecture.to_le_bytes());
    bytes.extend([0; 8]);
    bytes.extend(FLAGS.to_le_bytes());
    bytes.resize(HEADER + ENTRY_HEADER, 0);
    bytes.extend(text.as_bytes());
    bytes.resize(HEADER + ENTRY_HEADER + padded, 0);
    bytes
}
