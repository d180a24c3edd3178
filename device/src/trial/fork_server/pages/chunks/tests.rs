//! Only plain memory is moved, and only whole huge pages of it.

use super::{CODE, DATA, Kind, Mapping, PAGE, PRESENT, Page, PageMap, whole};
use crate::trial::fork_server::heap::HUGE_PAGE;

/// First addresses of mappings, and one past their last.
fn mappings(account: &str, kind: &Kind) -> Vec<(usize, usize)> {
    super::mappings(account, kind).iter().map(|mapping| (mapping.start, mapping.end)).collect()
}

/// An account as the kernel writes it.
fn account(parts: &[(&str, &str, &str)]) -> String {
    let part = |(first, key, flags): &(&str, &str, &str)| {
        format!(
            "{first}\nSize:               8192 kB\nRss:                 512 kB\nAnonHugePages:         0 kB\nProtectionKey:         {key}\nVmFlags: {flags} \n"
        )
    };
    parts.iter().map(part).collect()
}

#[test]
fn plain_memory_is_found() {
    let plain = "rd wr mr mw me ac sd";
    let account = account(&[
        ("555555559000-555556800000 rw-p 00000000 00:00 0                          [heap]", "0", plain),
        ("7ff000000000-7ff000800000 rw-p 00000000 00:00 0 ", "0", "rd wr mr mw me nr hg"),
        ("7ff000800000-7ff000a00000 rw-p 00000000 00:00 0", "0", plain),
    ]);
    let found = [
        (0x5555_5555_9000, 0x5555_5680_0000),
        (0x7ff0_0000_0000, 0x7ff0_0080_0000),
        (0x7ff0_0080_0000, 0x7ff0_00a0_0000),
    ];
    assert_eq!(mappings(&account, &DATA), found);
}

#[test]
fn everything_else_is_left_alone() {
    let plain = "rd wr mr mw me ac sd";
    let at = |rest: &str| format!("7ff000000000-7ff000800000 {rest}");
    for (first, key, flags) in [
        ("r--p 00000000 00:00 0", "0", plain),
        ("rwxp 00000000 00:00 0", "0", plain),
        ("rw-s 00000000 00:01 7          /dev/zero (deleted)", "0", plain),
        ("rw-p 00001000 fe:00 5319765    /lib/libc.so.6", "0", plain),
        ("rw-p 00000000 00:00 0          [stack]", "0", "rd wr mr mw me gd ac"),
        ("rw-p 00000000 00:00 0          [anon:arena]", "0", plain),
        ("rw-p 00000000 00:00 0", "3", plain),
        ("rw-p 00000000 00:00 0", "0", "rd wr mr mw me lo ac"),
        ("rw-p 00000000 00:00 0", "0", "rd wr mr mw me dc ac"),
        ("rw-p 00000000 00:00 0", "0", "rd wr mr mw me wf ac"),
        ("rw-p 00000000 00:00 0", "0", "rd wr mr mw me dd ac"),
        ("rw-p 00000000 00:00 0", "0", "rd wr mr mw me ac nh"),
        ("rw-p 00000000 00:00 0", "0", "rd wr mr mw me ac um uw"),
    ] {
        let one = account(&[(&at(first), key, flags)]);
        assert_eq!(mappings(&one, &DATA), [], "{first} {key} {flags}");
        // Whatever comes next is told apart from it.
        let two = one + &account(&[("7ff001000000-7ff001200000 rw-p 00000000 00:00 0", "0", plain)]);
        assert_eq!(mappings(&two, &DATA), [(0x7ff0_0100_0000, 0x7ff0_0120_0000)], "{first} {key} {flags}");
    }
    assert_eq!(mappings("7ff000000000-7ff000800000 rw-p 00000000 00:00 0\nSize: 8192 kB\n", &DATA), []);
    assert_eq!(mappings("no account\nVmFlags: rd wr\n", &DATA), []);
}

#[test]
fn huge_pages_are_whole() {
    let found = |start, end| whole(start, end).collect::<Vec<_>>();
    assert_eq!(found(HUGE_PAGE, 3 * HUGE_PAGE), [HUGE_PAGE, 2 * HUGE_PAGE]);
    assert_eq!(found(HUGE_PAGE - 4096, 3 * HUGE_PAGE - 4096), [HUGE_PAGE]);
    assert_eq!(found(HUGE_PAGE + 4096, 3 * HUGE_PAGE - 4096), [0; 0]);
    assert_eq!(found(HUGE_PAGE + 4096, HUGE_PAGE + 8192), [0; 0]);
}

#[test]
fn code_of_a_file_is_found() {
    let plain = "rd ex mr mw me sd";
    let account = account(&[
        ("7ff000000000-7ff000800000 r-xp 00001000 fe:00 5319765    /lib/libcuda.so", "0", plain),
        ("7ff001000000-7ff001800000 r--p 00801000 fe:00 5319765    /lib/libcuda.so", "0", plain),
        ("7ff002000000-7ff002800000 r-xp 00000000 00:00 0", "0", plain),
        ("7ff003000000-7ff003800000 r-xp 00001000 fe:00 5319766    /lib/locked.so", "0", "rd ex mr mw me lo"),
        ("7ff004000000-7ff004800000 rwxp 00001000 fe:00 5319767    /lib/written.so", "0", plain),
    ]);
    assert_eq!(mappings(&account, &CODE), [(0x7ff0_0000_0000, 0x7ff0_0080_0000)]);
}

#[test]
fn what_is_hardly_in_memory_does_not_count() {
    let whole =
        account(&[("7ff000000000-7ff000800000 rw-p 00000000 00:00 0", "0", "rd wr mr mw me ac nr sd")]);
    let found = super::mappings(&whole, &DATA);
    assert_eq!(found, [Mapping { start: 0x7ff0_0000_0000, end: 0x7ff0_0080_0000, present: 128 }]);
    for less in ["508 kB", "0 kB", "512", "kB"] {
        assert_eq!(mappings(&whole.replace("512 kB", less), &DATA), [], "{less}");
    }
}

#[test]
fn nobody_looks_behind_the_last_page_that_is_there() {
    let Some(map) = PageMap::open() else { return };
    let bytes = 8 * HUGE_PAGE;
    let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a mapping of its own.
    let room = unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, flags, -1, 0) };
    assert_ne!(room, libc::MAP_FAILED);
    // It begins within a huge page.
    let start = (room as usize).next_multiple_of(HUGE_PAGE) + HUGE_PAGE / 2;
    let chunk = start + HUGE_PAGE / 2;
    let touch = |first: usize, pages: usize| {
        for page in 0..pages {
            // SAFETY: memory of the mapping.
            unsafe { ((first + page * PAGE) as *mut u8).write_volatile(1) };
        }
    };
    touch(start, 100);
    touch(chunk, PRESENT);
    touch(chunk + HUGE_PAGE, PRESENT - 1);
    touch(chunk + 2 * HUGE_PAGE, PRESENT);
    // A system that gives huge pages unasked has all of them there.
    let count = |chunk: usize| map.count(chunk..chunk + HUGE_PAGE, Page::is_present);
    let used = |present| Mapping { start, end: start + 4 * HUGE_PAGE, present }.used(&map);
    if count(chunk) == PRESENT {
        assert_eq!(used(100 + 3 * PRESENT - 1), [chunk, chunk + 2 * HUGE_PAGE]);
        // Less is said to be there than is.
        assert_eq!(used(100 + PRESENT), [chunk]);
        assert_eq!(used(100), [0; 0]);
    }
    // SAFETY: as above, and nobody uses it any more.
    unsafe { libc::munmap(room, bytes) };
}
