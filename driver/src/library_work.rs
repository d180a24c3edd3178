//! The door for Bugaroo's substitutes of NVIDIA's libraries (`libraries/`): work of theirs in a stream.
//!
//! A library hands over a function, which becomes one piece of a stream's work: it is called when its turn comes, after
//! what the stream holds before it, and reads and writes device memory by what it is given then. Race detectors see each range
//! as an access of a copy's. Captured, it is a node of the graph, which is called at each launch of that; NVIDIA's
//! libraries launch kernels, so the node says that it is one.
//!
//! This is no function of CUDA's. The library asks for it by name, so that it is absent in another driver, and answers
//! `CUDA_ERROR_NOT_SUPPORTED` before a real GPU ([`crate::forward`]). A version guards its form.
//!
//! **What it can miss.** The function's accesses happen in one step: no kernel of another stream runs between two of them.
//! That such kernels race with it, detectors say.

use std::ffi::{CStr, CString, c_char, c_uint, c_void};
use std::rc::Rc;

use crate::entry::{anytime, not_null, write};
use crate::error::{Outcome, Status};
use crate::state::Driver;
use crate::submit::submit;
use crate::types::{CUcontext, CUdeviceptr, CUstream};
use crate::work::Work;

/// The version of what is handed over here. One of another version is refused.
pub const VERSION: c_uint = 1;

/// What a library's function does; it answers 0, or a `CUresult` that breaks the context as a kernel's fault does. It may be
/// called any number of times until `release`, by any thread, one call at a time, and must not call the Driver API.
pub type Run = unsafe extern "C" fn(data: *mut c_void, memory: *const Access) -> c_uint;

/// Frees what [`Run`] is given.
pub type Release = unsafe extern "C" fn(data: *mut c_void);

/// How a library's function gets at device memory while it runs. Both functions move `rows` rows of `width` bytes, which are
/// `pitch` bytes apart on the device and stand one behind the other at the host's pointer. They answer a
/// `CUresult`: `CUDA_ERROR_ILLEGAL_ADDRESS` for rows that are not inside one allocation each, which is said on stderr.
#[repr(C)]
pub struct Access {
    /// What the functions are given.
    pub state: *mut c_void,
    /// From the device.
    pub read: unsafe extern "C" fn(
        state: *mut c_void,
        address: CUdeviceptr,
        into: *mut c_void,
        width: usize,
        rows: usize,
        pitch: usize,
    ) -> Status,
    /// To the device.
    pub write: unsafe extern "C" fn(
        state: *mut c_void,
        address: CUdeviceptr,
        from: *const c_void,
        width: usize,
        rows: usize,
        pitch: usize,
    ) -> Status,
}

/// The functions behind the door.
#[repr(C)]
pub struct Door {
    /// Hands work over to a stream. `name` is the function that the program has called.
    pub enqueue: unsafe extern "C" fn(
        name: *const c_char,
        stream: CUstream,
        run: Run,
        data: *mut c_void,
        release: Release,
    ) -> Status,
}

static DOOR: Door = Door { enqueue };

/// Work of a library's.
pub struct LibraryWork {
    name: CString,
    context: CUcontext,
    run: Run,
    data: *mut c_void,
    release: Release,
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

impl LibraryWork {
    /// The function of the library's that the program has called.
    pub fn name(&self) -> &CStr {
        &self.name
    }

    /// Does it. What fails breaks the context.
    pub fn execute(&self, driver: &mut Driver) {
        let mut state = Running { driver, work: self, bytes: 0 };
        let access = Access { state: (&raw mut state).cast(), read, write: write_rows };
        // SAFETY: the library vouches for its function and data; `access` and what it points to last as long as the call.
        let code = unsafe { (self.run)(self.data, &raw const access) };
        let moved = state.bytes;
        driver.clock.moved(moved);
        if code != 0 {
            driver.break_context(self.context, Status::from_code(code).unwrap_or(Status::Unknown));
        }
    }
}

/// A library's function that runs.
struct Running<'a> {
    driver: &'a mut Driver,
    work: &'a LibraryWork,
    bytes: u64,
}

