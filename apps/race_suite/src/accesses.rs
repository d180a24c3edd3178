//! Which lines of a program access memory, as its PTX has it.

use std::collections::{BTreeMap, BTreeSet};

/// What instructions that access memory, or are barriers, begin with.
const OPCODES: [&str; 13] = [
    "ld.",
    "st.",
    "atom.",
    "red.",
    "cp.",
    "bar.",
    "barrier.",
    "mbarrier.",
    "ldu.",
    "wmma.load",
    "wmma.store",
    "ldmatrix",
    "stmatrix",
];
/// Memory that no other thread sees.
const PRIVATE: [&str; 4] = ["ld.param", "st.param", "ld.local", "st.local"];

/// The numbers that a text begins with.
fn numbers(text: &str) -> Vec<u32> {
    text.split_whitespace().map_while(|word| word.trim_end_matches(',').parse().ok()).collect()
}

/// The lines of `file` (a file's name) at which PTX made with `-lineinfo` accesses memory that others see. A line from which a
/// function of a header was called counts for what that does.
pub fn lines(ptx: &str, file: &str) -> BTreeSet<u32> {
    let mut ours: BTreeMap<u32, bool> = BTreeMap::new();
    for line in ptx.lines() {
        let mut words = line.trim().strip_prefix(".file").unwrap_or_default().split_whitespace();
        if let (Some(Ok(number)), Some(path)) = (words.next().map(str::parse), words.next()) {
            ours.insert(number, path.trim_matches('"').rsplit('/').next() == Some(file));
        }
    }
    let mut at: Vec<u32> = Vec::new();
    let mut found = BTreeSet::new();
    for line in ptx.lines() {
        let line = line.trim();
        if let Some(rest) = line.strip_prefix(".loc") {
            let places = [rest, rest.split_once("inlined_at").map_or("", |(_, outer)| outer)];
            at = places
                .iter()
                .filter_map(|place| match numbers(place)[..] {
                    [file, line, ..] if ours.get(&file) == Some(&true) => Some(line),
                    _ => None,
                })
                .collect();
            continue;
        }
        // A block of inline assembly may stand on one line, and a guard before an instruction.
        for part in line.split([';', '{', '}']) {
            let part = part.trim();
            let instruction = match part.strip_prefix('@') {
                Some(guarded) => guarded.split_once(char::is_whitespace).map_or("", |(_, rest)| rest.trim()),
                None => part,
            };
            let accesses = OPCODES.iter().any(|opcode| instruction.starts_with(opcode));
            if accesses && !PRIVATE.iter().any(|opcode| instruction.starts_with(opcode)) {
                found.extend(&at);
            }
        }
    }
    found
}
