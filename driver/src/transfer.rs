//! Copies, described and then carried out: what the functions of [`crate::copy`], [`crate::copy2d`] and
//! their like have in common.
//!
//! A [`Transfer`] says everything about a copy: where it reads, where it writes, and its extent. It is
//! checked when the program asks for it, so that what the host can see to be wrong is told at once, and
//! carried out when its turn comes. Host memory is read or written as far as the program says, never
//! further.

use std::ffi::c_void;

use crate::entry::not_null;
use crate::error::{Outcome, Status};
use crate::state::Driver;
use crate::stream::waiting_for_stream;
use crate::submit::{Submitted, on_stream};
use crate::types::{CUdeviceptr, CUstream};
use crate::work::Work;

/// Bytes that a copy within the device moves at a time.
const CHUNK: usize = 64 << 10;

/// An address that a copy reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Address in the program's own memory.
    Host(*mut c_void),
    /// Address in device memory.
    Device(CUdeviceptr),
}

impl Place {
    /// Sorts an address of the unified address space out. Device memory lies where no host memory is.
    pub fn unified(address: u64) -> Place {
        let device = bugaroo_simulator::GLOBAL_BASE;
        if (device..device << 1).contains(&address) {
            Place::Device(address)
        } else {
            Place::Host(address as *mut c_void)
        }
    }

    /// The place some bytes further.
    pub fn offset(self, bytes: usize) -> Place {
        match self {
            Place::Host(address) => Place::Host(address.cast::<u8>().wrapping_add(bytes).cast()),
            Place::Device(address) => Place::Device(address.wrapping_add(bytes as u64)),
        }
    }
}

/// One side of a copy: the first byte, and the distances from row to row and from slice to slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side {
    /// The first byte of the first row.
    pub start: Place,
    /// Bytes from row to row.
    pub pitch: usize,
    /// Bytes from slice to slice.
    pub slice: usize,
}

impl Side {
    /// A side without rows.
    pub fn line(start: Place) -> Side {
        Side { start, pitch: 0, slice: 0 }
    }

    fn row(&self, y: usize, z: usize) -> Place {
        self.start.offset(z.wrapping_mul(self.slice).wrapping_add(y.wrapping_mul(self.pitch)))
    }
}

/// A copy of `depth` slices of `height` rows of `width` bytes. Plain data: what it says does not change
/// when it is kept for later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Where it writes.
    pub to: Side,
    /// Where it reads.
    pub from: Side,
    /// Bytes of a row.
    pub width: usize,
    /// Rows of a slice.
    pub height: usize,
    /// Slices.
    pub depth: usize,
}

impl Transfer {
    /// A copy of consecutive bytes.
    pub fn line(to: Place, from: Place, bytes: usize) -> Transfer {
        Transfer { to: Side::line(to), from: Side::line(from), width: bytes, height: 1, depth: 1 }
    }

    /// Nothing is to be copied.
    pub fn is_empty(&self) -> bool {
        self.width == 0 || self.height == 0 || self.depth == 0
    }

    /// Neither side is the host's.
    pub fn is_on_device(&self) -> bool {
        matches!((self.to.start, self.from.start), (Place::Device(_), Place::Device(_)))
    }

    /// Bytes in all.
    pub fn bytes(&self) -> u64 {
        (self.width as u64).saturating_mul(self.height as u64).saturating_mul(self.depth as u64)
    }

    /// Bytes from the first to the last that a side touches.
    fn span(&self, side: &Side) -> Option<usize> {
        let slices = (self.depth - 1).checked_mul(side.slice)?;
        (self.height - 1).checked_mul(side.pitch)?.checked_add(slices)?.checked_add(self.width)
    }

    /// Refuses what cannot be copied, before anything is.
    ///
    /// # Errors
    /// `InvalidValue` for rows that overlap, a null host pointer, or a device range that is not inside
    /// one allocation.
    pub fn check(&self, driver: &Driver) -> Outcome {
        if self.is_empty() {
            return Ok(());
        }
        for side in [&self.to, &self.from] {
            // A pitch of 0 stands for rows without gaps where there is but one.
            if (self.height > 1 && side.pitch < self.width) || (self.depth > 1 && side.slice < side.pitch) {
                return Err(Status::InvalidValue);
            }
            let span = self.span(side).ok_or(Status::InvalidValue)?;
            match side.start {
                Place::Device(start) => driver.check_range(start, span)?,
                Place::Host(start) => {
                    not_null(start)?;
                    (start as usize).checked_add(span).ok_or(Status::InvalidValue)?;
                }
            }
        }
        Ok(())
    }

