//! Call configurations: what stands between `<<<` and `>>>`, kept from where the program says it to where
//! the kernel's stub launches. They nest, since a kernel's arguments may launch others.

use std::cell::RefCell;
use std::ffi::{c_int, c_uint};

use bugaroo_cuda_abi::CUstream;

use crate::entry::anytime;
use crate::error::RuntimeError;
use crate::types::Dim3;

/// One configuration.
#[derive(Clone, Copy)]
struct Configuration {
    grid: Dim3,
    block: Dim3,
    shared: usize,
    stream: CUstream,
}

thread_local! {
    static PUSHED: RefCell<Vec<Configuration>> = const { RefCell::new(Vec::new()) };
}

/// Keeps a configuration; other than 0, the program leaves out the call of the kernel's stub.
pub extern "C" fn __cudaPushCallConfiguration(
    grid: Dim3,
    block: Dim3,
    shared: usize,
    stream: CUstream,
) -> c_uint {
    let pushed = anytime("__cudaPushCallConfiguration", || {
        PUSHED.with_borrow_mut(|pushed| pushed.push(Configuration { grid, block, shared, stream }));
        Ok(())
    });
    c_uint::from(pushed != 0)
}

/// Gives the last configuration back.
///
/// # Safety
/// Each is a place for what its name says.
pub unsafe extern "C" fn __cudaPopCallConfiguration(
    grid: *mut Dim3,
    block: *mut Dim3,
    shared: *mut usize,
    stream: *mut CUstream,
) -> c_int {
    anytime("__cudaPopCallConfiguration", || {
        let last = PUSHED.with_borrow_mut(Vec::pop).ok_or(RuntimeError::MISSING_CONFIGURATION)?;
        // SAFETY: the caller's promise, for all four.
        unsafe {
            *grid = last.grid;
            *block = last.block;
            *shared = last.shared;
            *stream = last.stream;
        }
        Ok(())
    })
}
