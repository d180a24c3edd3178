//! The cache of instrumented modules: trials are processes, thousands of them, that all load the same
//! text.
//!
//! An entry is a file named by the digest of the text and of the injector's own sources (so that another
//! version of the injector never finds it). Its first line tells the digest of the rest. Entries are
//! written beside their place and renamed into it, hence whole or absent whatever happens; one that was
//! damaged all the same is made again. A cache that cannot be written is no error.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use bugaroo_injector::{InstrumentError, Instrumented, instrument as inject};

use crate::digest::Digest;
use crate::images::refusal::ImageRefusal;
use crate::own_writes;
use crate::trial::blocked::Blocked;

/// Digest of the sources of everything that decides what instrumentation looks like (see `build.rs`).
const INJECTOR: &str = env!("BUGAROO_INJECTOR_DIGEST");
/// Version of the entries' form.
const FORMAT: &str = "bugaroo-instrumented-1";

/// The instrumented form of a text whose digest is known.
///
/// # Errors
/// When the text is not PTX, or cannot be instrumented.
pub fn instrument(cache: Option<&Path>, source: &str, digest: Digest) -> Result<Instrumented, ImageRefusal> {
    let entry = cache.map(|folder| folder.join(format!("{}.json", digest.and(INJECTOR.as_bytes()))));
    if let Some(found) = entry.as_deref().and_then(read) {
        return Ok(found);
    }
    let instrumented = inject(source).map_err(|error| match error {
        InstrumentError::Parse(error) => ImageRefusal::syntax(source, &error),
        error => ImageRefusal::unsupported(error.to_string()),
    })?;
    if let Some(entry) = entry {
        // Only time is lost when this fails.
        let _ = write(&entry, &instrumented);
    }
    Ok(instrumented)
}

/// An entry, if it is there and whole.
fn read(entry: &Path) -> Option<Instrumented> {
    let text = fs::read(entry).ok()?;
    let end = text.iter().position(|byte| *byte == b'\n')?;
    let (head, body) = (&text[..end], &text[end + 1..]);
    if head != header(body).as_bytes() {
        return None;
    }
    serde_json::from_slice(body).ok()
}

fn header(body: &[u8]) -> String {
    format!("{FORMAT} {}", Digest::of(body))
}

/// Makes an entry.
fn write(entry: &Path, instrumented: &Instrumented) -> io::Result<()> {
    let body = serde_json::to_vec(instrumented)?;
    let folder = entry.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    // The process id keeps trials that run at the same time apart.
    // A limit of file sizes (`ulimit -f`) is the program's, and no reason to end it.
    let _blocked = Blocked::new(libc::SIGXFSZ);
    let part = entry.with_extension(format!("{}.part", std::process::id()));
    let written = write_file(&part, &body).and_then(|()| fs::rename(&part, entry));
    if written.is_err() {
        let _ = fs::remove_file(&part);
    }
    written
}

fn write_file(path: &Path, body: &[u8]) -> io::Result<()> {
    let mut file = fs::File::create(path)?;
    let head = header(body) + "\n";
    file.write_all(head.as_bytes())?;
    file.write_all(body)?;
    own_writes::add(head.len() + body.len());
    Ok(())
}

#[cfg(test)]
mod tests;
