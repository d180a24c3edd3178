//! What every function of the API does first: catch panics, take the lock, and refuse to work
//! before `cuInit`, without a current context, or after a fault.
//!
//! An exported function wraps its body in one of [`anytime`], [`with_gpu`], [`with_context`],
//! [`synchronising`] and [`taking_away`], in order of what they demand. One lock guards the whole virtual GPU,
//! also while a kernel runs (but for a moment now and then, and not while the program's own functions are called); the current context is the calling thread's own ([`crate::api::current`]).
//!
//! **Faults.** Whether a kernel runs at its launch or later ([`bugaroo_device::pump`]), the launch itself succeeds: a fault
//! stays pending in its context until a call that waits for the device ([`synchronising`]) reports it.
//! Until then further work in that context is accepted and dropped, as it would queue behind the
//! broken kernel. From the report on, every call through [`with_context`] gives the same error.
//! Functions that only look up, set the current context or destroy things stay usable.
//!
//! **Panics** are internal errors. After one, all that takes the lock gives `CUDA_ERROR_UNKNOWN` ([`bugaroo_device::trial::panics`]).

use std::sync::{Mutex, PoisonError, TryLockError};

use bugaroo_cuda_abi::CUcontext;

use crate::api::current;
use bugaroo_device::error::{CallResult, Status};
use bugaroo_device::own_process::{self, Whose, whose};
use bugaroo_device::pump;
use bugaroo_device::state::Gpu;
use bugaroo_device::told::host_watch;
use bugaroo_device::trial::{own_thread, panics};

static GPU: Mutex<Option<Box<Gpu>>> = Mutex::new(None);

/// Runs `make` and keeps the driver that it gives, unless one is there; `at_exit` is called when the program ends then.
pub fn initialise(make: impl FnOnce() -> CallResult<Box<Gpu>>, at_exit: extern "C" fn()) -> CallResult {
    // A child's copy of its parent's lock may be held for ever; but see [`own_process::take`].
    if whose() == Whose::Parents {
        return Err(Status::NotInitialized);
    }
    let mut gpu = GPU.lock().unwrap_or_else(PoisonError::into_inner);
    if gpu.is_none() {
        *gpu = Some(make()?);
        own_process::take();
        // SAFETY: the function may be called at any time. Where there is no room for it, queued work is lost.
        unsafe { libc::atexit(at_exit) };
    }
    Ok(())
}

/// Runs a function's body; a panic in it becomes `CUDA_ERROR_UNKNOWN`, and is told ([`bugaroo_device::trial::panics`]).
pub fn anytime(name: &str, body: impl FnOnce() -> CallResult) -> Status {
    panics::caught(name, body).map_or(Status::Unknown, Status::from)
}

/// Runs a body that needs an initialised driver, under the lock.
pub fn with_gpu(name: &str, body: impl FnOnce(&mut Gpu) -> CallResult) -> Status {
    anytime(name, || {
        if whose() != Whose::Ours {
            return Err(Status::NotInitialized);
        }
        if pump::in_call() {
            return Err(Status::NotPermitted);
        }
        if panics::broken() {
            return Err(Status::Unknown);
        }
        own_thread::called();
        let mut gpu = GPU.lock().unwrap_or_else(PoisonError::into_inner);
        let gpu = gpu.as_mut().ok_or(Status::NotInitialized)?;
        host_watch::entered(gpu);
        gpu.running.queue.tell(|order| order.calls.entered(name));
        let done = body(gpu);
        host_watch::leaving(gpu);
        done
    })
}

/// Runs a body that needs an initialised driver, unless somebody else is using it.
pub fn if_free(body: impl FnOnce(&mut Gpu) -> CallResult) -> CallResult {
    if whose() != Whose::Ours {
        return Err(Status::NotInitialized);
    }
    if panics::broken() {
        return Err(Status::Unknown);
    }
    let mut gpu = match GPU.try_lock() {
        Ok(gpu) => gpu,
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        Err(TryLockError::WouldBlock) => return Err(Status::NotReady),
    };
    let gpu = gpu.as_mut().ok_or(Status::NotInitialized)?;
    host_watch::entered(gpu);
    let done = body(gpu);
    host_watch::leaving(gpu);
    done
}

/// Runs a body that needs a current context, not broken by a fault that was already reported.
pub fn with_context(name: &str, body: impl FnOnce(&mut Gpu, CUcontext) -> CallResult) -> Status {
    with_gpu(name, |gpu| {
        let context = current_context(gpu)?;
        match gpu.context(context)?.fault {
            Some(fault) if fault.reported => Err(fault.status),
            _ => body(gpu, context),
        }
    })
}

/// The calling thread's context.
///
/// # Errors
/// `InvalidContext` without one, `ContextIsDestroyed` when it was destroyed by another thread.
pub fn current_context(gpu: &Gpu) -> CallResult<CUcontext> {
    let context = current::top().ok_or(Status::InvalidContext)?;
    gpu.context(context).map(|_| context).map_err(|_| Status::ContextIsDestroyed)
}

#[cfg(test)]
mod tests;
