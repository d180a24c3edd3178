//! What makes queued work happen: steps, each of one piece of work that could go on, picked by the trial's seed.
//!
//! A step runs a kernel for a few turns, so that kernels that may overlap interleave, from single turns up to whole launches;
//! everything else is done in one. While only one piece could go on, and no other process may be in its memory, nothing is
//! drawn. Who asks for steps stands above the device, where calls wait.

use std::cell::Cell;
use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};

use bugaroo_cuda_abi::{CUcontext, CUhostFn, CUstream, CUstreamCallback};
use bugaroo_semantics::event::WorkKind;
use bugaroo_simulator::{End, Others};

use crate::error::Status;
use crate::lane::Ticket;
use crate::objects::interprocess;
use crate::objects::queue::{Flight, WorkProgress};
use crate::objects::work::Work;
use crate::state::Gpu;

/// Turns of a kernel beside which nothing could go on.
const ALONE: u64 = 1 << 16;
/// The same in calls that may come back before it has ended.
const ALONE_LIMITED: u64 = 1 << 12;
/// Binary logarithm of the most turns of a kernel beside others, plus one.
const TURNS_LOG: u64 = 13;

/// Work in the queue; only written under the driver's lock.
pub static PENDING: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// The thread is in a function that the program wanted called in stream order.
    static CALLED: Cell<bool> = const { Cell::new(false) };
}

/// Whether the calling thread is in a function that was called in stream order: it may not use the API.
pub fn in_call() -> bool {
    CALLED.try_with(Cell::get).unwrap_or(false)
}

/// What a step did.
pub enum PumpStep {
    /// Something, of so many turns.
    Done(u64),
    /// A function of the program has to be called, without the lock.
    Call(Ticket, HostCall),
    /// Nothing can go on before a function that is being called returns.
    Busy,
    /// Nothing can go on, although there is something: memory does not have the value waited for.
    Stuck,
    /// There is nothing left to do.
    Nothing,
}

/// A function of the program.
pub enum HostCall {
    /// One that takes what it was given.
    Plain(CUhostFn, *mut c_void),
    /// One that is told the stream and its status, too.
    Told(CUstreamCallback, CUstream, Status, *mut c_void),
}

impl HostCall {
    /// Calls it.
    pub fn make(self) {
        CALLED.set(true);
        // SAFETY: whoever submitted it vouched that it may be called with this.
        unsafe {
            match self {
                HostCall::Plain(Some(function), data) => function(data),
                HostCall::Told(Some(function), stream, status, data) => function(stream, status as u32, data),
                HostCall::Plain(None, _) | HostCall::Told(None, ..) => {}
            }
        }
        CALLED.set(false);
    }
}

impl Gpu {
    /// Has a piece of the work that is ready go on, for a turn.
    pub fn step(&mut self) -> PumpStep {
        let _turn = self.held.shares.turn();
        let count = self.running.queue.ready().len();
        let step = match count {
            0 if self.running.queue.calls() => return PumpStep::Busy,
            0 => return PumpStep::Nothing,
            1 if !interprocess::shares() => {
                if self.running.queue.calls() {
                    self.running.wait.others = Others::MayWrite;
                }
                self.go_on(
                    self.running.queue.ready()[0],
                    if self.running.wait.limited { ALONE_LIMITED } else { ALONE },
                )
            }
            _ => {
                self.running.wait.others = Others::MayWrite;
                let bits = self.draw();
                let at = ((bits >> 32) * count as u64) >> 32;
                let ticket = self.running.queue.ready()[at as usize];
                self.go_on(ticket, 1 << ((bits & 0xffff) % TURNS_LOG))
            }
        };
        let step = step.unwrap_or_else(|| {
            // What was picked waits for a value; whoever does not may go on.
            let ready = self.running.queue.ready().to_vec();
            self.running.wait.others = Others::MayWrite;
            let others = ready.into_iter().find_map(|ticket| self.go_on(ticket, ALONE >> 6));
            let calls = self.running.queue.calls();
            others.unwrap_or(if calls { PumpStep::Busy } else { PumpStep::Stuck })
        });
        PENDING.store(self.running.queue.len(), Ordering::Release);
        step
    }

