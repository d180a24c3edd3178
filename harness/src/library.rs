//! Where Bugaroo's `libcuda.so.1` is, and the folder by which programs under test find it.

use std::env;
use std::ffi::OsString;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// Names the driver library, or the folder that holds it, where it does not stand beside us.
pub const DRIVER_VARIABLE: &str = "BUGAROO_DRIVER";

/// The file that cargo builds the driver to.
const FILE: &str = "libcuda.so";

/// The names by which programs load the driver.
const NAMES: [&str; 2] = ["libcuda.so.1", "libcuda.so"];

/// Why the driver library cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LibraryError {
    /// It is nowhere.
    #[error(
        "Bugaroo's driver library {FILE} is missing; looked at {}. `cargo build --workspace` builds it beside \
         bugaroo; {DRIVER_VARIABLE} may name it elsewhere", paths(.0)
    )]
    Missing(Vec<PathBuf>),
    /// The folder for it cannot be made.
    #[error("cannot make a folder for the driver library: {0}")]
    Folder(#[from] io::Error),
}

fn paths(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// A folder that shows the driver library under the names that programs load, for as long as this lives.
#[derive(Debug)]
pub struct DriverLibrary {
    folder: TempDir,
}

impl DriverLibrary {
    /// Finds the library: where [`DRIVER_VARIABLE`] says, beside this executable, in `../lib`, or, for
    /// what cargo builds for tests, in `deps`.
    ///
    /// # Errors
    /// When it is nowhere, or the folder cannot be made.
    pub fn find() -> Result<Self, LibraryError> {
        let candidates = match env::var_os(DRIVER_VARIABLE).map(PathBuf::from) {
            Some(path) if path.is_dir() => vec![path.join(FILE)],
            Some(path) => vec![path],
            None => {
                let executable = env::current_exe()?;
                let folder = executable.parent().unwrap_or(Path::new("/"));
                vec![folder.join(FILE), folder.join("../lib").join(FILE), folder.join("deps").join(FILE)]
            }
        };
        match candidates.iter().find(|path| path.is_file()) {
            Some(path) => Self::at(path),
            None => Err(LibraryError::Missing(candidates)),
        }
    }

    /// Shows the library at this path.
    ///
    /// # Errors
    /// When the folder cannot be made.
    pub fn at(library: &Path) -> Result<Self, LibraryError> {
        let library = library.canonicalize()?;
        let folder = tempfile::Builder::new().prefix("bugaroo-").tempdir()?;
        for name in NAMES {
            symlink(&library, folder.path().join(name))?;
        }
        Ok(Self { folder })
    }

    /// What LD_LIBRARY_PATH has to be: our folder before all that it names now.
    pub fn search_path(&self) -> OsString {
        let mut path = self.folder.path().as_os_str().to_owned();
        if let Some(rest) = env::var_os("LD_LIBRARY_PATH").filter(|rest| !rest.is_empty()) {
            path.push(":");
            path.push(rest);
        }
        path
    }

    /// Where instrumented modules are cached: a run's own place, so that no module of another version
    /// of the injector is ever met there.
    pub fn module_cache(&self) -> PathBuf {
        self.folder.path().join("modules")
    }
}

#[cfg(test)]
mod tests;