impl Running<'_> {
    /// Does something with each row; `write` says whether it is written.
    fn rows(
        &mut self,
        (address, width, rows, pitch): (CUdeviceptr, usize, usize, usize),
        write: bool,
        mut each: impl FnMut(&mut Driver, CUdeviceptr, usize) -> bool,
    ) -> Status {
        // Rows without gaps are one.
        let (width, rows) = match width.checked_mul(rows) {
            Some(all) if pitch == width => (all, 1),
            Some(_) => (width, rows),
            None => return Status::InvalidValue,
        };
        if width == 0 {
            return Status::Success;
        }
        for row in 0..rows {
            let start = address.wrapping_add((row as u64).wrapping_mul(pitch as u64));
            if let Some(order) = &self.driver.queue.order
                && self.driver.memory.check(start, width as u64, write).is_ok()
            {
                order.accessed(start, width as u64, write);
            }
            if !each(self.driver, start, row * width) {
                let (name, does) = (self.work.name.to_string_lossy(), if write { "writes" } else { "reads" });
                eprintln!(
                    "bugaroo: {name} {does} {width} bytes at {start:#x}, which are not inside one allocation of the device's"
                );
                return Status::IllegalAddress;
            }
        }
        self.bytes = self.bytes.saturating_add((width * rows) as u64);
        Status::Success
    }
}

unsafe extern "C" fn read(
    state: *mut c_void,
    address: CUdeviceptr,
    into: *mut c_void,
    width: usize,
    rows: usize,
    pitch: usize,
) -> Status {
    // SAFETY: the state that `execute` made, which lasts; one function runs at a time.
    let running = unsafe { &mut *state.cast::<Running<'_>>() };
    running.rows((address, width, rows, pitch), false, |driver, start, offset| {
        let bytes = if pitch == width { width * rows } else { width };
        // SAFETY: the library's buffer holds `rows` rows of `width` bytes.
        let into = unsafe { std::slice::from_raw_parts_mut(into.cast::<u8>().add(offset), bytes) };
        driver.memory.read(start, into).is_ok()
    })
}

unsafe extern "C" fn write_rows(
    state: *mut c_void,
    address: CUdeviceptr,
    from: *const c_void,
    width: usize,
    rows: usize,
    pitch: usize,
) -> Status {
    // SAFETY: as above.
    let running = unsafe { &mut *state.cast::<Running<'_>>() };
    running.rows((address, width, rows, pitch), true, |driver, start, offset| {
        let bytes = if pitch == width { width * rows } else { width };
        // SAFETY: as above.
        let from = unsafe { std::slice::from_raw_parts(from.cast::<u8>().add(offset), bytes) };
        driver.memory.write(start, from).is_ok()
    })
}

/// Hands a library's function over to a stream. It is released also where this fails.
///
/// # Safety
/// `name` is a C string; `run` and `release` may be called with `data`.
unsafe extern "C" fn enqueue(
    name: *const c_char,
    stream: CUstream,
    run: Run,
    data: *mut c_void,
    release: Release,
) -> Status {
    // SAFETY: the caller's promise.
    let name = unsafe { CStr::from_ptr(name) }.to_owned();
    let mut work = LibraryWork { name: name.clone(), context: std::ptr::null_mut(), run, data, release };
    submit(&name.to_string_lossy(), stream, move |_, stream| {
        work.context = stream.context;
        Ok(Some(Work::Library(Rc::new(work))))
    })
}

/// Gives the functions behind the door to a library of this version.
///
/// # Errors
/// `NotSupported` for another version.
fn open(version: c_uint, place: *mut *const Door) -> Outcome {
    not_null(place)?;
    if version != VERSION {
        return Err(Status::NotSupported);
    }
    // SAFETY: not null, and the caller vouches for the rest.
    unsafe { write(place, &raw const DOOR) }
}

/// The door: writes where its functions are.
///
/// # Safety
/// `place` is null or points to a place for a pointer.
pub unsafe extern "C" fn bugarooLibraryDoor(version: c_uint, place: *mut *const Door) -> Status {
    anytime("bugarooLibraryDoor", || open(version, place))
}
