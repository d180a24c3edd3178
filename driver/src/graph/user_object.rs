//! User objects (CUDA Driver API, "Graph Management", `cuUserObjectCreate`): something of the program's that graphs keep
//! alive, with the function that is called when nobody refers to it any more.

use std::ffi::{c_uint, c_void};

use bugaroo_cuda_abi::{CUgraph, CUhostFn};

use crate::entry::{not_null, with_driver, write};
use crate::error::{Outcome, Status};
use crate::graph::Graphs;

/// `CU_USER_OBJECT_NO_DESTRUCTOR_SYNC`, which has to be set.
const NO_DESTRUCTOR_SYNC: c_uint = 1;
/// `CU_GRAPH_USER_OBJECT_MOVE`
const MOVE: c_uint = 1;

/// Something of the program's.
#[derive(Clone, Copy, Debug)]
pub struct UserObject {
    data: *mut c_void,
    destroy: CUhostFn,
    references: u64,
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
    fn release(&mut self, object: *mut c_void, count: u64, dying: &mut Dying) -> Outcome {
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

fn positive(count: c_uint) -> Outcome<u64> {
    if count == 0 || count > i32::MAX as u32 { Err(Status::InvalidValue) } else { Ok(count.into()) }
}

/// Makes a user object.
///
/// # Safety
/// `place` is null or points to a place for a handle; the function may be called with `data`, from any thread.
pub unsafe extern "C" fn cuUserObjectCreate(
    place: *mut *mut c_void,
    data: *mut c_void,
    destroy: CUhostFn,
    count: c_uint,
    flags: c_uint,
) -> Status {
    with_driver("cuUserObjectCreate", |driver| {
        not_null(place)?;
        if destroy.is_none() || flags != NO_DESTRUCTOR_SYNC {
            return Err(Status::InvalidValue);
        }
        let references = positive(count)?;
        let object = driver.graphs.objects.insert(UserObject { data, destroy, references });
        // SAFETY: the caller's promise.
        unsafe { write(place, object) }
    })
}

/// More references of the program's own.
pub extern "C" fn cuUserObjectRetain(object: *mut c_void, count: c_uint) -> Status {
    with_driver("cuUserObjectRetain", |driver| {
        let count = positive(count)?;
        driver.graphs.objects.get_mut(object).map_err(|_| Status::InvalidValue)?.references += count;
        Ok(())
    })
}

/// Less references of the program's own.
pub extern "C" fn cuUserObjectRelease(object: *mut c_void, count: c_uint) -> Status {
    let mut dying = Dying::default();
    let status = with_driver("cuUserObjectRelease", |driver| {
        driver.graphs.release(object, positive(count)?, &mut dying)
    });
    dying.destroy();
    status
}

/// References for a graph: new ones, or some of the program's own.
pub extern "C" fn cuGraphRetainUserObject(
    graph: CUgraph,
    object: *mut c_void,
    count: c_uint,
    flags: c_uint,
) -> Status {
    with_driver("cuGraphRetainUserObject", |driver| {
        let count = positive(count)?;
        let found = driver.graphs.objects.get_mut(object).map_err(|_| Status::InvalidValue)?;
        let holder = driver.graphs.graphs.get_mut(graph)?;
        match flags {
            0 => found.references += count,
            MOVE if found.references >= count => {}
            _ => return Err(Status::InvalidValue),
        }
        match holder.objects.iter_mut().find(|held| held.0 == object) {
            Some(held) => held.1 += count,
            None => holder.objects.push((object, count)),
        }
        Ok(())
    })
}

/// Less references of a graph.
pub extern "C" fn cuGraphReleaseUserObject(graph: CUgraph, object: *mut c_void, count: c_uint) -> Status {
    let mut dying = Dying::default();
    let status = with_driver("cuGraphReleaseUserObject", |driver| {
        let count = positive(count)?;
        let holder = driver.graphs.graphs.get_mut(graph)?;
        let held = holder.objects.iter_mut().find(|held| held.0 == object).ok_or(Status::InvalidValue)?;
        held.1 = held.1.checked_sub(count).ok_or(Status::InvalidValue)?;
        holder.objects.retain(|held| held.1 > 0);
        driver.graphs.release(object, count, &mut dying)
    });
    dying.destroy();
    status
}
