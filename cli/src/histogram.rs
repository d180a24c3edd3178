//! Histograms of flush lengths, for people.

use std::collections::BTreeMap;

use crate::output::{indent, table, thousands};

/// Rows that a histogram has at most.
const ROWS: usize = 20;

/// Last lengths of the rows where there are too many for a row each: fine where most of them are. What is
/// longer has a row of its own.
const EDGES: [u32; ROWS - 1] = [1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 512];

/// Characters of the longest bar.
const WIDTH: u64 = 40;

/// Ends of bars, by eighths of a character.
const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/// What is said of one space's buffers.
pub fn section(space: &str, lengths: &BTreeMap<u32, u64>) -> String {
    let all: u64 = lengths.values().sum();
    if all == 0 {
        return format!("{space} stores: no flushes\n");
    }
    let share = |count: u64| format!("{:.1} %", 100.0 * count as f64 / all as f64);
    let single = lengths.get(&1).copied().unwrap_or(0);
    let grouped = grouped(lengths);
    let most = grouped.iter().map(|&(_, _, count)| count).max().unwrap_or(0);
    let rows = grouped.iter().map(|&(first, last, count)| {
        let length = if first == last { first.to_string() } else { format!("{first}–{last}") };
        vec![length, thousands(count), share(count), bar(count, most)]
    });
    format!(
        "{space} stores: {} of {} flushes have length 1\n{}",
        share(single),
        thousands(all),
        indent(&table(&["length", "flushes", "share", ""], &[0, 1, 2], rows), "  ")
    )
}

/// Rows: the shortest and longest length in each, and how many there are.
fn grouped(lengths: &BTreeMap<u32, u64>) -> Vec<(u32, u32, u64)> {
    let mut rows: Vec<(u32, u32, u64)> = Vec::new();
    for (&length, &count) in lengths {
        let group = |length| EDGES.partition_point(|&edge| edge < length);
        match rows.last_mut() {
            Some((first, last, sum)) if lengths.len() > ROWS && group(*first) == group(length) => {
                *last = length;
                *sum += count;
            }
            _ => rows.push((length, length, count)),
        }
    }
    rows
}

/// A bar in proportion, of an eighth of a character at least.
fn bar(count: u64, most: u64) -> String {
    let eighths = (u128::from(count) * u128::from(8 * WIDTH)).div_ceil(u128::from(most.max(1)));
    // Not more than `8 * WIDTH`, as no count is larger than the largest.
    let eighths = eighths as usize;
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

#[cfg(test)]
mod tests;
