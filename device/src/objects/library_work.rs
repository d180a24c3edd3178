//! Work that a library has handed over.

use std::ffi::{CString, c_void};

use bugaroo_cuda_abi::CUcontext;
use bugaroo_cuda_abi::door::{ReleaseFn, Run};

/// Work of a library's.
pub struct LibraryWork {
    pub(crate) name: CString,
    pub(crate) context: CUcontext,
    pub(crate) run: Run,
    pub(crate) data: *mut c_void,
    pub(crate) release: ReleaseFn,
}

impl Drop for LibraryWork {
    fn drop(&mut self) {
        // SAFETY: it was handed over with this data, which nobody uses any more.
        unsafe { (self.release)(self.data) };
    }
}

impl std::fmt::Debug for LibraryWork {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("LibraryWork").field(&self.name).finish()
    }
}
