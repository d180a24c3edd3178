//! Events (CUDA Driver API, "Event Management"): places in the order of work, with the device's time
//! ([`crate::clock`]) when they are reached. Sharing them with other processes is not supported.

use std::ffi::c_uint;
use std::time::Duration;

use bugaroo_cuda_abi::{CUcontext, CUevent, CUstream};

use crate::capture::Mark;
use crate::entry::{not_null, with_context, with_driver, write};
use crate::error::{Outcome, Status};
use crate::pump;
use crate::queue::Ticket;
use crate::state::Driver;
use crate::stream::{Stream, ask};
use crate::submit::twin;
use crate::submit::{Submitted, on_stream};
use crate::work::Work;

/// `CU_EVENT_DISABLE_TIMING`
const DISABLE_TIMING: c_uint = 2;
/// `CU_EVENT_INTERPROCESS`
const INTERPROCESS: c_uint = 4;
/// Every flag there is.
const FLAGS_MASK: c_uint = 7;
/// The ticket of a record that was dropped after a fault: it is not pending.
const DROPPED: Ticket = 0;

/// An event.
#[derive(Clone, Debug)]
pub struct Event {
    /// Whose it is.
    pub context: CUcontext,
    flags: c_uint,
    /// When it was last recorded, in the order of work.
    ticket: Option<Ticket>,
    /// Device time when that was reached.
    reached: Option<Duration>,
    /// It was last recorded in a capture.
    pub captured: Option<Mark>,
}

impl Event {
    /// When it was last recorded, in the order of work.
    pub fn ticket(&self) -> Option<Ticket> {
        self.ticket
    }
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
        let event =
            driver.events.insert(Event { context, flags, ticket: None, reached: None, captured: None });
        // SAFETY: the caller's promise.
        unsafe { write(place, event) }
    })
}

/// Destroys an event; what waits for it goes on waiting.
pub extern "C" fn cuEventDestroy_v2(event: CUevent) -> Status {
    with_driver("cuEventDestroy_v2", |driver| driver.events.remove(event).map(|_| ()))
}

/// Records an event that is reached when all of `before` is done.
///
/// # Errors
/// `InvalidHandle` when there is no such event.
pub fn record(driver: &mut Driver, context: CUcontext, event: CUevent, before: &[Ticket]) -> Outcome {
    driver.events.get(event)?;
    let ticket = driver.queue.insert(context, Work::Record(event), before);
    driver.queued();
    driver.recorded(event, ticket)
}

impl Driver {
    /// An event was recorded anew.
    ///
    /// # Errors
    /// `InvalidHandle` when there is no such event.
    pub fn recorded(&mut self, event: CUevent, ticket: Ticket) -> Outcome {
        let event = self.events.get_mut(event)?;
        (event.ticket, event.reached, event.captured) = (Some(ticket), None, None);
        Ok(())
    }

    /// An event is reached, as far as it was not recorded anew or destroyed since.
    pub fn reach(&mut self, event: CUevent, ticket: Ticket) {
        self.clock.recorded();
        let now = self.clock.now();
        if let Ok(event) = self.events.get_mut(event)
            && event.ticket == Some(ticket)
        {
            event.reached = Some(now);
        }
    }
}

fn record_in(name: &str, event: CUevent, stream: CUstream, external: bool) -> Status {
    let mut submitted: Option<Submitted> = None;
    let status = on_stream(name, stream, |driver: &mut Driver, stream: Stream| {
        driver.events.get(event)?;
        if driver.capture_record(&stream, event, external)? {
            return Ok(());
        }
        submitted = driver.submit(&stream, Work::Record(event))?;
        driver.recorded(event, submitted.map_or(DROPPED, |submitted| submitted.ticket))
    });
    match submitted {
        Some(submitted) if status == Status::Success => submitted.settle(name),
        _ => status,
    }
}

