//! The same memory layout in every process that we start.
//!
//! The kernel moves a program's memory about at random. Forks of one process do not differ in it, and nothing
//! of a trial should: what depends on a host address would differ from run to run. A process inherits the
//! setting from the thread that starts it; where the system forbids to change it, things stay as they are.

use std::ffi::c_ulong;

/// Asks without changing anything.
const ASK: c_ulong = 0xffff_ffff;

/// While this lives, processes that this thread starts have a fixed layout.
pub(super) struct FixedLayout {
    before: Option<c_ulong>,
}

impl FixedLayout {
    pub(super) fn new() -> Self {
        // SAFETY: the call takes and gives numbers.
        let before = c_ulong::try_from(unsafe { libc::personality(ASK) }).ok();
        if let Some(before) = before {
            // SAFETY: as above.
            unsafe { libc::personality(before | libc::ADDR_NO_RANDOMIZE as c_ulong) };
        }
        Self { before }
    }
}

impl Drop for FixedLayout {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            // SAFETY: as above.
            unsafe { libc::personality(before) };
        }
    }
}
