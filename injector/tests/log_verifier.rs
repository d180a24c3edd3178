//! The verifier notices: text that lacks or changes something that makes a module log is refused.

use bugaroo_injector::logging::passes::PASSES;
use bugaroo_injector::logging::{Loads, LogOptions, log_with};
use bugaroo_injector::verify::{Violation, verify_log};

const SOURCES: [&str; 3] = [
    include_str!("corpus/vectors.ptx"),
    include_str!("corpus/predicated.ptx"),
    include_str!("corpus/control.ptx"),
];

const OPTIONS: [LogOptions; 2] = [
    LogOptions { loads: Loads::Before, branches: true, prune: false },
    LogOptions { loads: Loads::Behind, branches: false, prune: false },
];

fn judge(source: &str, options: LogOptions, output: &str) -> Result<(), Violation> {
    let original = bugaroo_ptx::parse(source).expect("the corpus parses");
    let (_, log) = log_with(source, options, &PASSES).expect("it logs");
    verify_log(&original, &log, &PASSES, output)
}

#[test]
fn every_injected_line_has_to_be_there() {
    let mut missed = 0;
    for (source, options) in SOURCES.into_iter().flat_map(|source| OPTIONS.map(|options| (source, options))) {
        let output = log_with(source, options, &PASSES).expect("it logs").0.ptx;
        assert_eq!(judge(source, options, &output), Ok(()));
        let lines: Vec<&str> = output.lines().collect();
        // What is merged in stands at the end.
        let logger =
            lines.iter().position(|line| line.contains("__bugaroo_prepare(") && !line.ends_with(';'));
        for line in 0..logger.expect("the logger is there") {
            let text = lines[line].trim();
            // Declarations are ptxas's business; the prologue is checked as a whole, and its record by running it; which bits
            // a value has by the tests that run it.
            let declares = text.starts_with('.') || text.contains("__bugaroo_log];");
            let prologue = lines[..line]
                .iter()
                .rposition(|one| one.contains("[__bugaroo_log];"))
                .is_some_and(|at| lines[at..line].iter().all(|one| !one.trim().ends_with("_entered:")));
            let predicate = text.starts_with("selp.u64") || text.starts_with("setp.ne.u64 %bugaroo_logging");
            // That something is kept only where it is used.
            let kept =
                text.contains("_kept") || text.contains("_compared") || text.starts_with("@%bugaroo_logging");
            if !text.contains("bugaroo_") || declares || prologue || predicate || kept {
                continue;
            }
            let without: String = lines
                .iter()
                .enumerate()
                .filter(|(at, _)| *at != line)
                .map(|(_, one)| format!("{one}\n"))
                .collect();
            assert!(judge(source, options, &without).is_err(), "nobody misses '{text}' (line {line})");
            missed += 1;
        }
    }
    assert!(missed > 300, "only {missed} lines were tried");
}

#[test]
fn what_is_wrong_is_refused() {
    let (source, options) = (SOURCES[0], OPTIONS[0]);
    let output = log_with(source, options, &PASSES).expect("it logs").0.ptx;
    for (from, to) in [
        ("st.release.sys.global.u64 [%bugaroo_queue+0]", "st.relaxed.sys.global.u64 [%bugaroo_queue+0]"),
        ("@%bugaroo_leader st.global.v4", "st.global.v4"),
        ("vote.sync.all.pred", "vote.sync.any.pred"),
        ("bar.warp.sync %bugaroo_lanes;", "bar.sync 0; // bugaroo_"),
        ("__bugaroo_prepare_store, ", "__bugaroo_prepare_access, "),
        ("@!%bugaroo_logging bra", "@%bugaroo_logging bra"),
        ("st.param.b64 [bugaroo_in0], %bugaroo_address;", "st.param.b64 [bugaroo_in0], %bugaroo_value;"),
    ] {
        // Behind the prologue, which is judged as a whole.
        let body = output.find("_entered:").expect("a prologue");
        let changed = format!("{}{}", &output[..body], output[body..].replacen(from, to, 1));
        assert_ne!(changed, output, "'{from}' is not in the output");
        assert!(judge(source, options, &changed).is_err(), "'{to}' instead of '{from}' passes");
    }
}
