//! Events (CUDA Driver API, "Event Management"): places in the order of work, with the device's time
//! ([`bugaroo_device::objects::clock`]) when they are reached. Other processes may have them, too ([`crate::api::interprocess`]).

use std::ffi::c_uint;

use bugaroo_cuda_abi::{CUevent, CUstream};

use crate::api::entry::{with_context, with_gpu};
use crate::api::polled;
use crate::api::settle::{WATCHED_TURNS, settle};
use crate::api::stream::ask;
use crate::api::submit::{on_stream, twin};
use crate::api::wait;
use bugaroo_device::error::Status;
use bugaroo_device::lane::Ticket;
use bugaroo_device::objects::event::EventObject;
use bugaroo_device::objects::interprocess::SharedEvent;
use bugaroo_device::objects::stream::Stream;
use bugaroo_device::objects::work::Work;
use bugaroo_device::places::{not_null, write};
use bugaroo_device::state::Gpu;
use bugaroo_device::submit::Submitted;

/// `CU_EVENT_DISABLE_TIMING`
pub const DISABLE_TIMING: c_uint = 2;
/// `CU_EVENT_INTERPROCESS`
pub const INTERPROCESS: c_uint = 4;
/// Every flag there is.
const FLAGS_MASK: c_uint = 7;
/// The ticket of a record that was dropped after a fault: it is not pending.
const DROPPED: Ticket = 0;

/// Makes an event.
///
/// # Safety
/// `place` is null or points to a place for a handle.
pub unsafe extern "C" fn cuEventCreate(place: *mut CUevent, flags: c_uint) -> Status {
    with_context("cuEventCreate", |gpu, context| {
        not_null(place)?;
        if flags & !FLAGS_MASK != 0 || flags & (INTERPROCESS | DISABLE_TIMING) == INTERPROCESS {
            return Err(Status::InvalidValue);
        }
        let is_shared = flags & INTERPROCESS != 0;
        if is_shared {
            gpu.begin_sharing()?;
        }
        let shared = is_shared.then(SharedEvent::new).transpose()?;
        let event = gpu.ordered.events.insert(EventObject::new(context, flags, shared));
        // SAFETY: the caller's promise.
        unsafe { write(place, event) }
    })
}

/// Destroys an event; what waits for it goes on waiting. One that other processes have is reached first.
pub extern "C" fn cuEventDestroy_v2(event: CUevent) -> Status {
    let mut pending = Vec::new();
    let status = with_gpu("cuEventDestroy_v2", |gpu| {
        pending.extend(gpu.ordered.events.get(event)?.numbers.iter().map(|(ticket, _)| *ticket));
        Ok(())
    });
    if status == Status::Success && !pending.is_empty() {
        // What goes wrong there is told by another call.
        let _ = wait::finish("cuEventDestroy_v2", &pending);
    }
    with_gpu("cuEventDestroy_v2", |gpu| gpu.ordered.events.remove(event).map(|_| ()))
}

fn record_in(name: &str, event: CUevent, stream: CUstream, external: bool) -> Status {
    let (mut submitted, mut shared) = (None::<Submitted>, false);
    let status = on_stream(name, stream, |gpu: &mut Gpu, stream: Stream| {
        shared = gpu.ordered.events.get(event)?.shared.is_some();
        if gpu.capture_record(&stream, event, external)? {
            return Ok(());
        }
        submitted = gpu.submit(&stream, Work::Record(event))?;
        gpu.recorded(event, submitted.map_or(DROPPED, |submitted| submitted.ticket))
    });
    match submitted {
        Some(submitted) if status == Status::Success => match settle(&submitted, name) {
            Status::Success if shared => for_others(name, submitted.ticket),
            status => status,
        },
        _ => status,
    }
}

