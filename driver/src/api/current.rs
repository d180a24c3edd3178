//! The calling thread's stack of contexts (CUDA Driver API, "Context Management"): its top is the
//! current one.

use std::cell::RefCell;

use bugaroo_cuda_abi::CUcontext;

thread_local! {
    static STACK: RefCell<Vec<CUcontext>> = const { RefCell::new(Vec::new()) };
}

/// Runs `body` on the stack. Empty while the thread is being torn down: a destructor of the program
/// may well call the driver then.
fn with<T: Default>(body: impl FnOnce(&mut Vec<CUcontext>) -> T) -> T {
    STACK.try_with(|stack| body(&mut stack.borrow_mut())).unwrap_or_default()
}

/// The current context.
pub fn top() -> Option<CUcontext> {
    with(|stack| stack.last().copied())
}

/// Puts a context on top.
pub fn push(context: CUcontext) {
    with(|stack| stack.push(context));
}

/// Takes the top off.
pub fn pop() -> Option<CUcontext> {
    with(Vec::pop)
}

/// Replaces the top, or takes it off (`None`).
pub fn set(context: Option<CUcontext>) {
    pop();
    if let Some(context) = context {
        push(context);
    }
}
