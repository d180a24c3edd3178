//! What an expert says of a program.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

/// What is wrong with a program, and so what the advice has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExpertKind {
    /// It lacks a fence, or several.
    Missing,
    /// It has a fence that nothing needs. Without an `expert.patch`, one that only looks so.
    Redundant,
    /// A fence's scope has to become wider.
    TooNarrow,
    /// A fence's scope can become narrower.
    TooWide,
    /// It fails, and no fence is what it lacks.
    NotAFence,
}

impl ExpertKind {
    /// Its name in `expert.toml`.
    pub fn name(self) -> &'static str {
        match self {
            ExpertKind::Missing => "missing",
            ExpertKind::Redundant => "redundant",
            ExpertKind::TooNarrow => "too-narrow",
            ExpertKind::TooWide => "too-wide",
            ExpertKind::NotAFence => "not-a-fence",
        }
    }
}

/// What a program that no fence cures suffers from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExpertCause {
    /// A `__syncthreads()` is missing.
    MissingBarrier,
    /// A `__syncwarp()` is missing.
    MissingWarpBarrier,
    /// What should be one atomic operation is a load and a store.
    LostUpdate,
    /// An atomic operation's scope does not hold all who take part.
    AtomicScope,
    /// One side's accesses are atomic, the other side's are not.
    PlainBesideAtomic,
}

/// A memory model of `bugaroo`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExpertModel {
    /// Stores are delayed, and nothing else.
    StoreBuffer,
    /// All that the PTX memory model allows.
    Ptx,
}

impl ExpertModel {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            ExpertModel::StoreBuffer => "store-buffer",
            ExpertModel::Ptx => "ptx",
        }
    }
}

/// A line of a program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ExpertLine {
    /// Its file, relative to the program's folder.
    pub file: String,
    /// From 1.
    pub line: u32,
}

/// `expert.toml`
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expert {
    /// The pattern that the program shows, in words.
    pub form: String,
    /// What is wrong.
    pub kind: ExpertKind,
    /// The model that shows it; none where nothing fails.
    pub model: Option<ExpertModel>,
    /// Trials within which it fails.
    #[serde(default = "trials")]
    pub trials: u32,
    /// Of [`ExpertKind::NotAFence`]: what it is instead.
    pub cause: Option<ExpertCause>,
    /// With `cause`: the two lines that it is about, which may be the same.
    pub first: Option<ExpertLine>,
    /// See `first`.
    pub second: Option<ExpertLine>,
    /// Why a search may rightly say that it has no patch of the source.
    pub may_refuse: Option<String>,
}

fn trials() -> u32 {
    300
}

/// A program of the suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpertProgram {
    /// Its folder's name.
    pub name: String,
    /// Where it stands.
    pub folder: PathBuf,
    /// What the expert says.
    pub expert: Expert,
}

impl ExpertProgram {
    fn read(folder: PathBuf) -> Result<ExpertProgram> {
        let file = folder.join("expert.toml");
        let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
        let expert: Expert = toml::from_str(&text).with_context(|| file.display().to_string())?;
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let program = ExpertProgram { name, folder, expert };
        program.check().with_context(|| file.display().to_string())?;
        Ok(program)
    }

    /// Fields that depend on each other.
    fn check(&self) -> Result<()> {
        let Expert { kind, model, cause, first, second, .. } = &self.expert;
        let fails = matches!(kind, ExpertKind::Missing | ExpertKind::TooNarrow | ExpertKind::NotAFence);
        ensure!(!fails || self.patch().is_some(), "what fails has an expert.patch");
        let shown = fails || self.without().is_some();
        ensure!(shown == model.is_some(), "the model that shows a failure is named, and no other");
        let named = *kind == ExpertKind::NotAFence;
        ensure!(named == cause.is_some(), "what is not a fence has a cause, and nothing else does");
        ensure!(
            cause.is_some() == first.is_some() && first.is_some() == second.is_some(),
            "a cause has two lines"
        );
        Ok(())
    }

    fn own(&self, file: &str) -> Option<PathBuf> {
        let path = self.folder.join(file);
        path.is_file().then_some(path)
    }

    /// What the expert would change; none where nothing is to be changed.
    pub fn patch(&self) -> Option<PathBuf> {
        self.own("expert.patch")
    }

    /// Deletes a fence that is needed but does not look so.
    pub fn without(&self) -> Option<PathBuf> {
        self.own("without.patch")
    }
}

/// The folder that the programs stand in.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("programs")
}

/// All programs, by name.
pub fn programs() -> Result<Vec<ExpertProgram>> {
    let folder = folder();
    let entries = fs::read_dir(&folder).with_context(|| folder.display().to_string())?;
    let mut folders: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    folders.retain(|path| path.is_dir());
    folders.sort();
    folders.into_iter().map(ExpertProgram::read).collect()
}
