//! The compiler's own output: each `.ptx` file of the corpus against the invariants of the crate.

mod support;

use std::collections::BTreeSet;
use std::path::Path;

use bugaroo_ptx::ast::{Module, StatementKind};
use bugaroo_ptx::cfg::Cfg;
use bugaroo_ptx::edit::Edits;
use bugaroo_ptx::op::Op;
use bugaroo_ptx::parse;

type Outcome = datatest_stable::Result<()>;

fn load(path: &Path) -> datatest_stable::Result<Module> {
    Ok(parse(&std::fs::read_to_string(path)?)?)
}

fn prints_back(path: &Path) -> Outcome {
    let module = load(path)?;
    assert_eq!(module.print(), std::fs::read_to_string(path)?);
    support::assert_covers(&module);
    Ok(())
}

fn decodes(path: &Path) -> Outcome {
    let module = load(path)?;
    assert!(module.functions().any(|function| !function.instructions().is_empty()));
    for instruction in module.functions().flat_map(|function| function.instructions()) {
        assert_ne!(instruction.op, Op::Other, "{}", module.text(instruction.span));
    }
    Ok(())
}

/// With `-lineinfo` every instruction knows its source, and every file index means something.
fn knows_its_source(path: &Path) -> Outcome {
    let module = load(path)?;
    let mut has_lines = false;
    for function in module.functions() {
        let mut located = false;
        function.walk(&mut |statement| match &statement.kind {
            // Line 0 says that the code has no place in the source.
            StatementKind::Loc(loc) => located = loc.line != 0 || loc.inlined_at.is_some(),
            StatementKind::Instruction(instruction) => {
                assert_eq!(instruction.source.is_empty(), !located, "{}", module.text(instruction.span));
                for line in &instruction.source {
                    assert!(module.file(line.file).is_some(), "{line:?}");
                    assert!(line.line > 0);
                }
                has_lines |= located;
            }
            _ => {}
        });
    }
    assert_eq!(has_lines, module.source.contains("\t.loc\t"));
    Ok(())
}

/// The blocks partition the instructions, edges agree both ways, and the post-dominators are those of
/// the definition, found the slow way.
fn graph_holds(path: &Path) -> Outcome {
    let module = load(path)?;
    for function in module.functions() {
        let cfg = Cfg::build(function);
        assert_eq!(cfg.unresolved, []);
        assert_eq!(cfg.block_of.len(), function.instructions().len());
        let mut at = 0;
        for (index, block) in cfg.blocks.iter().enumerate() {
            assert_eq!(block.start, at);
            assert!(block.end > at);
            at = block.end;
            assert!(cfg.block_of[block.start..block.end].iter().all(|of| *of == index));
            for next in &block.successors {
                assert!(cfg.blocks[*next].predecessors.contains(&index));
            }
            for before in &block.predecessors {
                assert!(cfg.blocks[*before].successors.contains(&index));
            }
        }
        assert_eq!(at, cfg.block_of.len());
        assert_post_dominators(&cfg);
    }
    Ok(())
}

fn assert_post_dominators(cfg: &Cfg) {
    let all: Vec<usize> = (0..cfg.blocks.len()).collect();
    // Without a way to the end "every path to the end" says nothing.
    let ends: Vec<usize> = all.iter().copied().filter(|from| reaches_end(cfg, *from, None)).collect();
    let strict = |from: usize| -> BTreeSet<usize> {
        all.iter().copied().filter(|by| *by != from && !reaches_end(cfg, from, Some(*by))).collect()
    };
    for from in ends.into_iter().filter(|_| cfg.blocks.len() <= 120) {
        let found = strict(from);
        match cfg.blocks[from].post_dominator {
            None => assert_eq!(found, BTreeSet::new()),
            Some(nearest) => {
                let mut expected = strict(nearest);
                expected.insert(nearest);
                assert_eq!(found, expected, "of block {from}");
            }
        }
    }
}

/// Whether a path leads from `from` to the function's end, not passing `without`.
fn reaches_end(cfg: &Cfg, from: usize, without: Option<usize>) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = vec![from];
    while let Some(block) = open.pop() {
        if Some(block) == without || !seen.insert(block) {
            continue;
        }
        if cfg.blocks[block].leaves {
            return true;
        }
        open.extend(&cfg.blocks[block].successors);
    }
    false
}

/// Edits around every instruction leave every instruction as it was, and lines lead back.
fn edits_keep_lines(path: &Path) -> Outcome {
    let module = load(path)?;
    let mut edits = Edits::new();
    for instruction in module.functions().flat_map(|function| function.instructions()) {
        edits.insert_before(instruction.span.start, "// before\n\t");
        edits.insert_after(instruction.span.end, "\n\t// after\n");
    }
    let edited = edits.apply(&module.source)?;
    let again = parse(&edited.text)?;
    for (old, new) in module.functions().zip(again.functions()) {
        for (old, new) in old.instructions().into_iter().zip(new.instructions()) {
            assert_eq!(module.text(old.span), again.text(new.span));
            assert_eq!((&old.op, &old.source), (&new.op, &new.source));
            // Raw operands of an unknown instruction are places in the text, which differ.
            if old.op != Op::Other {
                assert_eq!(old.operands, new.operands);
            }
            assert_eq!(edited.lines.original(new.line), Some(old.line));
        }
    }
    Ok(())
}

datatest_stable::harness! {
    { test = prints_back, root = "tests/corpus", pattern = r"\.ptx$" },
    { test = decodes, root = "tests/corpus", pattern = r"\.ptx$" },
    { test = knows_its_source, root = "tests/corpus", pattern = r"\.ptx$" },
    { test = graph_holds, root = "tests/corpus", pattern = r"\.ptx$" },
    { test = edits_keep_lines, root = "tests/corpus", pattern = r"\.ptx$" },
}
