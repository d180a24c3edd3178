//! A program that runs: its pipes are read until it ends, or until its time is up.

use std::fs::File;
use std::future::Future;
use std::io::{self, PipeReader, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};
use std::time::Instant;

use rustix::process::{self, Pid, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::net::unix::pipe::Receiver;
use tokio::signal::unix::Signal;

use super::ended::{Ended, Patience};
use crate::capture::{Capture, Keep};
use crate::outcome::Exit;

/// Bytes read from a pipe at once: what a pipe holds by default.
const CHUNK: usize = 64 << 10;

/// A program that runs.
pub(crate) struct Running<L> {
    pub(crate) life: L,
    pub(crate) started: Instant,
    pub(crate) patience: Patience,
    pub(crate) stdout: Pipe,
    pub(crate) stderr: Pipe,
    pub(crate) report: Pipe,
    pub(crate) keep: Keep,
}

/// How a program's processes end. Dropped before its end, it is killed.
pub(crate) trait Life {
    /// Waits until the program has ended; may be dropped and asked again.
    fn ended(&mut self) -> impl Future<Output = io::Result<()>>;
    /// Kills all its processes.
    fn kill(&self);
    /// Kills what an ended program left behind, and says how it ended.
    fn reap(&mut self) -> io::Result<ExitStatus>;
}

/// What came out of a program before it is watched by [`Running::finish_after`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ending<'a> {
    pub(crate) stdout: &'a [u8],
    pub(crate) stderr: &'a [u8],
}

impl<L: Life> Running<L> {
    /// Watches it to its end. What is done with its report answers whether that told of device work.
    pub(crate) async fn finish(self, on_report: impl FnMut(&[u8]) -> bool) -> io::Result<Ended> {
        self.finish_after(Ending::default(), on_report).await
    }

    /// The same of one that has printed something before.
    pub(crate) async fn finish_after(
        mut self,
        before: Ending<'_>,
        mut on_report: impl FnMut(&[u8]) -> bool,
    ) -> io::Result<Ended> {
        let mut stdout = Capture::new(self.keep);
        let mut stderr = Capture::new(Keep::default());
        stdout.push(before.stdout);
        stderr.push(before.stderr);
        let mut buffer = vec![0; CHUNK];
        let mut timed_out = false;
        let mut slow = false;
        let mut worked: Option<Instant> = None;
        let patience = self.patience.bounded();
        let expiry = tokio::time::sleep(patience.limit);
        tokio::pin!(expiry);
        loop {
            tokio::select! {
                () = self.stdout.readable() => stdout.push(self.stdout.read(&mut buffer)),
                () = self.stderr.readable() => stderr.push(self.stderr.read(&mut buffer)),
                () = self.report.readable() => if on_report(self.report.read(&mut buffer)) {
                    worked = Some(Instant::now());
                },
                ended = self.life.ended() => { ended?; break }
                () = &mut expiry, if !timed_out => {
                    slow = worked.is_some_and(|at| at.elapsed() <= patience.window());
                    let left = patience.most.saturating_sub(self.started.elapsed());
                    if slow && !left.is_zero() {
                        let more = tokio::time::Instant::now() + left.min(patience.window());
                        expiry.as_mut().reset(more);
                    } else {
                        timed_out = true;
                        self.life.kill();
                    }
                }
            }
        }
        let duration = self.started.elapsed();
        let status = self.life.reap()?;
        self.stdout.drain(&mut buffer, |bytes| stdout.push(bytes));
        self.stderr.drain(&mut buffer, |bytes| stderr.push(bytes));
        self.report.drain(&mut buffer, |bytes| {
            on_report(bytes);
        });
        let exit = match (timed_out, status.code(), status.signal()) {
            (true, _, _) => Exit::Killed,
            (false, Some(code), _) => Exit::Code(code),
            (false, None, signal) => Exit::Signal(signal.unwrap_or(0)),
        };
        let slow = slow && timed_out;
        Ok(Ended { exit, slow, stdout: stdout.finish(), stderr: stderr.finish(), duration })
    }
}

