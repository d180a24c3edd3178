//! A program that stands before its first launch, and the trials that are forked off it.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bugaroo_protocol::{LONGEST_MESSAGE, Orders, ToServer};
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;

use crate::capture::Keep;
use crate::process::{Ended, Ending, Group, Life, Patience, Pipe, Running};
use crate::report::{Report, ReportReader};

use super::served::{Command, GONE, Served};
use super::socket::Socket;

/// How long a server may take to end, once it is told to. It has but to kill its trials.
const FAREWELL: Duration = Duration::from_secs(2);

/// What the program has said before its first launch.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
    pub(super) report: ReportReader,
}

/// A program that stands before its first launch. Dropped, it dies with all its trials.
pub(crate) struct ForkServer {
    pub(super) said: Said,
    pub(super) commands: mpsc::UnboundedSender<Command>,
    pub(super) socket: Arc<Socket>,
    pub(super) attending: AbortHandle,
    pub(super) group: Group,
    pub(super) next: AtomicU64,
}

/// Why a trial was not done by a server.
#[derive(Debug)]
pub(crate) enum NotDone {
    /// It has died, and the trial with it, if that had begun.
    Died,
    /// The trial has to be run as a process of its own; why, in one line.
    Refused(String),
}

impl std::fmt::Debug for ForkServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ForkServer").field("pid", &self.group.id()).finish_non_exhaustive()
    }
}

impl ForkServer {
    /// Runs a trial.
    ///
    /// # Errors
    /// When it was not done.
    pub(crate) async fn trial(
        &self,
        orders: &Orders,
        keep: Keep,
        patience: Patience,
    ) -> Result<(Ended, Report), NotDone> {
        self.try_trial(orders, keep, patience).await.map_err(|error| {
            // Whoever speaks with it has heard of its death before any of its trials.
            if self.commands.is_closed() { NotDone::Died } else { NotDone::Refused(error.to_string()) }
        })
    }

    async fn try_trial(
        &self,
        orders: &Orders,
        keep: Keep,
        patience: Patience,
    ) -> io::Result<(Ended, Report)> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let message = ToServer::Trial { id, orders: &orders.to_json() }.to_bytes();
        if message.len() > LONGEST_MESSAGE {
            return Err(io::Error::other("orders that name so many sites are too long for the fork server"));
        }
        let started = Instant::now();
        let (stdout, stderr, report) = (io::pipe()?, io::pipe()?, io::pipe()?);
        let files = [stdout.1, stderr.1, report.1].map(OwnedFd::from);
        let (done, end) = oneshot::channel();
        let gone = |_| io::Error::other(GONE);
        self.commands.send(Command::Trial { id, message, files, done }).map_err(gone)?;
        let running = Running {
            life: Served::new(id, self.commands.clone(), end),
            started,
            patience,
            stdout: Pipe::open(stdout.0)?,
            stderr: Pipe::open(stderr.0)?,
            report: Pipe::open(report.0)?,
            keep,
        };
        let mut reader = self.said.report.clone();
        let before = Ending { stdout: &self.said.stdout, stderr: &self.said.stderr };
        let ended = running.finish_after(before, |bytes| reader.push(bytes)).await?;
        Ok((ended, reader.finish()))
    }
}

impl Drop for ForkServer {
    fn drop(&mut self) {
        self.attending.abort();
        // It sees the end, kills its trials with all that they have started, and exits.
        self.socket.shut();
        let limit = Instant::now() + FAREWELL;
        while matches!(self.group.has_ended(), Ok(false)) && Instant::now() < limit {
            std::thread::sleep(Duration::from_millis(1));
        }
        // If it has not, the kernel kills its trials after it.
        self.group.kill();
    }
}
