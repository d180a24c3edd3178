//! One test a file: every module of the corpus, and of the programs under test, is made to log, or what is known of it; what comes
//! out keeps every invariant after each pass, and ptxas assembles it.

mod common;

use std::path::Path;

use bugaroo_injector::logging::passes::PASSES;
use bugaroo_injector::logging::{Loads, LogOptions, log, log_with};
use bugaroo_injector::verify::verify_log;

type Outcome = datatest_stable::Result<()>;

const ALL: [LogOptions; 2] = [
    LogOptions { loads: Loads::Before, branches: true, prune: false },
    LogOptions { loads: Loads::Behind, branches: false, prune: true },
];

fn ptxas_takes_the_output(path: &Path) -> Outcome {
    let Some(ptxas) = common::ptxas() else { return Ok(()) };
    let source = std::fs::read_to_string(path)?;
    for options in ALL {
        let logged = log(&source, options)?;
        common::assemble(&ptxas, &logged.ptx)?;
        for blind in &logged.blind {
            println!("{}: {} is not looked at: {}", path.display(), blind.kernel, blind.why);
        }
    }
    Ok(())
}

/// After each prefix of the passes, what they owe holds.
fn every_pass_keeps_the_invariants(path: &Path) -> Outcome {
    let source = std::fs::read_to_string(path)?;
    let original = bugaroo_ptx::parse(&source)?;
    for options in ALL {
        for passes in 0..=PASSES.len() {
            let (logged, log) = log_with(&source, options, &PASSES[..passes])?;
            verify_log(&original, &log, &PASSES[..passes], &logged.ptx)?;
        }
    }
    Ok(())
}

datatest_stable::harness! {
    { test = every_pass_keeps_the_invariants, root = "tests/corpus", pattern = r"\.ptx$" },
    { test = every_pass_keeps_the_invariants, root = "../apps", pattern = r"\.ptx$" },
    { test = ptxas_takes_the_output, root = "tests/corpus", pattern = r"\.ptx$" },
    { test = ptxas_takes_the_output, root = "../apps", pattern = r"\.ptx$" },
    { test = ptxas_takes_the_output, root = "../simulator/tests/kernels", pattern = r"\.ptx$" },
}
