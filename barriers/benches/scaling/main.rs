//! Time and memory of the check on generated kernels: two of the size of the paper's largest, and one in four sizes.
//! `cargo bench -p bugaroo-barriers`; with `-- --write` the figures go to `scaling.txt` and `scaling.svg` beside this file.

mod kernels;
mod plot;

use std::fmt::Write;
use std::time::Instant;

use bugaroo_barriers::{WarpPrograms, check};
use kernels::{Dataflow, Divergent, Streaming};

/// What one check took.
struct Measured {
    commands: u64,
    seconds: f64,
    line: String,
}

fn measure(name: &str, program: &WarpPrograms) -> Measured {
    let mut seconds = f64::INFINITY;
    let mut report = check(program);
    for _ in 0..9 {
        let start = Instant::now();
        report = check(program);
        seconds = seconds.min(start.elapsed().as_secs_f64());
    }
    let stats = report.stats;
    let line = format!(
        "{name:22} {:8} {:9} {:9} {:11} {:12} {:9.3} {:8} {:9}  {:?}",
        stats.threads,
        stats.dynamic_barriers,
        stats.shared_addresses,
        stats.commands,
        stats.race_tests / 1_000_000,
        seconds,
        program.bytes() >> 20,
        peak_megabytes(),
        report.verdict,
    );
    println!("{line}");
    Measured { commands: stats.commands, seconds, line }
}

/// The most memory that this process has held.
fn peak_megabytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|l| l.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kilobytes.unwrap_or(0) / 1024
}

fn main() {
    let head = format!(
        "{:22} {:>8} {:>9} {:>9} {:>11} {:>12} {:>9} {:>8} {:>9}  verdict",
        "kernel",
        "threads",
        "barriers",
        "addresses",
        "commands",
        "tests (10^6)",
        "seconds",
        "MB prog",
        "MB peak"
    );
    println!("{head}");
    let mut all = vec![
        measure(
            "streaming, with a bug",
            &Streaming { warps: 10, rounds: 4096, early_release: true }.program(),
        ),
        measure("divergent, 256", &Divergent { warps: 8, rounds: 200 }.program()),
        measure("divergent, 1024", &Divergent { warps: 32, rounds: 100 }.program()),
        measure("streaming (saxpy)", &Streaming { warps: 10, rounds: 4096, early_release: false }.program()),
        measure("dataflow (hept_chem)", &Dataflow { rounds: 31, lockstep: true, exchanges: 360 }.program()),
        measure("the same, unlocked", &Dataflow { rounds: 31, lockstep: false, exchanges: 360 }.program()),
    ];
    let sizes: Vec<Measured> = [32, 64, 128, 256]
        .map(|rounds| {
            let kernel = Dataflow { rounds, lockstep: true, exchanges: 360 };
            measure(&format!("dataflow, {rounds} rounds"), &kernel.program())
        })
        .into();
    let points: Vec<(f64, f64)> = sizes.iter().map(|m| (m.commands as f64, m.seconds)).collect();
    let mut text = head + "\n";
    all.extend(sizes);
    for measured in &all {
        let _ = writeln!(text, "{}", measured.line);
    }
    let growth = plot::growth(&points);
    let _ = writeln!(text, "\ntime grows with the commands to the power {growth:.2} over the four sizes");
    println!("time grows with the commands to the power {growth:.2} over the four sizes");
    if std::env::args().any(|a| a == "--write") {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/scaling/");
        let write = |name: &str, content: String| std::fs::write(format!("{folder}{name}"), content);
        write("scaling.txt", text).expect("the folder of this file can be written to");
        write("scaling.svg", plot::svg(&points)).expect("the folder of this file can be written to");
    }
}
