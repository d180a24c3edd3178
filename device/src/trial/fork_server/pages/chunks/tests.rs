//! Only plain memory is moved, and only whole huge pages of it.

use super::{mappings, whole};
use crate::trial::fork_server::heap::HUGE_PAGE;

/// An account as the kernel writes it.
fn account(parts: &[(&str, &str, &str)]) -> String {
    let part = |(first, key, flags): &(&str, &str, &str)| {
        format!(
            "{first}\nSize:               8192 kB\nAnonHugePages:         0 kB\nProtectionKey:         {key}\nVmFlags: {flags} \n"
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
    assert_eq!(mappings(&account), found);
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
        assert_eq!(mappings(&one), [], "{first} {key} {flags}");
        // Whatever comes next is told apart from it.
        let two = one + &account(&[("7ff001000000-7ff001200000 rw-p 00000000 00:00 0", "0", plain)]);
        assert_eq!(mappings(&two), [(0x7ff0_0100_0000, 0x7ff0_0120_0000)], "{first} {key} {flags}");
    }
    assert_eq!(mappings("7ff000000000-7ff000800000 rw-p 00000000 00:00 0\nSize: 8192 kB\n"), []);
    assert_eq!(mappings("no account\nVmFlags: rd wr\n"), []);
}

#[test]
fn huge_pages_are_whole() {
    let found = |start, end| whole(start, end).collect::<Vec<_>>();
    assert_eq!(found(HUGE_PAGE, 3 * HUGE_PAGE), [HUGE_PAGE, 2 * HUGE_PAGE]);
    assert_eq!(found(HUGE_PAGE - 4096, 3 * HUGE_PAGE - 4096), [HUGE_PAGE]);
    assert_eq!(found(HUGE_PAGE + 4096, 3 * HUGE_PAGE - 4096), [0; 0]);
    assert_eq!(found(HUGE_PAGE + 4096, HUGE_PAGE + 8192), [0; 0]);
}
