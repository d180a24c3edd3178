//! Runs one program to its end, in a process group of its own, and captures what it says.
//!
//! Three pipes lead out of it: standard output, standard error, and, where asked for, one for a report,
//! whose write end the program inherits at the number it has in here. The end of a pipe is never waited
//! for once the program itself has exited, since processes that it left behind may hold it open: what is
//! in the pipes then is drained, and the group is killed.
//!
//! The program is awaited without being reaped (`WNOWAIT`): as long as it is a zombie, its process group
//! id cannot pass to another, so that the group can be killed safely.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Read};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::net::unix::pipe::Receiver;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::capture::{Capture, Keep, Output};
use crate::record::Exit;

/// Bytes read from a pipe at once: what a pipe holds by default.
const CHUNK: usize = 64 << 10;

/// Held while a descriptor is inheritable, so that no other program that we start inherits it. (One that
/// does all the same, started by other code of this process, does no harm: no pipe's end is waited for.)
static STARTING: Mutex<()> = Mutex::new(());

/// A program to run. Without a report, `environment` is asked with no descriptor.
pub struct Program<'a> {
    /// Path of the executable.
    pub path: PathBuf,
    /// Its arguments.
    pub arguments: &'a [OsString],
    /// Its working directory.
    pub directory: PathBuf,
    /// Its standard input; None: empty.
    pub input: Option<File>,
    /// Wall-clock time after which its group is killed.
    pub timeout: Duration,
    /// What to keep of its standard output besides the tail.
    pub keep: Keep,
}

/// A program that has ended.
#[derive(Debug)]
pub struct Ended {
    /// How.
    pub exit: Exit,
    /// Standard output.
    pub stdout: Output,
    /// Standard error.
    pub stderr: Output,
    /// From start to end.
    pub duration: Duration,
}

impl Program<'_> {
    /// Runs it, with these variables added to our own environment.
    ///
    /// When the future is dropped, the program's group is killed.
    ///
    /// # Errors
    /// When it cannot be started.
    pub async fn run(self, environment: &[(&str, OsString)]) -> io::Result<Ended> {
        let mut command = self.command();
        command.envs(environment.iter().map(|(name, value)| (name, value)));
        self.start(command, None)?.finish(|_| ()).await
    }

    /// Runs it with a pipe for a report: `environment` is told the number of the write end, and
    /// `on_report` gets what comes out, piece by piece.
    ///
    /// # Errors
    /// When it cannot be started.
    pub async fn run_with_report(
        self,
        environment: impl FnOnce(RawFd) -> Vec<(&'static str, OsString)>,
        on_report: impl FnMut(&[u8]),
    ) -> io::Result<Ended> {
        let (reader, writer) = io::pipe()?;
        let mut command = self.command();
        command.envs(environment(writer.as_raw_fd()));
        self.start(command, Some((reader, writer)))?.finish(on_report).await
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        // The standard library starts such a command by posix_spawn, which does not copy our memory map.
        command.args(self.arguments).current_dir(&self.directory).process_group(0);
        command
    }

    fn start(self, mut command: Command, report: Option<(PipeReader, PipeWriter)>) -> io::Result<Running> {
        let (stdout, stdout_writer) = io::pipe()?;
        let (stderr, stderr_writer) = io::pipe()?;
        command.stdin(self.input.map_or_else(Stdio::null, Stdio::from));
        command.stdout(stdout_writer).stderr(stderr_writer);
        // Before the start, so that no exit is missed.
        let exits = signal(SignalKind::child())?;
        let started = Instant::now();
        let (report, child) = match report {
            None => (None, command.spawn()?),
            Some((reader, writer)) => {
                let _alone = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
                make_inheritable(&writer)?;
                let child = command.spawn()?;
                drop(writer);
                (Some(reader), child)
            }
        };
        let group = Group(Some(child));
        Ok(Running {
            group,
            exits,
            started,
            timeout: self.timeout,
            stdout: Pipe::open(stdout)?,
            stderr: Pipe::open(stderr)?,
            report: report.map_or(Ok(Pipe(None)), Pipe::open)?,
            keep: self.keep,
        })
    }
}

/// A program that runs.
struct Running {
    group: Group,
    exits: Signal,
    started: Instant,
    timeout: Duration,
    stdout: Pipe,
    stderr: Pipe,
    report: Pipe,
    keep: Keep,
}

