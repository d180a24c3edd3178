//! One test a file: every module of the corpus, and of the programs under test, instruments into text
//! that keeps every invariant after each pass and that ptxas assembles.

mod common;

use std::path::Path;

use bugaroo_injector::passes::PASSES;
use bugaroo_injector::{instrument, instrument_with, verify};

type Outcome = datatest_stable::Result<()>;

/// After each prefix of the passes, what they owe holds.
fn every_pass_keeps_the_invariants(path: &Path) -> Outcome {
    let source = std::fs::read_to_string(path)?;
    let original = bugaroo_ptx::parse(&source)?;
    for passes in 0..=PASSES.len() {
        let (instrumented, table) = instrument_with(&source, &PASSES[..passes])?;
        verify::verify(&original, &table, &PASSES[..passes], &instrumented.ptx)?;
    }
    Ok(())
}

/// The lines of the original all come back, in order, mapped to where they stood.
fn lines_map_back(path: &Path) -> Outcome {
    let source = std::fs::read_to_string(path)?;
    let instrumented = instrument(&source)?;
    let original: Vec<&str> = source.lines().collect();
    let mut found = vec![false; original.len()];
    for (index, line) in instrumented.ptx.lines().enumerate() {
        let from = instrumented.lines.original(index as u32 + 1).ok_or("a line without origin")? as usize;
        if original.get(from - 1).is_some_and(|stood| stood.trim() == line.trim()) {
            found[from - 1] = true;
        }
    }
    let lost = found.iter().zip(&original).position(|(found, line)| !found && !line.trim().is_empty());
    match lost {
        // Two statements on one line come apart; none of ours stand so.
        Some(line) => Err(format!("line {} is lost: {}", line + 1, original[line]).into()),
        None => Ok(()),
    }
}

/// Sites are numbered as they stand, and name their instruction.
fn sites_say_what_stands_there(path: &Path) -> Outcome {
    let source = std::fs::read_to_string(path)?;
    let lines: Vec<&str> = source.lines().collect();
    let instrumented = instrument(&source)?;
    let mut last = 0;
    for (index, site) in instrumented.sites.iter().enumerate() {
        assert_eq!(site.id.index as usize, index);
        assert!(site.ptx_line >= last, "{site:?} stands before its predecessor");
        last = site.ptx_line;
        let line = lines[site.ptx_line as usize - 1].split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(line.contains(&site.instruction), "{site:?} is not on '{line}'");
        if let Some(user) = &site.source {
            assert!(!bugaroo_injector::is_toolkit_header(&user.file), "{site:?}");
        }
    }
    assert!(!instrumented.sites.is_empty());
    Ok(())
}

fn ptxas_takes_the_output(path: &Path) -> Outcome {
    let Some(ptxas) = common::ptxas() else { return Ok(()) };
    let source = std::fs::read_to_string(path)?;
    common::assemble(&ptxas, &instrument(&source)?.ptx)?;
    Ok(())
}

/// What the driver keeps on disk comes back as it was.
fn survives_the_cache(path: &Path) -> Outcome {
    let instrumented = instrument(&std::fs::read_to_string(path)?)?;
    let back: bugaroo_injector::Instrumented = serde_json::from_str(&serde_json::to_string(&instrumented)?)?;
    assert_eq!(back, instrumented);
    Ok(())
}

datatest_stable::harness! {
    { test = every_pass_keeps_the_invariants, root = "tests/corpus", pattern = r"\.ptx$" },
    { test = every_pass_keeps_the_invariants, root = "../apps", pattern = r"\.ptx$" },
    { test = lines_map_back, root = "tests/corpus", pattern = r"\.ptx$" },
    { test = sites_say_what_stands_there, root = "tests/corpus", pattern = r"\.ptx$" },
    { test = sites_say_what_stands_there, root = "../apps", pattern = r"\.ptx$" },
    { test = ptxas_takes_the_output, root = "tests/corpus", pattern = r"\.ptx$" },
    { test = ptxas_takes_the_output, root = "../apps", pattern = r"\.ptx$" },
    { test = survives_the_cache, root = "tests/corpus", pattern = r"\.ptx$" },
}
