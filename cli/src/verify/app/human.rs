//! Verdicts on a program's launches for people: a table, then what is wrong.

use std::fmt::Write;

use bugaroo_barriers::findings::KernelFindings;
use bugaroo_harness::launches::{Blocks, Row};
use bugaroo_harness::names::{demangled, readable};

use super::shown::Shown;
use crate::output::{indent, table, thousands};
use crate::verify::human;

/// Most characters of a kernel's name in the table.
const NAME: usize = 80;
/// Blocks that are named.
const FEW: usize = 4;

/// Rows that say the same.
struct Group<'a> {
    rows: Vec<&'a Row>,
    /// Cells of the table beside the number of launches.
    cells: [String; 4],
    /// What is wrong, or why nothing is known; empty for a kernel that is verified.
    told: String,
}

/// All that was found.
pub fn describe(shown: &Shown<'_>) -> String {
    let groups = groups(shown);
    let mut text = String::new();
    if !groups.is_empty() {
        let header = ["kernel", "grid × block", "launches", "looked at", "verdict"];
        text += &table(&header, &[2], groups.iter().map(Group::line));
    }
    for group in groups.iter().filter(|group| !group.told.is_empty()) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "\n{}:", group.launches());
        text += &indent(&group.told, "  ");
    }
    let mut notes = String::new();
    for left_out in &shown.verified.left_out {
        let _ = writeln!(
            notes,
            "{}: {} of {} more were left out; --launches N verifies more kinds",
            short(&left_out.kernel),
            plural(left_out.launches, "launch", "launches"),
            plural(left_out.forms, "kind", "kinds"),
        );
    }
    for what in &shown.recording.refused {
        let _ = writeln!(notes, "not verified, as it could not be run: {}", readable(what));
    }
    if !shown.recording.stderr.is_empty() {
        notes += "the end of the program's standard error:\n";
        notes += &indent(&shown.recording.stderr, "  | ");
    }
    if shown.launches > 0 {
        let _ = writeln!(notes, "{}{}", if notes.is_empty() { "" } else { "\n" }, summary(shown));
    }
    if !text.is_empty() && !notes.is_empty() {
        text.push('\n');
    }
    text + &notes
}

/// Rows that say the same, once.
fn groups<'a>(shown: &Shown<'a>) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    for row in &shown.verified.rows {
        let cells = [short(&row.findings.kernel), shape(row), looked_at(row), verdict(&row.findings)];
        let told = match row.findings.is_clean() {
            true => String::new(),
            false => human::describe(&row.findings, &shown.target.app),
        };
        let same = |group: &&mut Group<'_>| {
            let kernel = group.rows[0].findings.kernel == row.findings.kernel;
            kernel && group.cells == cells && group.told == told
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.rows.push(row),
            None => groups.push(Group { rows: vec![row], cells, told }),
        }
    }
    groups
}

impl Group<'_> {
    fn count(&self) -> u64 {
        self.rows.iter().map(|row| row.launches).sum()
    }

    fn line(&self) -> Vec<String> {
        let [name, shape, looked_at, verdict] = self.cells.clone();
        vec![name, shape, thousands(self.count()), looked_at, verdict]
    }

    /// Which launches something is told of.
    fn launches(&self) -> String {
        let forms: u64 = self.rows.iter().map(|row| row.forms).sum();
        let kinds = if forms == 1 { String::new() } else { format!(" of {} kinds", thousands(forms)) };
        let first = self.rows.iter().map(|row| row.first_launch + 1).min().unwrap_or_default();
        let [_, shape, looked_at, _] = &self.cells;
        let number = plural(self.count(), "launch", "launches");
        let first = format!("the first of which is launch {} of the program", thousands(first));
        format!("{number}{kinds} with {shape}, {first}; {looked_at}")
    }
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

/// A kernel's name in C++, without parameters and what templates are made with where it would be too long.
fn short(kernel: &str) -> String {
    let name = demangled(kernel);
    if name.chars().count() <= NAME {
        return name;
    }
    let name = name.strip_prefix("void ").unwrap_or(&name);
    let mut text = String::new();
    let mut depth = 0;
    for letter in name.chars() {
        match letter {
            '<' => {
                depth += 1;
                if depth == 1 {
                    text += "<…>";
                }
            }
            '>' => depth -= 1,
            // The parameters, or a namespace without a name.
            '(' if depth == 0 && !text.is_empty() && !text.ends_with(':') => break,
            letter if depth <= 0 => text.push(letter),
            _ => {}
        }
    }
    match text.char_indices().nth(NAME) {
        Some(_) => text.chars().take(NAME - 1).chain(['…']).collect(),
        None => text,
    }
}

fn verdict(findings: &KernelFindings) -> String {
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

/// Which blocks a verdict is of.
fn looked_at(row: &Row) -> String {
    let clustered = row.cluster.is_some_and(|cluster| cluster != [1; 3]);
    let blocks = match &row.blocks {
        Blocks::Every if clustered => return "every cluster".to_owned(),
        Blocks::Every => return "every block".to_owned(),
        Blocks::Some(blocks) => blocks,
    };
    let (one, several) =
        if clustered { ("cluster of block", "clusters of blocks") } else { ("block", "blocks") };
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
        None => format!("no {one}"),
        Some((only, [])) => format!("{one} {only}{of}"),
        Some((last, others)) => format!("{several} {} and {last}{of}", others.join(", ")),
    }
}

fn plural(count: u64, one: &str, several: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{} {several}", thousands(count)) }
}
