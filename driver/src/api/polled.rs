//! Kernels that the host watches by polling memory: what they have to go on for is not a call of the API, so that the
//! queue's pump ([`bugaroo_device::pump`]) would never come to them.
//!
//! A launch of a kernel that reaches host memory returns after many turns although it still runs. From then on a thread
//! of ours looks on: when the program has not called the API for a while, it lets work go on until the program calls again or
//! the kernel ends. What the kernel and the host say to each other is then interleaved by the clock, as it is with
//! host threads of the program's own; programs that wait in the API are served there and never get here.
//!
//! So does all work of a process that shares memory or events with others ([`bugaroo_device::objects::interprocess`]), who may wait for it.

use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::api::entry::with_gpu;
use crate::api::wait;
use bugaroo_device::lane::Ticket;
use bugaroo_device::objects::interprocess;
use bugaroo_device::trial::own_thread::{CALLS, OURS, THERE};
use bugaroo_device::trial::panics;

/// How long the program has to be silent.
const SILENCE: Duration = Duration::from_millis(100);
/// The same where other processes may wait for what this one's device does.
const SHORT_SILENCE: Duration = Duration::from_millis(2);
/// Turns for which work goes on before the thread looks up.
const TURNS: u64 = 1 << 13;
/// Kernels whose launches have returned while they ran.
static KERNELS: Mutex<Vec<Ticket>> = Mutex::new(Vec::new());

/// A launch has returned while its kernel runs.
pub fn watch(ticket: Ticket) {
    KERNELS.lock().unwrap_or_else(PoisonError::into_inner).push(ticket);
    if THERE.swap(true, Ordering::AcqRel) {
        return;
    }
    // Where there can be no thread, things stay as they are without it.
    if thread::Builder::new().name("bugaroo".into()).spawn(look_on).is_err() {
        THERE.store(false, Ordering::Release);
    }
}

/// What the thread does, for as long as the process lives.
fn look_on() {
    OURS.set(true);
    let name = "a kernel that the host watches";
    let (mut seen, mut silent) = (u64::MAX, false);
    loop {
        // Once the program is silent it may be polling: what the kernel answers is waited for.
        if silent {
            thread::yield_now()
        } else {
            thread::sleep(if interprocess::shares() { SHORT_SILENCE } else { SILENCE })
        }
        if panics::broken() {
            return;
        }
        let calls = CALLS.load(Ordering::Relaxed);
        silent = calls == seen;
        seen = calls;
        let Some(&kernel) = KERNELS.lock().unwrap_or_else(PoisonError::into_inner).last() else {
            silent = false;
            continue;
        };
        if silent {
            // A fault is the program's to be told, by its next call.
            let _ = wait::at_most(name, TURNS, |gpu| !gpu.running.queue.is_pending(kernel));
        }
        let _ = with_gpu(name, |gpu| {
            let mut kernels = KERNELS.lock().unwrap_or_else(PoisonError::into_inner);
            kernels.retain(|kernel| gpu.running.queue.is_pending(*kernel));
            Ok(())
        });
    }
}
