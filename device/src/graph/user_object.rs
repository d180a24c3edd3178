//! Objects of the program are retained and released by graphs.

use std::ffi::c_void;

use crate::error::{CallResult, Status};
use crate::objects::graph::Graphs;
use crate::objects::graph::user_object::{Dying, References, UserObject};

impl Graphs {
    /// References less; the object may die of it.
    ///
    /// # Errors
    /// `InvalidValue` when there are not so many.
    pub fn release(&mut self, object: *mut c_void, count: u64, dying: &mut Dying) -> CallResult {
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
