//! Events (CUDA Driver API, "Event Management"): reached as soon as they are recorded, with the
//! device's time ([`crate::clock`]).

use std::ffi::c_uint;
use std::time::Duration;

use crate::entry::{not_null, with_context, with_driver, write};
use crate::error::{Outcome, Status};
use crate::state::Driver;
use crate::stream::with_stream;
use crate::types::{CUcontext, CUevent, CUstream};

/// `CU_EVENT_DISABLE_TIMING`
const DISABLE_TIMING: c_uint = 2;
/// `CU_EVENT_INTERPROCESS`
const INTERPROCESS: c_uint = 4;
/// Every flag there is.
const FLAGS_MASK: c_uint = 7;

/// An event.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// Whose it is.
    pub context: CUcontext,
    flags: c_uint,
    /// Device time when it was last recorded.
    recorded: Option<Duration>,
}

/// Makes an event.
///
/// # Safety
/// `place` is null or points to a place for a handle.
pub unsafe extern "C" fn cuEventCreate(place: *mut CUevent, flags: c_uint) -> Status {
    with_context("cuEventCreate", |driver, context| {
        not_null(place)?;
        if flags & !FLAGS_MASK != 0 || flags & (INTERPROCESS | DISABLE_TIMING) == INTERPROCESS {
            return Err(Status::InvalidValue);
        }
        let event = driver.events.insert(Event { context, flags, recorded: None });
        // SAFETY: the caller's promise.
        unsafe { write(place, event) }
    })
}

/// Destroys an event.
pub extern "C" fn cuEventDestroy_v2(event: CUevent) -> Status {
    with_driver("cuEventDestroy_v2", |driver| driver.events.remove(event).map(|_| ()))
}

/// Records an event now.
pub fn record(driver: &mut Driver, event: CUevent) -> Outcome {
    let now = driver.clock.now();
    driver.events.get_mut(event)?.recorded = Some(now);
    Ok(())
}

/// Records an event in a stream.
pub extern "C" fn cuEventRecord(event: CUevent, stream: CUstream) -> Status {
    with_stream("cuEventRecord", stream, |driver, _| record(driver, event))
}

/// Records an event in a stream; the flags are for captures only.
pub extern "C" fn cuEventRecordWithFlags(event: CUevent, stream: CUstream, flags: c_uint) -> Status {
    with_stream("cuEventRecordWithFlags", stream, |driver, _| {
        if flags > 1 {
            return Err(Status::InvalidValue);
        }
        record(driver, event)
    })
}

/// Reports the fault of an event's context, if the event was recorded at all.
fn wait(driver: &mut Driver, event: CUevent) -> Outcome {
    let event = *driver.events.get(event)?;
    if event.recorded.is_some() { driver.surface(event.context) } else { Ok(()) }
}

/// Whether an event is reached: it is, once recorded, unless something went wrong before.
pub extern "C" fn cuEventQuery(event: CUevent) -> Status {
    with_context("cuEventQuery", |driver, _| wait(driver, event))
}

/// Waits for an event, and reports what went wrong before it.
pub extern "C" fn cuEventSynchronize(event: CUevent) -> Status {
    with_context("cuEventSynchronize", |driver, _| wait(driver, event))
}

/// Milliseconds of device time between two events.
///
/// `CUDA_ERROR_INVALID_HANDLE` when one was not recorded or takes no times.
///
/// # Safety
/// `place` is null or points to a place for the number.
pub unsafe extern "C" fn cuEventElapsedTime_v2(place: *mut f32, start: CUevent, end: CUevent) -> Status {
    with_context("cuEventElapsedTime_v2", |driver, _| {
        not_null(place)?;
        let time = |event| {
            let event = driver.events.get(event)?;
            let timed = event.flags & DISABLE_TIMING == 0;
            event.recorded.filter(|_| timed).ok_or(Status::InvalidHandle)
        };
        let milliseconds = (time(end)?.as_secs_f64() - time(start)?.as_secs_f64()) * 1000.0;
        wait(driver, end)?;
        // SAFETY: the caller's promise.
        unsafe { write(place, milliseconds as f32) }
    })
}

/// Milliseconds of device time between two events.
///
/// # Safety
/// As [`cuEventElapsedTime_v2`].
pub unsafe extern "C" fn cuEventElapsedTime(place: *mut f32, start: CUevent, end: CUevent) -> Status {
    // SAFETY: the same contract.
    unsafe { cuEventElapsedTime_v2(place, start, end) }
}
