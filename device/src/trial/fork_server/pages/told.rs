//! What the first trial that comes to its end tells the server of the pages that it has written to: in memory that they share.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};

/// Most parts of memory that are looked at: 2 GiB.
pub const MOST: usize = 1 << 10;

/// Slow copies that may be chance.
const FEW: u32 = 8;

/// States of what is told.
const NOT_YET: u32 = 0;
const BEGUN: u32 = 1;
const COMPLETE: u32 = 2;

/// That of this process's server; null: nobody is to tell anything.
static TOLD: AtomicPtr<Told> = AtomicPtr::new(null_mut());

/// What is told.
#[derive(Debug)]
#[repr(C)]
pub struct Told {
    state: AtomicU32,
    /// How many parts there are.
    parts: AtomicU32,
    /// Where each is.
    places: [AtomicUsize; MOST],
    /// How many of its pages were written.
    written: [AtomicU32; MOST],
    /// Trials that have copied what others wrote, and those of them for which that took long.
    copies: AtomicU32,
    slow: AtomicU32,
}

impl Told {
    /// Called in the server: trials are to tell of these parts. None where the system has no memory for that.
    pub fn about(parts: &[usize]) -> Option<&'static Told> {
        let (protection, flags) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
        // SAFETY: a mapping of its own, of which the system says where it is.
        let mapped = unsafe { libc::mmap(null_mut(), size_of::<Told>(), protection, flags, -1, 0) };
        if mapped == libc::MAP_FAILED {
            return None;
        }
        // SAFETY: as large as that, of zeroes at first, and never taken away.
        let told: &'static Told = unsafe { &*mapped.cast::<Told>() };
        for (place, part) in told.places.iter().zip(parts) {
            place.store(*part, Ordering::Relaxed);
        }
        told.parts.store(parts.len().min(MOST) as u32, Ordering::Relaxed);
        TOLD.store(mapped.cast(), Ordering::Relaxed);
        Some(told)
    }

    fn parts(&self) -> usize {
        (self.parts.load(Ordering::Relaxed) as usize).min(MOST)
    }

    /// Called in a trial that has copied what others wrote: whether that took long.
    pub fn copied(&self, slow: bool) {
        self.slow.fetch_add(slow.into(), Ordering::Relaxed);
        self.copies.fetch_add(1, Ordering::Relaxed);
    }

    /// Called in the server: whether it took long for one trial in four, and for more than a few.
    pub fn copies_are_slow(&self) -> bool {
        let slow = self.slow.load(Ordering::Relaxed);
        slow >= FEW && slow > self.copies.load(Ordering::Relaxed) / 4
    }

    /// Called in the server: how many pages of each part a trial has written, once one has told.
    pub fn complete(&self) -> Option<Vec<u32>> {
        let written = self.written.iter().take(self.parts()).map(|written| written.load(Ordering::Relaxed));
        (self.state.load(Ordering::Acquire) == COMPLETE).then(|| written.collect())
    }
}

/// Called in a trial at its end: if it is the first, it tells how many pages of each part it has written. Only then is `look` called, which
/// gives what counts them.
pub fn tell<Count: Fn(usize) -> u32>(look: impl FnOnce() -> Option<Count>) {
    // SAFETY: null, or a mapping that is never taken away.
    let Some(told) = (unsafe { TOLD.load(Ordering::Relaxed).as_ref() }) else { return };
    if told.state.compare_exchange(NOT_YET, BEGUN, Ordering::Relaxed, Ordering::Relaxed).is_err() {
        return;
    }
    let Some(count) = look() else { return };
    for (place, written) in told.places.iter().zip(&told.written).take(told.parts()) {
        written.store(count(place.load(Ordering::Relaxed)), Ordering::Relaxed);
    }
    told.state.store(COMPLETE, Ordering::Release);
}
