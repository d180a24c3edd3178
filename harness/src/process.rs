//! Runs one program to its end, in a process group of its own, and captures what it says.
//!
//! Three pipes lead out of it: standard output, standard error, and, where asked for, one for a report,
//! whose write end the program inherits at the number it has in here. The end of a pipe is never waited
//! for once the program itself has exited, since processes that it left behind may hold it open: what is
//! in the pipes then is drained, and the group is killed.
//!
//! The program is awaited without being reaped (`WNOWAIT`): as long as it is a zombie, its process group
//! id cannot pass to another, so that the group can be killed safely.

mod ended;
mod layout;
mod running;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use rustix::io::FdFlags;
use tokio::signal::unix::{SignalKind, signal};

use crate::capture::Keep;

pub use ended::{Ended, Patience};
use layout::FixedLayout;
pub(crate) use running::{Ending, Group, Life, Pipe, Running};

/// Held while a descriptor is inheritable, so that no other program that we start inherits it. (One that
/// does all the same, started by other code of this process, does no harm: no pipe's end is waited for.)
static STARTING: Mutex<()> = Mutex::new(());

/// For a [`ProgramCall`] that has no variables of its own.
pub static NO_VARIABLES: BTreeMap<String, String> = BTreeMap::new();

/// A program to run.
pub struct ProgramCall<'a> {
    /// Path of the executable.
    pub path: PathBuf,
    /// Its arguments.
    pub arguments: &'a [OsString],
    /// Its working directory.
    pub directory: PathBuf,
    /// Variables that it has besides ours.
    pub variables: &'a BTreeMap<String, String>,
    /// Its standard input; None: empty.
    pub input: Option<File>,
    /// How long it may run.
    pub patience: Patience,
    /// What to keep of its standard output besides the tail.
    pub keep: Keep,
}

/// The program's ends of its pipes.
#[derive(Clone, Copy, Debug)]
pub struct Ends<'e> {
    /// Number of the report's.
    pub report: RawFd,
    /// Standard output.
    pub stdout: &'e PipeWriter,
    /// Standard error.
    pub stderr: &'e PipeWriter,
}

impl ProgramCall<'_> {
    /// Runs it, with these variables added to our own environment.
    ///
    /// When the future is dropped, the program's group is killed.
    ///
    /// # Errors
    /// When it cannot be started.
    pub async fn run(self, environment: &[(&str, OsString)]) -> io::Result<Ended> {
        let (stdout, stderr) = (io::pipe()?, io::pipe()?);
        let mut command = self.command();
        command.envs(environment.iter().map(|(name, value)| (name, value)));
        self.start(command, stdout, stderr, None, None)?.finish(|_| false).await
    }

    /// Runs it with a pipe for a report: `environment` is told its pipes, and `on_report` gets what
    /// comes out, piece by piece, and answers whether it told of device work.
    ///
    /// # Errors
    /// When it cannot be started.
    pub async fn run_with_report(
        self,
        environment: impl FnOnce(Ends<'_>) -> Vec<(&'static str, OsString)>,
        on_report: impl FnMut(&[u8]) -> bool,
    ) -> io::Result<Ended> {
        self.start_with_report(environment, None)?.finish(on_report).await
    }

    /// Starts it with a pipe for a report, and with a descriptor that it inherits.
    pub(crate) fn start_with_report(
        self,
        environment: impl FnOnce(Ends<'_>) -> Vec<(&'static str, OsString)>,
        inherited: Option<OwnedFd>,
    ) -> io::Result<Running<Group>> {
        let (stdout, stderr, report) = (io::pipe()?, io::pipe()?, io::pipe()?);
        let mut command = self.command();
        command.envs(environment(Ends {
            report: report.1.as_raw_fd(),
            stdout: &stdout.1,
            stderr: &stderr.1,
        }));
        self.start(command, stdout, stderr, Some(report), inherited)
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        // The standard library starts such a command by posix_spawn, which does not copy our memory map.
        command.args(self.arguments).current_dir(&self.directory).envs(self.variables).process_group(0);
        command
    }

    fn start(
        self,
        mut command: Command,
        (stdout, stdout_writer): (PipeReader, PipeWriter),
        (stderr, stderr_writer): (PipeReader, PipeWriter),
        report: Option<(PipeReader, PipeWriter)>,
        inherited: Option<OwnedFd>,
    ) -> io::Result<Running<Group>> {
        command.stdin(self.input.map_or_else(Stdio::null, Stdio::from));
        command.stdout(stdout_writer).stderr(stderr_writer);
        // Before the start, so that no exit is missed.
        let exits = signal(SignalKind::child())?;
        let started = Instant::now();
        let _layout = FixedLayout::new();
        let (report, child) = match report {
            None => (None, command.spawn()?),
            Some((reader, writer)) => {
                let _alone = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
                make_inheritable(&writer)?;
                inherited.as_ref().map_or(Ok(()), make_inheritable)?;
                let child = command.spawn()?;
                drop((writer, inherited));
                (Some(reader), child)
            }
        };
        Ok(Running {
            life: Group::new(child, exits),
            started,
            patience: self.patience,
            stdout: Pipe::open(stdout)?,
            stderr: Pipe::open(stderr)?,
            report: report.map_or(Ok(Pipe::ended()), Pipe::open)?,
            keep: self.keep,
        })
    }
}

fn make_inheritable(fd: &impl AsFd) -> io::Result<()> {
    Ok(rustix::io::fcntl_setfd(fd, FdFlags::empty())?)
}

#[cfg(test)]
mod tests;
