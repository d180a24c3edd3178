//! The README and the book: every command in them is run in a folder of its own, page by page, and what it prints is held against
//! what the page says. `docs/src/contributing/book.md` says how pages are written.

#[path = "book/compare.rs"]
mod compare;
#[path = "common/nvcc.rs"]
#[allow(dead_code, reason = "the reader runs nvcc himself")]
mod nvcc;
#[path = "book/pages.rs"]
mod pages;
#[path = "book/picture.rs"]
mod picture;
#[path = "book/play.rs"]
mod play;

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Blocks with commands that cannot be run here, in all pages. Each says why; one more is a decision.
const NOT_RUN: usize = 4;

#[test]
fn commands_print_what_the_pages_say() {
    let only = std::env::var("BUGAROO_PAGE").ok();
    let mut pages = pages::all();
    pages.retain(|page| only.as_ref().is_none_or(|part| page.name.contains(part)));
    let next = AtomicUsize::new(0);
    // Each page has a folder of its own, so that several readers can share them.
    let reader = || {
        let (mut wrong, mut run, mut not_run) = (Vec::new(), 0, 0);
        while let Some(page) = pages.get(next.fetch_add(1, Ordering::Relaxed)) {
            let count = play::follow(page, &mut wrong);
            run += count.run;
            not_run += count.not_run;
        }
        (wrong, run, not_run)
    };
    let (mut wrong, mut run, mut not_run) = (Vec::new(), 0, 0);
    thread::scope(|scope| {
        for read in [scope.spawn(reader), scope.spawn(reader)] {
            let read = read.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            wrong.extend(read.0);
            run += read.1;
            not_run += read.2;
        }
    });
    eprintln!("{run} blocks with commands were run; {not_run} say why they cannot be");
    assert!(wrong.is_empty(), "{} differ:\n\n{}", wrong.len(), wrong.join("\n\n"));
    assert!(run > 0);
    assert!(only.is_some() || not_run == NOT_RUN, "{not_run} blocks are not run, not {NOT_RUN}");
}

#[test]
fn blocks_say_what_they_are() {
    let mut wrong = Vec::new();
    for page in pages::all() {
        for block in &page.blocks {
            let known = match block.language.as_str() {
                "console" => true,
                // `.ci/run` runs the README's, by their marks.
                "sh" => page.name == "README.md",
                "cpp" | "toml" | "ptx" | "text" | "diff" | "rust" | "yaml" => !block.text.contains("$ "),
                _ => false,
            };
            let reason = block.not_run.as_ref().is_none_or(|reason| reason.len() > 10);
            if !known || !reason {
                wrong.push(format!("{}: {:?}: {}", page.name, block.language, block.text));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn pictures_show_the_blocks_that_they_are_made_from() {
    let mut pictures = 0;
    for page in pages::all() {
        for block in &page.blocks {
            let Some(name) = &block.picture else { continue };
            let file = pages::root().join(&page.name).with_file_name(name);
            let picture = picture::svg(&block.text);
            if std::env::var_os("BUGAROO_BLESS").is_some() {
                fs::write(&file, &picture).unwrap();
            }
            assert!(
                fs::read_to_string(&file).is_ok_and(|kept| kept == picture),
                "{}: BUGAROO_BLESS=1 makes it anew",
                file.display()
            );
            pictures += 1;
        }
    }
    assert!(pictures > 0);
}

#[test]
fn what_differs_is_seen() {
    let said = "a … b\n…\nlast\n";
    assert!(compare::matches(said, "a 1 b\nlast\n"));
    assert!(compare::matches(said, "a  b\nmore\n\nlast  \n\n"));
    assert!(!compare::matches(said, "a 1 c\nlast\n"));
    assert!(!compare::matches(said, "a 1\nb\nlast\n"));
    assert!(!compare::matches(said, "a 1 b\nlast\nand more\n"));
    assert!(
        compare::matches("", "\n") && !compare::matches("", "x\n") && !compare::matches("a.b\n", "axb\n")
    );
    assert_eq!(
        compare::printed("x\n", "bugaroo: running x\nbugaroo: error: no\n"),
        "x\nbugaroo: error: no\n"
    );
    let steps = pages::steps("$ one \\\n  two\nout\n$ three\n");
    assert_eq!(steps.len(), 2);
    assert_eq!((steps[0].command.as_str(), steps[0].output.as_str()), ("one \\\n  two", "out\n"));
}
