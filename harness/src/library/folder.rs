//! The folder of a run under the system's folder for temporary files: one's own while one lives, and removed with those
//! that killed runs have left behind.
//!
//! Its owner holds a lock on a file in it, which the system lets go of however the owner ends. What holds no such file is
//! not ours, or of an earlier version, and is left alone; so is what was made just now, whose owner may not hold its lock
//! yet.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::Duration;

use tempfile::TempDir;

/// What the names of our folders begin with.
const PREFIX: &str = "bugaroo-";
/// The file whose lock the owner holds.
const OWNER: &str = "owner";
/// How old a folder is at least that is swept.
const AGE: Duration = Duration::from_secs(60);

/// A folder that is removed in the end.
#[derive(Debug)]
pub(super) struct Folder {
    folder: TempDir,
    /// Held for its lock.
    _owner: File,
}

impl Folder {
    /// Makes one, and sweeps what dead owners have left behind.
    pub(super) fn new() -> io::Result<Self> {
        sweep(&std::env::temp_dir(), AGE);
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir()?;
        let owner = File::create(folder.path().join(OWNER))?;
        owner.lock()?;
        Ok(Self { folder, _owner: owner })
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Removes our own folders there whose owners are dead. What cannot be removed stays.
fn sweep(temporary: &Path, age: Duration) {
    // SAFETY: the call touches no memory.
    let us = unsafe { libc::geteuid() };
    for entry in fs::read_dir(temporary).into_iter().flatten().flatten() {
        // Not followed: a link is not ours.
        let Ok(meta) = entry.path().symlink_metadata() else { continue };
        let named = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        let old = meta.modified().is_ok_and(|at| at.elapsed().is_ok_and(|elapsed| elapsed >= age));
        if named && meta.is_dir() && meta.uid() == us && old && is_dead(&entry.path().join(OWNER)) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether there is an owner's file that nobody has locked.
fn is_dead(owner: &Path) -> bool {
    let opened = OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(owner);
    opened.is_ok_and(|file| file.metadata().is_ok_and(|meta| meta.is_file()) && file.try_lock().is_ok())
}

#[cfg(test)]
mod tests;
