use std::collections::BTreeMap;

use super::{ROWS, bar, grouped, section};
use crate::output::thousands;

#[test]
fn a_row_for_each_length_while_there_are_few() {
    let lengths = BTreeMap::from([(1, 7), (2, 2), (200, 1)]);
    assert_eq!(grouped(&lengths), [(1, 1, 7), (2, 2, 2), (200, 200, 1)]);
    let text = section("global", &lengths);
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines[0], "global stores: 70.0 % of 10 flushes have length 1");
    assert_eq!(lines[1].split_whitespace().collect::<Vec<_>>(), ["length", "flushes", "share"]);
    let words: Vec<_> = lines[3].split_whitespace().collect();
    assert_eq!(words, ["2", "2", "20.0", "%", &("█".repeat(11) + "▌")]);
    assert_eq!(lines.len(), 5);
}

#[test]
fn many_lengths_are_grouped_and_none_is_lost() {
    for most in [21, 34, 256, 5000, u32::MAX] {
        let lengths: BTreeMap<u32, u64> = (1..=u32::min(most, 5000))
            .chain([most])
            .map(|length| (length, u64::from(length % 7 + 1)))
            .collect();
        let rows = grouped(&lengths);
        assert!(rows.len() <= ROWS, "{most}: {rows:?}");
        assert_eq!(rows.iter().map(|row| row.2).sum::<u64>(), lengths.values().sum::<u64>());
        assert_eq!((rows[0].0, rows[0].1), (1, 1));
        assert_eq!(rows.last().map(|row| row.1), Some(most));
        assert!(rows.windows(2).all(|pair| pair[0].1 < pair[1].0), "{rows:?}");
    }
}

#[test]
fn no_flushes() {
    assert_eq!(section("shared", &BTreeMap::new()), "shared stores: no flushes\n");
    assert!(section("shared", &BTreeMap::from([(3, 4)])).contains(" 0.0 % of 4 flushes have length 1"));
}

#[test]
fn bars_are_in_proportion_and_never_empty() {
    assert_eq!(bar(5, 5).chars().count(), 40);
    assert_eq!(bar(1, 2), "█".repeat(20));
    assert_eq!(bar(1, u64::MAX), "▏");
    assert_eq!(bar(u64::MAX, u64::MAX).chars().count(), 40);
}

#[test]
fn thousands_are_apart() {
    let written = [(0, "0"), (999, "999"), (1000, "1,000"), (1_076_216, "1,076,216"), (16_352, "16,352")];
    for (number, text) in written {
        assert_eq!(thousands(number), text);
    }
}
