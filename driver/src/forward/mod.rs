//! The same library before a real GPU: everything goes to the real driver, and PTX is rewritten on its way.
//!
//! When the orders name a real driver, every exported name is bound to its namesake there as soon as this
//! library is loaded ([`crate::api::exports`]: a slot is exchanged), but for the names in [`intercepts`]:
//!
//! - Modules ([`modules`]), whichever way they come (text, fat binary, a link of several, `cuModule*`
//!   and `cuLibrary*`, and so NVIDIA's own runtime library, static or not), are instrumented. What comes as
//!   machine code alone runs as it is, with one warning that names it.
//! - Launches ([`launches`]) find the state that their handlers read (seed, probabilities, buffers, site flags)
//!   written before them, in the order of their stream.
//! - Looking names up gives ours where we have a say.
//!
//! **Departures from the virtual GPU.** Nothing is deterministic but the coins. There is no digest of memory,
//! no step budget and no diagnosis: a hang ends by the harness's timeout. Launches of one module that delay stores run one after another
//! (they share the module's state), which hides nothing of what a launch does in itself.
//! Kernel nodes of graphs run instrumented code with probability 0.
//!
//! The real driver may be another copy of this very library: that copy then is the plain virtual GPU.
//! The tests use that, for want of a GPU.

mod intercepts;
mod launches;
mod modules;
pub(crate) mod pending;
mod real;
pub mod state;

use std::ffi::{CStr, c_void};
use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::Ordering;

use bugaroo_protocol::{Backend, ORDERS_VARIABLE, Orders};

use crate::api::exports;
use crate::forward::pending::Launches;
use crate::forward::state::{FORWARD, Forward};
use bugaroo_device::error::Status;
use bugaroo_device::own_process;
use bugaroo_device::trial::report::ReportPipe;

use modules::Modules;
use real::Real;

/// Runs when the library is loaded, before any of its functions can be called.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_LOAD: extern "C" fn() = at_load;

extern "C" fn at_load() {
    // What goes wrong here is told when the program initialises the driver.
    let _ = std::panic::catch_unwind(|| {
        let orders = std::env::var_os(ORDERS_VARIABLE)?;
        let orders = Orders::from_json(&orders.to_string_lossy()).ok()?;
        // Race detectors have nothing to look at there, which is told at the program's first call.
        if orders.backend == Backend::Cuda && orders.variation.race.is_empty() {
            install(orders);
        }
        Some(())
    });
}

/// Where this library was loaded from.
fn own_path() -> Option<PathBuf> {
    // SAFETY: the loader fills the description in when it answers other than 0; it is plain data, and its
    // name is a C string that lives as long as this library.
    let path = unsafe {
        let mut here: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(at_load as *const c_void, &mut here) == 0 || here.dli_fname.is_null() {
            return None;
        }
        CStr::from_ptr(here.dli_fname)
    };
    fs::canonicalize(path.to_str().ok()?).ok()
}

/// Binds every exported name to the real driver.
fn install(orders: Orders) {
    let report = ReportPipe::new(Some(orders.report_fd));
    let Some(path) = orders.real_driver.clone() else {
        eprintln!("bugaroo: backend cuda: the orders name no real driver");
        return;
    };
    if own_path().is_some_and(|own| fs::canonicalize(&path).is_ok_and(|path| path == own)) {
        own_process::set_plain();
        return;
    }
    let real = match Real::open(&path) {
        Ok(real) => real,
        Err(error) => {
            let _ =
                report.unsupported(&format!("backend cuda: {} cannot be loaded: {error}", path.display()));
            return;
        }
    };
    let forward = Forward { orders, report, modules: Modules::default(), launches: Launches::default() };
    if FORWARD.set(Mutex::new(forward)).is_err() || real::install(real).is_err() {
        return;
    }
    for (name, slot) in exports::all() {
        let address = intercepts::address(name).or_else(|| real::address(name));
        slot.store(address.unwrap_or(not_there as *mut c_void), Ordering::Release);
    }
}

/// Stands behind names that the real driver, older than this library, lacks.
extern "C" fn not_there() -> Status {
    Status::NotSupported
}
