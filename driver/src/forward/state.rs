//! What the intercepted functions know.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use bugaroo_protocol::{Message, Orders, VERSION};

use crate::forward::modules::Modules;
use crate::forward::pending::Launches;
use bugaroo_device::trial::report::ReportPipe;

/// What the intercepted functions know.
#[derive(Debug)]
pub(crate) struct Forward {
    pub(crate) orders: Orders,
    pub(crate) report: ReportPipe,
    pub(crate) modules: Modules,
    pub(crate) launches: Launches,
}

pub(crate) static FORWARD: OnceLock<Mutex<Forward>> = OnceLock::new();

/// What the intercepted functions know, locked. Never held while the real driver runs a program's code.
pub(crate) fn forward() -> MutexGuard<'static, Forward> {
    // Intercepted functions are only bound after this is set.
    let forward = FORWARD.get().expect("bound after it was made");
    forward.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Tells the harness that the driver was initialised.
pub(crate) fn hello() {
    static SAID: AtomicBool = AtomicBool::new(false);
    if !SAID.swap(true, Ordering::Relaxed) {
        bugaroo_device::own_process::end_with_parent();
        forward().report.send(&Message::Hello { version: VERSION, pid: std::process::id() });
    }
}
