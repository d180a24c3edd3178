//! The report of a trial: messages to the harness, on the pipe that the orders name.
//!
//! One JSON object a line, each in one `write(2)`, so that lines of several processes do not mix (a
//! pipe keeps writes of up to 4 KiB whole; longer ones may be split, when the program forks and both
//! write at once) and nothing is lost when the program crashes afterwards. A harness that went away
//! is no reason to fail: errors of writing are ignored.

use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use bugaroo_protocol::{Message, notice};

use crate::error::Status;
use crate::own_writes;
use crate::trial::blocked::Blocked;

/// The pipe, if there are orders.
#[derive(Debug)]
pub struct ReportPipe {
    pipe: Option<Pipe>,
}

/// A descriptor, and the pipe that it stood for when the driver was initialised. A program may close
/// descriptors that it does not know and open files of its own under their numbers. What it executes inherits it with the
/// orders, as what it forks does: kernels of theirs are the program's, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pipe {
    descriptor: RawFd,
    device: libc::dev_t,
    inode: libc::ino_t,
}

impl Pipe {
    /// What a descriptor stands for, if it is a pipe.
    fn of(descriptor: RawFd) -> Option<Self> {
        // SAFETY: plain data, which `fstat` fills in when it answers 0.
        let status = unsafe {
            let mut status: libc::stat = std::mem::zeroed();
            (libc::fstat(descriptor, &mut status) == 0).then_some(status)?
        };
        let is_pipe = status.st_mode & libc::S_IFMT == libc::S_IFIFO;
        is_pipe.then_some(Pipe { descriptor, device: status.st_dev, inode: status.st_ino })
    }
}

/// The latest report's pipe, for whoever cannot get at the driver.
static LATEST: Mutex<Option<Pipe>> = Mutex::new(None);
/// The user was told that the pipe is gone.
static TOLD: AtomicBool = AtomicBool::new(false);

/// Sends a message on the pipe of the latest report.
pub fn say(message: &Message) {
    let pipe = *LATEST.lock().unwrap_or_else(PoisonError::into_inner);
    ReportPipe { pipe }.send(message);
}

impl ReportPipe {
    /// Reports to this descriptor.
    pub fn new(descriptor: Option<RawFd>) -> Self {
        let pipe = descriptor.and_then(Pipe::of);
        *LATEST.lock().unwrap_or_else(PoisonError::into_inner) = pipe;
        if descriptor.is_some() && pipe.is_none() {
            eprintln!("bugaroo: {}", notice::CLOSED_BEFORE);
        }
        ReportPipe { pipe }
    }

    /// Whether anybody listens.
    pub fn wanted(&self) -> bool {
        self.pipe.is_some()
    }

    /// The pipe's descriptor, as long as it is open.
    pub fn descriptor(&self) -> Option<RawFd> {
        self.open().map(|pipe| pipe.descriptor)
    }

    fn open(&self) -> Option<Pipe> {
        self.pipe.filter(|pipe| Pipe::of(pipe.descriptor) == Some(*pipe))
    }

    /// Sends a message.
    pub fn send(&self, message: &Message) {
        let Some(pipe) = self.open() else {
            if self.pipe.is_some() && !TOLD.swap(true, Ordering::Relaxed) {
                eprintln!("bugaroo: {}", notice::CLOSED);
            }
            return;
        };
        // Plain data with string keys: serialisation cannot fail.
        let mut line = serde_json::to_vec(message).expect("messages are plain data");
        line.push(b'\n');
        write_all(pipe.descriptor, &line);
    }

    /// Tells the harness and the user what cannot be done.
    pub fn unsupported(&self, what: &str) -> Status {
        eprintln!("bugaroo: {what}");
        self.send(&Message::Unsupported { what: what.to_owned() });
        Status::NotSupported
    }
}

/// Writes a line without ever raising `SIGPIPE`, which would take a program down that left the
/// signal's default in place (as Rust programs don't, but C programs do).
fn write_all(pipe: RawFd, line: &[u8]) {
    let blocked = Blocked::new(libc::SIGPIPE);
    let mut rest = line;
    while !rest.is_empty() {
        // SAFETY: the pointer and the length are those of a live slice.
        let written = unsafe { libc::write(pipe, rest.as_ptr().cast(), rest.len()) };
        match usize::try_from(written) {
            Ok(written) => {
                own_writes::add(written);
                rest = &rest[written..];
            }
            Err(_) if std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    drop(blocked);
}
