//! The report of a trial: messages to the harness, on the pipe that the orders name.
//!
//! One JSON object a line, each in one `write(2)`, so that lines of several processes do not mix (a
//! pipe keeps writes of up to 4 KiB whole; longer ones may be split, when the program forks and both
//! write at once) and nothing is lost when the program crashes afterwards. A harness that went away
//! is no reason to fail: errors of writing are ignored.

use std::os::fd::RawFd;

use bugaroo_protocol::Message;

use crate::error::Status;
use crate::own_writes;

/// The pipe, if there are orders.
#[derive(Debug)]
pub struct Report {
    pipe: Option<Pipe>,
}

/// A descriptor, and the pipe that it stood for when the driver was initialised. A program may close
/// descriptors that it does not know and open files of its own under their numbers; and what it
/// executes inherits the orders, but not the pipe.
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

impl Report {
    /// Reports to this descriptor. It is closed in programs that this one executes: they would keep
    /// the harness waiting for the pipe's end.
    pub fn new(descriptor: Option<RawFd>) -> Self {
        let pipe = descriptor.and_then(Pipe::of);
        if let Some(Pipe { descriptor, .. }) = pipe {
            // SAFETY: `fcntl` touches no memory of ours; a descriptor that is not open is an error.
            let flags = unsafe { libc::fcntl(descriptor, libc::F_GETFD) };
            if flags >= 0 {
                // SAFETY: as above.
                unsafe { libc::fcntl(descriptor, libc::F_SETFD, flags | libc::FD_CLOEXEC) };
            }
        }
        Report { pipe }
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
        let Some(pipe) = self.open() else { return };
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
    let masked = SigpipeBlocked::new();
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
    drop(masked);
}

/// `SIGPIPE` blocked for the calling thread; one raised meanwhile is taken away at the end.
struct SigpipeBlocked {
    before: libc::sigset_t,
    pipe: libc::sigset_t,
    was_pending: bool,
}

impl SigpipeBlocked {
    fn new() -> Self {
        // SAFETY: signal sets are plain data, initialised by `sigemptyset` and friends before use;
        // the calls only read and write the sets that they are given.
        unsafe {
            let mut pipe: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&mut pipe);
            libc::sigaddset(&mut pipe, libc::SIGPIPE);
            let mut pending: libc::sigset_t = std::mem::zeroed();
            libc::sigpending(&mut pending);
            let was_pending = libc::sigismember(&pending, libc::SIGPIPE) == 1;
            let mut before: libc::sigset_t = std::mem::zeroed();
            libc::pthread_sigmask(libc::SIG_BLOCK, &pipe, &mut before);
            SigpipeBlocked { before, pipe, was_pending }
        }
    }
}

impl Drop for SigpipeBlocked {
    fn drop(&mut self) {
        // SAFETY: as in `new`; the null and zero arguments ask for no information and no waiting.
        unsafe {
            if !self.was_pending {
                let at_once = libc::timespec { tv_sec: 0, tv_nsec: 0 };
                libc::sigtimedwait(&self.pipe, std::ptr::null_mut(), &at_once);
            }
            libc::pthread_sigmask(libc::SIG_SETMASK, &self.before, std::ptr::null_mut());
        }
    }
}