impl Running {
    async fn finish(mut self, mut on_report: impl FnMut(&[u8])) -> io::Result<Ended> {
        let mut stdout = Capture::new(self.keep);
        let mut stderr = Capture::new(Keep::default());
        let mut buffer = vec![0; CHUNK];
        let mut timed_out = false;
        // A timeout too far away to be told as a point in time is none.
        let far = Duration::from_secs(u64::from(u32::MAX));
        let expiry = tokio::time::sleep(self.timeout.min(far));
        tokio::pin!(expiry);
        loop {
            tokio::select! {
                () = self.stdout.readable() => stdout.push(self.stdout.read(&mut buffer)),
                () = self.stderr.readable() => stderr.push(self.stderr.read(&mut buffer)),
                () = self.report.readable() => on_report(self.report.read(&mut buffer)),
                ended = self.group.ended(&mut self.exits) => { ended?; break }
                () = &mut expiry, if !timed_out => {
                    timed_out = true;
                    self.group.kill();
                }
            }
        }
        let duration = self.started.elapsed();
        self.group.kill();
        let status = self.group.reap()?;
        self.stdout.drain(&mut buffer, |bytes| stdout.push(bytes));
        self.stderr.drain(&mut buffer, |bytes| stderr.push(bytes));
        self.report.drain(&mut buffer, on_report);
        let exit = match (timed_out, status.code(), status.signal()) {
            (true, _, _) => Exit::Killed,
            (false, Some(code), _) => Exit::Code(code),
            (false, None, signal) => Exit::Signal(signal.unwrap_or(0)),
        };
        Ok(Ended { exit, stdout: stdout.finish(), stderr: stderr.finish(), duration })
    }
}

/// The group that a program leads. Dropped before the program was reaped, it is killed.
struct Group(Option<Child>);

impl Group {
    fn id(&self) -> Option<libc::pid_t> {
        self.0.as_ref().and_then(|child| libc::pid_t::try_from(child.id()).ok())
    }

    /// Waits until the leader has ended, without reaping it.
    async fn ended(&self, exits: &mut Signal) -> io::Result<()> {
        while !self.has_ended()? {
            exits.recv().await;
        }
        Ok(())
    }

    fn has_ended(&self) -> io::Result<bool> {
        let Some(id) = self.id() else { return Ok(true) };
        // SAFETY: siginfo_t is plain data, for which zeroes are a value.
        let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
        let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        // SAFETY: `info` is a valid place for the answer.
        let result = unsafe { libc::waitid(libc::P_PID, id.cast_unsigned(), &raw mut info, flags) };
        if result != 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: waitid succeeded, so that the field is what it says, and zero while the child runs.
        Ok(unsafe { info.si_pid() } != 0)
    }

    /// Kills every member.
    fn kill(&self) {
        if let Some(id) = self.id() {
            // SAFETY: no memory is involved. The leader is not reaped, so the id is still this group's.
            // That there is nobody left to kill is no error.
            unsafe { libc::kill(-id, libc::SIGKILL) };
        }
    }

    fn reap(&mut self) -> io::Result<std::process::ExitStatus> {
        let status = self.0.as_mut().expect("a group is reaped once").wait()?;
        self.0 = None;
        Ok(status)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
        if let Some(child) = &mut self.0 {
            // It is killed; all that can go wrong is that it was reaped already.
            let _ = child.wait();
        }
    }
}

/// The read end of a pipe, until it has ended.
struct Pipe(Option<Receiver>);

impl Pipe {
    fn open(reader: PipeReader) -> io::Result<Self> {
        Ok(Self(Some(Receiver::from_owned_fd(OwnedFd::from(reader))?)))
    }

    /// Waits until there is something to read; for ever when the pipe has ended.
    async fn readable(&self) {
        match &self.0 {
            // An error shows at the reading.
            Some(pipe) => drop(pipe.readable().await),
            None => std::future::pending().await,
        }
    }

    /// What there is to read, possibly nothing.
    fn read<'b>(&mut self, buffer: &'b mut [u8]) -> &'b [u8] {
        let Some(pipe) = &self.0 else { return &[] };
        match pipe.try_read(buffer) {
            Ok(0) => self.0 = None,
            Ok(read) => return &buffer[..read],
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            Err(_) => self.0 = None,
        }
        &[]
    }

    /// Takes what is in the pipe now, and no more than a pipe can hold: whoever still writes is not ours.
    fn drain(self, buffer: &mut [u8], mut take: impl FnMut(&[u8])) {
        let Some(Ok(fd)) = self.0.map(Receiver::into_nonblocking_fd) else { return };
        let mut pipe = File::from(fd);
        // SAFETY: the descriptor is open, and the command takes no argument.
        let capacity = unsafe { libc::fcntl(pipe.as_raw_fd(), libc::F_GETPIPE_SZ) };
        let mut room = usize::try_from(capacity).unwrap_or(CHUNK);
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

fn make_inheritable(fd: &impl AsRawFd) -> io::Result<()> {
    // SAFETY: the descriptor is open; clearing its flags touches no memory.
    match unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_SETFD, 0) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
