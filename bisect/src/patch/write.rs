//! Writing a patch to the files.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use tempfile::NamedTempFile;
use thiserror::Error;

use super::unified::Patch;

/// Why a patch was not written.
#[derive(Debug, Error)]
pub enum WriteError {
    /// The file is another than the one that was read.
    #[error("{} has changed since it was read; nothing was written", .0.display())]
    Changed(PathBuf),
    /// It could not be read or replaced.
    #[error("{path}: {1}", path = .0.display())]
    Io(PathBuf, #[source] io::Error),
}

impl Patch {
    /// Replaces the files, each in one step. Nothing is replaced if one of them is not as it was read, or if not all
    /// of the new ones could be written down.
    pub fn write(&self) -> Result<(), WriteError> {
        let mut ready = Vec::new();
        for file in &self.files {
            let failed = |error| WriteError::Io(file.path.clone(), error);
            // A link stays a link: what it leads to is replaced.
            let path = fs::canonicalize(&file.path).map_err(failed)?;
            if fs::read(&path).map_err(failed)? != file.original.as_bytes() {
                return Err(WriteError::Changed(file.path.clone()));
            }
            let folder = path.parent().unwrap_or(&path);
            let mut new = NamedTempFile::new_in(folder).map_err(failed)?;
            new.write_all(file.edited.as_bytes()).map_err(failed)?;
            let rights = fs::metadata(&path).map_err(failed)?.permissions();
            new.as_file().set_permissions(rights).map_err(failed)?;
            new.as_file().sync_all().map_err(failed)?;
            ready.push((file, path, new));
        }
        for (file, path, new) in ready {
            new.persist(&path).map_err(|error| WriteError::Io(file.path.clone(), error.error))?;
        }
        Ok(())
    }
}