    /// Copies, and counts device time. Asks again for what may have been freed since the check.
    ///
    /// # Errors
    /// As [`Self::check`]; nothing is copied then.
    ///
    /// # Safety
    /// Host sides hold what is copied, and nobody else uses it meanwhile.
    pub unsafe fn execute(&self, driver: &mut Driver) -> Outcome {
        self.check(driver)?;
        if self.is_empty() {
            return Ok(());
        }
        driver.clock.moved(self.bytes());
        for z in 0..self.depth {
            for y in 0..self.height {
                // SAFETY: the caller's promise.
                unsafe { copy_row(driver, self.to.row(y, z), self.from.row(y, z), self.width) }?;
            }
        }
        Ok(())
    }
}

/// Copies one row.
///
/// # Safety
/// Host places point to `bytes` bytes that may be read or written.
unsafe fn copy_row(driver: &mut Driver, to: Place, from: Place, bytes: usize) -> Outcome {
    match (to, from) {
        (Place::Device(to), Place::Host(from)) => {
            // SAFETY: not null as was checked, and the caller vouches for the rest.
            let from = unsafe { std::slice::from_raw_parts(from.cast_const().cast::<u8>(), bytes) };
            driver.memory.write(to, from).map_err(|_| Status::InvalidValue)
        }
        (Place::Host(to), Place::Device(from)) => {
            // SAFETY: not null as was checked, and the caller vouches for the rest; bytes may be written
            // whatever they held, since `read` looks at none of them.
            let to = unsafe { std::slice::from_raw_parts_mut(to.cast::<u8>(), bytes) };
            driver.memory.read(from, to).map_err(|_| Status::InvalidValue)
        }
        (Place::Host(to), Place::Host(from)) => {
            // SAFETY: not null as was checked, and the caller vouches for the rest.
            unsafe { std::ptr::copy(from.cast::<u8>(), to.cast::<u8>(), bytes) };
            Ok(())
        }
        (Place::Device(to), Place::Device(from)) => copy_inside(driver, to, from, bytes),
    }
}

/// Copies from device to device. Where the ranges overlap the result is undefined in CUDA; here the
/// copy goes forwards in chunks.
fn copy_inside(driver: &mut Driver, to: CUdeviceptr, from: CUdeviceptr, bytes: usize) -> Outcome {
    let mut chunk = vec![0; bytes.min(CHUNK)];
    for start in (0..bytes).step_by(CHUNK) {
        let chunk = &mut chunk[..CHUNK.min(bytes - start)];
        driver.memory.read(from + start as u64, chunk).map_err(|_| Status::InvalidValue)?;
        driver.memory.write(to + start as u64, chunk).map_err(|_| Status::InvalidValue)?;
    }
    Ok(())
}

impl Driver {
    /// Refuses a device range that is not inside one allocation.
    ///
    /// # Errors
    /// `InvalidValue`
    pub fn check_range(&self, address: CUdeviceptr, bytes: usize) -> Outcome {
        let (base, size) = self.memory.allocation(address).ok_or(Status::InvalidValue)?;
        let end = address.checked_add(bytes as u64).ok_or(Status::InvalidValue)?;
        if end <= base + size { Ok(()) } else { Err(Status::InvalidValue) }
    }
}

/// How a copy behaves towards the host (CUDA Driver API, "API synchronization behavior").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    /// It is done when the stream gets there.
    Later,
    /// The same, but the host's side is read at the call.
    Staged,
    /// It is done when the call returns.
    Now,
}

