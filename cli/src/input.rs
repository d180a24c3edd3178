//! Files that a command is given to read.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Most MiB of a file that are read.
const MOST: u64 = 256;

/// Reads a file, or standard input where the path is `-`.
///
/// # Errors
/// When it cannot be read, or is too large.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    if path == Path::new("-") { limited(io::stdin().lock()) } else { limited(File::open(path)?) }
}

fn limited(source: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take((MOST << 20) + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST << 20 {
        return Err(io::Error::other(format!("it has more than {MOST} MiB, the most that is read")));
    }
    Ok(bytes)
}
