//! Stream capture (CUDA Driver API, "Stream Management"): a capturing stream's work becomes nodes of a graph.

use std::ffi::c_uint;

use crate::entry::write;
use crate::error::{Outcome, Status};
use crate::state::Driver;
use crate::stream::Stream;
use crate::submit::on_stream;
use crate::types::{CUevent, CUgraph, CUstream};
use crate::work::Work;

/// Refuses what a capturing stream does not allow.
///
/// # Errors
/// As the capture has it.
pub fn refuse(_driver: &mut Driver, _stream: &Stream) -> Outcome {
    Ok(())
}

impl Driver {
    pub fn is_capturing(&self, _stream: &Stream) -> bool {
        false
    }
    pub fn capture(&mut self, _stream: &Stream, _work: &Work) -> Outcome<bool> {
        Ok(false)
    }
    pub fn capture_wait(&mut self, _stream: &Stream, _event: CUevent, _external: bool) -> Outcome<bool> {
        Ok(false)
    }
    pub fn capture_record(&mut self, _stream: &Stream, _event: CUevent, _external: bool) -> Outcome<bool> {
        Ok(false)
    }
    pub fn check_uncaptured(&self, _event: CUevent) -> Outcome {
        Ok(())
    }
}

/// Whether a stream is being captured: never.
///
/// # Safety
/// `place` is null or points to a place for the state.
pub unsafe extern "C" fn cuStreamIsCapturing(stream: CUstream, place: *mut c_uint) -> Status {
    // SAFETY: the caller's promise.
    on_stream("cuStreamIsCapturing", stream, |_, _| unsafe { write(place, 0) })
}

/// Ends a capture: there is none to end.
///
/// # Safety
/// `graph` is not used.
pub unsafe extern "C" fn cuStreamEndCapture(stream: CUstream, _graph: *mut CUgraph) -> Status {
    on_stream("cuStreamEndCapture", stream, |_, _| Err(Status::IllegalState))
}
