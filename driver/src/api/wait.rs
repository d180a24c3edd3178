//! Calls that let queued work go on ([`bugaroo_device::pump`]): until something is reached, or for so many turns of kernels.
//!
//! No thread stands behind it: work goes on when a call of the API asks for the end of some of it, and then any of it may. A
//! program of one thread that makes the same calls gets the same picks from the same seed.
//!
//! What it misses: device work does not go on while the host computes; nor while it polls memory, unless the kernel can reach
//! that (see [`bugaroo_device::objects::work::Work::is_watched`] and [`crate::api::polled`]).

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bugaroo_cuda_abi::CUcontext;
use bugaroo_simulator::Others;

use crate::api::entry::{anytime, if_free, with_gpu};
use crate::api::{console, current};
use bugaroo_device::error::Status;
use bugaroo_device::lane::Ticket;
use bugaroo_device::objects::interprocess;
use bugaroo_device::objects::parts::HostWait;
use bugaroo_device::objects::transfer::CopyPlace;
use bugaroo_device::objects::work::Work;
use bugaroo_device::pump::{PENDING, PumpStep};
use bugaroo_device::state::Gpu;
use bugaroo_device::trial::fork_server::pages;
use bugaroo_device::trial::own_thread;

/// How long a process that waits for another one sleeps before it looks again.
pub const NAP: Duration = Duration::from_micros(50);
/// Calls that have let work go on.
static WAITS: AtomicU64 = AtomicU64::new(0);

/// Lets work go on until `reached`. The calling thread holds no lock.
pub fn until(name: &str, reached: impl FnMut(&mut Gpu) -> bool) -> Status {
    let status = go(name, None, false, reached);
    // Waiting is when the program sees what device code has printed.
    let _ = with_gpu(name, |gpu| {
        console::show(gpu.memory.console());
        Ok(())
    });
    status
}

/// Lets work go on until `reached`, for so many turns of kernels, or until nothing can go on, or a kernel goes round for ever
/// as things are.
pub fn at_most(name: &str, turns: u64, reached: impl FnMut(&mut Gpu) -> bool) -> Status {
    go(name, Some(turns), true, reached)
}