/// Others wait for this work without a call of this process. So it goes on now, as far as it can, or in the background when the program is
/// silent: whoever should wait for it, and does not, is to meet both.
fn for_others(name: &str, ticket: Ticket) -> Status {
    let mut later = false;
    let _ = with_gpu(name, |gpu| {
        later = gpu.draw() & 1 == 0;
        Ok(())
    });
    let mut status = Status::Success;
    let mut pending = later;
    if !later {
        status = wait::at_most(name, WATCHED_TURNS, |gpu| {
            pending = gpu.running.queue.is_pending(ticket);
            !pending
        });
    }
    // Also what is done by now: the thread that looks on finds that out.
    if pending {
        polled::watch(ticket);
    }
    status
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
    let (mut ticket, mut shared) = (None, None);
    let status = with_gpu(name, |gpu| {
        let event = gpu.ordered.events.get(event)?;
        (ticket, shared) = (event.ticket, event.shared.clone());
        Ok(())
    });
    if let Some(shared) = shared {
        return finish_shared(name, &shared);
    }
    match ticket {
        Some(ticket) if status == Status::Success => {
            let status = wait::finish(name, &[ticket]);
            wait::waited(name, status, |_| vec![ticket]);
            status
        }
        _ => status,
    }
}

/// Lets work go on until an event is reached that other processes may have recorded.
fn finish_shared(name: &str, shared: &SharedEvent) -> Status {
    let number = shared.recorded();
    loop {
        // A stream that waits for another process holds nobody up.
        let status = wait::at_most(name, u64::MAX, |_| shared.is_reached(number));
        if status != Status::Success || shared.is_reached(number) {
            return status;
        }
        std::thread::sleep(wait::NAP);
    }
}

/// Reports the fault of an event's context, if the event was recorded at all.
fn surface(name: &str, event: CUevent) -> Status {
    with_context(name, |gpu, _| {
        let event = gpu.ordered.events.get(event)?.clone();
        if event.ticket.is_some() { gpu.surface(event.context) } else { Ok(()) }
    })
}

/// Whether an event is reached, as it was recorded last. Asking lets work go on; who asks again and again gets a
/// yes in the end.
pub extern "C" fn cuEventQuery(event: CUevent) -> Status {
    let name = "cuEventQuery";
    let (mut ticket, mut shared) = (None, None);
    let status = with_context(name, |gpu, _| {
        let object = gpu.ordered.events.get(event)?;
        (ticket, shared) = (object.ticket, object.shared.clone());
        gpu.check_uncaptured(event)
    });
    if status != Status::Success {
        return status;
    }
    match ask(name, ticket.as_slice()) {
        Status::Success if shared.is_some_and(|shared| !shared.is_reached(shared.recorded())) => {
            Status::NotReady
        }
        Status::Success => surface(name, event),
        status => status,
    }
}

/// Waits for an event, and reports what went wrong before it.
pub extern "C" fn cuEventSynchronize(event: CUevent) -> Status {
    let name = "cuEventSynchronize";
    let status = with_context(name, |gpu, _| {
        gpu.ordered.events.get(event)?;
        gpu.check_uncaptured(event)
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
    with_context("cuEventElapsedTime_v2", |gpu, _| {
        not_null(place)?;
        let time = |event| {
            gpu.check_uncaptured(event)?;
            let event = gpu.ordered.events.get(event)?;
            if event.flags & DISABLE_TIMING != 0 || event.ticket.is_none() {
                return Err(Status::InvalidHandle);
            }
            if event.ticket.is_some_and(|ticket| gpu.running.queue.is_pending(ticket)) {
                return Err(Status::NotReady);
            }
            Ok((event.context, event.reached))
        };
        let reached: Vec<Ticket> =
            [start, end].iter().filter_map(|event| gpu.ordered.events.get(*event).ok()?.ticket).collect();
        let ((_, start), (context, end)) = (time(start)?, time(end)?);
        gpu.surface(context)?;
        gpu.running.queue.tell(|order| order.waited(&reached));
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
