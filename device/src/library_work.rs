//! Work of Bugaroo's substitutes of NVIDIA's libraries (`libraries/`) in a stream.
//!
//! A library hands a function over ([`bugaroo_cuda_abi::door`]), which becomes one piece of a stream's work: it is called when its
//! turn comes, after what the stream holds before it, and reads and writes device memory by what it is given then. Race detectors see each range
//! as an access of a copy's. Captured, it is a node of the graph, which is called at each launch of that; NVIDIA's
//! libraries launch kernels, so the node says that it is one.
//!
//! **What it can miss.** The function's accesses happen in one step: no kernel of another stream runs between two of them.
//! That such kernels race with it, detectors say.

use std::ffi::{CStr, CString, c_uint, c_void};

use bugaroo_cuda_abi::door::{DoorAccess, ReleaseFn, Run};
use bugaroo_cuda_abi::{CUcontext, CUdeviceptr};

use crate::error::Status;
use crate::objects::library_work::LibraryWork;
use crate::state::Gpu;

impl LibraryWork {
    /// Work of no context yet.
    ///
    /// # Safety
    /// `run` and `release` may be called with `data`, as they are described.
    pub unsafe fn new(name: CString, run: Run, data: *mut c_void, release: ReleaseFn) -> LibraryWork {
        LibraryWork { name, context: std::ptr::null_mut(), run, data, release }
    }

    /// It is a context's, which it breaks where it fails.
    pub fn belongs_to(&mut self, context: CUcontext) {
        self.context = context;
    }

    /// The function of the library's that the program has called.
    pub fn name(&self) -> &CStr {
        &self.name
    }

    /// Does it. What fails breaks the context.
    pub fn execute(&self, gpu: &mut Gpu) {
        let mut state = Running { gpu, work: self, bytes: 0 };
        let access = DoorAccess { state: (&raw mut state).cast(), read, write: write_rows };
        // SAFETY: the library vouches for its function and data; `access` and what it points to last as long as the call.
        let code = unsafe { (self.run)(self.data, &raw const access) };
        let moved = state.bytes;
        gpu.running.clock.moved(moved);
        if code != 0 {
            gpu.break_context(self.context, Status::from_code(code).unwrap_or(Status::Unknown));
        }
    }
}

/// A library's function that runs.
struct Running<'a> {
    gpu: &'a mut Gpu,
    work: &'a LibraryWork,
    bytes: u64,
}

impl Running<'_> {
    /// Does something with each row; `write` says whether it is written.
    fn rows(
        &mut self,
        (address, width, rows, pitch): (CUdeviceptr, usize, usize, usize),
        write: bool,
        mut each: impl FnMut(&mut Gpu, CUdeviceptr, usize) -> bool,
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
            if let Some(order) = &self.gpu.running.queue.order
                && self.gpu.memory.check(start, width as u64, write).is_ok()
            {
                order.accessed(start, width as u64, write);
            }
            if !each(self.gpu, start, row * width) {
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
) -> c_uint {
    // SAFETY: the state that `execute` made, which lasts; one function runs at a time.
    let running = unsafe { &mut *state.cast::<Running<'_>>() };
    running.rows((address, width, rows, pitch), false, |gpu, start, offset| {
        let bytes = if pitch == width { width * rows } else { width };
        // SAFETY: the library's buffer holds `rows` rows of `width` bytes.
        let into = unsafe { std::slice::from_raw_parts_mut(into.cast::<u8>().add(offset), bytes) };
        gpu.memory.read(start, into).is_ok()
    }) as c_uint
}

unsafe extern "C" fn write_rows(
    state: *mut c_void,
    address: CUdeviceptr,
    from: *const c_void,
    width: usize,
    rows: usize,
    pitch: usize,
) -> c_uint {
    // SAFETY: as above.
    let running = unsafe { &mut *state.cast::<Running<'_>>() };
    running.rows((address, width, rows, pitch), true, |gpu, start, offset| {
        let bytes = if pitch == width { width * rows } else { width };
        // SAFETY: as above.
        let from = unsafe { std::slice::from_raw_parts(from.cast::<u8>().add(offset), bytes) };
        gpu.memory.write(start, from).is_ok()
    }) as c_uint
}
