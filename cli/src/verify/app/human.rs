//! Verdicts on a program's launches for people: a table, then what is wrong.

use std::fmt::Write;

use bugaroo_barriers::findings::Findings;
use bugaroo_harness::launches::{Blocks, Row};
use bugaroo_harness::names::{demangled, readable};

use super::Shown;
use crate::output::{indent, table, thousands};
use crate::verify::human;

/// Most characters of a kernel's name in the table.
const NAME: usize = 72;
/// Blocks that are named.
const FEW: usize = 4;

/// All that was found.
pub fn describe(shown: &Shown<'_>) -> String {
    let rows = &shown.verified.rows;
    let mut text = String::new();
    if !rows.is_empty() {
        let header = ["kernel", "grid × block", "launches", "looked at", "verdict"];
        text += &table(&header, &[2], rows.iter().map(line));
    }
    for row in rows.iter().filter(|row| !row.findings.is_clean()) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "\n{}, {}:", launches(row), looked_at(row));
        text += &indent(&human::describe(&row.findings, &shown.target.app), "  ");
    }
    let mut notes = String::new();
    for left_out in &shown.verified.left_out {
        let _ = writeln!(
            notes,
            "{}: {} launches of {} more kinds were left out; --launches N verifies more kinds",
            demangled(&left_out.kernel),
            thousands(left_out.launches),
            thousands(left_out.forms)
        );
    }
    for what in &shown.recording.refused {
        let _ = writeln!(notes, "not verified, as it could not be run: {}", readable(what));
    }
    if !shown.recording.stderr.is_empty() {
        notes += "the end of the program's standard error:\n";
        notes += &indent(&shown.recording.stderr, "  | ");
    }
    if !notes.is_empty() {
        text += "\n";
        text += &notes;
    }
    if shown.launches > 0 {
        let _ = writeln!(text, "\n{}", summary(shown));
    }
    text
}

/// How many launches got which verdict.
fn summary(shown: &Shown<'_>) -> String {
    let mut verdicts: Vec<(&str, u64)> = Vec::new();
    for row in &shown.verified.rows {
        match verdicts.iter_mut().find(|(verdict, _)| *verdict == row.findings.verdict) {
            Some((_, count)) => *count += row.launches,
            None => verdicts.push((row.findings.verdict, row.launches)),
        }
    }
    if shown.left_out() > 0 {
        verdicts.push(("not looked at", shown.left_out()));
    }
    let parts: Vec<String> =
        verdicts.iter().map(|(verdict, count)| format!("{} {verdict}", thousands(*count))).collect();
    format!("{}: {}", plural(shown.launches, "launch", "launches"), parts.join(", "))
}

fn line(row: &Row) -> Vec<String> {
    let name = demangled(&row.findings.kernel);
    let short = match name.char_indices().nth(NAME) {
        Some(_) => name.chars().take(NAME - 1).chain(['…']).collect(),
        None => name,
    };
    vec![short, shape(row), thousands(row.launches), looked_at(row), verdict(&row.findings)]
}

fn verdict(findings: &Findings) -> String {
    match findings.verdict {
        "verified" if findings.vacuous => "verified (no barrier, no shared memory)".to_owned(),
        verdict => verdict.to_owned(),
    }
}

/// Blocks of the grid, of a cluster, and threads of a block.
fn shape(row: &Row) -> String {
    let grid = row.grid.map_or_else(|| "several".to_owned(), extent);
    let cluster = row.cluster.filter(|cluster| *cluster != [1; 3]);
    let cluster = cluster.map_or_else(String::new, |cluster| format!(" (clusters of {})", extent(cluster)));
    format!("{grid}{cluster} × {}", extent(row.threads))
}

fn extent([x, y, z]: [u32; 3]) -> String {
    match (y, z) {
        (1, 1) => format!("{x}"),
        (_, 1) => format!("{x}·{y}"),
        _ => format!("{x}·{y}·{z}"),
    }
}

/// Which launches a verdict is of.
fn launches(row: &Row) -> String {
    let kinds = match row.forms {
        1 => String::new(),
        forms => format!(" of {} kinds", thousands(forms)),
    };
    let number = plural(row.launches, "launch", "launches");
    format!("{number}{kinds}, the first of them number {} of the program", thousands(row.first_launch + 1))
}

/// Which blocks a verdict is of.
fn looked_at(row: &Row) -> String {
    let clustered = row.cluster.is_some_and(|cluster| cluster != [1; 3]);
    let what = if clustered { "cluster" } else { "block" };
    let blocks = match &row.blocks {
        Blocks::Every => return format!("every {what}"),
        Blocks::Some(blocks) => blocks,
    };
    let flat = row.grid.is_some_and(|[_, y, z]| (y, z) == (1, 1));
    let name = |[x, y, z]: &[u32; 3]| if flat { format!("{x}") } else { format!("({x},{y},{z})") };
    let mut names: Vec<String> = blocks.iter().take(FEW).map(name).collect();
    if blocks.len() > FEW {
        names.push(format!("{} more", blocks.len() - FEW));
    }
    let of = match row.grid.map(|grid| grid.iter().map(|n| u64::from(*n)).product::<u64>()) {
        Some(all) if !clustered => format!(" of {}", thousands(all)),
        _ => String::new(),
    };
    match names.split_last() {
        None => format!("no {what}"),
        Some((only, [])) => format!("{what} {only}{of}"),
        Some((last, others)) => format!("{what}s {} and {last}{of}", others.join(", ")),
    }
}

fn plural(count: u64, one: &str, several: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{} {several}", thousands(count)) }
}
