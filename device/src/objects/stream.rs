//! Streams: whose they are, and which of them wait for the default stream.

use std::ffi::{c_int, c_uint};

use bugaroo_cuda_abi::CUcontext;

use crate::lane::Lane;

/// Priority of a stream that asks for none.
pub const LEAST_PRIORITY: c_int = 0;
/// The most urgent priority.
pub const GREATEST_PRIORITY: c_int = -5;
/// `CU_STREAM_NON_BLOCKING`, the only flag there is.
pub const NON_BLOCKING: c_uint = 1;

/// A stream.
#[derive(Clone, Copy, Debug)]
pub struct Stream {
    /// Whose it is.
    pub context: CUcontext,
    /// Which it is.
    pub lane: Lane,
    /// As it was made.
    pub flags: c_uint,
    /// As it was made; changes nothing.
    pub priority: c_int,
}

impl Stream {
    /// The legacy default stream of a context.
    pub fn legacy(context: CUcontext) -> Self {
        Stream { context, lane: Lane::Legacy(context as usize), flags: 0, priority: LEAST_PRIORITY }
    }

    /// A thread's default stream in a context.
    pub fn per_thread(context: CUcontext, thread: u64) -> Self {
        let lane = Lane::PerThread(context as usize, thread);
        Stream { context, lane, flags: 0, priority: LEAST_PRIORITY }
    }

    /// Whether the legacy default stream waits for it, and it for that one.
    pub fn blocking(&self) -> bool {
        self.flags & NON_BLOCKING == 0
    }
}
