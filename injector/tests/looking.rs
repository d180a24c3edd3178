//! One test a file: detectors are made to look at every module of the corpus, and of the programs under test, or at what they know of it;
//! what comes out keeps every invariant after each pass, and ptxas assembles it.

mod common;
mod looking_kits;

use std::path::Path;

use looking_kits::KITS;

type Outcome = datatest_stable::Result<()>;

fn ptxas_takes_the_output(path: &Path) -> Outcome {
    let Some(ptxas) = common::ptxas() else { return Ok(()) };
    let source = std::fs::read_to_string(path)?;
    for kit in &KITS {
        let detecting = (kit.detect)(&source)?;
        common::assemble(&ptxas, &detecting.ptx)?;
        for blind in &detecting.blind {
            println!("{}: {}: {} is not looked at: {}", path.display(), kit.name, blind.kernel, blind.why);
        }
    }
    Ok(())
}

/// After each prefix of the passes, what they owe holds.
fn every_pass_keeps_the_invariants(path: &Path) -> Outcome {
    let source = std::fs::read_to_string(path)?;
    let original = bugaroo_ptx::parse(&source)?;
    for kit in &KITS {
        for passes in (0..=kit.passes.len()).map(|passes| &kit.passes[..passes]) {
            let (detecting, log) = (kit.detect_with)(&source, passes)?;
            (kit.verify)(&original, &log, passes, &detecting.ptx)?;
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
