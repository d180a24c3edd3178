//! What makes queued work happen: steps, each of one piece of work that could go on, picked by the trial's
//! seed.
//!
//! No thread stands behind it: work goes on when a call of the API asks for the end of some of it, and then
//! any of it may. A step runs a kernel for a few turns, so that kernels that may overlap interleave, from
//! single turns up to whole launches; everything else is done in one. A program of one thread that makes the
//! same calls gets the same picks from the same seed. While only one piece could go on nothing is drawn.
//!
//! What it misses: device work does not go on while the host computes; nor while it polls memory, unless the kernel can reach
//! that (see [`crate::work::Work::is_watched`] and [`crate::polled`]).

use std::cell::Cell;
use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use bugaroo_cuda_abi::{CUcontext, CUhostFn, CUstream, CUstreamCallback};
use bugaroo_semantics::event::WorkKind;
use bugaroo_simulator::{End, Others};

use crate::entry::{anytime, if_free, with_driver};
use crate::error::Status;
use crate::execute::Flight;
use crate::queue::{Progress, Ticket};
use crate::state::Driver;
use crate::transfer::Place;
use crate::work::Work;
use crate::{console, current, polled};

/// Turns of a kernel beside which nothing could go on.
const ALONE: u64 = 1 << 16;
/// The same in calls that may come back before it has ended.
const ALONE_LIMITED: u64 = 1 << 12;
/// Binary logarithm of the most turns of a kernel beside others, plus one.
const TURNS_LOG: u64 = 13;
/// Most work that is left in the queue when a call that adds to it returns.
const DEPTH: usize = 1024;
/// Turns after which a call that may be about to be watched by the host returns although its kernel runs:
/// the kernel may be waiting for the host.
const WATCHED_TURNS: u64 = 1 << 20;

/// Work in the queue; only written under the driver's lock.
static PENDING: AtomicUsize = AtomicUsize::new(0);

/// Calls that have let work go on.
static WAITS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// The thread is in a function that the program wanted called in stream order.
    static CALLED: Cell<bool> = const { Cell::new(false) };
}

/// Whether the calling thread is in a function that was called in stream order: it may not use the API.
pub fn in_call() -> bool {
    CALLED.try_with(Cell::get).unwrap_or(false)
}

/// What a step did.
enum Step {
    /// Something, of so many turns.
    Done(u64),
    /// A function of the program has to be called, without the lock.
    Call(Ticket, Call),
    /// Nothing can go on before a function that is being called returns.
    Busy,
    /// Nothing can go on, although there is something: memory does not have the value waited for.
    Stuck,
    /// There is nothing left to do.
    Nothing,
}

/// A function of the program.
enum Call {
    Plain(CUhostFn, *mut c_void),
    Told(CUstreamCallback, CUstream, Status, *mut c_void),
}

impl Call {
    fn make(self) {
        CALLED.set(true);
        // SAFETY: whoever submitted it vouched that it may be called with this.
        unsafe {
            match self {
                Call::Plain(Some(function), data) => function(data),
                Call::Told(Some(function), stream, status, data) => function(stream, status as u32, data),
                Call::Plain(None, _) | Call::Told(None, ..) => {}
            }
        }
        CALLED.set(false);
    }
}

impl Driver {
    fn step(&mut self) -> Step {
        let count = self.queue.ready().len();
        let step = match count {
            0 if self.queue.calls() => return Step::Busy,
            0 => return Step::Nothing,
            1 => {
                if self.queue.calls() {
                    self.others = Others::MayWrite;
                }
                self.go_on(self.queue.ready()[0], if self.limited { ALONE_LIMITED } else { ALONE })
            }
            _ => {
                self.others = Others::MayWrite;
                let bits = self.draw();
                let at = ((bits >> 32) * count as u64) >> 32;
                let ticket = self.queue.ready()[at as usize];
                self.go_on(ticket, 1 << ((bits & 0xffff) % TURNS_LOG))
            }
        };
        let step = step.unwrap_or_else(|| {
            // What was picked waits for a value; whoever does not may go on.
            let ready = self.queue.ready().to_vec();
            self.others = Others::MayWrite;
            let others = ready.into_iter().find_map(|ticket| self.go_on(ticket, ALONE >> 6));
            let calls = self.queue.calls();
            others.unwrap_or(if calls { Step::Busy } else { Step::Stuck })
        });
        PENDING.store(self.queue.len(), Ordering::Release);
        step
    }

