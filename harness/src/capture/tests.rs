use super::{Capture, HEAD_BYTES, Keep, TAIL_BYTES};

#[test]
fn keeps_bounded_ends_of_an_endless_output() {
    let mut capture = Capture::new(Keep { head: true, digest: true });
    let chunk: Vec<u8> = (0..60_000u32).map(|i| (i % 251) as u8).collect();
    let mut all = Vec::new();
    while all.len() <= HEAD_BYTES + TAIL_BYTES {
        capture.push(&chunk);
        all.extend_from_slice(&chunk);
    }
    let output = capture.finish();
    assert_eq!(output.bytes, all.len() as u64);
    assert!(output.head == all[..HEAD_BYTES]);
    assert!(output.tail == all[all.len() - TAIL_BYTES..]);
    assert!(output.head_is_cut());
}

#[test]
fn digest_is_sha256_however_it_comes() {
    let mut capture = Capture::new(Keep { head: false, digest: true });
    for byte in b"abc" {
        capture.push(&[*byte]);
    }
    let output = capture.finish();
    // FIPS 180-4's own example.
    assert_eq!(
        output.digest.as_deref(),
        Some("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    );
    assert!(output.head.is_empty());
}

#[test]
fn one_push_longer_than_the_tail() {
    let mut capture = Capture::new(Keep::default());
    let long: Vec<u8> = (0..3 * TAIL_BYTES).map(|i| (i % 253) as u8).collect();
    capture.push(b"first");
    capture.push(&long);
    assert!(capture.finish().tail == long[2 * TAIL_BYTES..]);
}

#[test]
fn last_lines() {
    let output = |text: &[u8]| {
        let mut capture = Capture::new(Keep::default());
        capture.push(text);
        capture.finish()
    };
    assert_eq!(output(b"").last_lines(3, 100), "");
    assert_eq!(output(b"a\nb\nc\n\n").last_lines(1, 100), "c");
    assert_eq!(output(b"a\nb\nc\n").last_lines(2, 100), "b\nc");
    assert_eq!(output(b"a\nb\nc\n").last_lines(9, 100), "a\nb\nc");
    assert_eq!(output("ééé".as_bytes()).last_lines(1, 3), "é");
    assert_eq!(
        output(b"bell\x07 esc\x1b[31m crlf\r\n").last_lines(1, 100),
        "bell\u{fffd} esc\u{fffd}[31m crlf"
    );
    assert_eq!(output(b"\xff\xfe").last_lines(1, 100), "\u{fffd}\u{fffd}");
}

#[test]
fn what_bugaroo_said_earlier_is_shown_too() {
    let mut capture = Capture::new(Keep::default());
    capture.push(
        b"bugaroo: a\nbugaroo: cuX is not supported\nbugaroo: cuX is not supported\n1\n2\nbugaroo: z\n3\n",
    );
    let output = capture.finish();
    assert_eq!(
        output.last_lines_and_notices(3, 100),
        "bugaroo: a\nbugaroo: cuX is not supported\n2\nbugaroo: z\n3"
    );
    assert_eq!(output.last_lines_and_notices(1, 100).lines().count(), 4);
}
