//! Initialisation and version (CUDA Driver API, "Initialization" and "Version Management").
//!
//! `cuInit` reads the trial's orders from the environment ([`bugaroo_protocol::Orders`]) and says hello on the report's
//! pipe. Without orders the library is a plain virtual GPU with seed 0. It starts no thread and
//! allocates next to nothing: a process is started for every trial.

use std::env;
use std::ffi::{c_int, c_uint};

use bugaroo_protocol::{Backend, Message, ORDERS_VARIABLE, Orders, OrdersError, VERSION};

use crate::api::entry::{anytime, initialise};
use crate::api::wait::at_exit;
use bugaroo_device::error::{CallResult, Status};
use bugaroo_device::own_process::{self, end_with_parent};
use bugaroo_device::places::write;
use bugaroo_device::state::Gpu;
use bugaroo_device::trial::fork_server::keep_to_ourselves;
use bugaroo_device::trial::injection::Injection;
use bugaroo_device::trial::report::ReportPipe;

/// CUDA 13.0.
pub const DRIVER_VERSION: c_int = 13000;

/// Initialises the driver. A second call does nothing.
///
/// `CUDA_ERROR_INVALID_VALUE` for flags, or for orders that are none; `CUDA_ERROR_SYSTEM_DRIVER_MISMATCH` for orders of
/// another version; `CUDA_ERROR_NOT_SUPPORTED` for orders that this driver cannot carry out;
/// `CUDA_ERROR_NOT_INITIALIZED` in a process forked from one that was initialised, as with the real
/// driver.
pub extern "C" fn cuInit(flags: c_uint) -> Status {
    anytime("cuInit", || {
        if flags != 0 {
            return Err(Status::InvalidValue);
        }
        let make = || {
            let orders = read_orders()?;
            let report = ReportPipe::new(orders.as_ref().map(|orders| orders.report_fd));
            if report.wanted() {
                end_with_parent();
            }
            if let Some(wanted) = orders.as_ref().and_then(|orders| orders.fork_server.as_ref()) {
                keep_to_ourselves(wanted);
            }
            report.send(&Message::Hello { version: VERSION, pid: std::process::id() });
            if let Some(what) = orders.as_ref().and_then(unsupported) {
                return Err(report.unsupported(&what));
            }
            let injection = Injection::new(orders).map_err(|error| {
                eprintln!("bugaroo: {error}");
                Status::InvalidValue
            })?;
            Gpu::new(injection, report)
        };
        initialise(make, at_exit)
    })
}

/// The orders in the environment, if there are any.
fn read_orders() -> CallResult<Option<Orders>> {
    let Some(text) = env::var_os(ORDERS_VARIABLE).filter(|_| !own_process::is_plain()) else {
        return Ok(None);
    };
    match Orders::from_json(&text.to_string_lossy()) {
        Ok(orders) => Ok(Some(orders)),
        Err(error) => {
            eprintln!("bugaroo: {error}");
            Err(match error {
                OrdersError::Version { .. } => Status::SystemDriverMismatch,
                OrdersError::Malformed(_) => Status::InvalidValue,
            })
        }
    }
}

/// What of the orders cannot be done, if anything.
fn unsupported(orders: &Orders) -> Option<String> {
    // With a real driver this function is never reached.
    let missing =
        || (orders.backend == Backend::Cuda).then(|| "backend cuda: no real driver was found".to_owned());
    bugaroo_device::trial::race::unsupported(orders).or_else(missing)
}

/// The CUDA version of the driver: 13000. Needs no initialisation.
///
/// # Safety
/// `place` is null or points to a place for a number.
pub unsafe extern "C" fn cuDriverGetVersion(place: *mut c_int) -> Status {
    anytime("cuDriverGetVersion", || {
        // SAFETY: the caller's promise.
        unsafe { write(place, DRIVER_VERSION) }
    })
}
