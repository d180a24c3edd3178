//! Objects of the program that graphs keep alive, and those that are to be destroyed.

use std::ffi::c_void;

use bugaroo_cuda_abi::CUhostFn;

/// Something of the program's.
#[derive(Clone, Copy, Debug)]
pub struct UserObject {
    /// What the program gave.
    pub data: *mut c_void,
    /// What is called with it when the last reference is gone.
    pub destroy: CUhostFn,
    /// How many there are.
    pub references: u64,
}

/// References of a graph, or of an executable graph: object and count.
pub type References = Vec<(*mut c_void, u64)>;

/// Objects that nobody refers to any more: they are destroyed when the driver's lock is not held.
#[derive(Debug, Default)]
#[must_use]
pub struct Dying(pub(crate) Vec<(CUhostFn, *mut c_void)>);

impl Dying {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Calls the program's functions. The calling thread holds no lock.
    pub fn destroy(self) {
        for (destroy, data) in self.0 {
            if let Some(destroy) = destroy {
                // SAFETY: whoever made the object vouched that it may be called with this.
                unsafe { destroy(data) };
            }
        }
    }
}
