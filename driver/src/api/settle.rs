//! What a call that has handed work over does before it returns, without the lock.

use std::sync::atomic::Ordering;

use crate::api::entry::with_gpu;
use crate::api::polled;
use crate::api::wait::{at_most, go};
use bugaroo_device::error::Status;
use bugaroo_device::lane::Ticket;
use bugaroo_device::objects::interprocess;
use bugaroo_device::objects::work::Work;
use bugaroo_device::pump::PENDING;
use bugaroo_device::submit::Submitted;

/// What the submitting call does before it returns, without the lock.
pub fn settle(submitted: &Submitted, name: &str) -> Status {
    after_submission(name, submitted.ticket, submitted.at_once, submitted.watched)
}

/// Most work that is left in the queue when a call that adds to it returns.
const DEPTH: usize = 1024;
/// Turns after which a call that may be about to be watched by the host returns although its kernel runs:
/// the kernel may be waiting for the host.
pub const WATCHED_TURNS: u64 = 1 << 20;

/// After work was added: runs it at once if it has to be, and keeps the queue short.
pub fn after_submission(name: &str, ticket: Ticket, at_once: bool, watched: bool) -> Status {
    if !at_once {
        if interprocess::shares() {
            // Another process may see what it does, without a call of this one.
            polled::watch(ticket);
        }
        if PENDING.load(Ordering::Acquire) > DEPTH {
            return at_most(name, u64::MAX, |gpu| gpu.running.queue.len() <= DEPTH);
        }
        return Status::Success;
    }
    let turns = if watched { WATCHED_TURNS } else { u64::MAX };
    let mut leaves = false;
    let _ = with_gpu(name, |gpu| {
        // What copies has to be done when the call returns: the host's memory may be gone then.
        let work = gpu.running.queue.item(ticket).map(|item| &item.work);
        leaves = matches!(work, Some(Work::Kernel(..) | Work::Nothing));
        Ok(())
    });
    let status = go(name, Some(turns), leaves, |gpu| !gpu.running.queue.is_pending(ticket));
    let (mut refused, mut runs) = (None, false);
    let _ = with_gpu(name, |gpu| {
        refused = gpu.running.awaited.remove(&ticket).flatten();
        runs = watched && gpu.running.queue.is_pending(ticket);
        Ok(())
    });
    if runs {
        polled::watch(ticket);
    }
    refused.unwrap_or(status)
}