    /// Lets a piece of work go on; None when it waits for a value.
    fn go_on(&mut self, ticket: Ticket, turns: u64) -> Option<Step> {
        let item = self.queue.item(ticket)?;
        let (context, work) = (item.context, item.work.clone());
        let progress = std::mem::replace(&mut item.progress, Progress::Ready);
        let fault = self.context(context).ok().and_then(|context| context.fault);
        if let Progress::Flying(mut flight) = progress {
            let before = flight.grid.counts().operations;
            // A turn is two operations of the default scheduler; other schedulers' are longer.
            let done = |flight: &Flight| Step::Done(((flight.grid.counts().operations - before) / 2).max(1));
            if fault.is_some() {
                // Other kernels of a broken context end with it.
                self.discard(ticket, *flight);
            } else if let Some(end) = self.fly(ticket, &mut flight, turns) {
                let asked = flight.grid.take_asked();
                self.land(context, ticket, *flight, &end);
                if let (Work::Kernel(request, _), End::Complete, false) = (&work, end, asked.is_empty()) {
                    let parent = (request.function, request.depth);
                    match self.queue_children(context, ticket, parent, asked) {
                        Ok(true) => return Some(Step::Done(turns)),
                        Ok(false) => {}
                        Err(status) => self.break_context(context, status),
                    }
                }
            } else {
                let done = done(&flight);
                if let Some(item) = self.queue.item(ticket) {
                    item.progress = Progress::Flying(flight);
                }
                return Some(done);
            }
            self.queue.finish(ticket);
            return Some(Step::Done(turns));
        }
        match &work {
            Work::WaitValue(wait) => {
                if fault.is_none() && wait.holds(self) {
                    self.queue.tell(|order| order.begin_wait(ticket));
                }
            }
            Work::Call(..) | Work::CallBack(..) => self.queue.tell(|order| order.call(ticket)),
            work => {
                let kind = work.kind();
                self.queue.tell(|order| {
                    order.begin(ticket, kind);
                    if kind == WorkKind::Transfer {
                        order.transfer(ticket);
                    }
                });
            }
        }
        let done = match work {
            Work::CallBack(function, stream, data) => {
                self.queue.call(ticket);
                let status = fault.map_or(Status::Success, |fault| fault.status);
                return Some(Step::Call(ticket, Call::Told(function, stream, status, data)));
            }
            _ if fault.is_some() || self.context(context).is_err() => Ok(()),
            Work::Call(function, data) => {
                self.queue.call(ticket);
                return Some(Step::Call(ticket, Call::Plain(function, data)));
            }
            Work::WaitValue(wait) if !wait.holds(self) => return None,
            Work::Nothing | Work::WaitValue(_) => Ok(()),
            Work::Record(event) => {
                self.reach(event, ticket);
                Ok(())
            }
            Work::Act(action) => action(self),
            Work::Branch(choice) => match self.take_branch(context, ticket, &choice) {
                Ok(true) => return Some(Step::Done(1)),
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
                    if let Some(item) = self.queue.item(ticket) {
                        item.progress = Progress::Flying(Box::new(flight));
                    }
                    return self.go_on(ticket, turns);
                }
                Err(status) => Err(status),
            },
        };
        if let Err(status) = done {
            self.failed(context, ticket, status);
        }
        self.queue.finish(ticket);
        Some(Step::Done(1))
    }

    /// Work could not be done: the call that waits for it tells, or else it breaks the context.
    fn failed(&mut self, context: CUcontext, ticket: Ticket, status: Status) {
        if let Some(refused) = self.awaited.get_mut(&ticket) {
            *refused = Some(status);
        } else {
            // What was right at the call, and is not any more, was taken away under it.
            let status = if status == Status::InvalidValue { Status::IllegalAddress } else { status };
            self.break_context(context, status);
        }
    }

    /// Something was added to the queue.
    pub fn queued(&self) {
        PENDING.store(self.queue.len(), Ordering::Release);
    }
}

