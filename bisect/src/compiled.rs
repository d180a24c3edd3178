//! The answer compiled in: the patch applied to a copy of the source, built by the user's own command, and run.
//!
//! The copy is of the working tree as it stands, with what is not committed yet: of a git repository all files that git
//! tracks or does not ignore, else of the current folder all there is. The program is taken from where the build leaves it
//! in the copy, and run where the user stands, so that its arguments mean the same files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use bugaroo_harness::{
    DriverLibrary, Error, Interrupt, Session, Settings, Stop, Target, Variation, progress::Silent,
};
use bugaroo_protocol::Model;
use tempfile::TempDir;
use thiserror::Error;

use crate::patch::Patch;
use crate::rates::Rate;
use crate::report::{CompiledIn, VerifiedAnswer};
use crate::subject::under;

/// Lines of a failed build that are told.
const LINES: usize = 20;

/// Why the answer could not be compiled in.
#[derive(Debug, Error)]
pub enum CompileError {
    /// A file could not be copied.
    #[error("cannot copy the source to build it: {path}: {error}", path = .path.display())]
    Copy {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// Something that the patch changes, or the program, is not in the tree that is copied.
    #[error("{path} lies outside of {root}, of which a copy is built", path = .path.display(), root = .root.display())]
    Outside {
        /// What.
        path: PathBuf,
        /// The tree.
        root: PathBuf,
    },
    /// The build failed.
    #[error("the build of the patched source failed ({status}): {command}\n{said}")]
    Build {
        /// The command.
        command: String,
        /// How it ended.
        status: String,
        /// The end of what it said.
        said: String,
    },
    /// The build left no program.
    #[error("the build left no {path}, where the program lies in the original tree", path = .0.display())]
    NoProgram(PathBuf),
    /// Trials could not be run.
    #[error(transparent)]
    Trials(#[from] Error),
}

/// A patched copy of the source, with what was built there.
#[derive(Debug)]
pub struct Built {
    /// Deleted with it.
    folder: TempDir,
    /// The program.
    app: PathBuf,
    command: String,
}

/// Applies a patch to a copy of the tree that `folder` is in and runs `command` there, in the copy's `folder`.
///
/// # Errors
/// When the tree cannot be copied, or the build fails.
pub fn build(patch: &Patch, command: &str, folder: &Path, app: &Path) -> Result<Built, CompileError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |error| CompileError::Copy { path, error }
    };
    let folder = fs::canonicalize(folder).map_err(failed(folder))?;
    let app = fs::canonicalize(app).map_err(failed(app))?;
    let root = git(&folder, &["rev-parse", "--show-toplevel"]).map_or_else(
        || folder.clone(),
        |root| PathBuf::from(String::from_utf8_lossy(&root).trim_end_matches('\n')),
    );
    let inside = |path: &Path| {
        let outside = || CompileError::Outside { path: path.to_owned(), root: root.clone() };
        path.strip_prefix(&root).map(Path::to_owned).map_err(|_| outside())
    };
    let copy = tempfile::Builder::new().prefix("bugaroo-build-").tempdir().map_err(failed(&root))?;
    copy_tree(&root, copy.path())?;
    for file in &patch.files {
        let path = fs::canonicalize(&file.path).map_err(failed(&file.path))?;
        let there = copy.path().join(inside(&path)?);
        fs::write(&there, &file.edited).map_err(failed(&there))?;
    }
    let built_app = copy.path().join(inside(&app)?);
    // What an earlier build has left must not be taken for this one's.
    let stale = built_app.exists();
    if stale {
        fs::remove_file(&built_app).map_err(failed(&built_app))?;
    }
    let ran = Command::new("/bin/sh")
        .args(["-c", command])
        .current_dir(copy.path().join(inside(&folder)?))
        .stdin(Stdio::null())
        .output()
        .map_err(failed(Path::new("/bin/sh")))?;
    if !ran.status.success() {
        let said = [ran.stdout, ran.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        let lines: Vec<&str> = said.lines().collect();
        let said = lines[lines.len().saturating_sub(LINES)..].join("\n");
        let status = ran.status.to_string();
        return Err(CompileError::Build { command: command.to_owned(), status, said });
    }
    if !built_app.exists() {
        return Err(CompileError::NoProgram(built_app));
    }
    Ok(Built { folder: copy, app: built_app, command: command.to_owned() })
}

impl Built {
    /// Runs so many trials of what was built under each model.
    ///
    /// # Errors
    /// When trials cannot be run.
    pub async fn run(
        &self,
        (target, settings): (&Target, Settings),
        (variation, models): (&Variation, &[Model]),
        trials: u64,
        library: DriverLibrary,
        interrupt: Interrupt,
    ) -> Result<CompiledIn, CompileError> {
        let target = Target { app: self.app.clone(), ..target.clone() };
        debug_assert!(self.app.starts_with(self.folder.path()), "it lives as long as this");
        let session = Session::start(target, settings, library, interrupt, &Silent).await?;
        // What the search limits itself to by number has other numbers there.
        let variation = Variation {
            with_fence: Default::default(),
            without_fence: Default::default(),
            narrow_fence: Default::default(),
            insert: Default::default(),
            widen: Default::default(),
            ..variation.clone()
        };
        let mut seen = Vec::new();
        for &model in models {
            let records = session.trials(&under(&variation, model), 0..trials, Stop::Never, &Silent).await?;
            let tell = records.iter().filter(|record| record.outcome.tells());
            let failures = records.iter().filter(|record| record.outcome.is_failure()).count() as u64;
            seen.push((model, Rate { trials: tell.count() as u64, failures }));
        }
        let VerifiedAnswer { trials, failures, by_model, .. } = VerifiedAnswer::of(&seen);
        Ok(CompiledIn { command: self.command.clone(), trials, failures, by_model })
    }
}

/// What git says, in a folder; None where it says nothing.
fn git(folder: &Path, args: &[&str]) -> Option<Vec<u8>> {
    let ran = Command::new("git").args(args).current_dir(folder).stderr(Stdio::null()).output().ok()?;
    (ran.status.success() && !ran.stdout.is_empty()).then_some(ran.stdout)
}

/// Copies a tree: what git lists of it, or all there is.
fn copy_tree(root: &Path, to: &Path) -> Result<(), CompileError> {
    let listed = git(root, &["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    match listed {
        Some(listed) => {
            let names = listed.split(|byte| *byte == 0).filter(|name| !name.is_empty());
            for name in names {
                let name = String::from_utf8_lossy(name);
                copy_entry(&root.join(&*name), &to.join(&*name))?;
            }
            Ok(())
        }
        None => copy_entry(root, to),
    }
}

/// Copies a file, a link, or a folder with what is in it. What is gone by now is left out, as are pipes and the like.
fn copy_entry(from: &Path, to: &Path) -> Result<(), CompileError> {
    let failed = |error| CompileError::Copy { path: from.to_owned(), error };
    let Ok(facts) = fs::symlink_metadata(from) else { return Ok(()) };
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent).map_err(failed)?;
    }
    if facts.is_symlink() {
        let target = fs::read_link(from).map_err(failed)?;
        std::os::unix::fs::symlink(target, to).map_err(failed)
    } else if facts.is_dir() {
        fs::create_dir_all(to).map_err(failed)?;
        for entry in fs::read_dir(from).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            copy_entry(&entry.path(), &to.join(entry.file_name()))?;
        }
        Ok(())
    } else if facts.is_file() {
        // Rights and times go with it, so that `make` builds no more than it has to.
        fs::copy(from, to).map_err(failed)?;
        let times = fs::FileTimes::new().set_modified(facts.modified().map_err(failed)?);
        fs::File::open(to).and_then(|file| file.set_times(times)).map_err(failed)
    } else {
        Ok(())
    }
}