twin! { cuEventRecord_ptsz =
    /// Records an event in a stream.
    pub extern "C" fn cuEventRecord(event: CUevent, stream: CUstream) -> Status {
        record_in("cuEventRecord", event, stream, false)
    }
}

twin! { cuEventRecordWithFlags_ptsz =
    /// Records an event in a stream; the flag is for captures only.
    pub extern "C" fn cuEventRecordWithFlags(event: CUevent, stream: CUstream, flags: c_uint) -> Status {
        let name = "cuEventRecordWithFlags";
        match flags {
            0 | 1 => record_in(name, event, stream, flags == 1),
            _ => on_stream(name, stream, |_, _| Err(Status::InvalidValue)),
        }
    }
}

/// Lets work go on until an event is reached.
///
/// # Errors
/// Of the way there, not of the work.
pub fn finish(name: &str, event: CUevent) -> Status {
    let mut ticket = None;
    let status = with_driver(name, |driver| {
        ticket = driver.events.get(event)?.ticket;
        Ok(())
    });
    match ticket {
        Some(ticket) if status == Status::Success => {
            let status = pump::finish(name, &[ticket]);
            pump::waited(name, status, |_| vec![ticket]);
            status
        }
        _ => status,
    }
}

/// Reports the fault of an event's context, if the event was recorded at all.
fn surface(name: &str, event: CUevent) -> Status {
    with_context(name, |driver, _| {
        let event = driver.events.get(event)?.clone();
        if event.ticket.is_some() { driver.surface(event.context) } else { Ok(()) }
    })
}

/// Whether an event is reached, as it was recorded last. Asking lets work go on; who asks again and again gets a
/// yes in the end.
pub extern "C" fn cuEventQuery(event: CUevent) -> Status {
    let name = "cuEventQuery";
    let mut ticket = None;
    let status = with_context(name, |driver, _| {
        ticket = driver.events.get(event)?.ticket;
        driver.check_uncaptured(event)
    });
    if status != Status::Success {
        return status;
    }
    match ask(name, ticket.as_slice()) {
        Status::Success => surface(name, event),
        status => status,
    }
}

/// Waits for an event, and reports what went wrong before it.
pub extern "C" fn cuEventSynchronize(event: CUevent) -> Status {
    let name = "cuEventSynchronize";
    let status = with_context(name, |driver, _| {
        driver.events.get(event)?;
        driver.check_uncaptured(event)
    });
    if status != Status::Success {
        return status;
    }
    match finish(name, event) {
        Status::Success => surface(name, event),
        status => status,
    }
}

/// Milliseconds of device time between two events.
///
/// `CUDA_ERROR_INVALID_HANDLE` when one was not recorded or takes no times, `CUDA_ERROR_NOT_READY` when one is not
/// reached yet.
///
/// # Safety
/// `place` is null or points to a place for the number.
pub unsafe extern "C" fn cuEventElapsedTime_v2(place: *mut f32, start: CUevent, end: CUevent) -> Status {
    with_context("cuEventElapsedTime_v2", |driver, _| {
        not_null(place)?;
        let time = |event| {
            driver.check_uncaptured(event)?;
            let event = driver.events.get(event)?;
            if event.flags & DISABLE_TIMING != 0 || event.ticket.is_none() {
                return Err(Status::InvalidHandle);
            }
            if event.ticket.is_some_and(|ticket| driver.queue.is_pending(ticket)) {
                return Err(Status::NotReady);
            }
            Ok((event.context, event.reached))
        };
        let reached: Vec<Ticket> =
            [start, end].iter().filter_map(|event| driver.events.get(*event).ok()?.ticket).collect();
        let ((_, start), (context, end)) = (time(start)?, time(end)?);
        driver.surface(context)?;
        driver.queue.tell(|order| order.waited(&reached));
        // Without a fault only a record that was dropped has no time.
        let (Some(start), Some(end)) = (start, end) else { return Err(Status::InvalidHandle) };
        let milliseconds = (end.as_secs_f64() - start.as_secs_f64()) * 1000.0;
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
