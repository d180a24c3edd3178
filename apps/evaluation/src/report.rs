//! The report: all tables and figures as one Markdown file.

use std::fmt::Write;

use crate::figures::{self, Which};
use crate::findings;
use crate::markdown::thousands;
use crate::paper;
use crate::races::{barracuda, hirace, machine, scord};
use crate::results::{Evaluation, model_name};
use crate::tables;

/// The report's file.
pub const FILE: &str = "README.md";

/// The report on everything measured so far.
pub fn render(results: &Evaluation) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write(results, &mut text);
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

/// What is not as it should be, a line each: differences in kind without a known cause, failures of correct variants.
pub fn alarms(results: &Evaluation) -> Vec<String> {
    let of = [findings::alarms, hirace::alarms, scord::alarms, barracuda::alarms];
    of.iter().flat_map(|of| of(results)).collect()
}

fn write(results: &Evaluation, text: &mut String) -> std::fmt::Result {
    let settings = &results.settings;
    writeln!(text, "# The papers' evaluations, ours beside theirs\n")?;
    let short = if settings.short { " --short" } else { "" };
    writeln!(
        text,
        "Measured with this build by `evaluation{short}`, seed {}. {INTRODUCTION}\n",
        settings.seed
    )?;
    if settings.short {
        writeln!(text, "{SHORT}\n")?;
    }
    let alarms = alarms(results);
    if !alarms.is_empty() {
        writeln!(text, "**Not as it should be:**\n")?;
        for alarm in alarms {
            writeln!(text, "- {alarm}")?;
        }
        writeln!(text)?;
    }
    bugaroo(results, text)?;
    detectors(results, text)?;
    writeln!(text, "# What depends on the machine\n")?;
    writeln!(text, "## Bugaroo, Table III: run time\n\n{}\n", tables::run_times(results).trim_end())?;
    writeln!(text, "{TABLE_III} Measured on {} processors.", results.processors)
}

/// The Bugaroo paper's tables and figures, but the times.
fn bugaroo(results: &Evaluation, text: &mut String) -> std::fmt::Result {
    writeln!(text, "# Bugaroo\n")?;
    writeln!(
        text,
        "Tables I to IV and Figures 3 and 4 of Islam and Muzahid, *Bugaroo: Exposing Memory Model Bugs in \
         Many-core Systems*. Theirs are of a Tesla K80, 1000 runs of each application; ours of the virtual GPU: {} \
         trials a cell, buffers of {} entries.\n",
        thousands(results.settings.trials),
        paper::BUFFER_ENTRIES,
    )?;
    writeln!(text, "## Table I: the programs\n\n{}", tables::programs().trim_end())?;
    writeln!(text, "\n## Table II: what they execute\n\n{}", tables::metadata(results).trim_end())?;
    writeln!(text, "\n{TABLE_II}\n")?;
    for (which, number, stores, share) in [
        (Which::Global, 3, "global", paper::GLOBAL_LENGTH_1),
        (Which::Shared, 4, "shared", paper::SHARED_LENGTH_1),
    ] {
        writeln!(text, "## Figure {number}: flush lengths of {stores} stores\n")?;
        writeln!(text, "![Histograms of flush lengths, a panel for each program]({})\n", which.file())?;
        writeln!(text, "{}\n", figures::shares(results, which, share).trim_end())?;
    }
    let (program, longest) = paper::LONGEST_FLUSH;
    writeln!(
        text,
        "The paper's longest flush is of {longest} stores, in {program}. Its text gives no other number of the \
         figures. {FIGURES}\n"
    )?;
    writeln!(text, "## Table IV: findings\n\n{TABLE_IV}\n")?;
    for model in results.models() {
        writeln!(text, "### Model `{}`\n", model_name(model))?;
        text.push_str(&findings::section(results, model));
    }
    writeln!(text, "## Memory\n\n{}\n\n{MEMORY}\n", tables::memory(results).trim_end())
}

