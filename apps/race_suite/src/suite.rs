//! The programs and their labels.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::label::Label;

/// A program of the suite.
#[derive(Clone, Debug)]
pub struct Program {
    /// Its file's name without `.cu`.
    pub name: String,
    /// Its file.
    pub path: PathBuf,
    /// What it is.
    pub source: String,
    /// What is to be said about it.
    pub label: Label,
}

/// All programs, by name.
pub fn programs() -> Result<Vec<Program>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
    let entries = fs::read_dir(&folder).with_context(|| folder.display().to_string())?;
    let mut paths: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    paths.retain(|path| path.extension().is_some_and(|kind| kind == "cu"));
    paths.sort();
    paths.into_iter().map(program).collect()
}

fn program(path: PathBuf) -> Result<Program> {
    let source = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let first = source.lines().next().unwrap_or_default();
    let label = Label::parse(first).with_context(|| path.display().to_string())?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Program { name, path, source, label })
}
