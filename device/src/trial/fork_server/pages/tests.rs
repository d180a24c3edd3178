//! What one trial writes the next ones copy at once.

use std::ptr::null_mut;

use super::chunks::{self, Page, PageMap};
use super::{Pages, tell};
use crate::trial::fork_server::heap::HUGE_PAGE;

/// Memory that holds its own addresses; from a huge page on, as many of them as are asked for.
fn memory(parts: usize) -> usize {
    let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a mapping of its own, which is never taken away.
    let mapped = unsafe { libc::mmap(null_mut(), (parts + 1) * HUGE_PAGE, protection, flags, -1, 0) };
    assert_ne!(mapped, libc::MAP_FAILED);
    let start = (mapped as usize).next_multiple_of(HUGE_PAGE);
    (start..start + parts * HUGE_PAGE).step_by(8).for_each(|word| write(word, word));
    start
}

fn write(word: usize, value: usize) {
    // SAFETY: memory of the function above.
    unsafe { (word as *mut usize).write_volatile(value) };
}

fn holds(start: usize, parts: usize) -> bool {
    // SAFETY: as above.
    (start..start + parts * HUGE_PAGE).step_by(8).all(|word| unsafe { *(word as *const usize) } == word)
}

/// Runs a part of a test in a fork of this process, as a trial.
pub(super) fn forked(trial: impl FnOnce() -> bool) {
    // SAFETY: the child ends without running what is at a process's end; the parent waits for it. The C library's allocator takes care of
    // forks.
    unsafe {
        let child = libc::fork();
        if child == 0 {
            libc::_exit(i32::from(!trial()));
        }
        let mut status = 0;
        libc::waitpid(child, &raw mut status, 0);
        assert_eq!(status, 0);
    }
}

#[test]
fn what_one_trial_writes_the_next_ones_copy() {
    let start = memory(4);
    let Some(mut pages) = Pages::prepare() else {
        assert!(!chunks::system_has_huge_pages());
        return;
    };
    let told = pages.told.expect("there is memory that may be moved");
    assert!((0..4).all(|part| pages.parts.contains(&(start + part * HUGE_PAGE))));
    pages.code = None;
    // SAFETY: no code is moved any more.
    let idle = |pages: &mut Pages| unsafe { pages.idle() };
    assert!(!idle(&mut pages));
    pages.learn();
    assert!(!pages.learned);

    // All pages of the first and the third part, some of the second, none of the fourth.
    forked(|| {
        for page in (0..HUGE_PAGE).step_by(4096) {
            write(start + page, start + page);
            write(start + 2 * HUGE_PAGE + page, 0);
        }
        (0..100).for_each(|page| write(start + HUGE_PAGE + page * 4096, 0));
        tell();
        true
    });
    // Only the first one tells.
    forked(|| {
        (0..HUGE_PAGE).step_by(4096).for_each(|page| write(start + 3 * HUGE_PAGE + page, 0));
        tell();
        true
    });
    pages.learn();
    let copied = |part: usize| {
        let place = start + part * HUGE_PAGE;
        pages.copied.iter().any(|(first, end)| (*first..*end).contains(&place))
    };
    assert_eq!([0, 1, 2, 3].map(copied), [true, false, true, false]);
    let first = (start, start + HUGE_PAGE);
    let ours = pages.copied.iter().copied().filter(|range| (start..start + 4 * HUGE_PAGE).contains(&range.0));
    assert_eq!(ours.collect::<Vec<_>>(), [first, (start + 2 * HUGE_PAGE, start + 3 * HUGE_PAGE)]);
    // The rest of this process has threads.
    pages.copied.retain(|range| (start..start + 4 * HUGE_PAGE).contains(&range.0));

    let left = |part: usize| pages.parts.contains(&(start + part * HUGE_PAGE));
    assert_eq!([0, 1, 2, 3].map(left), [true, false, true, true]);
    while idle(&mut pages) {}
    assert!(holds(start, 4));
    for _ in 0..3 {
        forked(|| {
            // SAFETY: a fork has one thread.
            unsafe { pages.copy() };
            let Some(map) = PageMap::open() else { return false };
            let own = |part: usize| {
                let first = start + part * HUGE_PAGE;
                map.count(first..first + HUGE_PAGE, Page::is_exclusive)
            };
            let before = [own(0), own(1), own(2), own(3)] == [512, 0, 512, 0];
            let held = holds(start, 4);
            (start..start + 4 * HUGE_PAGE).step_by(8).for_each(|word| write(word, 0));
            before && held
        });
    }
    assert!(holds(start, 4));

    // What is gone is not copied.
    // SAFETY: the third part of the memory, which nobody uses any more.
    unsafe { libc::munmap((start + 2 * HUGE_PAGE) as *mut _, HUGE_PAGE) };
    pages.check();
    assert_eq!(pages.copied, [first]);

    for _ in 0..32 {
        told.copied(false);
    }
    pages.learn();
    assert_eq!(pages.copied, [first]);
    for _ in 0..16 {
        told.copied(true);
    }
    pages.learn();
    assert_eq!(pages.copied, []);
}
