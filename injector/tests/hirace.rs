//! One test a file: HiRace is made to look at every module of the corpus, and of the programs under test, or refuses it by name;
//! what comes out keeps every invariant after each pass, and ptxas assembles it.

mod common;

use std::path::Path;

use bugaroo_injector::hirace::passes::PASSES;
use bugaroo_injector::hirace::{detect, detect_with};
use bugaroo_injector::logging::LoggingError;
use bugaroo_injector::verify::verify_hirace;

type Outcome = datatest_stable::Result<()>;

fn ptxas_takes_the_output(path: &Path) -> Outcome {
    let Some(ptxas) = common::ptxas() else { return Ok(()) };
    match detect(&std::fs::read_to_string(path)?) {
        Ok(detecting) => common::assemble(&ptxas, &detecting.ptx)?,
        Err(LoggingError::Unsupported { instruction, line, .. }) => {
            println!("{}: refused: {instruction} (line {line})", path.display());
        }
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

/// After each prefix of the passes, what they owe holds.
fn every_pass_keeps_the_invariants(path: &Path) -> Outcome {
    let source = std::fs::read_to_string(path)?;
    let original = bugaroo_ptx::parse(&source)?;
    for passes in 0..=PASSES.len() {
        match detect_with(&source, &PASSES[..passes]) {
            Ok((detecting, log)) => verify_hirace(&original, &log, &PASSES[..passes], &detecting.ptx)?,
            Err(LoggingError::Unsupported { .. }) => return Ok(()),
            Err(error) => return Err(error.into()),
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
