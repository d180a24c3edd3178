//! Fat binaries in the program's memory, found by a pointer that comes without a length.
//!
//! A program may hand over anything. So nothing is dereferenced: the kernel copies the bytes
//! (`process_vm_readv` on the process itself, or `/proc/self/mem` where that call is not allowed), and
//! says so where there is no memory. Sizes that a lying header declares are capped.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

use super::parse::{FatBinary, FatError, HEADER};

/// What a wrapper starts with.
pub const WRAPPER_MAGIC: u32 = 0x4662_43b1;
/// Bytes of a wrapper.
const WRAPPER: usize = 24;
/// Most bytes of a fat binary: some programs embed hundreds of megabytes.
const MOST_BYTES: u64 = 2 << 30;
/// Most fat binaries of one list.
const MOST_LINKED: usize = 65_536;
/// Bytes that are read at once, so that a lying size costs no memory before it is noticed.
const PIECE: usize = 1 << 20;

/// Memory to read from.
pub trait ImageMemory {
    /// Copies bytes from an address; false when not all of them are there.
    fn read(&self, address: u64, into: &mut [u8]) -> bool;
}

/// The memory of this very process.
#[derive(Clone, Copy, Debug)]
pub struct ThisProcess;

impl ImageMemory for ThisProcess {
    fn read(&self, address: u64, into: &mut [u8]) -> bool {
        let Ok(start) = usize::try_from(address) else { return false };
        let mut done = 0;
        while done < into.len() {
            let rest = &mut into[done..];
            let local = libc::iovec { iov_base: rest.as_mut_ptr().cast(), iov_len: rest.len() };
            let Some(from) = start.checked_add(done) else { return false };
            let remote = libc::iovec { iov_base: from as *mut libc::c_void, iov_len: rest.len() };
            // SAFETY: the kernel writes into `rest` alone, and checks the other side itself.
            let copied = unsafe { libc::process_vm_readv(libc::getpid(), &local, 1, &remote, 1, 0) };
            match usize::try_from(copied) {
                Ok(0) => return false,
                Ok(copied) => done += copied,
                // Bad memory, or a call that this container does not allow: the file knows.
                Err(_) => {
                    return File::open("/proc/self/mem").is_ok_and(|memory| {
                        memory.read_exact_at(&mut into[done..], address + done as u64).is_ok()
                    });
                }
            }
        }
        true
    }
}

/// A wrapper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wrapper {
    /// Address of its fat binary.
    pub data: u64,
    /// Address of a list of fat binaries (version 2).
    pub linked: Option<u64>,
}

/// The fat binaries of a wrapper, copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrapped {
    /// The wrapper's own.
    pub data: Vec<u8>,
    /// Those that were linked together; empty but with `-rdc=true`.
    pub linked: Vec<Vec<u8>>,
}

/// The fat binary at an address.
///
/// # Errors
/// When there is none, or not all of it.
pub fn fat_binary_at(memory: &impl ImageMemory, address: u64) -> Result<Vec<u8>, FatError> {
    let mut header = [0; HEADER];
    copy(memory, address, &mut header, "a fat binary")?;
    let length = FatBinary::length(&header)?;
    if length > MOST_BYTES {
        return Err(FatError::TooBig { what: "a fat binary", bytes: length, most: MOST_BYTES });
    }
    let mut bytes = Vec::new();
    // It is at most MOST_BYTES.
    let length = length as usize;
    while bytes.len() < length {
        let start = bytes.len();
        bytes.resize(length.min(start + PIECE), 0);
        let from = address.saturating_add(start as u64);
        copy(memory, from, &mut bytes[start..], "a fat binary")?;
    }
    Ok(bytes)
}

/// The wrapper at an address, with copies of what it points at.
///
/// # Errors
/// When there is none, or what it points at is no fat binary.
pub fn wrapper_at(memory: &impl ImageMemory, address: u64) -> Result<Wrapped, FatError> {
    let wrapper = Wrapper::read(memory, address)?;
    let mut linked = Vec::new();
    if let Some(list) = wrapper.linked {
        for index in 0.. {
            let mut pointer = [0; 8];
            copy(memory, list.saturating_add(8 * index), &mut pointer, "a list of fat binaries")?;
            let pointer = u64::from_le_bytes(pointer);
            if pointer == 0 {
                break;
            }
            if linked.len() == MOST_LINKED {
                let (bytes, most) = (8 * index, 8 * MOST_LINKED as u64);
                return Err(FatError::TooBig { what: "a list of fat binaries", bytes, most });
            }
            linked.push(fat_binary_at(memory, pointer)?);
        }
    }
    Ok(Wrapped { data: fat_binary_at(memory, wrapper.data)?, linked })
}

impl Wrapper {
    fn read(memory: &impl ImageMemory, address: u64) -> Result<Self, FatError> {
        let mut bytes = [0; WRAPPER];
        copy(memory, address, &mut bytes, "the wrapper")?;
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let pointer = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
        if word(0) != WRAPPER_MAGIC {
            return Err(FatError::Unknown { what: "the wrapper's magic", at: 0, value: word(0).into() });
        }
        let linked = match word(4) {
            // The other pointer is a file's name, if anything.
            1 => None,
            2 => Some(pointer(16)).filter(|list| *list != 0),
            version => {
                return Err(FatError::Unknown {
                    what: "the wrapper's version",
                    at: 4,
                    value: version.into(),
                });
            }
        };
        Ok(Wrapper { data: pointer(8), linked })
    }
}

fn copy(
    memory: &impl ImageMemory,
    address: u64,
    into: &mut [u8],
    what: &'static str,
) -> Result<(), FatError> {
    if memory.read(address, into) {
        return Ok(());
    }
    Err(FatError::Memory { what, address, bytes: into.len() as u64 })
}
