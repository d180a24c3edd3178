//! Launches on their way to the real driver: the state that their handlers read is written before them, and what
//! they did is read afterwards.
//!
//! State and buffers are written on the launch's own stream. The counts are read when the launch is known to have ended: before
//! the next launch of its module, at the program's own calls that wait, or when the program ends.

use std::ffi::{CStr, c_int};
use std::ptr::null_mut;

use bugaroo_cuda_abi::{CUcontext, CUdeviceptr, CUfunction, CUstream};
use bugaroo_device_handlers::{LaunchState, Layout};
use bugaroo_protocol::{
    BlockedThread, Fault, FaultKind, Launch, LaunchCounts, LaunchEnd, Message, Model, Orders,
};
use regex::Regex;

use super::modules::Placed;
use super::real;
use crate::forward::pending::{Pending, Shape};
use crate::forward::state::Forward;
use bugaroo_device::error::{CallResult, Status};
use bugaroo_device::trial::delays::Delays;
use bugaroo_device::trial::handler_model::handler_model;

impl Forward {
    /// Prepares a launch.
    ///
    /// # Errors
    /// When its state cannot be written.
    pub fn prepare(&mut self, shape: &Shape) -> CallResult<Pending> {
        let mut function = null_mut();
        // SAFETY: a place for a handle. What is no library's kernel is a function already.
        if unsafe { real::cuKernelGetFunction(&raw mut function, shape.function) }.is_err() {
            function = shape.function;
        }
        let ordinal = self.launches.ordinal;
        self.launches.ordinal += 1;
        let Shape { grid, block, stream, .. } = *shape;
        let kernel = name(function);
        let context = current();
        let mut pending =
            Pending { ordinal, kernel, grid, block, stream: stream as usize, context, armed: None };
        let Some(model) = self.orders.model() else { return Ok(pending) };
        let mut capturing: c_int = 0;
        // SAFETY: a place for the answer.
        let _ = unsafe { real::cuStreamIsCapturing(stream, &raw mut capturing) };
        if capturing != 0 {
            if !self.launches.told_of_capture {
                self.launches.told_of_capture = true;
                eprintln!("bugaroo: kernels in graphs run without injection on a GPU");
            }
            return Ok(pending);
        }
        let mut module = null_mut();
        // SAFETY: a place for a handle.
        unsafe { real::cuFuncGetModule(&raw mut module, function) }?;
        if let Some(placed) = self.modules.placed(module, &self.orders)? {
            self.settle(|other| {
                other.armed.as_ref().is_some_and(|(variable, ..)| *variable == placed.variable)
            });
            pending.armed = self.arm(&pending, &placed, model)?;
        }
        Ok(pending)
    }

    /// Writes the state of a launch, with buffers for its threads.
    fn arm(
        &mut self,
        pending: &Pending,
        placed: &Placed,
        model: Model,
    ) -> CallResult<Option<(CUdeviceptr, Layout, CUdeviceptr)>> {
        let product =
            |shape: [u32; 3]| shape.iter().fold(1_u64, |all, extent| all.saturating_mul(u64::from(*extent)));
        let probabilities = probabilities(&self.orders, &pending.kernel);
        let stream = pending.stream as CUstream;
        let (mut free, mut total) = (0, 0);
        // SAFETY: places for the numbers.
        unsafe { real::cuMemGetInfo_v2(&raw mut free, &raw mut total) }?;
        let shape = (product(pending.grid), product(pending.block));
        let layout = Layout::new(
            shape,
            placed.instrumented.store_sites,
            self.orders.variation.buffer,
            free as u64 / 2,
        );
        let idle = probabilities == (0.0, 0.0) && placed.flags.is_none();
        let base = if idle { 0 } else { self.launches.buffers(pending.context, layout.total_bytes)? };
        let coins = (self.orders.seed, pending.ordinal);
        let state = LaunchState::new(handler_model(model), probabilities, coins, &layout, base, placed.flags)
            .to_bytes();
        // SAFETY: the range was allocated; the state's bytes are staged before the call returns, as memory that is not
        // page-locked is.
        unsafe {
            if !idle {
                real::cuMemsetD8Async(base, 0, layout.zeroed_bytes as usize, stream)?;
            }
            real::cuMemcpyHtoDAsync_v2(placed.variable, state.as_ptr().cast(), state.len(), stream)?;
        }
        Ok((!idle).then_some((placed.variable, layout, base)))
    }

