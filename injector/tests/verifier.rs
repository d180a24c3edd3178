//! The verifier notices: text that lacks, repeats or changes something that the passes wrote is refused.

use bugaroo_injector::passes::PASSES;
use bugaroo_injector::{instrument_with, verify};

const SOURCE: &str = include_str!("corpus/by_hand.ptx");

fn judge(output: &str) -> Result<(), verify::Violation> {
    let original = bugaroo_ptx::parse(SOURCE).expect("the corpus parses");
    let (_, table) = instrument_with(SOURCE, &PASSES).expect("it instruments");
    verify::verify(&original, &table, &PASSES, output)
}

fn output() -> String {
    instrument_with(SOURCE, &PASSES).expect("it instruments").0.ptx
}

/// Line numbers of the program's part of the output: not the handlers and their declarations.
fn program_lines(output: &str) -> Vec<usize> {
    let lines: Vec<&str> = output.lines().collect();
    let first = lines.iter().position(|line| line.starts_with(".global")).expect("the program's first line");
    let last = lines.iter().position(|line| {
        line.starts_with(".func") && line.contains("__bugaroo_write(") && !line.ends_with(';')
    });
    (first..last.expect("the handlers")).collect()
}

fn without(output: &str, line: usize) -> String {
    output
        .lines()
        .enumerate()
        .filter(|(index, _)| *index != line)
        .map(|(_, text)| format!("{text}\n"))
        .collect()
}

#[test]
fn what_is_right_is_taken() {
    assert_eq!(judge(&output()), Ok(()));
}

#[test]
fn every_line_of_the_program_has_to_be_there() {
    let output = output();
    let lines: Vec<&str> = output.lines().collect();
    for line in program_lines(&output) {
        let text = lines[line].trim();
        // Module variables are not the passes' business; braces and declarations do not parse without.
        if text.is_empty() || text.contains("bugaroo_") || text.starts_with('.') || "{}()".contains(text) {
            continue;
        }
        assert!(judge(&without(&output, line)).is_err(), "nobody misses '{text}'");
    }
}

#[test]
fn every_injected_line_has_to_be_there() {
    let output = output();
    let lines: Vec<&str> = output.lines().collect();
    let mut missed = 0;
    for line in program_lines(&output) {
        let text = lines[line].trim();
        // The prologue is checked as a whole; parameters without a declaration are ptxas's business, as
        // are the comparisons that jumps go by and the touch of a delayed store's address.
        let prologue = text.contains("_entered")
            || text.contains("__bugaroo_enter")
            || text.contains("__bugaroo_launch")
            || text.starts_with("shr.u64 %bugaroo_answer")
            || text.starts_with("mad.lo.u64 %bugaroo_cta");
        let declares = text.starts_with(".param") || text.starts_with(".reg");
        let compares = text.starts_with("setp.")
            || text.starts_with("and.b32 %bugaroo_thread")
            || text.starts_with("or.b64");
        let reads = text.starts_with("ld.param")
            || text.starts_with("ld.global.u64 %bugaroo_answer")
            || text.starts_with("and.b64 %bugaroo_answer")
            || text.starts_with("ld.volatile.global.u64 %bugaroo_address")
            || text.contains("ld.volatile.u8");
        let clears =
            text.starts_with("mov.u64 %bugaroo_answer") || text.starts_with("cvt.u32.u64 %bugaroo_thread");
        let vector_guard = text.starts_with("@%bugaroo_p bra");
        if !text.contains("bugaroo_") || prologue || declares || compares || reads || clears || vector_guard {
            continue;
        }
        assert!(judge(&without(&output, line)).is_err(), "nobody misses '{text}'");
        missed += 1;
    }
    assert!(missed > 300, "only {missed} lines were tried");
}

#[test]
fn what_is_wrong_is_refused() {
    let output = output();
    for (from, to) in [
        // Another program register, another site, another event, a call that promises convergence.
        ("st.param.b32 [bugaroo_in0], %bugaroo_thread;", "st.param.b32 [bugaroo_in0], %bugaroo_word;"),
        ("call (bugaroo_out), __bugaroo_store", "call.uni (bugaroo_out), __bugaroo_store"),
        ("call __bugaroo_drain", "call __bugaroo_atomic"),
        ("mov.u64 %bugaroo_address, counter;", "mov.u64 %bugaroo_address, table;"),
        ("mov.u64 %bugaroo_address, counter;", "mov.u64 rd0, counter; // bugaroo_"),
        ("$bugaroo_0_done:", "$bugaroo_0_done:\n\tbar.sync 0; // bugaroo_"),
        ("bra $bugaroo_0_done;", "bra $bugaroo_1_done;"),
        ("shr.s64 %bugaroo_held0, %bugaroo_held0, 56;", "shr.u64 %bugaroo_held0, %bugaroo_held0, 56;"),
        ("st.global.u32 \t[counter], 1;", "st.global.u32 [counter], 2;"),
        ("st.global.u32 [counter], 1;", "st.global.u32 [counter], 2;"),
    ] {
        let changed = output.replacen(from, to, 1);
        if changed == output {
            assert!(from.contains('\t'), "'{from}' is not in the output");
            continue;
        }
        assert!(judge(&changed).is_err(), "'{to}' instead of '{from}' passes");
    }
}
