use bugaroo_protocol::{Diagnosis, FlushLengths, Launch, LaunchCounts, LaunchEnd, Message, VERSION};

use super::{Report, ReportReader};

fn launch(ordinal: u64, kernel: &str, warp_instructions: u64, end: LaunchEnd) -> Message {
    Message::Launch(Launch {
        ordinal,
        kernel: kernel.into(),
        grid: [1, 1, 1],
        block: [32, 1, 1],
        end,
        counts: LaunchCounts {
            warp_instructions,
            thread_instructions: 32 * warp_instructions,
            delayed_stores: 2,
            ..LaunchCounts::default()
        },
        stale_reads: Vec::new(),
        conflicts: Vec::new(),
        more_conflicts: 0,
        coverage: Vec::new(),
        more_coverage: 0,
        meetings: Vec::new(),
        digest: Some(format!("d{ordinal}")),
    })
}

fn text(messages: &[Message]) -> Vec<u8> {
    messages.iter().flat_map(|m| [serde_json::to_vec(m).unwrap(), vec![b'\n']].concat()).collect()
}

fn read(text: &[u8], piece: usize) -> Report {
    let mut reader = ReportReader::default();
    text.chunks(piece).for_each(|bytes| {
        reader.push(bytes);
    });
    reader.finish()
}

fn example() -> Vec<Message> {
    let stuck = LaunchEnd::Deadlock(Diagnosis { summary: "stuck".into(), ..Diagnosis::default() });
    vec![
        Message::Hello { version: VERSION, pid: 1 },
        launch(0, "a", 10, LaunchEnd::Complete),
        launch(1, "b", 30, LaunchEnd::Complete),
        launch(2, "a", 20, stuck),
        launch(3, "a", 5, LaunchEnd::StepBudget(Diagnosis::default())),
    ]
}

#[test]
fn sums_up() {
    let report = read(&text(&example()), 1 << 20);
    assert_eq!(report.driver, Some(VERSION));
    assert_eq!((report.launches, report.largest_launch, report.delayed_stores), (4, 30, 8));
    assert_eq!(report.kernels["a"].launches, 3);
    assert_eq!(report.kernels["a"].counts.warp_instructions, 35);
    assert_eq!(report.kernels["b"].counts.thread_instructions, 960);
    assert_eq!(report.digest.as_deref(), Some("d3"));
    let failed = report.failed_launch.unwrap();
    assert_eq!((failed.ordinal, failed.kernel.as_str()), (2, "a"));
    assert!(matches!(failed.end, LaunchEnd::Deadlock(_)));
    assert_eq!(report.unreadable_lines, 0);
}

/// Kernels know when they came first; counts add up, of the buffers' memory the largest stays.
#[test]
fn kernels_add_up() {
    let lengths = |global: &[(u32, u64)], shared: &[(u32, u64)]| FlushLengths {
        global: global.iter().copied().collect(),
        shared: shared.iter().copied().collect(),
    };
    let counts = |n: u64, flush_lengths, buffer_bytes| LaunchCounts {
        warp_instructions: n,
        thread_instructions: 2 * n,
        delayed_stores: 3 * n,
        fences: 4 * n,
        barriers: 5 * n,
        shared_stores: 6 * n,
        global_stores: 7 * n,
        flush_lengths,
        buffer_bytes,
        forgotten: 8 * n,
    };
    let with = |kernel, counts| match launch(0, kernel, 0, LaunchEnd::Complete) {
        Message::Launch(launch) => Message::Launch(Launch { counts, ..launch }),
        other => other,
    };
    let messages = [
        with("z", counts(1, lengths(&[(1, 5), (300, 1)], &[]), 100)),
        with("a", counts(10, lengths(&[], &[(2, 2)]), 50)),
        with("z", counts(100, lengths(&[(1, 1), (2, 1)], &[(1, 1)]), 80)),
    ];
    let report = read(&text(&messages), 1 << 20);
    assert_eq!((report.kernels["z"].first_launch, report.kernels["a"].first_launch), (0, 1));
    let expected = counts(101, lengths(&[(1, 6), (2, 1), (300, 1)], &[(1, 1)]), 100);
    assert_eq!(report.kernels["z"].counts, expected);
    assert_eq!(report.kernels["a"].counts, counts(10, lengths(&[], &[(2, 2)]), 50));
}

/// However the pipe cuts it up, the report is the same; a last line without its end still counts.
#[test]
fn any_pieces() {
    let whole = text(&example());
    let expected = read(&whole, whole.len());
    for piece in [1, 2, 3, 7, 100] {
        assert_eq!(read(&whole, piece), expected);
    }
    assert_eq!(read(&whole[..whole.len() - 1], 11), expected);
}

#[test]
fn garbage_is_counted_and_passed_over() {
    let mut garbled = b"not json\n\xff\xfe\n{\"message\":\"later-version\"}\n".to_vec();
    garbled.extend(text(&example()));
    garbled.extend(b"{\"message\":\"lau");
    let report = read(&garbled, 5);
    assert_eq!(report.unreadable_lines, 4);
    assert_eq!(report.launches, 4);
}

#[test]
fn nothing_said() {
    assert_eq!(read(b"", 1), Report::default());
}

#[test]
fn a_driver_of_another_version_shows() {
    let hello = |version| Message::Hello { version, pid: 1 };
    let report = read(&text(&[hello(VERSION), hello(VERSION + 1), hello(VERSION)]), 9);
    assert_eq!(report.driver, Some(VERSION + 1));
}
