//! What stands in a directory before it is used: files, and nothing that a program waits on or that leads elsewhere.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use super::error::RunDirError;

/// Refuses to use a directory in which one of these names is there and is no regular file: to open a FIFO waits for
/// its other end, for ever.
///
/// # Errors
/// By the name, with what it is.
pub fn check_regular(directory: &Path, names: &[&str]) -> Result<(), RunDirError> {
    for name in names {
        let path = directory.join(name);
        if let Some(what) = irregular(&path) {
            return Err(RunDirError::NotRegular { path, what });
        }
    }
    Ok(())
}

/// What is there, if it is no regular file; None also where nothing is there, or nobody may look.
fn irregular(path: &Path) -> Option<&'static str> {
    let itself = path.symlink_metadata().ok()?;
    let kind = match path.metadata() {
        Ok(meta) => meta.file_type(),
        Err(_) if itself.is_symlink() => return Some("a symbolic link that leads nowhere"),
        Err(_) => return None,
    };
    Some(match kind {
        _ if kind.is_file() => return None,
        _ if kind.is_dir() => "a directory",
        _ if kind.is_fifo() => "a FIFO",
        _ if kind.is_socket() => "a socket",
        _ if kind.is_block_device() || kind.is_char_device() => "a device",
        _ => "something else",
    })
}

/// Reads a file of no more than so many MiB.
///
/// # Errors
/// When it is larger, or cannot be read.
pub fn read_limited(path: &Path, mebibytes: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let most = mebibytes << 20;
    File::open(path)?.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::other(format!("it has more than {mebibytes} MiB, the most that is read")));
    }
    Ok(bytes)
}
