//! What processes of one program share: memory and events (CUDA Driver API, `cuIpcGetMemHandle`, `cuIpcGetEventHandle`).
//!
//! A handle names a file without a name of the process that made it, by that process's number and descriptor. Memory is in one such file
//! for each process ([`bugaroo_simulator::Memory::export`]); each event has one of its own ([`SharedEvent`]).
//!
//! **Turns.** Each process has a virtual GPU of its own, and these must not be in one memory at a time: an atomic operation is no atomic
//! operation of the host's. So a process with shared memory does a step of device work only while it holds locks on the files of all of it
//! ([`Shares::turn`]), taken in one order, and nobody has two turns while another one waits. The kernel gives the locks of a process up
//! that dies. Who comes when is left to the clock, as it is with host threads of the program's own.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use bugaroo_cuda_abi::{CU_IPC_HANDLE_SIZE, CUdeviceptr, CUipcHandle};
use rustix::fs::{MemfdFlags, Mode, OFlags, fstat, ftruncate, memfd_create, open};

use crate::error::{CallResult, Status};

/// What ours begin with.
const MAGIC: [u8; 8] = *b"bugaroo\x01";

/// This process shares something with others of the program.
static SHARES: AtomicBool = AtomicBool::new(false);

/// Whether this process shares memory or events with others, who may thus do what its device work waits for.
pub fn shares() -> bool {
    SHARES.load(Ordering::Relaxed)
}

/// What a handle says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedHandle {
    /// Process that made it.
    pub process: u32,
    /// Its descriptor of the file.
    descriptor: u32,
    /// The file's, against a descriptor that is another file's by now.
    inode: u64,
    /// Where in the file it begins, and of how many bytes it is; 0 and 0 for an event.
    pub part: (u64, u64),
}

impl SharedHandle {
    /// Of a part of a file of this process.
    ///
    /// # Errors
    /// `Unknown` when the system cannot tell which file it is.
    pub fn of(file: BorrowedFd<'_>, part: (u64, u64)) -> CallResult<SharedHandle> {
        use std::os::fd::AsRawFd as _;
        let inode = fstat(file).map_err(|_| Status::Unknown)?.st_ino;
        let descriptor = file.as_raw_fd().cast_unsigned();
        Ok(SharedHandle { process: std::process::id(), descriptor, inode, part })
    }

    /// As the program hands it on.
    pub fn to_abi(&self) -> CUipcHandle {
        let words = [
            u64::from(self.process) << 32 | u64::from(self.descriptor),
            self.inode,
            self.part.0,
            self.part.1,
        ];
        let mut bytes = [0; CU_IPC_HANDLE_SIZE];
        bytes[..8].copy_from_slice(&MAGIC);
        for (place, word) in bytes[8..].chunks_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        CUipcHandle(bytes)
    }

    /// Reads it.
    ///
    /// # Errors
    /// `InvalidHandle` when it is none of ours.
    pub fn from_abi(handle: &CUipcHandle) -> CallResult<SharedHandle> {
        let (words, _) = handle.0.as_chunks::<8>();
        if words[0] != MAGIC {
            return Err(Status::InvalidHandle);
        }
        let word = |at: usize| u64::from_le_bytes(words[at]);
        Ok(SharedHandle {
            process: (word(1) >> 32) as u32,
            descriptor: word(1) as u32,
            inode: word(2),
            part: (word(3), word(4)),
        })
    }

    /// The file.
    ///
    /// # Errors
    /// `InvalidHandle` when its process has ended, or the file is another one, or smaller.
    pub fn open(&self) -> CallResult<OwnedFd> {
        let path = format!("/proc/{}/fd/{}", self.process, self.descriptor);
        let file =
            open(path, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()).map_err(|_| Status::InvalidHandle)?;
        let status = fstat(&file).map_err(|_| Status::InvalidHandle)?;
        let end = self.part.0.checked_add(self.part.1);
        let inside = end.is_some_and(|end| end <= status.st_size.cast_unsigned());
        if status.st_ino == self.inode && inside { Ok(file) } else { Err(Status::InvalidHandle) }
    }
}

/// Memory of other processes that is open here, and the files of all memory that is shared.
#[derive(Debug, Default)]
pub struct Shares {
    /// By its address here.
    imported: BTreeMap<CUdeviceptr, Import>,
    /// By inode: locks are taken in this order.
    files: BTreeMap<u64, Rc<OwnedFd>>,
}

#[derive(Debug)]
struct Import {
    handle: SharedHandle,
    /// How often it was opened.
    opened: u32,
}