    /// Lets a piece of work go on; None when it waits for a value.
    fn go_on(&mut self, ticket: Ticket, turns: u64) -> Option<PumpStep> {
        let item = self.running.queue.item(ticket)?;
        let (context, work) = (item.context, item.work.clone());
        let progress = std::mem::replace(&mut item.progress, WorkProgress::Ready);
        let fault = self.context(context).ok().and_then(|context| context.fault);
        self.settle_device(context);
        if let WorkProgress::Flying(mut flight) = progress {
            let before = flight.grid.counts().operations;
            // A turn is two operations of the default scheduler; other schedulers' are longer.
            let done =
                |flight: &Flight| PumpStep::Done(((flight.grid.counts().operations - before) / 2).max(1));
            if fault.is_some() {
                // Other kernels of a broken context end with it.
                self.discard(ticket, *flight);
            } else if let Some(end) = self.fly(ticket, &mut flight, turns) {
                let asked = flight.grid.take_asked();
                self.land(context, ticket, *flight, &end);
                if let (Work::Kernel(request, _), End::Complete, false) = (&work, end, asked.is_empty()) {
                    let parent = (request.function, request.depth);
                    match self.queue_children(context, ticket, parent, asked) {
                        Ok(true) => return Some(PumpStep::Done(turns)),
                        Ok(false) => {}
                        Err(status) => self.break_context(context, status),
                    }
                }
            } else {
                let done = done(&flight);
                if let Some(item) = self.running.queue.item(ticket) {
                    item.progress = WorkProgress::Flying(flight);
                }
                return Some(done);
            }
            self.running.queue.finish(ticket);
            return Some(PumpStep::Done(turns));
        }
        match &work {
            Work::WaitValue(wait) => {
                if fault.is_none() && wait.holds(&self.memory) {
                    self.running.queue.tell(|order| order.begin_wait(ticket));
                }
            }
            Work::WaitShared(event, number) => {
                if fault.is_none() && event.is_reached(*number) {
                    self.running.queue.tell(|order| order.begin_wait(ticket));
                }
            }
            Work::Call(..) | Work::CallBack(..) => self.running.queue.tell(|order| order.call(ticket)),
            work => {
                let kind = work.kind();
                self.running.queue.tell(|order| {
                    order.begin(ticket, kind);
                    if kind == WorkKind::Transfer {
                        order.transfer(ticket);
                    }
                });
            }
        }
        let done = match work {
            Work::CallBack(function, stream, data) => {
                self.running.queue.call(ticket);
                let status = fault.map_or(Status::Success, |fault| fault.status);
                return Some(PumpStep::Call(ticket, HostCall::Told(function, stream, status, data)));
            }
            Work::Record(event) if fault.is_some() => {
                // Others are not to wait for ever.
                self.tell_reached(event, ticket);
                Ok(())
            }
            _ if fault.is_some() || self.context(context).is_err() => Ok(()),
            Work::Call(function, data) => {
                self.running.queue.call(ticket);
                return Some(PumpStep::Call(ticket, HostCall::Plain(function, data)));
            }
            Work::WaitValue(wait) if !wait.holds(&self.memory) => return None,
            Work::WaitShared(event, number) if !event.is_reached(number) => return None,
            Work::Nothing | Work::WaitValue(_) | Work::WaitShared(..) => Ok(()),
            Work::Record(event) => {
                self.reach(event, ticket);
                Ok(())
            }
            Work::Act(act) => self.act(&act),
            Work::Branch(choice) => match self.take_branch(context, ticket, &choice) {
                Ok(true) => return Some(PumpStep::Done(1)),
                Ok(false) => Ok(()),
                Err(status) => Err(status),
            },
            // SAFETY: whoever made it vouched that the host's memory is there.
            Work::Copy(copy) => unsafe { copy.execute(self) },
            Work::Fill(fill) => fill.execute(self),
            Work::Library(work) => {
                work.execute(self);
                Ok(())
            }
            Work::Kernel(request, ordinal) => match self.start(ticket, &request, ordinal) {
                Ok(flight) => {
                    if let Some(item) = self.running.queue.item(ticket) {
                        item.progress = WorkProgress::Flying(Box::new(flight));
                    }
                    return self.go_on(ticket, turns);
                }
                Err(status) => Err(status),
            },
        };
        if let Err(status) = done {
            self.failed(context, ticket, status);
        }
        self.running.queue.finish(ticket);
        Some(PumpStep::Done(1))
    }

    /// Work could not be done: the call that waits for it tells, or else it breaks the context.
    fn failed(&mut self, context: CUcontext, ticket: Ticket, status: Status) {
        if let Some(refused) = self.running.awaited.get_mut(&ticket) {
            *refused = Some(status);
        } else {
            // What was right at the call, and is not any more, was taken away under it.
            let status = if status == Status::InvalidValue { Status::IllegalAddress } else { status };
            self.break_context(context, status);
        }
    }

    /// Something was added to the queue.
    pub fn queued(&self) {
        PENDING.store(self.running.queue.len(), Ordering::Release);
    }
}