    /// Keeps a launch that the real driver took, or drops it.
    pub fn started(&mut self, pending: Pending, status: &CallResult) {
        match status {
            Ok(()) if pending.armed.is_some() => self.launches.pending.push(pending),
            Ok(()) => self.report(&pending, LaunchEnd::Complete, Delays::default()),
            Err(_) => self.launches.release(&pending),
        }
    }

    /// Waits for the chosen launches, and reports them.
    pub fn settle(&mut self, chosen: impl Fn(&Pending) -> bool) {
        for pending in self.launches.take(chosen) {
            // SAFETY: the stream of a launch; one that was destroyed meanwhile is an error.
            let ended = unsafe { real::cuStreamSynchronize(pending.stream as CUstream) };
            self.ended(&pending, ended);
        }
    }

    /// Reports the launches that have ended.
    pub fn look(&mut self) {
        // SAFETY: as in `settle`.
        let done = |pending: &Pending| unsafe { real::cuStreamQuery(pending.stream as CUstream) } != Err(Status::NotReady);
        self.settle(done);
    }

    fn ended(&mut self, pending: &Pending, ended: CallResult) {
        let delays = match (&pending.armed, ended) {
            (Some((_, layout, base)), Ok(())) => Delays::read(layout, |offset, bytes| {
                // SAFETY: inside the launch's buffers, which are still allocated.
                let _ =
                    unsafe { real::cuMemcpyDtoH_v2(bytes.as_mut_ptr().cast(), base + offset, bytes.len()) };
            }),
            _ => Delays::default(),
        };
        let end = match ended {
            // Its context is gone, or the stream: it had ended by then.
            Ok(())
            | Err(
                Status::Deinitialized
                | Status::InvalidHandle
                | Status::InvalidContext
                | Status::ContextIsDestroyed,
            ) => LaunchEnd::Complete,
            Err(status) => LaunchEnd::Fault(fault(&pending.kernel, status)),
        };
        self.launches.release(pending);
        self.report(pending, end, delays);
    }

    fn report(&self, pending: &Pending, end: LaunchEnd, delays: Delays) {
        let counts = LaunchCounts {
            delayed_stores: delays.stores,
            flush_lengths: delays.flush_lengths,
            buffer_bytes: delays.buffer_bytes,
            forgotten: delays.forgotten,
            ..LaunchCounts::default()
        };
        let Pending { ordinal, grid, block, .. } = *pending;
        let kernel = pending.kernel.clone();
        self.report.send(&Message::Launch(Launch {
            ordinal,
            kernel,
            grid,
            block,
            end,
            counts,
            stale_reads: Vec::new(),
            conflicts: Vec::new(),
            more_conflicts: 0,
            coverage: Vec::new(),
            more_coverage: 0,
            meetings: Vec::new(),
            digest: None,
        }));
    }
}

/// With what probabilities a kernel's global and shared stores are delayed.
fn probabilities(orders: &Orders, kernel: &str) -> (f64, f64) {
    // What is no regular expression was refused by the harness.
    let selects = |pattern: &String| Regex::new(pattern).is_ok_and(|pattern| pattern.is_match(kernel));
    let pw = if orders.variation.kernel.as_ref().is_none_or(selects) { orders.variation.pw } else { 0.0 };
    orders.variation.space.each(pw)
}

/// A kernel's name, as the PTX has it.
fn name(function: CUfunction) -> String {
    let mut name = std::ptr::null();
    // SAFETY: a place for the pointer.
    if unsafe { real::cuFuncGetName(&raw mut name, function) }.is_err() || name.is_null() {
        return "?".to_owned();
    }
    // SAFETY: a C string that lives as long as the function.
    unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned()
}

fn current() -> usize {
    let mut context: CUcontext = null_mut();
    // SAFETY: a place for the handle.
    let _ = unsafe { real::cuCtxGetCurrent(&raw mut context) };
    context as usize
}

/// What the real driver says of a launch that went wrong; it does not say where.
fn fault(kernel: &str, status: Status) -> Fault {
    let kind = match status {
        Status::IllegalAddress => FaultKind::IllegalAddress,
        Status::MisalignedAddress => FaultKind::MisalignedAddress,
        Status::IllegalInstruction => FaultKind::IllegalInstruction,
        _ => FaultKind::Trap,
    };
    let summary = format!("{kernel}: {}", status.description().to_string_lossy());
    let at = BlockedThread {
        block: [0; 3],
        thread: [0; 3],
        threads: 0,
        function: kernel.to_owned(),
        ptx_line: None,
        source: None,
        instruction: String::new(),
    };
    let what = status.description().to_string_lossy().into_owned();
    Fault { kind, summary, what, access: None, address: None, size: None, allocation: None, at }
}
