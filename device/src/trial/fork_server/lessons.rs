//! What trials tell the server that they were forked from: the modules that it did not know.
//!
//! A program that goes on to load modules after its first kernel would have each of its trials read and translate
//! them anew. A trial that has done so writes the image, and where the variables came to lie, to memory that it shares with
//! the server; when it has ended, the server translates that once, and the trials that follow find it there.
//!
//! It is shared memory and no pipe or file, as a program may close all descriptors that it does not know, and use their
//! numbers for files of its own. A trial may be killed at any moment: the server takes only what was written to its end.
//!
//! **Limits.** [`MOST_LESSONS`] modules, and [`BYTES`] of their images; what comes after that each trial translates itself, as it
//! would without this.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::digest::Digest;

/// Most modules that are taken in.
const MOST_LESSONS: usize = 256;
/// Most bytes of all their images and addresses.
const BYTES: usize = 256 << 20;

/// A module that a trial has loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lesson<'l> {
    /// Its image ([`crate::images::image::Image::to_bytes`]).
    pub image: &'l [u8],
    /// Where its variables came to lie ([`bugaroo_simulator::Program::allocations`]).
    pub addresses: &'l [u64],
}

/// Memory that a server shares with its trials.
#[derive(Debug)]
pub struct Lessons {
    shared: NonNull<Shared>,
    /// Lessons that the server has taken.
    taken: [bool; MOST_LESSONS],
}

// SAFETY: what is shared is only reached by atomics, or, for the bytes of a lesson, by the one who has reserved them until it says that they
// are complete.
unsafe impl Send for Lessons {}

#[repr(C)]
struct Shared {
    /// Lessons that were begun.
    lessons: AtomicU32,
    /// Eights of bytes that are reserved.
    words: AtomicU64,
    entries: [Entry; MOST_LESSONS],
    bytes: [u64; BYTES / 8],
}

#[repr(C)]
struct Entry {
    /// First of its words.
    first: AtomicU64,
    addresses: AtomicU64,
    image_bytes: AtomicU64,
    /// Of the bytes, against a program that writes where it must not.
    check: AtomicU64,
    complete: AtomicU32,
}

impl Lessons {
    /// Memory for that; None where the system has none.
    pub fn new() -> Option<Lessons> {
        // SAFETY: a mapping of its own, of which the kernel says where it is. Pages cost nothing before they are written.
        let mapped = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                size_of::<Shared>(),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        let shared = (mapped != libc::MAP_FAILED).then_some(mapped.cast::<Shared>())?;
        // SAFETY: as above; a core dump of the program's need not have it.
        unsafe { libc::madvise(mapped, size_of::<Shared>(), libc::MADV_DONTDUMP) };
        Some(Lessons { shared: NonNull::new(shared)?, taken: [false; MOST_LESSONS] })
    }

    fn shared(&self) -> &Shared {
        // SAFETY: the mapping is as large as that, is zero at first, and lives as long as this.
        unsafe { self.shared.as_ref() }
    }

    /// Called in a trial: it has loaded this module. Does nothing where there is no room.
    pub fn tell(&self, lesson: Lesson<'_>) {
        let shared = self.shared();
        let words = lesson.addresses.len() + lesson.image.len().div_ceil(8);
        let reserve = |used: u64| used.checked_add(words as u64).filter(|end| *end <= (BYTES / 8) as u64);
        let Ok(first) = shared.words.fetch_update(Ordering::Relaxed, Ordering::Relaxed, reserve) else {
            return;
        };
        let next = |lessons: u32| ((lessons as usize) < MOST_LESSONS).then_some(lessons + 1);
        let Ok(index) = shared.lessons.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next) else {
            return;
        };
        let entry = &shared.entries[index as usize];
        // SAFETY: these words were reserved just now, for nobody else, and lie in the mapping.
        unsafe {
            let place = self.bytes().add(first as usize);
            place.copy_from_nonoverlapping(lesson.addresses.as_ptr(), lesson.addresses.len());
            let image = place.add(lesson.addresses.len()).cast::<u8>();
            image.copy_from_nonoverlapping(lesson.image.as_ptr(), lesson.image.len());
        }
        entry.first.store(first, Ordering::Relaxed);
        entry.addresses.store(lesson.addresses.len() as u64, Ordering::Relaxed);
        entry.image_bytes.store(lesson.image.len() as u64, Ordering::Relaxed);
        entry.check.store(check(lesson), Ordering::Relaxed);
        entry.complete.store(1, Ordering::Release);
    }

    fn bytes(&self) -> *mut u64 {
        // SAFETY: the field lies in the mapping.
        unsafe { (&raw mut (*self.shared.as_ptr()).bytes).cast() }
    }

    /// Called in the server: hands over what has come in since the last call.
    pub fn take(&mut self, mut each: impl FnMut(Lesson<'_>)) {
        let begun = (self.shared().lessons.load(Ordering::Relaxed) as usize).min(MOST_LESSONS);
        for index in 0..begun {
            let entry = &self.shared().entries[index];
            if self.taken[index] || entry.complete.load(Ordering::Acquire) == 0 {
                continue;
            }
            let load =
                |field: &AtomicU64| usize::try_from(field.load(Ordering::Relaxed)).unwrap_or(usize::MAX);
            let (first, addresses) = (load(&entry.first), load(&entry.addresses));
            let (image_bytes, said) = (load(&entry.image_bytes), entry.check.load(Ordering::Relaxed));
            let end = first.saturating_add(addresses).saturating_add(image_bytes.div_ceil(8));
            self.taken[index] = true;
            if end > BYTES / 8 {
                continue;
            }
            // SAFETY: it lies in the mapping, and whoever has written it is done with it.
            let lesson = unsafe {
                let place = self.bytes().add(first).cast_const();
                let image = std::slice::from_raw_parts(place.add(addresses).cast::<u8>(), image_bytes);
                Lesson { image, addresses: std::slice::from_raw_parts(place, addresses) }
            };
            if said == check(lesson) {
                each(lesson);
            }
        }
    }
}

impl Drop for Lessons {
    fn drop(&mut self) {
        // SAFETY: the mapping is this one's, and nobody in this process holds a reference into it any more.
        unsafe { libc::munmap(self.shared.as_ptr().cast(), size_of::<Shared>()) };
    }
}

/// Of a lesson's bytes.
fn check(lesson: Lesson<'_>) -> u64 {
    let addresses = lesson.addresses.iter().flat_map(|address| address.to_le_bytes());
    Digest::of(lesson.image).and(&addresses.collect::<Vec<u8>>()).low()
}

#[cfg(test)]
mod tests;
