//! How work gets into streams: what a handle stands for, and what handing work over does.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

use bugaroo_cuda_abi::{CUcontext, CUstream, STREAM_LEGACY, STREAM_PER_THREAD};

use crate::error::{CallResult, Status};
use crate::lane::{Lane, Ticket};
use crate::objects::stream::Stream;
use crate::objects::work::Work;
use crate::state::Gpu;

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
    pub at_once: bool,
    /// Whether it may take for ever until the host does something.
    pub watched: bool,
}

impl Gpu {
    /// What a stream handle stands for; a default stream belongs to `context`.
    ///
    /// # Errors
    /// `InvalidHandle` when it is none.
    pub fn stream(&self, stream: CUstream, context: CUcontext) -> CallResult<Stream> {
        match stream as usize {
            0 if PER_THREAD.get() => Ok(Stream::per_thread(context, thread())),
            0 | STREAM_LEGACY => Ok(Stream::legacy(context)),
            STREAM_PER_THREAD => Ok(Stream::per_thread(context, thread())),
            handle => Ok(Stream { lane: Lane::Made(handle), ..*self.ordered.streams.get(stream)? }),
        }
    }

    /// Hands work over to a stream, or to the graph that its work is captured for. None when there is nothing
    /// to wait for: captured, or dropped after a fault.
    ///
    /// # Errors
    /// What forbids it while streams are captured.
    pub fn submit(&mut self, stream: &Stream, work: Work) -> CallResult<Option<Submitted>> {
        if self.capture(stream, &work)? {
            return Ok(None);
        }
        if self.is_broken(stream.context) && !matches!(work, Work::CallBack(..)) {
            return Ok(None);
        }
        if let Lane::PerThread(context, thread) = stream.lane {
            self.ordered.default_threads.insert((context, thread));
        }
        if matches!(work, Work::Kernel(..)) {
            self.at_launch();
        }
        let work = self.numbered(work);
        let limited = match &work {
            Work::Kernel(request, _) => request.watched,
            Work::Call(..) | Work::CallBack(..) => self.running.queue.may_wait_for_host(),
            _ => false,
        };
        let at_once = work.is_watched() || !(self.overlaps(stream) || self.awaits_first_kernel(&work));
        let ticket = self.running.queue.push(stream, work);
        Ok(Some(self.submitted(ticket, at_once, limited)))
    }

    /// Whether work waits in the queue although it could not overlap with any: the program's first kernels do, and what comes behind
    /// them on the device, until something asks for their end. So what a program does between its first launch and its first wait, as
    /// to compile its next kernel, is done before trials are forked ([`crate::trial::fork_server`]). Not where the host could see
    /// that nothing has begun.
    fn awaits_first_kernel(&self, work: &Work) -> bool {
        !self.trial.begun
            && !self.shares_memory()
            && match work {
                Work::Kernel(..) => true,
                Work::Fill(_) | Work::Record(_) => !self.running.queue.is_empty(),
                Work::Copy(copy) => copy.is_on_device() && !self.running.queue.is_empty(),
                _ => false,
            }
    }

    /// Notes that work was added to the queue.
    pub fn submitted(&mut self, ticket: Ticket, at_once: bool, watched: bool) -> Submitted {
        self.queued();
        if at_once {
            self.running.awaited.insert(ticket, None);
        }
        Submitted { ticket, at_once, watched }
    }

    /// Gives a kernel's launch its ordinal.
    pub fn numbered(&mut self, work: Work) -> Work {
        match work {
            Work::Kernel(request, _) => {
                self.trial.launches += 1;
                Work::Kernel(request, self.trial.launches - 1)
            }
            work => work,
        }
    }
}
