//! `TOOLS_RUNTIME_CALLBACK_HOOKS`: what profilers use to be told of calls of the runtime.
//!
//! The runtime asks for two rooms of memory, and looks there for what a tool has left. Nobody leaves anything: they stay zeros.

use std::ffi::c_void;
use std::sync::atomic::AtomicU64;

use crate::api::export::table::{Word, words};

/// The table.
pub static TABLE: [Word; 7] = words! { 1: (size 7) 1 first_room 3 4 5 second_room };

/// Sizes that the real driver tells of its rooms. What unit they count is not known; here it is the largest that it can be.
const FIRST: usize = 1024;
/// See [`FIRST`].
const SECOND: usize = 14;

static FIRST_ROOM: [AtomicU64; FIRST] = [const { AtomicU64::new(0) }; FIRST];
static SECOND_ROOM: [AtomicU64; SECOND] = [const { AtomicU64::new(0) }; SECOND];

/// Tells where a room is.
///
/// # Safety
/// Each is null or points to a place for its result.
unsafe fn tell(room: &'static [AtomicU64], place: *mut *const c_void, size: *mut usize) {
    // SAFETY: the caller's promise, for both.
    unsafe {
        bugaroo_device::places::write_if_wanted(place, room.as_ptr().cast());
        bugaroo_device::places::write_if_wanted(size, room.len());
    }
}

/// Slot 2: the first room.
///
/// # Safety
/// As [`tell`].
unsafe extern "C" fn first_room(place: *mut *const c_void, size: *mut usize) {
    // SAFETY: the caller's promise.
    unsafe { tell(&FIRST_ROOM, place, size) }
}

/// Slot 6: the second one.
///
/// # Safety
/// As [`tell`].
unsafe extern "C" fn second_room(place: *mut *const c_void, size: *mut usize) {
    // SAFETY: the caller's promise.
    unsafe { tell(&SECOND_ROOM, place, size) }
}
