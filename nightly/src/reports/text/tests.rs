use super::{chance, duration, line, moment, number, percent, short, visible};

#[test]
fn what_cannot_be_seen_is_shown() {
    assert_eq!(visible("plain\n\ttext é"), "plain\n\ttext é");
    assert_eq!(visible("a\0b\x1b[31mc\x7f"), "a\u{2400}b\u{241b}[31mc\u{2421}");
    assert_eq!(visible("a\r\nb\rc"), "a\nb\u{240d}c");
    assert_eq!(visible("\u{202e}x\u{ffff}\u{85}"), "⟨U+202E⟩x⟨U+FFFF⟩⟨U+0085⟩");
    assert_eq!(line(" a\n\n b\tc "), "a b c");
}

#[test]
fn what_is_cut_is_said() {
    assert_eq!(short("four", 4), "four");
    assert_eq!(short("ééééé", 3), "ééé… (2 characters more)");
}

#[test]
fn shares_have_the_digits_that_count() {
    let shown = [0.0, 1.0, 0.5, 0.0123, 0.000_123, 0.000_000_2, 0.9996, 0.9994, 0.25].map(percent);
    let expected = ["0", "100", "50", "1.23", "0.012", "0.00002", "100", "99.9", "25"];
    assert_eq!(shown, expected.map(|text| format!("{text}\u{a0}%")));
}

#[test]
fn numbers_and_times_read_well() {
    assert_eq!(number(1_234_567), "1\u{202f}234\u{202f}567");
    assert_eq!([0, 999].map(number), ["0", "999"]);
    assert_eq!(
        [7, 1500, 61_000, 3_660_000].map(duration),
        ["7 ms", "1.5 s", "1 min 01 s", "1 h 01 min"].map(|text| text.replace(' ', "\u{a0}"))
    );
    let shown = [0.04, 0.5, 0.002, 0.000_02, 0.0].map(chance);
    assert_eq!(shown, ["0.04", "0.5", "0.002", "2e\u{2011}5", "0"].map(|p| format!("p\u{a0}=\u{a0}{p}")));
    assert_eq!(moment("2026-03-02T01:00:59Z"), "2026-03-02 01:00 UTC");
    assert_eq!(moment("once"), "once");
}
