//! Code goes on as it was when a copy of it takes its place.

use std::fs;
use std::hint::black_box;

use super::super::chunks;
use super::super::tests::forked;
use super::*;
use crate::trial::fork_server::heap::HUGE_PAGE;

/// The line of this process's map that an address lies in.
fn mapping(address: usize) -> Option<String> {
    let map = fs::read_to_string("/proc/self/maps").ok()?;
    let lies_in = |line: &&str| {
        let (start, end) = line.split(' ').next().and_then(|range| range.split_once('-')).unwrap_or_default();
        let read = |digits| usize::from_str_radix(digits, 16).unwrap_or(0);
        (read(start)..read(end)).contains(&address)
    };
    map.lines().find(lies_in).map(str::to_owned)
}

/// Code of a mapping of our own, as of a file: a copy of the first pages of this test's program, which nobody executes.
#[test]
fn a_copy_takes_the_place() {
    if !chunks::system_has_huge_pages() {
        return;
    }
    forked(|| {
        let Ok(file) = fs::File::open("/proc/self/exe") else { return false };
        let bytes = 2 * HUGE_PAGE;
        let Ok(true) = file.metadata().map(|about| about.len() >= bytes as u64) else { return false };
        let descriptor = std::os::fd::AsRawFd::as_raw_fd(&file);
        // SAFETY: mappings of their own; the second one lies in the first.
        let start = unsafe {
            let room = libc::mmap(
                std::ptr::null_mut(),
                2 * bytes,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            );
            let start = (room as usize).next_multiple_of(HUGE_PAGE);
            let (protection, flags) =
                (libc::PROT_READ | libc::PROT_EXEC, libc::MAP_PRIVATE | libc::MAP_FIXED);
            libc::mmap(start as *mut c_void, bytes, protection, flags, descriptor, 0) as usize
        };
        // SAFETY: what was mapped just now.
        let held = || unsafe { std::slice::from_raw_parts(start as *const u8, bytes) }.to_vec();
        let before = held();
        let file_is_there = mapping(start).is_some_and(|line| line.contains('/'));
        // SAFETY: as above; a fork has one thread.
        unsafe { collapse(start, start + bytes) };
        let is_code = |line: String| line.contains(" r-xp ");
        let last = mapping(start + bytes - 1).is_some_and(is_code);
        let is_plain = mapping(start).is_some_and(|line| line.contains(" r-xp ") && !line.contains('/'));
        file_is_there && is_plain && last && before == held()
    });
}

/// The code of this test itself.
#[test]
fn what_is_executed_goes_on() {
    forked(|| {
        let sum = |numbers: &[u64]| numbers.iter().map(|number| number * number).sum::<u64>();
        let before = sum(black_box(&[3, 4]));
        if let Some((start, end)) = Account::read().and_then(|account| of_the_device(&account)) {
            // SAFETY: this program's code; a fork has one thread.
            unsafe { collapse(start, end) };
        }
        let words = format!("{} {before}", sum(black_box(&[3, 4])));
        words == "25 25"
            && mapping(of_the_device as *const () as usize).is_some_and(|line| line.contains(" r-xp "))
    });
}