/// Lets work go on until `reached`. The calling thread holds no lock.
pub fn until(name: &str, reached: impl FnMut(&mut Driver) -> bool) -> Status {
    let status = go(name, None, false, reached);
    // Waiting is when the program sees what device code has printed.
    let _ = with_driver(name, |driver| {
        console::show(driver.memory.console());
        Ok(())
    });
    status
}

/// Lets work go on until `reached`, for so many turns of kernels, or until nothing can go on, or a kernel goes round for ever
/// as things are.
pub fn at_most(name: &str, turns: u64, reached: impl FnMut(&mut Driver) -> bool) -> Status {
    go(name, Some(turns), true, reached)
}

/// `leaves`: a kernel that goes round for ever as things are is left to do so, since what it needs may be what the program
/// does next.
fn go(name: &str, turns: Option<u64>, leaves: bool, mut reached: impl FnMut(&mut Driver) -> bool) -> Status {
    if PENDING.load(Ordering::Acquire) == 0 {
        return Status::Success;
    }
    let mut left = turns.unwrap_or(u64::MAX);
    // While the program waits, and has no other thread, nobody but what is queued writes memory.
    let wait = WAITS.fetch_add(1, Ordering::Relaxed) + 1;
    let limited = turns.is_some_and(|turns| turns != u64::MAX);
    let mut others = if limited { Others::MayWrite } else { Others::Suspected(wait) };
    loop {
        let mut last = Step::Nothing;
        let mut suspects = false;
        let status = with_driver(name, |driver| {
            // The lock is given up now and then, for other threads.
            for _ in 0..16 {
                if reached(driver) || left == 0 {
                    last = Step::Nothing;
                    break;
                }
                (driver.others, driver.limited) = (others, limited);
                last = driver.step();
                driver.others = Others::MayWrite;
                suspects = std::mem::take(&mut driver.suspects);
                if suspects {
                    break;
                }
                match last {
                    Step::Done(taken) if left != u64::MAX => left = left.saturating_sub(taken),
                    Step::Done(_) => {}
                    _ => break,
                }
            }
            if matches!(last, Step::Call(..)) {
                console::show(driver.memory.console());
            }
            Ok(())
        });
        if suspects && leaves {
            return status;
        }
        if suspects {
            others = if alone() { Others::Nobody(wait) } else { Others::MayWrite };
        }
        match last {
            _ if status != Status::Success => return status,
            Step::Done(_) => {}
            Step::Nothing => return Status::Success,
            Step::Call(ticket, call) => {
                call.make();
                let _ = with_driver(name, |driver| {
                    driver.queue.finish(ticket);
                    driver.queued();
                    Ok(())
                });
            }
            Step::Busy => std::thread::yield_now(),
            // It is no wait: the program may go on to write the value.
            Step::Stuck if turns.is_some() => return Status::Success,
            Step::Stuck if alone() => return stuck(name),
            Step::Stuck => std::thread::yield_now(),
        }
    }
}

