//! What this library says to the harness, and the user: that something cannot be done.

use std::ffi::{CStr, c_char};
use std::fs::File;
use std::io::Write;
use std::mem::ManuallyDrop;
use std::os::fd::{FromRawFd, RawFd};

use bugaroo_protocol::{Message, ORDERS_VARIABLE, Orders};

/// Says on stderr, and to the harness when there is one, what cannot be done.
pub fn unsupported(what: &str) {
    eprintln!("bugaroo: {what}");
    let Some(orders) = std::env::var(ORDERS_VARIABLE).ok().and_then(|text| Orders::from_json(&text).ok())
    else {
        return;
    };
    if !is_pipe(orders.report_fd) {
        return;
    }
    let Ok(mut line) = serde_json::to_vec(&Message::Unsupported { what: what.to_owned() }) else { return };
    line.push(b'\n');
    // SAFETY: the orders say that this descriptor is the report's; it is not closed here.
    let mut pipe = ManuallyDrop::new(unsafe { File::from_raw_fd(orders.report_fd) });
    // One write of less than PIPE_BUF bytes is never torn. Nobody is left to be told that it failed.
    let _ = pipe.write(&line);
}

/// Whether a descriptor is a pipe's: a program may close those that it does not know, and open files of its own
/// under their numbers.
fn is_pipe(descriptor: RawFd) -> bool {
    // SAFETY: plain data, which `fstat` fills in when it answers 0.
    unsafe {
        let mut status: libc::stat = std::mem::zeroed();
        libc::fstat(descriptor, &raw mut status) == 0 && status.st_mode & libc::S_IFMT == libc::S_IFIFO
    }
}

/// The same for the preloaded library.
///
/// # Safety
/// `what` is a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bugaroo_cudart_unsupported(what: *const c_char) {
    // SAFETY: the caller's promise.
    let what = unsafe { CStr::from_ptr(what) };
    // A panic can only be one of a write to stderr that fails; there is nothing to say it to.
    let _ = std::panic::catch_unwind(|| unsupported(&what.to_string_lossy()));
}
