//! Tables I to III and the memory, ours beside the paper's. Table IV is in [`crate::findings`].

use std::fmt::Write;

use bugaroo_protocol::Model;

use crate::catalog::{self, PROGRAMS, Program};
use crate::markdown::{NOTHING, Table, or_nothing, percent, thousands};
use crate::memory;
use crate::paper;
use crate::results::{Evaluation, Timed, model_name};
use crate::statistics::{median, overhead_percent};

/// Table I: the programs.
pub fn programs() -> String {
    let mut table = Table::new(&["program", "communication", "our check", "the paper's check"], &[]);
    for row in paper::TABLE_I {
        let ours = catalog::program(row.program).map_or(NOTHING, |program| program.check);
        table.row([row.program, row.communication, ours, row.check]);
    }
    table.render()
}

/// Table II: what the programs execute.
pub fn metadata(results: &Evaluation) -> String {
    let mut table = Table::new(
        &["program"],
        &[
            "instructions (PTX)",
            "paper (SASS)",
            "fences",
            "paper",
            "shared stores",
            "paper",
            "global stores",
            "paper",
        ],
    );
    for row in paper::TABLE_II {
        let Some(ours) = results.counts(row.program, row.variant) else { continue };
        table.row([
            title(row.program, row.variant),
            thousands(ours.dynamic_instructions),
            thousands(row.instructions),
            format!("{} ({})", thousands(ours.fences), ours.static_fences),
            format!("{} ({})", thousands(row.fences), row.static_fences),
            thousands(ours.shared_stores),
            thousands(row.shared_stores),
            thousands(ours.global_stores),
            thousands(row.global_stores),
        ]);
    }
    or_not_measured(&table)
}

/// Table III: run times.
pub fn run_times(results: &Evaluation) -> String {
    let models: Vec<Model> = results
        .models()
        .into_iter()
        .filter(|&model| results.timings.iter().any(|it| it.instrumented_ms.contains_key(model_name(model))))
        .collect();
    let mut numbers = vec!["runs each".to_owned(), "native, ms".to_owned()];
    for &model in &models {
        numbers.extend([format!("{}, ms", model_name(model)), "ratio".to_owned(), "overhead".to_owned()]);
    }
    numbers.extend(["native, s", "instrumented, s", "overhead"].map(|title| format!("paper: {title}")));
    let mut table = Table::new(&["program".to_owned()], &numbers);
    for row in paper::TABLE_III {
        let Some(timed) = results.timed(row.program, row.variant) else { continue };
        let native = median(&timed.native_ms);
        let runs = timed.native_ms.len().to_string();
        let mut cells = vec![title(row.program, row.variant), runs, or_nothing(native, milliseconds)];
        for &model in &models {
            let instrumented = timed.instrumented_ms.get(model_name(model)).and_then(|it| median(it));
            cells.push(or_nothing(instrumented, milliseconds));
            cells
                .push(or_nothing(native.zip(instrumented), |(native, with)| format!("{:.2}", with / native)));
            cells.push(or_nothing(overhead(timed, model), percent));
        }
        cells.extend([
            format!("{:.3}", row.native),
            format!("{:.3}", row.instrumented),
            format!("{:.2} %", row.overhead),
        ]);
        table.row(cells);
    }
    let mut text = or_not_measured(&table);
    for &model in &models {
        let overheads = program_overheads(results, model);
        let Some(overhead) = median(&overheads) else { continue };
        let of = match overheads.len() {
            7 => "the seven programs".to_owned(),
            measured => format!("{measured} of the seven programs"),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "Median overhead over {of} under `{}`: **{}**; the paper's: {} %.\n",
            model_name(model),
            percent(overhead),
            paper::MEDIAN_OVERHEAD,
        );
    }
    text
}

/// The overhead of a row in percent: of the median times.
pub fn overhead(timed: &Timed, model: Model) -> Option<f64> {
    let instrumented = median(timed.instrumented_ms.get(model_name(model))?)?;
    Some(overhead_percent(median(&timed.native_ms)?, instrumented))
}

/// The overheads of the programs measured, each by the variant that the paper names first.
pub fn program_overheads(results: &Evaluation, model: Model) -> Vec<f64> {
    let first = |program: &Program| results.timed(program.name, program.measured().next()?);
    PROGRAMS.iter().filter_map(first).filter_map(|timed| overhead(timed, model)).collect()
}

/// Memory that the buffers take.
pub fn memory(results: &Evaluation) -> String {
    let mut table = Table::new(&["launch"], &["threads", "bytes a thread", "in total, MB"]);
    for program in &PROGRAMS {
        let Some(variant) = program.measured().next() else { continue };
        let Some(counts) = results.counts(program.name, variant) else { continue };
        let (ctas, threads) = program.launch(results.settings.short);
        let name = format!("{}, {ctas} x {threads}", program.name);
        table.row(memory_row(name, ctas * threads, counts.buffer_bytes));
    }
    let (ctas, threads) = memory::PAPER_LAUNCH;
    let ours = memory::of_launch((ctas, threads));
    table.row(memory_row("as many threads as the paper reckons with".to_owned(), ctas * threads, ours));
    let papers = 2.0 * paper::MEMORY_GB_A_SPACE * 1e9;
    // Exact in bytes: less than 2^53.
    table.row(memory_row("the paper, for these".to_owned(), paper::MEMORY_THREADS, papers as u64));
    table.render()
}

fn memory_row(name: String, threads: u64, bytes: u64) -> [String; 4] {
    let megabytes = bytes as f64 / 1e6;
    [name, thousands(threads), thousands(bytes / threads), format!("{megabytes:.1}")]
}

/// A program and variant as a row's title.
pub fn title(program: &str, variant: &str) -> String {
    if variant == catalog::ORIGINAL { program.to_owned() } else { format!("{program} {variant}") }
}

/// A table, or that there is none.
pub fn or_not_measured(table: &Table) -> String {
    if table.is_empty() { "Not measured.\n\n".to_owned() } else { table.render() }
}

fn milliseconds(value: f64) -> String {
    format!("{value:.1}")
}

#[cfg(test)]
mod tests;