impl Transfer {
    /// How this copy behaves. `asynchronous` says whether the function is.
    fn manner(&self, driver: &Driver, asynchronous: bool) -> Manner {
        let pageable = |side: &Side| match side.start {
            Place::Host(address) => !driver.is_host_visible(address as u64),
            Place::Device(_) => false,
        };
        if self.is_empty() || self.is_on_device() {
            Manner::Later
        } else if !asynchronous || pageable(&self.to) {
            Manner::Now
        } else if !pageable(&self.from) {
            Manner::Later
        } else if self.height == 1 && self.depth == 1 {
            Manner::Staged
        } else {
            Manner::Now
        }
    }

    /// The copy as work, with what it reads of the host taken now.
    ///
    /// # Safety
    /// The host's side holds what is read.
    unsafe fn staged(self) -> Work {
        let Place::Host(from) = self.from.start else {
            // SAFETY: no host side is read.
            return unsafe { self.work() };
        };
        // SAFETY: not null as was checked, and the caller vouches for the rest.
        let taken =
            unsafe { std::slice::from_raw_parts(from.cast_const().cast::<u8>(), self.width) }.to_vec();
        Work::act(move |driver| {
            let from = Side::line(Place::Host(taken.as_ptr().cast_mut().cast()));
            // SAFETY: the bytes that were taken, which are only read; the other side is the device's or
            // page-locked.
            unsafe { Transfer { from, ..self }.execute(driver) }
        })
    }

    /// The copy as work.
    ///
    /// # Safety
    /// Host sides hold what is copied, until the stream has come so far.
    pub unsafe fn work(self) -> Work {
        // SAFETY: the caller's promise.
        let copy = move |driver: &mut Driver| unsafe { self.execute(driver) };
        match self.to.start {
            Place::Host(_) => Work::act_on_host(copy),
            Place::Device(_) => Work::act(copy),
        }
    }
}

/// Submits copies to a stream, with the checks and waits that they call for: one from or to the host waits for
/// the stream, so that it is one of the calls that report a fault, but for the asynchronous functions
/// (`name` tells) where the host's memory is page-locked, or is only read and can be staged. `describe` may
/// look things up; what it refuses, nobody copies.
///
/// # Safety
/// Host sides hold what is copied, until the stream has come so far.
pub unsafe fn submit(
    name: &str,
    stream: CUstream,
    describe: impl FnOnce(&Driver) -> Outcome<Vec<Transfer>>,
) -> Status {
    let asynchronous = name.contains("Async");
    let (mut now, mut settling) = (Vec::new(), Vec::new());
    let status = on_stream(name, stream, |driver, stream| {
        let transfers = describe(driver)?;
        for transfer in &transfers {
            // Also where the device will never come so far: what the host can see to be wrong, it says.
            if transfer.is_on_device() || !driver.is_broken(stream.context) {
                transfer.check(driver)?;
            }
        }
        // A graph does all of it later; and what runs at the call needs no staging.
        let captured = asynchronous && driver.is_capturing(&stream);
        let queued = driver.overlaps(&stream);
        if !captured && transfers.iter().any(|t| t.manner(driver, asynchronous) == Manner::Now) {
            now = transfers;
            return Ok(());
        }
        for transfer in transfers.into_iter().filter(|transfer| !transfer.is_empty()) {
            let staged = !captured && queued && transfer.manner(driver, asynchronous) == Manner::Staged;
            // SAFETY: the caller's promise.
            let work = unsafe { if staged { transfer.staged() } else { transfer.work() } };
            settling.extend(driver.submit(&stream, work)?);
        }
        Ok(())
    });
    if status != Status::Success {
        return status;
    }
    if !now.is_empty() {
        return waiting_for_stream(name, stream, |driver, _| {
            // SAFETY: the caller's promise.
            now.iter().try_for_each(|transfer| unsafe { transfer.execute(driver) })
        });
    }
    let told = settling.into_iter().map(|submitted: Submitted| submitted.settle(name));
    told.fold(Status::Success, |status, told| if status == Status::Success { told } else { status })
}

/// [`submit`] for one copy that needs no looking up.
///
/// # Safety
/// As [`submit`].
pub unsafe fn submit_one(name: &str, stream: CUstream, transfer: Transfer) -> Status {
    // SAFETY: the caller's promise.
    unsafe { submit(name, stream, |_| Ok(vec![transfer])) }
}
