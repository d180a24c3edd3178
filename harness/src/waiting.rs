//! The asynchronous runtime that trials run on: one thread waits for all processes.

use std::io;

/// Runs a future to its end.
///
/// # Errors
/// When the system refuses what a runtime needs.
pub fn block_on<F: Future>(future: F) -> io::Result<F::Output> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(future))
}
