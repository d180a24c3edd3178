//! Matrix multiplications on compute capability 9.0: the kernels are right, and hardly anything can be taken away from them.
//!
//! A mutant is one kernel's text with one instruction of its synchronisation left out or changed. It is found where the verdict is another
//! one than "verified".

use bugaroo_barriers::emulate::{KernelOptions, KernelText};
use bugaroo_barriers::findings::verify;

fn source() -> String {
    let path = format!("{}/tests/kernels/hopper.ptx", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).expect("the kernels")
}

/// Kernels, and what a tensor copy of A, B and the result moves.
const KERNELS: [(&str, [u32; 3]); 7] = [
    ("one_stage", [8192, 2048, 4096]),
    ("two_stages", [8192, 2048, 4096]),
    ("three_stages", [8192, 2048, 4096]),
    ("four_stages", [8192, 2048, 4096]),
    ("in_turn", [8192, 2048, 4096]),
    ("ping_pong", [8192, 2048, 4096]),
    ("cluster", [8192, 1024, 4096]),
];

fn verdict(ptx: &str, kernel: &str, sizes: [u32; 3]) -> &'static str {
    let tensors = (0..).zip(sizes).map(|(map, bytes): (u32, u32)| (map.to_string(), bytes)).collect();
    let options = KernelOptions { tensors, max_steps: 2_000_000, ..KernelOptions::default() };
    let Ok(text) = KernelText::new(ptx) else { return "no PTX" };
    verify(&text, kernel, &options).map_or("usage", |verified| verified.findings.verdict)
}

#[test]
fn pipelines_are_right() {
    let ptx = source();
    for (kernel, sizes) in KERNELS {
        assert_eq!(verdict(&ptx, kernel, sizes), "verified", "{kernel}");
    }
}

/// A number in a line behind its last comma, changed.
fn last_number(line: &str, by: i64) -> Option<String> {
    let (head, number) =
        line.trim_end().strip_suffix(';')?.rsplit_once(|c: char| c == ',' || c.is_whitespace())?;
    let number: i64 = number.trim().parse().ok()?;
    let changed = number + by;
    (changed >= 0).then(|| format!("{head}{}{changed};", if line.contains(',') { ", " } else { " " }))
}

/// The address in the `n`-th brackets, further on.
fn further(line: &str, n: usize, by: u32) -> Option<String> {
    let (at, _) = line.match_indices(']').nth(n)?;
    Some(format!("{}+{by}{}", &line[..at], &line[at..]))
}

/// The `n`-th operand of a multiplication, further on by so many units of 16 bytes.
fn other_matrix(line: &str, n: usize, by: u32) -> Option<String> {
    let (head, operands) = line.split_once("}, ")?;
    let mut operands: Vec<&str> = operands.split(", ").collect();
    let register = *operands.get(n)?;
    operands[n] = "other";
    let operands = operands.join(", ");
    Some(format!("{{ .reg .b64 other; add.s64 other, {register}, {by}; {head}}}, {operands} }}"))
}

