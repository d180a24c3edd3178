//! How work gets into streams: every function of the API that names a stream comes through here.
//!
//! [`submit`] hands work over, to be done in stream order. A function that does its work by itself, at the
//! call, uses [`with_stream`]: what it has to come after is done by then. One that only looks a stream up
//! uses [`on_stream`].

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

use bugaroo_cuda_abi::{CUcontext, CUstream, STREAM_LEGACY, STREAM_PER_THREAD};

use crate::entry::with_context;
use crate::error::{Outcome, Status};
use crate::queue::{Lane, Ticket};
use crate::state::Driver;
use crate::stream::Stream;
use crate::work::Work;
use crate::{capture, pump};

thread_local! {
    /// Number of the thread, by the first use of its default stream; 0 before.
    static THREAD: Cell<u64> = const { Cell::new(0) };
}

thread_local! {
    /// The function that is being called takes the default stream for the calling thread's.
    static PER_THREAD: Cell<bool> = const { Cell::new(false) };
}

/// Calls a function of the API for which the default stream is the calling thread's own.
pub fn per_thread(call: impl FnOnce() -> Status) -> Status {
    let before = PER_THREAD.replace(true);
    let status = call();
    PER_THREAD.set(before);
    status
}

/// Defines a function of the API, and its second name for programs whose default stream is each thread's own.
macro_rules! twin {
    ($second:ident = $($function:tt)*) => {
        bugaroo_cuda_abi::twin! { $crate::submit::per_thread; $second = $($function)* }
    };
}
pub(crate) use twin;
/// The last number that was given to a thread.
static THREADS: AtomicU64 = AtomicU64::new(0);

/// The calling thread's number.
fn thread() -> u64 {
    let number = |thread: &Cell<u64>| {
        if thread.get() == 0 {
            thread.set(THREADS.fetch_add(1, Ordering::Relaxed) + 1);
        }
        thread.get()
    };
    // A thread that is being torn down shares number 0.
    THREAD.try_with(number).unwrap_or(0)
}

/// Work that was handed over.
#[derive(Clone, Copy, Debug)]
pub struct Submitted {
    /// Its name in the queue.
    pub ticket: Ticket,
    /// Whether the call is to see to it that it is done.
    at_once: bool,
    /// Whether it may take for ever until the host does something.
    watched: bool,
}

impl Submitted {
    /// What the submitting call does before it returns, without the lock.
    pub fn settle(self, name: &str) -> Status {
        pump::after_submission(name, self.ticket, self.at_once, self.watched)
    }
}

impl Driver {
    /// What a stream handle stands for; a default stream belongs to `context`.
    ///
    /// # Errors
    /// `InvalidHandle` when it is none.
    pub fn stream(&self, stream: CUstream, context: CUcontext) -> Outcome<Stream> {
        match stream as usize {
            0 if PER_THREAD.get() => Ok(Stream::per_thread(context, thread())),
            0 | STREAM_LEGACY => Ok(Stream::legacy(context)),
            STREAM_PER_THREAD => Ok(Stream::per_thread(context, thread())),
            handle => Ok(Stream { lane: Lane::Made(handle), ..*self.streams.get(stream)? }),
        }
    }

    /// Hands work over to a stream, or to the graph that its work is captured for. None when there is nothing
    /// to wait for: captured, or dropped after a fault.
    ///
    /// # Errors
    /// What forbids it while streams are captured.
    pub fn submit(&mut self, stream: &Stream, work: Work) -> Outcome<Option<Submitted>> {
        if self.capture(stream, &work)? {
            return Ok(None);
        }
        if self.is_broken(stream.context) && !matches!(work, Work::CallBack(..)) {
            return Ok(None);
        }
        if let Lane::PerThread(context, thread) = stream.lane {
            self.default_threads.insert((context, thread));
        }
        let work = self.numbered(work);
        let limited = matches!(&work, Work::Kernel(request, _) if request.watched);
        let at_once = work.is_watched() || !self.overlaps(stream);
        let ticket = self.queue.push(stream, work);
        Ok(Some(self.submitted(ticket, at_once, limited)))
    }

    /// Notes that work was added to the queue.
    pub fn submitted(&mut self, ticket: Ticket, at_once: bool, watched: bool) -> Submitted {
        self.queued();
        if at_once {
            self.awaited.insert(ticket, None);
        }
        Submitted { ticket, at_once, watched }
    }

    /// Gives a kernel's launch its ordinal.
    pub fn numbered(&mut self, work: Work) -> Work {
        match work {
            Work::Kernel(request, _) => {
                self.launches += 1;
                Work::Kernel(request, self.launches - 1)
            }
            work => work,
        }
    }
}

/// Runs a body that needs a stream, but neither hands work over nor waits for any.
pub fn on_stream(name: &str, stream: CUstream, body: impl FnOnce(&mut Driver, Stream) -> Outcome) -> Status {
    with_context(name, |driver, context| {
        let stream = driver.stream(stream, context)?;
        match driver.context(stream.context)?.fault {
            Some(fault) if fault.reported => Err(fault.status),
            _ => body(driver, stream),
        }
    })
}

/// Lets go on what a stream's next work has to come after.
fn catch_up(name: &str, stream: CUstream) -> Status {
    let mut before = Vec::new();
    let status = on_stream(name, stream, |driver, stream| {
        capture::refuse(driver, &stream)?;
        before = driver.queue.before(&stream);
        Ok(())
    });
    if status == Status::Success { pump::finish(name, &before) } else { status }
}

/// Runs a body that does a stream's work at once, when what comes before is done.
pub fn with_stream(
    name: &str,
    stream: CUstream,
    body: impl FnOnce(&mut Driver, Stream) -> Outcome,
) -> Status {
    match catch_up(name, stream) {
        Status::Success => on_stream(name, stream, body),
        status => status,
    }
}

/// Runs a body when a stream's work is done: a pending fault of its context is reported instead.
pub fn waiting_for_stream(
    name: &str,
    stream: CUstream,
    body: impl FnOnce(&mut Driver, Stream) -> Outcome,
) -> Status {
    with_stream(name, stream, |driver, stream| {
        driver.surface(stream.context)?;
        let waited = driver.queue.before(&stream);
        driver.queue.tell(|order| order.waited(&waited));
        body(driver, stream)
    })
}

/// Hands over to a stream the work that `body` makes, if it makes any, after its checks.
pub fn submit(
    name: &str,
    stream: CUstream,
    body: impl FnOnce(&mut Driver, &Stream) -> Outcome<Option<Work>>,
) -> Status {
    let mut submitted = None;
    let status = on_stream(name, stream, |driver, stream| {
        if let Some(work) = body(driver, &stream)? {
            submitted = driver.submit(&stream, work)?;
        }
        Ok(())
    });
    match submitted {
        Some(submitted) if status == Status::Success => submitted.settle(name),
        _ => status,
    }
}
