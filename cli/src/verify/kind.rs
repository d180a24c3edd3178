//! What is to be verified, by the content of the file that is named: PTX, or a program.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use crate::exit::UsageError;

/// Bytes of a file that are looked at.
const LOOKED_AT: u64 = 64 << 10;

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// PTX, or what its reader tells more of than can be told here.
    Ptx,
    /// A program, or what the one who starts it tells more of.
    Program,
}

/// Whether a word of the command line names a program.
pub fn is_program(word: &OsStr) -> bool {
    matches!(kind(Path::new(word)), Ok(Kind::Program))
}

/// What a file is. A name that is no file may be that of a command.
///
/// # Errors
/// When it is neither.
pub fn kind(path: &Path) -> Result<Kind, UsageError> {
    if path == Path::new("-") {
        return Ok(Kind::Ptx);
    }
    let is_named_ptx = path.extension().is_some_and(|extension| extension == "ptx");
    let otherwise = if is_named_ptx { Kind::Ptx } else { Kind::Program };
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(otherwise),
        Err(_) => return Ok(Kind::Ptx),
        Ok(meta) if meta.is_dir() => return Ok(otherwise),
        Ok(meta) if !meta.is_file() => return Ok(Kind::Ptx),
        Ok(_) => {}
    }
    let mut start = Vec::new();
    if File::open(path).and_then(|file| file.take(LOOKED_AT).read_to_end(&mut start)).is_err() {
        // What may be executed need not be readable.
        return Ok(otherwise);
    }
    let holds = |part: &[u8]| start.windows(part.len()).any(|window| window == part);
    if start.starts_with(b"\x7fELF") || start.starts_with(b"#!") {
        Ok(Kind::Program)
    } else if is_named_ptx || start.is_empty() || holds(b".version") {
        Ok(Kind::Ptx)
    } else {
        Err(UsageError(format!(
            "{} is neither PTX, a text with .version in front, nor a program, ELF or a script that begins with #!",
            path.display()
        )))
    }
}
