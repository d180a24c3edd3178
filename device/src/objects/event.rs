//! Events: when each was recorded last, and reached.

use std::ffi::c_uint;
use std::rc::Rc;
use std::time::Duration;

use bugaroo_cuda_abi::CUcontext;

use crate::lane::Ticket;
use crate::objects::capture::Mark;
use crate::objects::interprocess::SharedEvent;

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
    /// What other processes see of it, if they may have it.
    pub shared: Option<Rc<SharedEvent>>,
    /// Records of a shared one that are not reached: when, and their numbers.
    pub numbers: Vec<(Ticket, u64)>,
}

impl EventObject {
    /// One that was not recorded yet.
    pub fn new(context: CUcontext, flags: c_uint, shared: Option<SharedEvent>) -> EventObject {
        let (shared, numbers) = (shared.map(Rc::new), Vec::new());
        EventObject { context, flags, ticket: None, reached: None, captured: None, shared, numbers }
    }

    /// When it was last recorded, in the order of work.
    pub fn ticket(&self) -> Option<Ticket> {
        self.ticket
    }
}
