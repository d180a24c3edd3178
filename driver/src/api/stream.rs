//! Streams (CUDA Driver API, "Stream Management"): what the program makes, asks and waits for. How their work is
//! kept in order: [`crate::api::submit`], [`bugaroo_device::queue`]; when it is done: [`bugaroo_device::pump`].

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};

use bugaroo_cuda_abi::{CUcontext, CUdevice, CUevent, CUhostFn, CUstream, CUstreamCallback};

use crate::api::entry::{with_context, with_gpu};
use crate::api::submit::{on_stream, submit, twin};
use crate::api::wait;
use bugaroo_device::error::Status;
use bugaroo_device::lane::Lane;
use bugaroo_device::objects::stream::{GREATEST_PRIORITY, LEAST_PRIORITY, NON_BLOCKING, Stream};
use bugaroo_device::objects::work::Work;
use bugaroo_device::places::{not_null, write, write_if_wanted};

use crate::api::submit::beside_stream;
pub use crate::api::submit::{waiting_for_stream, with_stream};

/// Most attempts to find out whether work is done before the answer is that it is.
const PATIENCE: u32 = 12;

fn create(name: &str, place: *mut CUstream, flags: c_uint, priority: c_int) -> Status {
    with_context(name, |gpu, context| {
        not_null(place)?;
        if flags & !NON_BLOCKING != 0 {
            return Err(Status::InvalidValue);
        }
        let priority = priority.clamp(GREATEST_PRIORITY, LEAST_PRIORITY);
        let stream = gpu.ordered.streams.insert(Stream { context, lane: Lane::Made(0), flags, priority });
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

/// Destroys a stream; the work that it has goes on. The default streams cannot be destroyed.
pub extern "C" fn cuStreamDestroy_v2(stream: CUstream) -> Status {
    with_gpu("cuStreamDestroy_v2", |gpu| {
        gpu.forget_captured(Lane::Made(stream as usize));
        gpu.ordered.streams.remove(stream).map(|_| ())
    })
}

twin! { cuStreamSynchronize_ptsz =
    /// Waits for a stream's work, and reports what went wrong with it.
    pub extern "C" fn cuStreamSynchronize(stream: CUstream) -> Status {
        waiting_for_stream("cuStreamSynchronize", stream, |_, _| Ok(()))
    }
}

twin! { cuStreamQuery_ptsz =
    /// Whether a stream's work is done. Asking lets it go on; who asks again and again gets a yes in the end.
    pub extern "C" fn cuStreamQuery(stream: CUstream) -> Status {
        let name = "cuStreamQuery";
        let mut before = Vec::new();
        let status = on_stream(name, stream, |gpu, stream| {
            bugaroo_device::capture::refuse(gpu, &stream)?;
            before = gpu.running.queue.before(&stream);
            Ok(())
        });
        if status != Status::Success {
            return status;
        }
        match ask(name, &before) {
            Status::Success => on_stream(name, stream, |gpu, stream| gpu.surface(stream.context)),
            status => status,
        }
    }
}

/// Whether work is done: `NotReady` a few times, while it goes on.
pub fn ask(name: &str, tickets: &[bugaroo_device::lane::Ticket]) -> Status {
    let (mut turns, mut done) = (0, false);
    let status = with_gpu(name, |gpu| {
        done = !tickets.iter().any(|ticket| gpu.running.queue.is_pending(*ticket));
        if done {
            gpu.running.queue.tell(|order| order.waited(tickets));
            return Ok(());
        }
        gpu.running.asked += 1;
        // Between nothing at all and twice as much each time.
        turns = gpu.draw() & ((2 << gpu.running.asked) - 1);
        if gpu.running.asked > PATIENCE {
            turns = u64::MAX;
        }
        Ok(())
    });
    if done || status != Status::Success {
        return status;
    }
    let pending = |gpu: &mut bugaroo_device::state::Gpu| {
        tickets.iter().any(|ticket| gpu.running.queue.is_pending(*ticket))
    };
    match wait::at_most(name, turns, |gpu| !pending(gpu)) {
        Status::Success => {}
        status => return status,
    }
    with_gpu(name, |gpu| {
        if pending(gpu) {
            return Err(Status::NotReady);
        }
        gpu.running.asked = 0;
        gpu.running.queue.tell(|order| order.waited(tickets));
        Ok(())
    })
}

twin! { cuStreamWaitEvent_ptsz =
    /// Lets a stream's later work wait for an event, as it was recorded last.
    pub extern "C" fn cuStreamWaitEvent(stream: CUstream, event: CUevent, flags: c_uint) -> Status {
        on_stream("cuStreamWaitEvent", stream, |gpu, stream| {
            // CU_EVENT_WAIT_EXTERNAL is for captures only.
            if flags > 1 {
                return Err(Status::InvalidValue);
            }
            if gpu.capture_wait(&stream, event, flags == 1)? {
                return Ok(());
            }
            let object = gpu.ordered.events.get(event)?;
            let ticket = object.ticket();
            if let Some(shared) = object.shared.clone() {
                let number = shared.recorded();
                let pending = ticket.filter(|ticket| gpu.running.queue.is_pending(*ticket));
                let mut before = gpu.running.queue.before(&stream);
                before.extend(pending);
                let work = Work::WaitShared(shared, number);
                let ticket = gpu.running.queue.insert(stream.context, work, &before);
                gpu.running.queue.append(&stream, ticket);
                gpu.queued();
                return Ok(());
            }
            let Some(ticket) = ticket else { return Ok(()) };
            if gpu.running.queue.is_pending(ticket) {
                let mut before = gpu.running.queue.before(&stream);
                before.push(ticket);
                let ticket = gpu.running.queue.insert(stream.context, Work::Nothing, &before);
                gpu.running.queue.append(&stream, ticket);
                gpu.queued();
            } else {
                gpu.running.queue.behind_done(&stream, ticket);
            }
            Ok(())
        })
    }
}

twin! { cuStreamGetCtx_ptsz =
    /// A stream's context.
    ///
    /// # Safety
    /// `place` is null or points to a place for a handle.
    pub unsafe extern "C" fn cuStreamGetCtx(stream: CUstream, place: *mut CUcontext) -> Status {
        // SAFETY: the caller's promise.
        on_stream("cuStreamGetCtx", stream, |_, stream| unsafe { write(place, stream.context) })
    }
}

twin! { cuStreamGetCtx_v2_ptsz =
    /// A stream's context; there are no green contexts.
    ///
    /// # Safety
    /// Each is null (the first is refused then) or points to a place for a handle.
    pub unsafe extern "C" fn cuStreamGetCtx_v2(
        stream: CUstream,
        place: *mut CUcontext,
        green: *mut CUcontext,
    ) -> Status {
        on_stream("cuStreamGetCtx_v2", stream, |_, stream| {
            // SAFETY: the caller's promise, for both.
            unsafe {
                write_if_wanted(green, std::ptr::null_mut());
                write(place, stream.context)
            }
        })
    }
}

twin! { cuStreamGetDevice_ptsz =
    /// A stream's device.
    ///
    /// # Safety
    /// `place` is null or points to a place for it.
    pub unsafe extern "C" fn cuStreamGetDevice(stream: CUstream, place: *mut CUdevice) -> Status {
        // SAFETY: the caller's promise.
        on_stream("cuStreamGetDevice", stream, |gpu, stream| unsafe {
            write(place, gpu.device_of(stream.context))
        })
    }
}

twin! { cuStreamGetFlags_ptsz =
    /// A stream's flags.
    ///
    /// # Safety
    /// `place` is null or points to a place for them.
    pub unsafe extern "C" fn cuStreamGetFlags(stream: CUstream, place: *mut c_uint) -> Status {
        // SAFETY: the caller's promise.
        on_stream("cuStreamGetFlags", stream, |_, stream| unsafe { write(place, stream.flags) })
    }
}

twin! { cuStreamGetPriority_ptsz =
    /// A stream's priority.
    ///
    /// # Safety
    /// `place` is null or points to a place for it.
    pub unsafe extern "C" fn cuStreamGetPriority(stream: CUstream, place: *mut c_int) -> Status {
        // SAFETY: the caller's promise.
        on_stream("cuStreamGetPriority", stream, |_, stream| unsafe { write(place, stream.priority) })
    }
}

twin! { cuStreamGetId_ptsz =
    /// A number that no other stream of the process has.
    ///
    /// # Safety
    /// `place` is null or points to a place for it.
    pub unsafe extern "C" fn cuStreamGetId(stream: CUstream, place: *mut c_ulonglong) -> Status {
        // SAFETY: the caller's promise.
        on_stream("cuStreamGetId", stream, |_, _| unsafe { write(place, stream as c_ulonglong) })
    }
}

twin! { cuLaunchHostFunc_ptsz =
    /// Calls a function of the program in stream order: in the submitting thread, or in one that waits.
    /// Dropped after a fault, as it would never be reached.
    ///
    /// # Safety
    /// `function` may be called with `user_data`.
    pub unsafe extern "C" fn cuLaunchHostFunc(
        stream: CUstream,
        function: CUhostFn,
        user_data: *mut c_void,
    ) -> Status {
        submit("cuLaunchHostFunc", stream, |_, _| {
            function.ok_or(Status::InvalidValue)?;
            Ok(Some(Work::Call(function, user_data)))
        })
    }
}

twin! { cuStreamAddCallback_ptsz =
    /// Calls a function of the program in stream order, as [`cuLaunchHostFunc`], but also after a fault, of which
    /// it is told.
    ///
    /// # Safety
    /// `callback` may be called with `user_data`.
    pub unsafe extern "C" fn cuStreamAddCallback(
        stream: CUstream,
        callback: CUstreamCallback,
        user_data: *mut c_void,
        flags: c_uint,
    ) -> Status {
        submit("cuStreamAddCallback", stream, |gpu, place| {
            callback.ok_or(Status::InvalidValue)?;
            if flags != 0 {
                return Err(Status::InvalidValue);
            }
            bugaroo_device::capture::refuse(gpu, place)?;
            Ok(Some(Work::CallBack(callback, stream, user_data)))
        })
    }
}

twin! { cuStreamAttachMemAsync_ptsz =
    /// Ties managed memory to a stream. The host and other streams may go on using it here.
    pub extern "C" fn cuStreamAttachMemAsync(
        stream: CUstream,
        address: u64,
        _length: usize,
        flags: c_uint,
    ) -> Status {
        beside_stream("cuStreamAttachMemAsync", stream, |gpu, _| {
            let known = matches!(flags, 1 | 2 | 4) && bugaroo_device::advice::is_managed(gpu, address);
            if known { Ok(()) } else { Err(Status::InvalidValue) }
        })
    }
}
