//! The program under test: found, and checked as far as can be before it is started.

use std::collections::BTreeMap;
use std::env;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// A program with its arguments and where it runs. Its environment is ours, with some variables of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// Absolute path of the executable.
    pub app: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// Absolute path of its working directory.
    pub directory: PathBuf,
    /// Variables that its environment has besides ours, or in the place of ours.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<String, String>,
}

/// Why a program cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// Neither a path to a file nor a command on PATH.
    #[error("program not found: {app}{}", if *here { format!(" (did you mean ./{app} ?)") } else { String::new() })]
    NotFound {
        /// As it was named.
        app: String,
        /// Whether the working directory has a file of that name.
        here: bool,
    },
    /// A directory.
    #[error("{0} is a directory, not a program")]
    Directory(String),
    /// No file that can hold a program.
    #[error("{0} is not a regular file")]
    NotAFile(String),
    /// Nobody may execute it.
    #[error("{app} is not executable ({hint})", app = .0, hint = hint(.0))]
    NotExecutable(String),
    /// Nothing in it.
    #[error("{0} is empty")]
    Empty(String),
    /// Neither ELF nor `#!`.
    #[error("{0} is neither an ELF program nor a script that begins with #!")]
    UnknownFormat(String),
    /// It cannot be looked at.
    #[error("cannot read {app}: {source}")]
    Io {
        /// As it was named.
        app: String,
        /// Why.
        source: io::Error,
    },
    /// The system refuses to start it: another machine's format, or a script's missing interpreter.
    #[error("cannot start {app}: {source}{}", if is_missing(source) { " (is its interpreter missing?)" } else { "" })]
    Start {
        /// Its path.
        app: String,
        /// Why.
        source: io::Error,
    },
    /// Its path or the working directory's cannot be written down.
    #[error("{} is not UTF-8: Bugaroo's records could not name it", .0.display())]
    NotUtf8(PathBuf),
}

fn is_missing(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
}

impl Target {
    /// Finds the program that a shell in the working directory would run by this name.
    ///
    /// # Errors
    /// When there is none, or when it cannot be a program.
    pub fn resolve(app: &str, args: Vec<String>) -> Result<Self, TargetError> {
        let directory = env::current_dir();
        let directory = directory.map_err(|source| TargetError::Io { app: app.to_owned(), source })?;
        Self::resolve_in(&directory, app, args)
    }

    /// Finds the program that a shell in this directory would run by this name. It runs there.
    ///
    /// # Errors
    /// When there is none, or when it cannot be a program.
    pub fn resolve_in(directory: &Path, app: &str, args: Vec<String>) -> Result<Self, TargetError> {
        let io = |source| TargetError::Io { app: app.to_owned(), source };
        let directory = std::path::absolute(directory).map_err(io)?;
        let path = if app.contains('/') { directory.join(app) } else { on_path(app, &directory)? };
        check(app, &path)?;
        let app = std::path::absolute(path).map_err(io)?;
        let target = Self { app, args, directory, variables: BTreeMap::new() };
        for path in [&target.app, &target.directory] {
            if path.to_str().is_none() {
                return Err(TargetError::NotUtf8(path.clone()));
            }
        }
        Ok(target)
    }

    /// Checks again what [`Self::resolve`] checked, for a target that was written down.
    ///
    /// # Errors
    /// When the file cannot be a program any more.
    pub fn check(&self) -> Result<(), TargetError> {
        check(&self.app.to_string_lossy(), &self.app)
    }

    /// The name of the program's file.
    pub fn name(&self) -> &str {
        self.app.file_name().and_then(|name| name.to_str()).unwrap_or("app")
    }
}

fn on_path(name: &str, directory: &Path) -> Result<PathBuf, TargetError> {
    let paths = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&paths)
        .map(|folder| folder.join(name))
        .find(|path| fs::metadata(path).is_ok_and(|meta| meta.is_file() && is_executable(&meta)))
        .ok_or_else(|| TargetError::NotFound {
            app: name.to_owned(),
            here: !name.is_empty() && directory.join(name).exists(),
        })
}

fn is_executable(meta: &fs::Metadata) -> bool {
    meta.permissions().mode() & 0o111 != 0
}

/// What to do with a file that nobody may execute.
fn hint(app: &str) -> String {
    match Path::new(app).extension().and_then(|extension| extension.to_str()) {
        Some("cu" | "cuh" | "c" | "cc" | "cpp" | "cxx" | "rs") => {
            "it is source: name the program built of it".to_owned()
        }
        Some("ptx" | "cubin" | "fatbin") => "it is device code: name the program that loads it".to_owned(),
        Some("py") => format!("python {app} ?"),
        _ => format!("chmod +x {app} ?"),
    }
}

fn check(app: &str, path: &Path) -> Result<(), TargetError> {
    let app = || app.to_owned();
    let meta = match fs::metadata(path) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Err(TargetError::NotFound { app: app(), here: false });
        }
        other => other.map_err(|source| TargetError::Io { app: app(), source })?,
    };
    if meta.is_dir() {
        return Err(TargetError::Directory(app()));
    }
    if !meta.is_file() {
        return Err(TargetError::NotAFile(app()));
    }
    if !is_executable(&meta) {
        return Err(TargetError::NotExecutable(app()));
    }
    if meta.len() == 0 {
        return Err(TargetError::Empty(app()));
    }
    let mut start = Vec::new();
    match File::open(path).and_then(|file| file.take(4).read_to_end(&mut start)) {
        // What may be executed need not be readable; that it is no program would show at the start.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        Err(source) => Err(TargetError::Io { app: app(), source }),
        Ok(_) if start == *b"\x7fELF" || start.starts_with(b"#!") => Ok(()),
        Ok(_) => Err(TargetError::UnknownFormat(app())),
    }
}

#[cfg(test)]
mod tests;
