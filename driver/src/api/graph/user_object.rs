//! User objects (CUDA Driver API, "Graph Management", `cuUserObjectCreate`): something of the program's that graphs keep
//! alive, with the function that is called when nobody refers to it any more.

use std::ffi::{c_uint, c_void};

use bugaroo_cuda_abi::{CUgraph, CUhostFn};

use crate::api::entry::with_gpu;
use bugaroo_device::error::{CallResult, Status};
use bugaroo_device::objects::graph::user_object::{Dying, UserObject};
use bugaroo_device::places::{not_null, write};

/// `CU_USER_OBJECT_NO_DESTRUCTOR_SYNC`, which has to be set.
const NO_DESTRUCTOR_SYNC: c_uint = 1;
/// `CU_GRAPH_USER_OBJECT_MOVE`
const MOVE: c_uint = 1;

fn positive(count: c_uint) -> CallResult<u64> {
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
    with_gpu("cuUserObjectCreate", |gpu| {
        not_null(place)?;
        if destroy.is_none() || flags != NO_DESTRUCTOR_SYNC {
            return Err(Status::InvalidValue);
        }
        let references = positive(count)?;
        let object = gpu.ordered.graphs.objects.insert(UserObject { data, destroy, references });
        // SAFETY: the caller's promise.
        unsafe { write(place, object) }
    })
}

/// More references of the program's own.
pub extern "C" fn cuUserObjectRetain(object: *mut c_void, count: c_uint) -> Status {
    with_gpu("cuUserObjectRetain", |gpu| {
        let count = positive(count)?;
        gpu.ordered.graphs.objects.get_mut(object).map_err(|_| Status::InvalidValue)?.references += count;
        Ok(())
    })
}

/// Less references of the program's own.
pub extern "C" fn cuUserObjectRelease(object: *mut c_void, count: c_uint) -> Status {
    let mut dying = Dying::default();
    let status = with_gpu("cuUserObjectRelease", |gpu| {
        gpu.ordered.graphs.release(object, positive(count)?, &mut dying)
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
    with_gpu("cuGraphRetainUserObject", |gpu| {
        let count = positive(count)?;
        let found = gpu.ordered.graphs.objects.get_mut(object).map_err(|_| Status::InvalidValue)?;
        let holder = gpu.ordered.graphs.graphs.get_mut(graph)?;
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
    let status = with_gpu("cuGraphReleaseUserObject", |gpu| {
        let count = positive(count)?;
        let holder = gpu.ordered.graphs.graphs.get_mut(graph)?;
        let held = holder.objects.iter_mut().find(|held| held.0 == object).ok_or(Status::InvalidValue)?;
        held.1 = held.1.checked_sub(count).ok_or(Status::InvalidValue)?;
        holder.objects.retain(|held| held.1 > 0);
        gpu.ordered.graphs.release(object, count, &mut dying)
    });
    dying.destroy();
    status
}
