//! Standard input of the program under test: read once, and given whole to every trial.
//!
//! It is kept in a file in memory. Each process gets an open file of its own of it, so that none moves another's
//! place; forks of one process open it again where they are. It is a file to the program, whatever it was to us.
//!
//! A terminal is not read: nobody can type the same into a thousand trials. The program finds the end of its input at once
//! then, as in `/dev/null`.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;

/// Most bytes that are taken: each run keeps a copy in its directory.
pub const MOST_BYTES: u64 = 64 << 20;
/// How long nothing may come before the user is told that we wait.
const SILENCE: Duration = Duration::from_secs(1);
/// Major and minor number of `/dev/null`.
const NULL: (u32, u32) = (1, 3);

/// What every trial finds on its standard input.
#[derive(Clone, Debug)]
pub struct StandardInput {
    file: Arc<File>,
    /// What names it in records.
    pub facts: InputFacts,
}

/// An input as records name it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputFacts {
    /// Its length.
    pub bytes: u64,
    /// SHA-256.
    pub sha256: String,
}

/// Why standard input cannot be given to trials.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// Too long.
    #[error(
        "standard input has more than {} MiB, which is the most that every trial can be given: have the program read a \
         file, or take the input away (</dev/null)", MOST_BYTES >> 20
    )]
    TooLong,
    /// It cannot be read or kept.
    #[error("standard input: {0}")]
    Io(#[from] io::Error),
}

impl StandardInput {
    /// Reads our own standard input to its end; None where there is none: a terminal, `/dev/null`, nothing in it. `note` is
    /// told what the user may wonder about.
    ///
    /// # Errors
    /// When it is too long, or cannot be read.
    pub fn of_ours(note: impl Fn(&str)) -> Result<Option<Self>, InputError> {
        let Some(status) = status(libc::STDIN_FILENO) else { return Ok(None) };
        if status.st_mode & libc::S_IFMT == libc::S_IFCHR {
            // SAFETY: the call touches no memory.
            if unsafe { libc::isatty(libc::STDIN_FILENO) } == 1 {
                note(
                    "standard input is a terminal: the program gets an empty one (a file or a pipe would be given to every trial)",
                );
                return Ok(None);
            }
            if (libc::major(status.st_rdev), libc::minor(status.st_rdev)) == NULL {
                return Ok(None);
            }
        }
        let mut asked = libc::pollfd { fd: libc::STDIN_FILENO, events: libc::POLLIN, revents: 0 };
        // SAFETY: `asked` is one live entry.
        if unsafe { libc::poll(&raw mut asked, 1, SILENCE.as_millis() as libc::c_int) } == 0 {
            note("reading standard input to its end, to give it to every trial (</dev/null gives none)");
        }
        Self::read(io::stdin().lock())
    }

    /// Reads an input to its end; None where there is nothing.
    ///
    /// # Errors
    /// As [`Self::of_ours`].
    pub fn read(source: impl Read) -> Result<Option<Self>, InputError> {
        let mut file = in_memory()?;
        let mut digest = Digest::default();
        let mut bytes = 0;
        let mut source = source.take(MOST_BYTES + 1);
        let mut buffer = vec![0; 1 << 16];
        loop {
            let read = match source.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error.into()),
            };
            bytes += read as u64;
            if bytes > MOST_BYTES {
                return Err(InputError::TooLong);
            }
            digest.update(&buffer[..read]);
            file.write_all(&buffer[..read])?;
        }
        let facts = InputFacts { bytes, sha256: digest.finish() };
        Ok((bytes > 0).then(|| Self { file: Arc::new(file), facts }))
    }

    /// An open file of it that nobody else has, at its beginning.
    ///
    /// # Errors
    /// When the system has no more of them.
    pub fn open(&self) -> io::Result<File> {
        File::open(format!("/proc/self/fd/{}", self.file.as_raw_fd()))
    }

    /// Writes it to a file.
    ///
    /// # Errors
    /// When that cannot be written.
    pub fn keep(&self, path: &Path) -> io::Result<()> {
        let mut from = self.open()?;
        let mut to = File::create(path)?;
        io::copy(&mut from, &mut to)?;
        to.sync_all()
    }

    /// Reads what [`Self::keep`] has written; None where it is something else by now.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn kept(path: &Path, facts: &InputFacts) -> Result<Option<Self>, InputError> {
        Ok(Self::read(fs::File::open(path)?)?.filter(|input| input.facts == *facts))
    }
}

fn in_memory() -> io::Result<File> {
    // SAFETY: the name is a C string, and the descriptor, if it is one, is nobody else's.
    unsafe {
        let descriptor = libc::memfd_create(c"bugaroo-stdin".as_ptr(), libc::MFD_CLOEXEC);
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(File::from(OwnedFd::from_raw_fd(descriptor)))
    }
}

fn status(descriptor: libc::c_int) -> Option<libc::stat> {
    // SAFETY: plain data, which `fstat` fills in when it answers 0.
    unsafe {
        let mut status: libc::stat = std::mem::zeroed();
        (libc::fstat(descriptor, &raw mut status) == 0).then_some(status)
    }
}

#[cfg(test)]
mod tests;