/// `leaves`: a kernel that goes round for ever as things are is left to do so, since what it needs may be what the program
/// does next.
pub(crate) fn go(
    name: &str,
    turns: Option<u64>,
    leaves: bool,
    mut reached: impl FnMut(&mut Gpu) -> bool,
) -> Status {
    if PENDING.load(Ordering::Acquire) == 0 {
        return Status::Success;
    }
    let mut left = turns.unwrap_or(u64::MAX);
    // While the program waits, and has no other thread, nobody but what is queued writes memory.
    let wait = WAITS.fetch_add(1, Ordering::Relaxed) + 1;
    let limited = turns.is_some_and(|turns| turns != u64::MAX);
    // Asked once there is a kernel that it matters to.
    let mut runs = None;
    let mut others =
        if limited || interprocess::shares() { Others::MayWrite } else { Others::Suspected(wait) };
    loop {
        let mut last = PumpStep::Nothing;
        let mut suspects = false;
        let status = with_gpu(name, |gpu| {
            // The lock is given up now and then, for other threads.
            for _ in 0..16 {
                if reached(gpu) || left == 0 {
                    last = PumpStep::Nothing;
                    break;
                }
                let runs = *runs.get_or_insert_with(|| {
                    interprocess::shares() || gpu.shares_memory() && (own_thread::is_ours() || !alone())
                });
                gpu.running.wait = HostWait { others, limited, number: wait, runs };
                last = gpu.step();
                gpu.running.wait.others = Others::MayWrite;
                suspects = std::mem::take(&mut gpu.running.suspects);
                if suspects {
                    break;
                }
                match last {
                    PumpStep::Done(taken) if left != u64::MAX => left = left.saturating_sub(taken),
                    PumpStep::Done(_) => {}
                    _ => break,
                }
            }
            if matches!(last, PumpStep::Call(..)) {
                console::show(gpu.memory.console());
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
            PumpStep::Done(_) => {}
            PumpStep::Nothing => return Status::Success,
            PumpStep::Call(ticket, call) => {
                call.make();
                let _ = with_gpu(name, |gpu| {
                    gpu.running.queue.finish(ticket);
                    gpu.queued();
                    Ok(())
                });
            }
            PumpStep::Busy => std::thread::yield_now(),
            // It is no wait: the program may go on to write the value.
            PumpStep::Stuck if turns.is_some() => return Status::Success,
            PumpStep::Stuck if alone() => return stuck(name),
            // Another process has to do something first.
            PumpStep::Stuck if interprocess::shares() => std::thread::sleep(NAP),
            PumpStep::Stuck => std::thread::yield_now(),
        }
    }
}

/// Work that is queued when the program ends is done, as far as it could be seen: a trial that never ran a kernel
/// would say nothing of it. The host's own functions and memory are left alone.
pub extern "C" fn at_exit() {
    let name = "exit";
    let _ = anytime(name, || {
        let (mut last, mut wait) = (PumpStep::Done(0), None);
        while matches!(last, PumpStep::Done(_)) {
            last = PumpStep::Nothing;
            // A thread that holds the lock for good does not keep the program from ending.
            let _ = if_free(|gpu| {
                for item in gpu.running.queue.items() {
                    let unseen = match &item.work {
                        Work::Call(..) | Work::CallBack(..) => true,
                        Work::Copy(copy) => matches!(copy.to.start, CopyPlace::Host(_)),
                        _ => false,
                    };
                    if unseen {
                        item.work = Work::Nothing;
                    }
                }
                let wait = *wait.get_or_insert_with(|| WAITS.fetch_add(1, Ordering::Relaxed) + 1);
                // Whoever else is there is of no matter where nothing is left to do.
                let nobody = !gpu.running.queue.is_empty() && alone();
                gpu.running.wait.others = if nobody { Others::Nobody(wait) } else { Others::MayWrite };
                last = gpu.step();
                gpu.running.suspects = false;
                Ok(())
            });
        }
        if_free(|gpu| {
            gpu.tell_races(true);
            gpu.tell_ends();
            pages::tell();
            Ok(())
        })
    });
}

/// Whether the program has no thread but this one, hence nobody who could write a value waited for.
fn alone() -> bool {
    !interprocess::shares()
        && std::fs::read_dir("/proc/self/task").is_ok_and(|tasks| tasks.count() == 1 + own_thread::threads())
}

/// A stream waits for a value that nobody will write: as for a kernel that never ends.
fn stuck(name: &str) -> Status {
    eprintln!("bugaroo: deadlock: a stream waits for a value of memory, and there is no other work");
    let _ = with_gpu(name, |gpu| {
        let ready = gpu.running.queue.ready().to_vec();
        for ticket in ready {
            if let Some(item) = gpu.running.queue.item(ticket) {
                let context = item.context;
                gpu.break_context(context, Status::LaunchTimeout);
            }
        }
        Ok(())
    });
    until(name, |gpu| gpu.running.queue.ready().is_empty())
}

/// Lets work go on until these pieces are done.
pub fn finish(name: &str, tickets: &[Ticket]) -> Status {
    until(name, |gpu| !tickets.iter().any(|ticket| gpu.running.queue.is_pending(*ticket)))
}

/// Lets work go on until a context's is done.
pub fn finish_context(name: &str, context: CUcontext) -> Status {
    let mut last = None;
    let status = until(name, |gpu| {
        let last = *last.get_or_insert(gpu.running.queue.last());
        !gpu.running.queue.busy(context, last)
    });
    waited(name, status, |gpu| gpu.running.queue.ends(context));
    status
}

/// Tells race detectors what a call has waited for, unless it was refused.
pub fn waited(name: &str, status: Status, what: impl FnOnce(&Gpu) -> Vec<Ticket>) {
    if status == Status::Success {
        // Where nobody is to be told, that is no failure of the call's.
        let _ = with_gpu(name, |gpu| {
            if gpu.running.queue.order.is_some() {
                let what = what(gpu);
                gpu.running.queue.tell(|order| order.waited(&what));
            }
            Ok(())
        });
    }
}

/// Lets work go on until the current context's is done.
pub fn finish_current(name: &str) -> Status {
    current::top().map_or(Status::Success, |context| finish_context(name, context))
}