/// The race detectors' tables.
fn detectors(results: &Evaluation, text: &mut String) -> std::fmt::Result {
    let [races, false_positives] = scord::section(results);
    let [suite, benchmarks] = barracuda::section(results);
    for (paper, about, sections) in [
        (
            "HiRace",
            HIRACE,
            [
                ("Table II: programs with races, found and missed", hirace::section(results)),
                ("The state machine", machine::section()),
            ],
        ),
        ("ScoRD", SCORD, [("Table VI: races found", races), ("Table VII: false positives", false_positives)]),
        (
            "BARRACUDA",
            BARRACUDA,
            [
                ("The suite of small programs (section 6.1)", suite),
                ("Table 1: benchmarks, with Figure 9", benchmarks),
            ],
        ),
    ] {
        writeln!(text, "# {paper}\n\n{about}\n")?;
        for (title, section) in sections {
            writeln!(text, "## {title}\n\n{}\n", section.trim_end())?;
        }
    }
    Ok(())
}

const INTRODUCTION: &str = "The same build gives the same numbers on every machine, but for the run times at the end. The raw numbers are in \
    `evaluation.json`. The programs of `apps/race_suite` always have seed 1.";

const SHORT: &str = "This is the short form: a smaller streamcluster everywhere, a few programs of each of the race detectors' suites, and two of the \
    six graphs.";

const HIRACE: &str = "Jacobson, Burtscher, Gopalakrishnan, *HiRace: Accurate and Fast Source-Level Race Checking of GPU Programs* (SC'24).";

const SCORD: &str = "Kamath, George, Basu, *ScoRD: A Scoped Race Detector for GPUs* (ISCA'20). Ours are programs in the manner of its suite, by its \
    Tables I and II: `apps/race_suite/scor`, with sizes for a virtual GPU. Each detector looks at eight executions.";

const BARRACUDA: &str = "Eizenberg, Peng, Pigli, Mansky, Devietti, *BARRACUDA: Binary-level Analysis of Runtime RAces in CUDA programs* (PLDI'17). \
    It looks at eight executions of each program, more where one alone need not show the race.";

const TABLE_II: &str = "Executions by threads, without injection; in brackets how often a fence stands in the kernel. \
    The two differ in kind: the paper counts SASS instructions of instrumented kernels on a K80, we count PTX \
    instructions of the original kernels. Ours counts fences of every scope: in cub_scan also the \
    `__threadfence_block()` of the waiting loops, which the paper's 10,529 executions leave out. \
    The paper gives no sizes but streamcluster's; ours are chosen so that the executed `__threadfence()` are as many \
    as its, and stores where that goes with it.";

const FIGURES: &str =
    "A flush is a drain of a whole buffer with something in it. Every store is delayed (p_w 1).";

const TABLE_III: &str = "Medians of whole processes. Native and instrumented run on the same virtual GPU, in turn, a process each and with the same \
    seeds; instrumented has every store delayed (p_w 1). The instrumented module comes from a cache, as the paper's \
    comes from its compiler. The ratio does not compare with the paper's in kind: there, starting CUDA takes seconds \
    and hides what the kernel takes; here a process starts in milliseconds, and the kernel's instructions, the \
    program's and the injected ones, are executed by the processor one after the other. The paper's 8.91 % is the \
    ratio of its median times; the median of its eight overheads is 10.6 %. Our median is of the overheads of the \
    seven programs; cbe_dot is original_2_fence there.";

const TABLE_IV: &str = "Share of trials that failed, with its 95 % interval (Clopper–Pearson). The last three programs have \
    no fence, and by the paper's text no failure. streamcluster is always run with `--size 128 --gains 60`. \
    *Underfenced* fails, *overfenced* does not and a variant with fewer fences does not either, *optimal* is the rest. \
    Causes are what we know from looking at failing trials; the command does not compute them.";

const MEMORY: &str = "The paper gives each thread both buffers in full. Here threads take chunks of 16 entries of 16 bytes from \
    a pool of 13 chunks a thread, and at least 64 MB, never more than all entries of both buffers; a thread that finds \
    the pool dry drains early, and no store is lost. The numbers are of 256 entries; besides the chunks they hold the \
    threads' tables of chunks, the counts, and the histogram of flush lengths.";

#[cfg(test)]
mod tests;
