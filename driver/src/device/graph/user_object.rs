//! Objects of the program that graphs keep alive, and those that are to be destroyed.

use std::ffi::c_void;

use bugaroo_cuda_abi::CUhostFn;

use crate::device::graph::Graphs;
use crate::error::{Outcome, Status};

/// Something of the program's.
#[derive(Clone, Copy, Debug)]
pub struct UserObject {
    pub(crate) data: *mut c_void,
    pub(crate) destroy: CUhostFn,
    pub(crate) references: u64,
}

/// References of a graph, or of an executable graph: object and count.
pub type References = Vec<(*mut c_void, u64)>;

/// Objects that nobody refers to any more: they are destroyed when the driver's lock is not held.
#[derive(Debug, Default)]
#[must_use]
pub struct Dying(Vec<(CUhostFn, *mut c_void)>);

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

impl Graphs {
    /// References less; the object may die of it.
    ///
    /// # Errors
    /// `InvalidValue` when there are not so many.
    pub(crate) fn release(&mut self, object: *mut c_void, count: u64, dying: &mut Dying) -> Outcome {
        let found = self.objects.get_mut(object).map_err(|_| Status::InvalidValue)?;
        found.references = found.references.checked_sub(count).ok_or(Status::InvalidValue)?;
        if found.references == 0 {
            let UserObject { data, destroy, .. } = self.objects.remove(object)?;
            dying.0.push((destroy, data));
        }
        Ok(())
    }

    /// One more of each reference, for another holder.
    pub fn retain_all(&mut self, references: &References) {
        for (object, count) in references {
            if let Ok(found) = self.objects.get_mut(*object) {
                found.references += count;
            }
        }
    }

    /// A holder's references go.
    pub fn release_all(&mut self, references: References, dying: &mut Dying) {
        for (object, count) in references {
            // The holder had them, so they are there.
            let _ = self.release(object, count, dying);
        }
    }
}
