//! Copies, described and then carried out: what the functions of [`crate::api::copy`], [`crate::api::copy2d`] and
//! their like have in common.
//!
//! A [`Transfer`] says everything about a copy: where it reads, where it writes, and its extent. It is
//! checked when the program asks for it, so that what the host can see to be wrong is told at once, and
//! carried out when its turn comes. Host memory is read or written as far as the program says, never
//! further.

use bugaroo_cuda_abi::CUstream;

use crate::api::settle::settle;
use crate::api::stream::with_stream;
use crate::api::submit::on_stream;
use bugaroo_device::error::{CallResult, Status};
use bugaroo_device::objects::transfer::{CopyPlace, Transfer};
use bugaroo_device::objects::work::Work;
use bugaroo_device::state::Gpu;
use bugaroo_device::submit::Submitted;
use bugaroo_device::transfer::Manner;

/// Submits copies to a stream, with the checks and waits that they call for: one from or to the host waits for
/// the stream, so that it is one of the calls that report a fault, but for the asynchronous functions
/// (`name` tells) where the host's memory is page-locked, or is only read and can be staged. `describe` may
/// look things up; what it refuses, nobody copies.
///
/// # Safety
/// Host sides hold what is copied, until the stream has come so far.
pub unsafe fn submit(
    name: &str,
    stream: CUstream,
    describe: impl FnOnce(&Gpu) -> CallResult<Vec<Transfer>>,
) -> Status {
    let asynchronous = name.contains("Async");
    let (mut now, mut settling) = (Vec::new(), Vec::new());
    let status = on_stream(name, stream, |gpu, stream| {
        let transfers = describe(gpu)?;
        for transfer in &transfers {
            // Also where the device will never come so far: what the host can see to be wrong, it says.
            if transfer.is_on_device() || !gpu.is_broken(stream.context) {
                transfer.check(gpu)?;
            }
        }
        // A graph does all of it later; and what runs at the call needs no staging.
        let captured = asynchronous && gpu.is_capturing(&stream);
        let queued = gpu.overlaps(&stream);
        if !captured && transfers.iter().any(|t| t.manner(gpu, asynchronous) == Manner::Now) {
            now = transfers;
            return Ok(());
        }
        for transfer in transfers.into_iter().filter(|transfer| !transfer.is_empty()) {
            let staged = !captured && queued && transfer.manner(gpu, asynchronous) == Manner::Staged;
            // SAFETY: the caller's promise.
            let work = if staged { unsafe { transfer.staged() } } else { Work::Copy(transfer) };
            settling.extend(gpu.submit(&stream, work)?);
        }
        Ok(())
    });
    if status != Status::Success {
        return status;
    }
    if !now.is_empty() {
        return with_stream(name, stream, |gpu, stream| {
            gpu.surface(stream.context)?;
            // An asynchronous copy from pageable memory may return when that was read, which it does not promise to wait
            // for anything for.
            let to_host = |transfer: &Transfer| matches!(transfer.to.start, CopyPlace::Host(_));
            let waits = !asynchronous || now.iter().any(to_host);
            gpu.at_call(&stream, waits, |gpu| {
                // SAFETY: the caller's promise.
                now.iter().try_for_each(|transfer| unsafe { transfer.execute(gpu) })
            })
        });
    }
    let told = settling.into_iter().map(|submitted: Submitted| settle(&submitted, name));
    told.fold(Status::Success, |status, told| if status == Status::Success { told } else { status })
}

/// [`submit`] for one copy that needs no looking up.
///
/// # Safety
/// As [`submit`].
pub unsafe fn submit_one(name: &str, stream: CUstream, transfer: Transfer) -> Status {
    // SAFETY: the caller's promise.
    unsafe { submit(name, stream, |_| Ok(vec![transfer])) }
}
