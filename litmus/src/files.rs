//! Tests and tables on disk.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Name of a table's file.
const TABLE: &str = "outcomes.json";

/// A path that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {error}", path = path.display())]
pub struct PathError {
    /// The path.
    pub path: PathBuf,
    /// Why.
    pub error: io::Error,
}

/// The tests that a path names: itself, or, of a folder, all `.litmus` files in it and in its folders, in the order of
/// their names. Links to folders are not followed.
///
/// # Errors
/// When something is not there or cannot be listed.
pub fn find(path: &Path) -> Result<Vec<PathBuf>, PathError> {
    let at = |path: &Path, error| PathError { path: path.to_owned(), error };
    if !std::fs::metadata(path).map_err(|error| at(path, error))?.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).map_err(|error| at(&folder, error))? {
            let entry = entry.map_err(|error| at(&folder, error))?;
            let kind = entry.file_type().map_err(|error| at(&entry.path(), error))?;
            if kind.is_dir() {
                folders.push(entry.path());
            } else if entry.path().extension().is_some_and(|extension| extension == "litmus") {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Most MiB of a test or a table that are read.
const MOST: u64 = 256;

/// Reads a test or a table.
///
/// # Errors
/// When it cannot be read, or is too large.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take((MOST << 20) + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST << 20 {
        return Err(io::Error::other(format!("it has more than {MOST} MiB, the most that is read")));
    }
    Ok(bytes)
}

/// The table for a test: `outcomes.json` in its folder or the one above.
pub fn table_for(test: &Path) -> Option<PathBuf> {
    // The folder of a bare name is the current one.
    let folder = test.parent().map(|folder| if folder == Path::new("") { Path::new(".") } else { folder })?;
    let beside = folder.join(TABLE);
    // `..` and not the parent by name: the path may be relative.
    [beside, folder.join("..").join(TABLE)].into_iter().find(|table| table.is_file())
}
