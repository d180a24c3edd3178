//! The README and the book's pages, and the fenced blocks in them.

use std::fs;
use std::path::{Path, PathBuf};

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};

/// A page.
pub struct Page {
    /// Its path in the repository.
    pub name: String,
    pub blocks: Vec<Block>,
}

/// A fenced block. Its info string is the language, then words that say what to do with it.
pub struct Block {
    pub language: String,
    pub text: String,
    /// `file=NAME`: the block is a file that the reader writes.
    pub file: Option<String>,
    /// `picture=NAME`: the block is the text of a picture beside the page.
    pub picture: Option<String>,
    /// `repository`: the commands are to be run in a clone of the repository.
    pub repository: bool,
    /// `not-run: REASON`: the commands cannot be run here.
    pub not_run: Option<String>,
}

/// The repository's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate lies in the repository").to_owned()
}

/// The README and all pages of the book.
pub fn all() -> Vec<Page> {
    let mut files = vec![root().join("README.md")];
    let mut folders = vec![root().join("docs/src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("the book is there").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                files.push(path);
            }
        }
    }
    files.sort();
    files.iter().map(|file| page(file)).collect()
}

fn page(file: &Path) -> Page {
    let name = file.strip_prefix(root()).expect("it lies in the repository").display().to_string();
    let text = fs::read_to_string(file).expect("a page can be read");
    Page { blocks: blocks(&text), name }
}

/// The fenced blocks of a page's text.
pub fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for event in Parser::new(text) {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => open = Some(block(&info)),
            Event::Text(part) => {
                if let Some(block) = &mut open {
                    block.text.push_str(&part);
                }
            }
            Event::End(TagEnd::CodeBlock) => blocks.extend(open.take()),
            _ => {}
        }
    }
    blocks
}

fn block(info: &str) -> Block {
    let (words, reason) = match info.split_once("not-run:") {
        Some((words, reason)) => (words, Some(reason.trim().to_owned())),
        None => (info, None),
    };
    let value =
        |name: &str| words.split_whitespace().find_map(|word| word.strip_prefix(name)).map(str::to_owned);
    Block {
        language: words.split_whitespace().next().unwrap_or_default().to_owned(),
        text: String::new(),
        file: value("file="),
        picture: value("picture="),
        repository: words.split_whitespace().any(|word| word == "repository"),
        not_run: reason,
    }
}

/// A command of a `console` block, and what it is said to print.
pub struct Step {
    pub command: String,
    pub output: String,
}

/// The commands of a `console` block: lines that begin with `$`, and the output below each. A line that ends with a backslash
/// goes on.
pub fn steps(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut goes_on = false;
    for line in text.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            steps.push(Step { command: command.to_owned(), output: String::new() });
        } else {
            let step = steps
                .last_mut()
                .unwrap_or_else(|| panic!("a console block begins with a command, not with {line:?}"));
            let part = if goes_on { &mut step.command } else { &mut step.output };
            part.push_str(line);
            if !goes_on {
                part.push('\n');
            }
        }
        goes_on = goes_on && line.ends_with('\\') || line.starts_with("$ ") && line.ends_with('\\');
        if goes_on && let Some(step) = steps.last_mut() {
            step.command.push('\n');
        }
    }
    steps
}
