//! The start of a fork server: the program runs up to its first launch, and says whether it may be forked.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::mem;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::process::ExitStatusExt;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use bugaroo_protocol::{FileId, ForkServer as Wanted, FromServer, ToServer};
use rustix::process::Pid;
use tokio::sync::mpsc;

use super::served::attend;
use super::server::{ForkServer, Said};
use super::socket::Socket;
use crate::outcome::Exit;
use crate::process::{Ends, Group, Life, ProgramCall, Running};

/// Most bytes that a program may print before its first launch: every trial begins with them.
const MOST_PRINTED: usize = 1 << 20;

/// What came of it.
pub(crate) enum Start {
    /// A server.
    Serves(Box<ForkServer>),
    /// The program must not be forked, and has ended; why, in one line.
    Cannot(String),
    /// Somebody has killed it on its way.
    Died,
}

/// Starts a program as a server; the environment is asked for with its pipes and the orders' part.
pub(crate) async fn start(
    program: ProgramCall<'_>,
    environment: impl FnOnce(Ends<'_>, Wanted) -> Vec<(&'static str, OsString)>,
) -> io::Result<Start> {
    let (socket, theirs) = Socket::pair()?;
    let control = theirs.as_raw_fd();
    let mut trouble = None;
    let environment = |ends: Ends<'_>| match wanted(ends, Some(control)) {
        Ok(wanted) => environment(ends, wanted),
        Err(error) => {
            trouble = Some(error);
            Vec::new()
        }
    };
    let running = program.start_with_report(environment, Some(theirs))?;
    match trouble {
        None => come_to_first_launch(running, socket).await,
        // It is killed.
        Some(error) => Err(error),
    }
}

async fn come_to_first_launch(mut running: Running<Group>, socket: Socket) -> io::Result<Start> {
    let mut said = Said::default();
    let mut buffer = vec![0; 64 << 10];
    let expiry = tokio::time::sleep(running.patience.bounded().limit);
    tokio::pin!(expiry);
    let mut speaks = true;
    let why = loop {
        tokio::select! {
            () = running.stdout.readable() => said.stdout.extend(running.stdout.read(&mut buffer)),
            () = running.stderr.readable() => said.stderr.extend(running.stderr.read(&mut buffer)),
            () = running.report.readable() => {
                said.report.push(running.report.read(&mut buffer));
            }
            message = socket.receive(), if speaks => match message? {
                Some(FromServer::Ready { pid, wrote, children_wrote }) => {
                    // All that it has written is in the pipes by now.
                    running.stdout.take(&mut buffer, |bytes| said.stdout.extend(bytes));
                    running.stderr.take(&mut buffer, |bytes| said.stderr.extend(bytes));
                    running.report.take(&mut buffer, |bytes| {
                        said.report.push(bytes);
                    });
                    let printed = said.stdout.len() + said.stderr.len();
                    if running.life.id() != Pid::from_raw(pid.cast_signed()) {
                        break "it is not the program itself that launches, but a process that it started".to_owned();
                    } else if let Some(why) = wrote_elsewhere(wrote, children_wrote, printed as u64) {
                        break why;
                    }
                    return Ok(Start::Serves(Box::new(serve(running, socket, said))));
                }
                Some(FromServer::Cannot { why }) => break why,
                _ => speaks = false,
            },
            ended = running.life.ended() => {
                ended?;
                let status = running.life.reap()?;
                if status.signal().is_some_and(|signal| Exit::Signal(signal).is_from_outside()) {
                    return Ok(Start::Died);
                }
                return Ok(Start::Cannot("the program ended without a launch".to_owned()));
            }
            () = &mut expiry => {
                running.life.kill();
                running.life.reap()?;
                return Ok(Start::Cannot("the program did not come to its first launch in time".to_owned()));
            }
        }
        if said.stdout.len() + said.stderr.len() > MOST_PRINTED {
            break "the program prints too much before its first launch".to_owned();
        }
    };
    // It goes on as a process like any other; one that was no server takes no notice.
    let _ = socket.send(&ToServer::GoOn.to_bytes(), &[]).await;
    drop(socket);
    running.finish(|_| false).await?;
    Ok(Start::Cannot(why))
}

/// What is wrong with a program that has written so many bytes, of which so many came out of its outputs; its children wrote to
/// the outputs as well, or to what it read from.
fn wrote_elsewhere(wrote: u64, children_wrote: u64, printed: u64) -> Option<String> {
    (wrote != printed && wrote + children_wrote != printed).then(|| {
        let children = match children_wrote {
            0 => String::new(),
            bytes => format!("; programs that it started, {bytes} bytes"),
        };
        format!(
            "before its first launch the program has written to something besides its outputs ({wrote} bytes, \
             {printed} of them there{children})"
        )
    })
}

fn serve(running: Running<Group>, socket: Socket, said: Said) -> ForkServer {
    let socket = Arc::new(socket);
    let (commands, asked) = mpsc::unbounded_channel();
    let attending = tokio::spawn(attend(Arc::clone(&socket), asked)).abort_handle();
    ForkServer { said, commands, socket, attending, group: running.life, next: AtomicU64::new(0) }
}

/// What a driver has to know of a program with these pipes; without a control socket it only tells whether
/// the program may be forked.
pub(crate) fn wanted(ends: Ends<'_>, control_fd: Option<RawFd>) -> io::Result<Wanted> {
    Ok(Wanted {
        control_fd,
        sooner: control_fd.is_none(),
        stdout: file_id(ends.stdout.as_raw_fd())?,
        stderr: file_id(ends.stderr.as_raw_fd())?,
        inherited: inherited()?,
    })
}

/// What we were given open, apart from standard input and outputs, and hand on to every program.
fn inherited() -> io::Result<Vec<FileId>> {
    let mut ids = Vec::new();
    for entry in fs::read_dir("/proc/self/fd")? {
        let Some(descriptor) = entry?.file_name().to_str().and_then(|name| name.parse::<RawFd>().ok()) else {
            continue;
        };
        // SAFETY: the call touches no memory.
        let flags = unsafe { libc::fcntl(descriptor, libc::F_GETFD) };
        if descriptor > 2 && flags >= 0 && flags & libc::FD_CLOEXEC == 0 {
            ids.extend(file_id(descriptor));
        }
    }
    Ok(ids)
}

fn file_id(descriptor: RawFd) -> io::Result<FileId> {
    // SAFETY: plain data, which `fstat` fills in when it answers 0.
    let (answer, status) = unsafe {
        let mut status: libc::stat = mem::zeroed();
        (libc::fstat(descriptor, &raw mut status), status)
    };
    match answer {
        0 => Ok(FileId { device: status.st_dev, inode: status.st_ino }),
        _ => Err(io::Error::last_os_error()),
    }
}
