//! Events: when each was recorded last, and reached.

use std::ffi::c_uint;
use std::time::Duration;

use bugaroo_cuda_abi::CUcontext;

use crate::device::objects::capture::Mark;
use crate::lane::Ticket;

/// An event.
#[derive(Clone, Debug)]
pub struct Event {
    /// Whose it is.
    pub context: CUcontext,
    pub(crate) flags: c_uint,
    /// When it was last recorded, in the order of work.
    pub(crate) ticket: Option<Ticket>,
    /// Device time when that was reached.
    pub(crate) reached: Option<Duration>,
    /// It was last recorded in a capture.
    pub captured: Option<Mark>,
}

impl Event {
    /// When it was last recorded, in the order of work.
    pub fn ticket(&self) -> Option<Ticket> {
        self.ticket
    }
}
