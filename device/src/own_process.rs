//! Whether this is the process that initialised the driver: asked at each call of the API, so without a call of the system.
//!
//! A page that the system wipes in children (`MADV_WIPEONFORK`, Linux 4.14) tells them from their parent. Where there is no such page,
//! process numbers do.

use std::process;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};

use rustix::process::{Signal, set_parent_process_death_signal};

/// Process that the driver belongs to; 0: none yet. A forked child finds its parent's number here.
static OWNER: AtomicU32 = AtomicU32::new(0);

/// A word that is 1 in the owner, and 0 in processes that were forked from it; null: there is none.
static WORD: AtomicPtr<AtomicU32> = AtomicPtr::new(null_mut());

/// This copy of the library is the "real driver" of another one.
static PLAIN: AtomicBool = AtomicBool::new(false);

/// Whose the driver is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// Nobody's yet.
    Nobodys,
    /// This process's.
    Ours,
    /// That of the process that this one was forked from.
    Parents,
}

/// Whether the orders in the environment are another copy's.
pub fn is_plain() -> bool {
    PLAIN.load(Ordering::Relaxed)
}

/// They are.
pub fn set_plain() {
    PLAIN.store(true, Ordering::Relaxed);
}

/// See [`Whose`].
pub fn whose() -> Whose {
    let owner = OWNER.load(Ordering::Acquire);
    // SAFETY: null, or a mapping that is never undone.
    let ours = match unsafe { WORD.load(Ordering::Acquire).as_ref() } {
        Some(word) => word.load(Ordering::Acquire) != 0,
        None => owner == process::id(),
    };
    match owner {
        0 => Whose::Nobodys,
        _ if ours => Whose::Ours,
        _ => Whose::Parents,
    }
}

/// Makes the driver this process's own.
pub fn take() {
    if WORD.load(Ordering::Acquire).is_null() {
        WORD.store(wiped_page(), Ordering::Release);
    }
    // SAFETY: null, or a mapping that is never undone.
    if let Some(word) = unsafe { WORD.load(Ordering::Acquire).as_ref() } {
        word.store(1, Ordering::Release);
    }
    OWNER.store(process::id(), Ordering::Release);
}

/// A page of zeros that children find as zeros; null where the system has none.
fn wiped_page() -> *mut AtomicU32 {
    // SAFETY: the call touches no memory.
    let bytes = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096);
    let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a fresh mapping that overlaps nothing.
    let page = unsafe { libc::mmap(null_mut(), bytes, protection, flags, -1, 0) };
    if page == libc::MAP_FAILED {
        return null_mut();
    }
    // SAFETY: the whole mapping, which is ours.
    unsafe {
        if libc::madvise(page, bytes, libc::MADV_WIPEONFORK) != 0 {
            libc::munmap(page, bytes);
            return null_mut();
        }
    }
    page.cast()
}

/// A harness that is killed cannot end its trials any more: the kernel then does, as far as the trial is
/// a child of the harness itself.
pub fn end_with_parent() {
    // Where it fails, a trial outlives a killed harness, no more.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
}