impl Shares {
    /// Memory of this process is shared from now on.
    ///
    /// # Errors
    /// `Unknown` when the system has no descriptor left.
    pub fn exported(&mut self, file: BorrowedFd<'_>, handle: &SharedHandle) -> CallResult {
        if let Entry::Vacant(place) = self.files.entry(handle.inode) {
            let file = file.try_clone_to_owned().map_err(|_| Status::Unknown)?;
            place.insert(Rc::new(file));
        }
        SHARES.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// The address of memory that is open already, once more.
    pub fn again(&mut self, handle: &SharedHandle) -> Option<CUdeviceptr> {
        let (address, import) = self.imported.iter_mut().find(|(_, import)| import.handle == *handle)?;
        import.opened += 1;
        Some(*address)
    }

    /// The file of a handle, which stays open.
    ///
    /// # Errors
    /// As [`SharedHandle::open`].
    pub fn file(&mut self, handle: &SharedHandle) -> CallResult<Rc<OwnedFd>> {
        // Opened also where the file is: whether its process still has it is asked each time.
        let file = handle.open()?;
        Ok(Rc::clone(self.files.entry(handle.inode).or_insert_with(|| Rc::new(file))))
    }

    /// Memory is open here.
    pub fn imported(&mut self, address: CUdeviceptr, handle: SharedHandle) {
        self.imported.insert(address, Import { handle, opened: 1 });
        SHARES.store(true, Ordering::Relaxed);
    }

    /// Memory is closed; whether for good.
    ///
    /// # Errors
    /// `InvalidValue` when none is open at this address.
    pub fn close(&mut self, address: CUdeviceptr) -> CallResult<bool> {
        let import = self.imported.get_mut(&address).ok_or(Status::InvalidValue)?;
        import.opened -= 1;
        let last = import.opened == 0;
        if last {
            self.imported.remove(&address);
        }
        Ok(last)
    }

    /// Waits until no other process is in the memory that is shared, and keeps them out for as long as the answer lives.
    pub fn turn(&self) -> MemoryTurn {
        let files: Vec<_> = self.files.values().cloned().collect();
        for file in &files {
            // Who waits for its turn holds the door, and who had one has to come through that again: nobody goes twice.
            lock(file, DOOR, libc::F_WRLCK);
            lock(file, ROOM, libc::F_WRLCK);
            lock(file, DOOR, libc::F_UNLCK);
        }
        MemoryTurn(files)
    }
}

/// Bytes of a file whose locks are meant: of the one who is in the memory, and of the one who comes next.
const ROOM: libc::off_t = 0;
/// As [`ROOM`].
const DOOR: libc::off_t = 1;

/// Locks a byte of a file, or unlocks it. The lock is the open file's and not the process's, and the kernel takes it away with that.
fn lock(file: &OwnedFd, byte: libc::off_t, kind: libc::c_int) {
    use std::os::fd::AsRawFd as _;
    // SAFETY: plain data, of which zero is a value.
    let mut asked: libc::flock = unsafe { std::mem::zeroed() };
    (asked.l_type, asked.l_whence) = (kind as libc::c_short, libc::SEEK_SET as libc::c_short);
    (asked.l_start, asked.l_len) = (byte, 1);
    // A system that has the files has such locks, so that only a signal interrupts.
    // SAFETY: the descriptor is open, and the kernel reads the structure.
    while unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLKW, &raw const asked) } != 0
        && std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted
    {}
}

/// A process's turn.
pub struct MemoryTurn(Vec<Rc<OwnedFd>>);

impl Drop for MemoryTurn {
    fn drop(&mut self) {
        self.0.iter().for_each(|file| lock(file, ROOM, libc::F_UNLCK));
    }
}

/// An event that several processes have: how often it was recorded, and the last of these records that is reached.
///
/// It is reached when the last record is; records that are reached out of order count as the later one.
#[derive(Debug)]
pub struct SharedEvent {
    /// Keeps the file.
    file: OwnedFd,
    cell: NonNull<Cell>,
}

#[repr(C)]
#[derive(Debug)]
struct Cell {
    recorded: AtomicU64,
    reached: AtomicU64,
}

impl SharedEvent {
    /// A new one.
    ///
    /// # Errors
    /// `OutOfMemory` when the system has no file for it.
    pub fn new() -> CallResult<SharedEvent> {
        let file = memfd_create("bugaroo-event", MemfdFlags::CLOEXEC).map_err(|_| Status::OutOfMemory)?;
        ftruncate(&file, size_of::<Cell>() as u64).map_err(|_| Status::OutOfMemory)?;
        SharedEvent::at(file)
    }

    /// One of another process.
    ///
    /// # Errors
    /// As [`SharedHandle::open`].
    pub fn open(handle: &SharedHandle) -> CallResult<SharedEvent> {
        let file = handle.open()?;
        let bytes = fstat(&file).map_err(|_| Status::InvalidHandle)?.st_size;
        if bytes != size_of::<Cell>() as i64 {
            return Err(Status::InvalidHandle);
        }
        SharedEvent::at(file)
    }

    fn at(file: OwnedFd) -> CallResult<SharedEvent> {
        use std::os::fd::AsRawFd as _;
        // SAFETY: a mapping of its own, of a file that is as large.
        let mapped = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                size_of::<Cell>(),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                0,
            )
        };
        let cell = (mapped != libc::MAP_FAILED).then(|| NonNull::new(mapped.cast::<Cell>())).flatten();
        SHARES.store(true, Ordering::Relaxed);
        Ok(SharedEvent { file, cell: cell.ok_or(Status::OutOfMemory)? })
    }

    /// What names it to others.
    ///
    /// # Errors
    /// As [`SharedHandle::of`].
    pub fn handle(&self) -> CallResult<SharedHandle> {
        SharedHandle::of(self.file.as_fd(), (0, 0))
    }

    fn cell(&self) -> &Cell {
        // SAFETY: the mapping lives as long as this, and holds nothing but atomics.
        unsafe { self.cell.as_ref() }
    }

    /// It is recorded; the number of that record.
    pub fn record(&self) -> u64 {
        self.cell().recorded.fetch_add(1, Ordering::AcqRel) + 1
    }

    /// The number of the last record; 0 where there is none.
    pub fn recorded(&self) -> u64 {
        self.cell().recorded.load(Ordering::Acquire)
    }

    /// A record is reached.
    pub fn reach(&self, number: u64) {
        self.cell().reached.fetch_max(number, Ordering::AcqRel);
    }

    /// Whether a record is reached.
    pub fn is_reached(&self, number: u64) -> bool {
        self.cell().reached.load(Ordering::Acquire) >= number
    }
}

impl Drop for SharedEvent {
    fn drop(&mut self) {
        // SAFETY: the mapping is this one's.
        unsafe { libc::munmap(self.cell.as_ptr().cast(), size_of::<Cell>()) };
    }
}
