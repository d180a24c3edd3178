//! What code in the program under test, other than the driver, has to say: that something cannot be done.

use std::fs::File;
use std::io::Write;
use std::mem::ManuallyDrop;
use std::os::fd::FromRawFd;
use std::os::unix::fs::FileTypeExt;

use crate::{Message, Orders};

/// What the driver says on stderr where the program had closed the report's pipe before it initialised the driver, or had
/// executed a program that never had it.
pub const CLOSED_BEFORE: &str = "the pipe to Bugaroo is not open: nothing that is done here can be reported";

/// What it says there where the program closed the pipe later.
pub const CLOSED: &str =
    "the program has closed the pipe to Bugaroo: what it does from now on cannot be reported";

/// Says on stderr, and to the harness where there is one, what cannot be done. `orders` is what
/// [`crate::ORDERS_VARIABLE`] holds.
pub fn unsupported(orders: Option<&str>, what: &str) {
    eprintln!("bugaroo: {what}");
    let Some(orders) = orders.and_then(|text| Orders::from_json(text).ok()) else { return };
    if orders.report_fd < 0 {
        return;
    }
    // SAFETY: the descriptor is the report's, is only used while it is open, and is not closed here.
    let mut pipe = ManuallyDrop::new(unsafe { File::from_raw_fd(orders.report_fd) });
    // A program may close descriptors that it does not know, and open files of its own under their numbers.
    if !pipe.metadata().is_ok_and(|found| found.file_type().is_fifo()) {
        return;
    }
    let Ok(mut line) = serde_json::to_vec(&Message::Unsupported { what: what.to_owned() }) else { return };
    line.push(b'\n');
    // One write of less than a page is never torn. Nobody is left to be told that it failed.
    let _ = pipe.write(&line);
}
