//! Events: when each was recorded last, and reached.

use std::ffi::c_uint;
use std::time::Duration;

use bugaroo_cuda_abi::CUcontext;

use crate::lane::Ticket;
use crate::objects::capture::Mark;

/// An event.
#[derive(Clone, Debug)]
pub struct EventObject {
    /// Whose it is.
    pub context: CUcontext,
    /// As it was made.
    pub flags: c_uint,
    /// When it was last recorded, in the order of work.
    pub ticket: Option<Ticket>,
    /// Device time when that was reached.
    pub reached: Option<Duration>,
    /// It was last recorded in a capture.
    pub captured: Option<Mark>,
}

impl EventObject {
    /// When it was last recorded, in the order of work.
    pub fn ticket(&self) -> Option<Ticket> {
        self.ticket
    }
}
