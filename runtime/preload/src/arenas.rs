//! Python's memory, side by side.
//!
//! An interpreter takes memory for its objects in arenas of a quarter of a MiB or of one MiB, wherever the system has a gap between
//! libraries. Trials that are forked write to nearly all of that at their end. They do so much sooner where it lies in whole huge
//! pages (`device/src/trial/fork_server/pages.rs`). So an interpreter that the process starts with is given an allocator of arenas
//! (`PyObject_SetArenaAllocator`, Python/C API, "Customize pymalloc Arena Allocator") that asks the system for the place next to
//! the last one. The system may still give another place, and all else is as Python's own has it.
//!
//! What it leaves alone: an interpreter that a program loads later, and one that has other allocators.

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};

use object::read::elf::ElfFile64;
use object::{Endianness, Object as _, ObjectSection as _};

use crate::mapped::{File, Object};
use crate::scan::contains;

/// The function that takes an allocator.
const SETS: &str = "PyObject_SetArenaAllocator";

/// How far below what the system has given so far: nobody asks for that place.
const BELOW: usize = 64 << 30;
/// Bytes of a huge page.
const HUGE_PAGE: usize = 2 << 20;

/// Where the next arena is to lie; 0 before the first.
static NEXT: AtomicUsize = AtomicUsize::new(0);

/// `PyObjectArenaAllocator`.
#[repr(C)]
struct Allocator {
    context: *mut c_void,
    takes: unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void,
    gives_back: unsafe extern "C" fn(*mut c_void, *mut c_void, usize),
}

type Sets = unsafe extern "C" fn(*mut Allocator);

/// Gives a Python interpreter its allocator, before any of its code has run. Does nothing to other objects.
pub fn attend(object: &Object) {
    let Some(file) = File::map(object.path()) else { return };
    let Ok(elf) = ElfFile64::<Endianness>::parse(file.bytes()) else { return };
    if !names(&elf) {
        return;
    }
    let exported = object.exported(&elf, SETS);
    let Some(sets) = exported.filter(|sets| object.code(&(*sets..sets + 1)).is_some()) else { return };
    let mut allocator = Allocator { context: null_mut(), takes, gives_back };
    // SAFETY: the function of this name is of this type in all versions of Python 3, copies what it is handed, and may be
    // called before the interpreter is initialised.
    unsafe { std::mem::transmute::<usize, Sets>(sets)(&raw mut allocator) };
}

/// Whether the function is among the names that a file exports: told sooner than by reading each symbol.
fn names(elf: &ElfFile64<'_, Endianness>) -> bool {
    let strings = elf.section_by_name(".dynstr").and_then(|section| section.data().ok());
    strings.is_some_and(|strings| contains(strings, SETS.as_bytes()))
}

/// # Safety
/// None of the caller's.
unsafe extern "C" fn takes(_context: *mut c_void, bytes: usize) -> *mut c_void {
    if NEXT.load(Ordering::Relaxed) == 0 {
        // Any mapping says where the system puts them.
        let probe = map(0, HUGE_PAGE);
        if !probe.is_null() {
            // SAFETY: it was mapped just now.
            unsafe { libc::munmap(probe, HUGE_PAGE) };
            let first = (probe as usize).saturating_sub(BELOW) / HUGE_PAGE * HUGE_PAGE;
            let _ = NEXT.compare_exchange(0, first, Ordering::Relaxed, Ordering::Relaxed);
        }
    }
    // The interpreter's own lock is held; and if two were to wish for one place, one of them would get another.
    let place = NEXT.load(Ordering::Relaxed);
    let arena = map(place, bytes);
    if !arena.is_null() {
        NEXT.store(place.wrapping_add(bytes), Ordering::Relaxed);
    }
    arena
}

/// Memory, at this place if it is free. Null: there is none.
fn map(place: usize, bytes: usize) -> *mut c_void {
    let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a mapping of its own; the place is a wish.
    let mapped = unsafe { libc::mmap(place as *mut c_void, bytes, protection, flags, -1, 0) };
    if mapped == libc::MAP_FAILED { null_mut() } else { mapped }
}

/// # Safety
/// It was taken by the function above, or by Python's own.
unsafe extern "C" fn gives_back(_context: *mut c_void, arena: *mut c_void, bytes: usize) {
    // SAFETY: the caller's promise: both map it.
    unsafe { libc::munmap(arena, bytes) };
}

#[cfg(test)]
mod tests;
