//! Two patched versions of the same program: are they the same, and which has more fences?
//!
//! Where a line ends and how far it is indented is a matter of taste, so texts are compared without white space, and without
//! the backslashes that continue a macro's lines. Then two patches are the same if and only if each
//! fence stands between the same two tokens, with the same braces around it.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use anyhow::{Context, Result};
use regex::Regex;

use crate::tools::sources;

/// Whatever orders memory, or waits.
static FENCE: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"\b(?:__threadfence(?:_block|_system)?|__syncthreads|__syncwarp|atomic_thread_fence)\s*\(";
    Regex::new(pattern).expect("a regular expression of our own")
});

/// A source text without what does not matter.
fn normal(text: &str) -> String {
    let lines = text.lines().map(|line| line.trim_end()).map(|line| line.strip_suffix('\\').unwrap_or(line));
    lines.flat_map(str::chars).filter(|letter| !letter.is_whitespace()).collect()
}

/// Whether the programs in two folders are the same but for layout.
pub fn same(ours: &Path, experts: &Path) -> Result<bool> {
    let read = |folder: &Path| -> Result<Vec<_>> {
        let text =
            |path: &std::path::PathBuf| fs::read_to_string(path).with_context(|| path.display().to_string());
        sources(folder)?
            .iter()
            .map(|path| Ok((path.file_name().map(ToOwned::to_owned), normal(&text(path)?))))
            .collect()
    };
    Ok(read(ours)? == read(experts)?)
}

/// How many fences and barriers the program in a folder has, by its text.
pub fn fences(folder: &Path) -> Result<i64> {
    let mut count = 0;
    for path in sources(folder)? {
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        count += FENCE.find_iter(&text).count() as i64;
    }
    Ok(count)
}

#[cfg(test)]
#[path = "compare/tests.rs"]
mod tests;