/// Work that is queued when the program ends is done, as far as it could be seen: a trial that never ran a kernel
/// would say nothing of it. The host's own functions and memory are left alone.
pub extern "C" fn at_exit() {
    let name = "exit";
    let _ = anytime(name, || {
        let (mut last, mut wait) = (Step::Done(0), None);
        while matches!(last, Step::Done(_)) {
            last = Step::Nothing;
            // A thread that holds the lock for good does not keep the program from ending.
            let _ = if_free(|driver| {
                for item in driver.queue.items() {
                    let unseen = match &item.work {
                        Work::Call(..) | Work::CallBack(..) => true,
                        Work::Copy(copy) => matches!(copy.to.start, Place::Host(_)),
                        _ => false,
                    };
                    if unseen {
                        item.work = Work::Nothing;
                    }
                }
                let wait = *wait.get_or_insert_with(|| WAITS.fetch_add(1, Ordering::Relaxed) + 1);
                driver.others = if alone() { Others::Nobody(wait) } else { Others::MayWrite };
                last = driver.step();
                driver.suspects = false;
                Ok(())
            });
        }
        if_free(|driver| {
            driver.tell_races(true);
            driver.tell_ends();
            Ok(())
        })
    });
}

/// Whether the program has no thread but this one, hence nobody who could write a value waited for.
fn alone() -> bool {
    std::fs::read_dir("/proc/self/task").is_ok_and(|tasks| tasks.count() == 1 + polled::threads())
}

/// A stream waits for a value that nobody will write: as for a kernel that never ends.
fn stuck(name: &str) -> Status {
    eprintln!("bugaroo: deadlock: a stream waits for a value of memory, and there is no other work");
    let _ = with_driver(name, |driver| {
        let ready = driver.queue.ready().to_vec();
        for ticket in ready {
            if let Some(item) = driver.queue.item(ticket) {
                let context = item.context;
                driver.break_context(context, Status::LaunchTimeout);
            }
        }
        Ok(())
    });
    until(name, |driver| driver.queue.ready().is_empty())
}

/// Lets work go on until these pieces are done.
pub fn finish(name: &str, tickets: &[Ticket]) -> Status {
    until(name, |driver| !tickets.iter().any(|ticket| driver.queue.is_pending(*ticket)))
}

/// Lets work go on until a context's is done.
pub fn finish_context(name: &str, context: CUcontext) -> Status {
    let mut last = None;
    let status = until(name, |driver| {
        let last = *last.get_or_insert(driver.queue.last());
        !driver.queue.busy(context, last)
    });
    waited(name, status, |driver| driver.queue.ends(context));
    status
}

/// Tells race detectors what a call has waited for, unless it was refused.
pub fn waited(name: &str, status: Status, what: impl FnOnce(&Driver) -> Vec<Ticket>) {
    if status == Status::Success {
        // Where nobody is to be told, that is no failure of the call's.
        let _ = with_driver(name, |driver| {
            if driver.queue.order.is_some() {
                let what = what(driver);
                driver.queue.tell(|order| order.waited(&what));
            }
            Ok(())
        });
    }
}

/// Lets work go on until the current context's is done.
pub fn finish_current(name: &str) -> Status {
    current::top().map_or(Status::Success, |context| finish_context(name, context))
}

/// After work was added: runs it at once if it has to be, and keeps the queue short.
pub fn after_submission(name: &str, ticket: Ticket, at_once: bool, watched: bool) -> Status {
    if !at_once {
        if PENDING.load(Ordering::Acquire) > DEPTH {
            return at_most(name, u64::MAX, |driver| driver.queue.len() <= DEPTH);
        }
        return Status::Success;
    }
    let turns = if watched { WATCHED_TURNS } else { u64::MAX };
    let mut leaves = false;
    let _ = with_driver(name, |driver| {
        // What copies has to be done when the call returns: the host's memory may be gone then.
        let work = driver.queue.item(ticket).map(|item| &item.work);
        leaves = matches!(work, Some(Work::Kernel(..) | Work::Nothing));
        Ok(())
    });
    let status = go(name, Some(turns), leaves, |driver| !driver.queue.is_pending(ticket));
    let (mut refused, mut runs) = (None, false);
    let _ = with_driver(name, |driver| {
        refused = driver.awaited.remove(&ticket).flatten();
        runs = watched && driver.queue.is_pending(ticket);
        Ok(())
    });
    if runs {
        polled::watch(ticket);
    }
    refused.unwrap_or(status)
}
