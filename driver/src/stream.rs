//! Streams (CUDA Driver API, "Stream Management").
//!
//! Work runs when it is submitted, in the order in which the program's threads submit it: one of the
//! orders that streams allow. So every stream is always idle, an event is reached once it is
//! recorded, and waiting only reports faults. Kernels of different streams never overlap: a program
//! whose kernels wait for each other across streams ends by its step budget here.

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};

use crate::entry::{not_null, with_context, with_driver, write, write_if_wanted};
use crate::error::{Outcome, Status};
use crate::state::Driver;
use crate::types::{
    CUcontext, CUdevice, CUevent, CUgraph, CUhostFn, CUstream, CUstreamCallback, STREAM_LEGACY,
    STREAM_PER_THREAD,
};

/// Priority of a stream that asks for none.
pub const LEAST_PRIORITY: c_int = 0;
/// The most urgent priority.
pub const GREATEST_PRIORITY: c_int = -5;
/// `CU_STREAM_NON_BLOCKING`, the only flag there is.
const NON_BLOCKING: c_uint = 1;

/// A stream that the program made.
#[derive(Clone, Copy, Debug)]
pub struct Stream {
    /// Whose it is.
    pub context: CUcontext,
    flags: c_uint,
    priority: c_int,
}

impl Driver {
    /// What a stream handle stands for; a default stream belongs to `context`.
    ///
    /// # Errors
    /// `InvalidHandle` when it is none.
    pub fn stream(&self, stream: CUstream, context: CUcontext) -> Outcome<Stream> {
        match stream as usize {
            0 | STREAM_LEGACY => Ok(Stream { context, flags: 0, priority: LEAST_PRIORITY }),
            STREAM_PER_THREAD => Ok(Stream { context, flags: NON_BLOCKING, priority: LEAST_PRIORITY }),
            _ => self.streams.get(stream).copied(),
        }
    }
}

/// Runs a body that needs a stream.
pub fn with_stream(
    name: &str,
    stream: CUstream,
    body: impl FnOnce(&mut Driver, Stream) -> Outcome,
) -> Status {
    with_context(name, |driver, context| {
        let stream = driver.stream(stream, context)?;
        match driver.context(stream.context)?.fault {
            Some(fault) if fault.reported => Err(fault.status),
            _ => body(driver, stream),
        }
    })
}

/// Runs a body that waits for a stream: a pending fault of its context is reported instead.
pub fn waiting_for_stream(
    name: &str,
    stream: CUstream,
    body: impl FnOnce(&mut Driver, Stream) -> Outcome,
) -> Status {
    with_stream(name, stream, |driver, stream| {
        driver.surface(stream.context)?;
        body(driver, stream)
    })
}

fn create(name: &str, place: *mut CUstream, flags: c_uint, priority: c_int) -> Status {
    with_context(name, |driver, context| {
        not_null(place)?;
        if flags & !NON_BLOCKING != 0 {
            return Err(Status::InvalidValue);
        }
        let priority = priority.clamp(GREATEST_PRIORITY, LEAST_PRIORITY);
        let stream = driver.streams.insert(Stream { context, flags, priority });
        // SAFETY: not null; the exported functions' callers vouch for the rest.
        unsafe { write(place, stream) }
    })
}

/// Makes a stream.
///
/// # Safety
/// `place` is null or points to a place for a handle.
pub unsafe extern "C" fn cuStreamCreate(place: *mut CUstream, flags: c_uint) -> Status {
    create("cuStreamCreate", place, flags, LEAST_PRIORITY)
}

/// Makes a stream of some priority, brought into range.
///
/// # Safety
/// `place` is null or points to a place for a handle.
pub unsafe extern "C" fn cuStreamCreateWithPriority(
    place: *mut CUstream,
    flags: c_uint,
    priority: c_int,
) -> Status {
    create("cuStreamCreateWithPriority", place, flags, priority)
}

/// Destroys a stream. The default streams cannot be.
pub extern "C" fn cuStreamDestroy_v2(stream: CUstream) -> Status {
    with_driver("cuStreamDestroy_v2", |driver| driver.streams.remove(stream).map(|_| ()))
}

/// Waits for a stream's work, and reports what went wrong with it.
pub extern "C" fn cuStreamSynchronize(stream: CUstream) -> Status {
    waiting_for_stream("cuStreamSynchronize", stream, |_, _| Ok(()))
}

/// Whether a stream's work is done: it is, always, unless something went wrong with it.
pub extern "C" fn cuStreamQuery(stream: CUstream) -> Status {
    waiting_for_stream("cuStreamQuery", stream, |_, _| Ok(()))
}

/// Lets a stream's later work wait for an event; it is reached already.
pub extern "C" fn cuStreamWaitEvent(stream: CUstream, event: CUevent, flags: c_uint) -> Status {
    with_stream("cuStreamWaitEvent", stream, |driver, _| {
        // CU_EVENT_WAIT_EXTERNAL is for captures only.
        if flags > 1 {
            return Err(Status::InvalidValue);
        }
        driver.events.get(event).map(|_| ())
    })
}

