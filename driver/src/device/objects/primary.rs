//! The device's primary context: one for the whole process, alive while anybody retains it.

use std::ffi::c_uint;

use bugaroo_cuda_abi::{CUcontext, CUdevice};

use crate::device::objects::context::Context;
use crate::error::{Outcome, Status};
use crate::handles::Handles;

/// The primary context's state.
#[derive(Debug)]
pub struct Primary {
    /// Its handle, alive or not.
    pub handle: CUcontext,
    /// How often it was retained more than released.
    pub(crate) retained: u32,
    /// Flags that it has, or will have when it comes to life.
    pub(crate) flags: c_uint,
}

impl Primary {
    /// Not alive; takes its place among the contexts.
    pub fn new(contexts: &mut Handles<Context>) -> Self {
        Primary { handle: contexts.insert(Context::default()), retained: 0, flags: 0 }
    }

    /// Whether it is alive.
    pub fn active(&self) -> bool {
        self.retained > 0
    }
}

/// Refuses every device but the one there is.
pub fn check_device(device: CUdevice) -> Outcome {
    if device == 0 { Ok(()) } else { Err(Status::InvalidDevice) }
}
