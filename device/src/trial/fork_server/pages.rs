//! Pages that trials write again and again.
//!
//! A trial shares all memory with the server that it was forked from, and the system copies a page when the trial first writes to
//! it: two to three microseconds each. An interpreter that ends writes to nearly all that it has, as it counts references: some thousand
//! pages. And a fork takes time for each page that the process has, whether it is written or not. Huge pages, of 2 MiB, take away most of
//! both:
//!
//! - The first trial that comes to its end tells which parts of the memory it has written to, by huge pages ([`tell`]). Trials that are forked
//!   after that copy the parts of which much is written at once, each into a huge page of their own ([`Pages::copy`]).
//! - The server's own memory is put into huge pages as well, while trials run ([`Pages::idle`]). A fork copies one entry for each then,
//!   and not 512.
//! - So is the device's code, which is no page that anybody writes, but one that each trial has to find ([`code`]).
//!
//! Contents and addresses stay what they are. What is moved is private memory without a file, of which the program has wanted
//! nothing special ([`chunks`]). Nothing is moved where the system gives no huge pages, and no more where it takes long to give them.
//!
//! **Limits.** [`MOST`] parts. The rest is copied page by page, as it would be without this.

mod chunks;
mod code;
mod copying;
mod told;

use std::time::Duration;

use libc::c_void;

use crate::trial::fork_server::heap::HUGE_PAGE;
use chunks::{Account, Page, PageMap};
use told::{MOST, Told};

/// Pages of a part that a trial has to write so that others copy all of it. To copy it takes as long as a hundred pages one by one.
const MUCH: u32 = 192;
/// Pages of a part that a trial may write so that a huge page is of use to the server: a trial that writes to one of the server's
/// first takes it apart.
const LITTLE: u32 = 8;
/// To copy a part at once should not take longer. Page by page it takes a millisecond and a half.
const SLOW: Duration = Duration::from_millis(1);

/// What the server knows of its pages.
#[derive(Debug)]
pub struct Pages {
    /// None: there is nothing to be told of.
    told: Option<&'static Told>,
    /// The device's code, where it is still to be put into huge pages.
    code: Option<(usize, usize)>,
    /// The parts, by address; when trials have told, those that are to be put into huge pages.
    parts: Vec<usize>,
    /// Parts that trials copy, neighbours put together: first address, and one past the last.
    copied: Vec<(usize, usize)>,
    learned: bool,
}

impl Pages {
    /// Called in the server before the first fork. None where huge pages would be of no help.
    pub fn prepare() -> Option<Pages> {
        if !chunks::system_has_huge_pages() {
            return None;
        }
        let map = PageMap::open()?;
        let account = Account::read()?;
        let mut parts = account.used(&map);
        parts.truncate(MOST);
        // The rest is for trials.
        parts.shrink_to_fit();
        let told = if parts.is_empty() { None } else { Told::about(&parts) };
        Some(Pages { told, code: code::of_the_device(&account), parts, copied: Vec::new(), learned: false })
    }

    /// Called in the server when trials have ended.
    pub fn learn(&mut self) {
        let Some(told) = self.told else { return };
        if told.copies_are_slow() {
            // Huge pages are hard to come by here.
            self.copied.clear();
        }
        let Some(written) = (!self.learned).then(|| told.complete()).flatten() else { return };
        self.learned = true;
        let parts = std::mem::take(&mut self.parts).into_iter().zip(written);
        for (part, written) in parts {
            if written >= MUCH {
                match self.copied.last_mut() {
                    Some((_, end)) if *end == part => *end += HUGE_PAGE,
                    _ => self.copied.push((part, part + HUGE_PAGE)),
                }
            }
            if written >= MUCH || written <= LITTLE {
                self.parts.push(part);
            }
        }
    }

    /// Called in the server when it has learned something else, for which it may have given memory back: leaves out what is not there
    /// as it was.
    pub fn check(&mut self) {
        let there = Account::read().map(|account| account.movable()).unwrap_or_default();
        let is_there = |range: &(usize, usize)| {
            (range.0..range.1).step_by(HUGE_PAGE).all(|part| there.binary_search(&part).is_ok())
        };
        self.copied.retain(is_there);
    }

    /// Called in the server when there is nothing to do but to wait: puts the code, or one more part, into huge pages. Whether there was
    /// something to do.
    ///
    /// # Safety
    /// The process has one thread.
    pub unsafe fn idle(&mut self) -> bool {
        if let Some((start, end)) = self.code.take() {
            // SAFETY: the range is that of this library's code. The caller's promise.
            unsafe { code::collapse(start, end) };
            return true;
        }
        let Some(part) = self.learned.then(|| self.parts.pop()).flatten() else { return false };
        // Where it cannot be done, forks take longer.
        // SAFETY: the advice changes no contents, of whatever lies there.
        unsafe { libc::madvise(part as *mut c_void, HUGE_PAGE, libc::MADV_COLLAPSE) };
        true
    }

    /// Called in a trial, first of all: copies what trials write again and again.
    ///
    /// # Safety
    /// The process has one thread.
    pub unsafe fn copy(&self) {
        let Some(told) = self.told.filter(|_| !self.copied.is_empty()) else { return };
        let begun = worked();
        // SAFETY: the parts are mapped as is asked for: the server has looked when it last gave back memory. The caller's promise.
        unsafe { copying::copy(&self.copied) };
        let parts: usize = self.copied.iter().map(|(start, end)| (end - start) / HUGE_PAGE).sum();
        told.copied(worked().saturating_sub(begun) > SLOW * parts as u32);
    }
}

/// Processor time of this thread so far: others may want the processor, too.
fn worked() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a valid place for the answer.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    Duration::new(time.tv_sec.cast_unsigned(), time.tv_nsec as u32)
}

/// Called in a trial at its end.
pub fn tell() {
    told::tell(|| {
        let map = PageMap::open()?;
        Some(move |part| map.count(part..part + HUGE_PAGE, Page::is_exclusive) as u32)
    });
}

#[cfg(test)]
mod tests;
