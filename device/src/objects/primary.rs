//! A device's primary context: one for the whole process, alive while anybody retains it.

use std::ffi::c_uint;

use bugaroo_cuda_abi::{CUcontext, CUdevice};

use crate::devices;
use crate::error::{CallResult, Status};
use crate::handles::Handles;
use crate::objects::context::Context;

/// A device's primary context.
#[derive(Debug)]
pub struct Primary {
    /// Its handle, alive or not.
    pub handle: CUcontext,
    /// How often it was retained more than released.
    pub retained: u32,
    /// Flags that it has, or will have when it comes to life.
    pub flags: c_uint,
}

impl Primary {
    /// Not alive; takes its place among the contexts.
    pub fn new(contexts: &mut Handles<Context>, device: CUdevice) -> Self {
        Primary { handle: contexts.insert(Context::new(0, device)), retained: 0, flags: 0 }
    }

    /// Whether it is alive.
    pub fn active(&self) -> bool {
        self.retained > 0
    }
}

/// Refuses every device but those that there are.
pub fn check_device(device: CUdevice) -> CallResult {
    if (0..devices::count()).contains(&device) { Ok(()) } else { Err(Status::InvalidDevice) }
}
