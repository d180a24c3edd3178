//! Panics in the driver: internal errors, which are Bugaroo's own and never the program's.
//!
//! The first is told once: a line on stderr, and a message to the harness, sent from the panic's hook, so that it arrives even
//! where unwinding fails. From then on the driver is broken, as a context is after a fault: what a panic left
//! half-done is not looked at again, and every call that needs it gives `CUDA_ERROR_UNKNOWN`.
//!
//! Panics of threads that are not in a call of the API go to whatever hook was there before.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use bugaroo_protocol::Message;

use crate::trial::report;

static HOOK: Once = Once::new();
static BROKEN: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// The call of the API that the thread is in.
    static CALL: Cell<Option<&'static str>> = const { Cell::new(None) };
}

/// Whether there was a panic.
pub fn broken() -> bool {
    BROKEN.load(Ordering::Acquire)
}

/// Runs the body of an API function; None when it panicked, which was told then.
pub fn caught<T>(name: &str, body: impl FnOnce() -> T) -> Option<T> {
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| match CALL.try_with(Cell::get) {
            Ok(Some(_)) => tell(info),
            _ => before(info),
        }));
    });
    // The name is only looked at while this call lasts.
    // SAFETY: the place is cleared, or gets back what it held, before `name` ends.
    let lasting: &'static str = unsafe { std::mem::transmute::<&str, &'static str>(name) };
    let outer = CALL.replace(Some(lasting));
    // What a panic may leave half-done is never used again.
    let done = catch_unwind(AssertUnwindSafe(body)).ok();
    CALL.set(outer);
    done
}

fn tell(info: &PanicHookInfo<'_>) {
    if BROKEN.swap(true, Ordering::AcqRel) {
        return;
    }
    let call = CALL.get().unwrap_or("the driver");
    let payload = info.payload();
    let text = payload.downcast_ref::<&str>().copied();
    let said = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let said = said.unwrap_or("a panic without a message");
    let place = info.location().map(|at| format!(" ({}:{})", at.file(), at.line())).unwrap_or_default();
    let what = format!("in {call}: {said}{place}");
    report::say(&Message::Panicked { what: what.clone() });
    eprintln!("bugaroo: internal error {what}; please report it");
}