/// The group that a program leads. Dropped before the program was reaped, it is killed.
pub(crate) struct Group {
    /// None once it was reaped.
    child: Option<Child>,
    exits: Signal,
}

impl Group {
    /// The group of a program that was started; `exits` from before that.
    pub(crate) fn new(child: Child, exits: Signal) -> Self {
        Group { child: Some(child), exits }
    }

    /// Process id of the leader, which is that of the group.
    pub(crate) fn id(&self) -> Option<Pid> {
        self.child.as_ref().map(Pid::from_child)
    }

    /// Whether the leader has ended. It is not reaped.
    pub(crate) fn has_ended(&self) -> io::Result<bool> {
        let Some(id) = self.id() else { return Ok(true) };
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        Ok(waitid(WaitId::Pid(id), options)?.is_some())
    }
}

impl Life for Group {
    async fn ended(&mut self) -> io::Result<()> {
        while !self.has_ended()? {
            self.exits.recv().await;
        }
        Ok(())
    }

    fn kill(&self) {
        if let Some(id) = self.id() {
            // The leader is not reaped, so the id is still this group's. That there is nobody left to kill is no error.
            let _ = kill_process_group(id, process::Signal::KILL);
        }
    }

    fn reap(&mut self) -> io::Result<ExitStatus> {
        self.kill();
        let status = self.child.as_mut().expect("a group is reaped once").wait()?;
        self.child = None;
        Ok(status)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
        if let Some(child) = &mut self.child {
            // It is killed; all that can go wrong is that it was reaped already.
            let _ = child.wait();
        }
    }
}

/// The read end of a pipe, until it has ended.
pub(crate) struct Pipe(Option<Receiver>);

impl Pipe {
    /// A pipe's read end.
    pub(crate) fn open(reader: PipeReader) -> io::Result<Self> {
        Ok(Self(Some(Receiver::from_owned_fd(OwnedFd::from(reader))?)))
    }

    /// Of which nothing will ever come.
    pub(crate) fn ended() -> Self {
        Self(None)
    }

    /// Waits until there is something to read; for ever when the pipe has ended.
    pub(crate) async fn readable(&self) {
        match &self.0 {
            // An error shows at the reading.
            Some(pipe) => drop(pipe.readable().await),
            None => std::future::pending().await,
        }
    }

    /// What there is to read, possibly nothing.
    pub(crate) fn read<'b>(&mut self, buffer: &'b mut [u8]) -> &'b [u8] {
        let Some(pipe) = &self.0 else { return &[] };
        match pipe.try_read(buffer) {
            Ok(0) => self.0 = None,
            Ok(read) => return &buffer[..read],
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            Err(_) => self.0 = None,
        }
        &[]
    }

    /// Takes what is in the pipe now, with no regard to what the runtime knows of it.
    pub(crate) fn take(&mut self, buffer: &mut [u8], mut take: impl FnMut(&[u8])) {
        let Some(pipe) = &self.0 else { return };
        loop {
            // SAFETY: the pointer and the length are those of a live slice; the descriptor does not block.
            let read = unsafe { libc::read(pipe.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len()) };
            match usize::try_from(read) {
                Ok(0) => return,
                Ok(read) => take(&buffer[..read]),
                Err(_) if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
                // Empty, or broken: nothing more to be had either way.
                Err(_) => return,
            }
        }
    }

    /// Takes what is in the pipe now, and no more than a pipe can hold: whoever still writes is not ours.
    pub(crate) fn drain(self, buffer: &mut [u8], mut take: impl FnMut(&[u8])) {
        let Some(Ok(fd)) = self.0.map(Receiver::into_nonblocking_fd) else { return };
        let mut pipe = File::from(fd);
        let mut room = rustix::pipe::fcntl_getpipe_size(&pipe).unwrap_or(CHUNK);
        while room > 0 {
            let wanted = room.min(buffer.len());
            match pipe.read(&mut buffer[..wanted]) {
                Ok(0) => break,
                Ok(read) => {
                    take(&buffer[..read]);
                    room -= read;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // Empty, or broken: nothing more to be had either way.
                Err(_) => break,
            }
        }
    }
}