/// What can be done to a line: a name, and the line in its place.
fn changes(line: &str) -> Vec<(&'static str, String)> {
    let line = line.trim();
    let starts = |word: &str| line.starts_with(word);
    let mut all = Vec::new();
    let mut add = |name, changed: Option<String>| all.extend(changed.map(|changed| (name, changed)));
    let nothing = Some(String::new());
    if starts("mbarrier.try_wait") {
        add("left out", Some("setp.eq.u32 done, 0, 0;".to_string()));
        let (head, parity) = line.rsplit_once(", ").expect("a parity");
        let parity = parity.trim_end_matches(';');
        add(
            "other parity",
            Some(format!("{{ .reg .b32 other; xor.b32 other, {parity}, 1; {head}, other; }}")),
        );
        add("other barrier", further(line, 0, 8));
    }
    if starts("mbarrier.arrive") {
        add("left out", nothing.clone());
        add("twice", Some(format!("{line} {line}")));
        add("other barrier", further(line, 0, 8));
    }
    if starts("mbarrier.arrive.expect_tx") {
        add("more bytes", last_number(line, 16));
        add("fewer bytes", last_number(line, -16));
    }
    if starts("mbarrier.init") {
        add("left out", nothing.clone());
        add("count higher", last_number(line, 1));
        add("count lower", last_number(line, -1));
    }
    if starts("fence.") || starts("wgmma.fence") || starts("wgmma.commit") || starts("barrier.cluster") {
        add("left out", nothing.clone());
    }
    if starts("wgmma.wait_group") || starts("cp.async.bulk.wait_group") {
        add("left out", nothing.clone());
        add("one more left", last_number(line, 1));
    }
    if starts("bar.sync") || starts("bar.arrive") {
        add("left out", nothing.clone());
        if line.contains(',') {
            add("count higher", last_number(line, 32));
            add("count lower", last_number(line, -32));
        }
    }
    if starts("cp.async.bulk.commit") {
        add("left out", nothing.clone());
    }
    if starts("cp.async.bulk.tensor") && line.contains(".shared::cluster.global") {
        add("left out", nothing);
        add("twice", Some(format!("{line} {line}")));
        add("other stage", further(line, 0, 8192));
        add("other barrier", further(line, 2, 8));
    }
    if starts("wgmma.mma_async") {
        add("other stage of A", other_matrix(line, 0, 512));
        add("other stage of B", other_matrix(line, 1, 128));
    }
    all
}

/// Mutants in which no synchronisation is wrong: kernel, change, how the instruction begins, how many, and why.
const HARMLESS: &[(&str, &str, &str, usize, &str)] = &[
    ("in_turn", "left out", "cp.async.bulk.commit_group", 1, "nothing touches what is copied out any more"),
    ("in_turn", "left out", "fence.mbarrier_init", 1, "the thread that initialises is the one that copies"),
    ("one_stage", "other stage", "cp.async.bulk.tensor", 1, "B lands behind all that is in use"),
    ("one_stage", "other stage of A", "wgmma.mma_async", 3, "there is no other stage: B is read for A"),
    (
        "one_stage",
        "other stage of B",
        "wgmma.mma_async",
        4,
        "there is no other stage: what is read is written at other times",
    ),
];

#[test]
fn mutants_are_found() {
    let ptx = source();
    let lines: Vec<&str> = ptx.lines().collect();
    let (mut made, mut survivors) = (0, Vec::new());
    let entries: Vec<usize> =
        (0..lines.len()).filter(|at| lines[*at].starts_with(".visible .entry")).collect();
    // What stands behind the last kernel: names of files and functions.
    let tail = (entries[entries.len() - 1]..lines.len()).find(|at| lines[*at].starts_with("\t.file"));
    let tail = tail.expect("the names of the files");
    for (kernel, sizes) in KERNELS {
        let is_it = |at: &&usize| lines[**at].contains(&format!(" {kernel}("));
        let start = *entries.iter().find(is_it).expect("the kernel");
        let end = entries.iter().copied().find(|at| *at > start).unwrap_or(tail);
        for at in start..end {
            for (change, changed) in changes(lines[at]) {
                // The kernel alone, between what stands before all of them and behind.
                let mut mutant = lines[..entries[0]].to_vec();
                mutant.extend(&lines[start..at]);
                mutant.push(&changed);
                mutant.extend(&lines[at + 1..end]);
                mutant.extend(&lines[tail..]);
                let found = verdict(&mutant.join("\n"), kernel, sizes);
                assert!(!["no PTX", "usage"].contains(&found), "{kernel}: {changed}");
                made += 1;
                if found == "verified" {
                    survivors.push((kernel, change, lines[at].trim()));
                }
            }
        }
    }
    println!("{made} mutants, {} of them harmless", survivors.len());
    for (kernel, change, word, count, why) in HARMLESS {
        let before = survivors.len();
        survivors.retain(|(k, c, line)| (k, c) != (kernel, change) || !line.starts_with(word));
        assert_eq!(before - survivors.len(), *count, "{kernel}, {change}, {word}: {why}");
    }
    assert!(survivors.is_empty(), "not found: {survivors:#?}");
    let harmless: usize = HARMLESS.iter().map(|(.., count, _)| count).sum();
    assert!(made >= 400 && harmless * 20 <= made, "{harmless} of {made}");
}
