//! Looks at libraries that are opened later, as plug-ins and Python's extensions are.
//!
//! The loader calls an empty function whenever its list of libraries has changed, for debuggers to stop at
//! (`r_brk` of `struct r_debug`, `link.h`; in glibc it is called when new libraries are in
//! memory, before their code runs). A jump written over it leads here. Where the function is not
//! the empty one that it should be, as under a debugger, it is left alone, and such libraries are missed.

use std::ffi::c_void;
use std::sync::{Mutex, PoisonError};

use crate::attend::attend;
use crate::mapped::{self, Object};
use crate::redirect::{self, ENTRY};

/// `endbr64`, which may stand before all else.
const ENDBR64: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];
/// `ret`
const RET: u8 = 0xc3;
/// Functions start at multiples of this, so that what is between them is padding.
const ALIGNMENT: usize = 16;

/// What was in memory when it was last looked at.
static SEEN: Mutex<Vec<Object>> = Mutex::new(Vec::new());

/// Has `attend` called for each library that is opened from now on.
pub fn watch(seen: Vec<Object>) {
    let Some(function) = seen.first().and_then(mapped::debugger_stop) else { return };
    *SEEN.lock().unwrap_or_else(PoisonError::into_inner) = seen;
    // SAFETY: the loader's function, and its pages.
    let Some(start) = (unsafe { empty(function as *const u8) }) else { return };
    // What cannot be written stays as it was.
    let _ = redirect::divert(function + start, changed as *const c_void);
}

/// Where in an empty function a jump can be written, if it is one.
///
/// # Safety
/// Code is at this address, to the next multiple of [`ALIGNMENT`] behind it.
unsafe fn empty(function: *const u8) -> Option<usize> {
    if function.align_offset(ALIGNMENT) != 0 {
        return None;
    }
    // SAFETY: the caller's promise.
    let code = unsafe { std::slice::from_raw_parts(function, ALIGNMENT) };
    let start = if code.starts_with(&ENDBR64) { ENDBR64.len() } else { 0 };
    let after = &code[start + 1..];
    // The bytes of the instructions that assemblers pad with: `nop`s of all lengths.
    let padding =
        after.iter().all(|byte| [0x66, 0x2e, 0x0f, 0x1f, 0x90, 0x84, 0x80, 0x44, 0x40, 0].contains(byte));
    (code[start] == RET && padding && start + ENTRY <= ALIGNMENT).then_some(start)
}

/// Called by the loader, which holds its lock: nothing is loaded here.
extern "C" fn changed() {
    // A panic must not pass through the loader.
    let _ = std::panic::catch_unwind(|| {
        let now = mapped::objects();
        // Taken, so that a library that is opened meanwhile by another thread is seen by that one.
        let Ok(mut seen) = SEEN.try_lock() else { return };
        for object in now.iter().filter(|object| !seen.contains(object)) {
            attend(object, std::ptr::null());
        }
        *seen = now;
    });
}

#[cfg(test)]
mod tests;