/// A stream's context.
///
/// # Safety
/// `place` is null or points to a place for a handle.
pub unsafe extern "C" fn cuStreamGetCtx(stream: CUstream, place: *mut CUcontext) -> Status {
    // SAFETY: the caller's promise.
    with_stream("cuStreamGetCtx", stream, |_, stream| unsafe { write(place, stream.context) })
}

/// A stream's context; there are no green contexts.
///
/// # Safety
/// Each is null (the first is refused then) or points to a place for a handle.
pub unsafe extern "C" fn cuStreamGetCtx_v2(
    stream: CUstream,
    place: *mut CUcontext,
    green: *mut CUcontext,
) -> Status {
    with_stream("cuStreamGetCtx_v2", stream, |_, stream| {
        // SAFETY: the caller's promise, for both.
        unsafe {
            write_if_wanted(green, std::ptr::null_mut());
            write(place, stream.context)
        }
    })
}

/// A stream's device.
///
/// # Safety
/// `place` is null or points to a place for it.
pub unsafe extern "C" fn cuStreamGetDevice(stream: CUstream, place: *mut CUdevice) -> Status {
    // SAFETY: the caller's promise.
    with_stream("cuStreamGetDevice", stream, |_, _| unsafe { write(place, 0) })
}

/// A stream's flags.
///
/// # Safety
/// `place` is null or points to a place for them.
pub unsafe extern "C" fn cuStreamGetFlags(stream: CUstream, place: *mut c_uint) -> Status {
    // SAFETY: the caller's promise.
    with_stream("cuStreamGetFlags", stream, |_, stream| unsafe { write(place, stream.flags) })
}

/// A stream's priority.
///
/// # Safety
/// `place` is null or points to a place for it.
pub unsafe extern "C" fn cuStreamGetPriority(stream: CUstream, place: *mut c_int) -> Status {
    // SAFETY: the caller's promise.
    with_stream("cuStreamGetPriority", stream, |_, stream| unsafe { write(place, stream.priority) })
}

/// A number that no other stream of the process has.
///
/// # Safety
/// `place` is null or points to a place for it.
pub unsafe extern "C" fn cuStreamGetId(stream: CUstream, place: *mut c_ulonglong) -> Status {
    // SAFETY: the caller's promise.
    with_stream("cuStreamGetId", stream, |_, _| unsafe { write(place, stream as c_ulonglong) })
}

/// Whether a stream is being captured: never.
///
/// # Safety
/// `place` is null or points to a place for the state.
pub unsafe extern "C" fn cuStreamIsCapturing(stream: CUstream, place: *mut c_uint) -> Status {
    // SAFETY: the caller's promise.
    with_stream("cuStreamIsCapturing", stream, |_, _| unsafe { write(place, 0) })
}

/// Ends a capture: there is none to end.
///
/// # Safety
/// `graph` is not used.
pub unsafe extern "C" fn cuStreamEndCapture(stream: CUstream, _graph: *mut CUgraph) -> Status {
    with_stream("cuStreamEndCapture", stream, |_, _| Err(Status::IllegalState))
}

/// Calls a function of the program in stream order, which is now. Dropped after a fault, as it would
/// never be reached.
///
/// # Safety
/// `function` may be called with `user_data`.
pub unsafe extern "C" fn cuLaunchHostFunc(
    stream: CUstream,
    function: CUhostFn,
    user_data: *mut c_void,
) -> Status {
    let mut reached = false;
    let status = with_stream("cuLaunchHostFunc", stream, |driver, stream| {
        function.ok_or(Status::InvalidValue)?;
        reached = !driver.is_broken(stream.context);
        Ok(())
    });
    // Outside of the lock: it is the program's own code.
    if let (true, Some(function)) = (reached, function) {
        // SAFETY: the caller's promise.
        unsafe { function(user_data) };
    }
    status
}

/// Calls a function of the program in stream order, which is now, also after a fault, of which it is told.
///
/// # Safety
/// `callback` may be called with `user_data`.
pub unsafe extern "C" fn cuStreamAddCallback(
    stream: CUstream,
    callback: CUstreamCallback,
    user_data: *mut c_void,
    flags: c_uint,
) -> Status {
    let mut told = None;
    let status = with_stream("cuStreamAddCallback", stream, |driver, stream| {
        callback.ok_or(Status::InvalidValue)?;
        if flags != 0 {
            return Err(Status::InvalidValue);
        }
        let fault = driver.context(stream.context)?.fault;
        told = Some(fault.map_or(Status::Success, |fault| fault.status));
        Ok(())
    });
    // Outside of the lock: it is the program's own code.
    if let (Some(told), Some(callback)) = (told, callback) {
        // SAFETY: the caller's promise.
        unsafe { callback(stream, told as c_uint, user_data) };
    }
    status
}

/// Ties managed memory to a stream; there is none.
pub extern "C" fn cuStreamAttachMemAsync(
    stream: CUstream,
    _address: u64,
    _length: usize,
    _flags: c_uint,
) -> Status {
    with_stream("cuStreamAttachMemAsync", stream, |_, _| Err(Status::InvalidValue))
}
