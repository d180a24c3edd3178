//! Trials of a fork server: one task speaks with the server for all of them.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::Arc;

use bugaroo_protocol::{FromServer, ToServer};
use tokio::sync::{mpsc, oneshot};

use super::socket::Socket;
use crate::process::Life;

/// What a trial hears of a server that died.
pub(super) const GONE: &str = "the fork server has died";

/// How a trial has ended, as `waitpid` says; or why it could not be started.
pub(crate) type Done = Result<i32, String>;

/// What the task is asked to do.
pub(crate) enum Command {
    /// Have a trial run.
    Trial { id: u64, message: Vec<u8>, files: [OwnedFd; 3], done: oneshot::Sender<Done> },
    /// Have a trial killed.
    Kill { id: u64 },
}

/// Speaks with the server until it dies; then all trials that run hear of it, and commands are refused.
pub(crate) async fn attend(socket: Arc<Socket>, mut commands: mpsc::UnboundedReceiver<Command>) {
    let mut running: BTreeMap<u64, oneshot::Sender<Done>> = BTreeMap::new();
    // Never is the one side held up in sending while the other is: what goes out waits here.
    let mut outgoing: VecDeque<(Vec<u8>, Vec<OwnedFd>)> = VecDeque::new();
    loop {
        let send = async {
            match outgoing.front() {
                Some((message, files)) => socket.send(message, files).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            message = socket.receive() => {
                let (id, done) = match message {
                    Ok(Some(FromServer::Ended { id, status })) => (id, Ok(status)),
                    Ok(Some(FromServer::Failed { id, why })) => (id, Err(why)),
                    _ => return,
                };
                if let Some(waiting) = running.remove(&id) {
                    // Whoever waited may be gone.
                    let _ = waiting.send(done);
                }
            }
            sent = send => {
                // Its descriptors are closed here.
                outgoing.pop_front();
                if sent.is_err() {
                    return;
                }
            }
            command = commands.recv() => match command {
                None => return,
                Some(Command::Trial { id, message, files, done }) => {
                    running.insert(id, done);
                    outgoing.push_back((message, files.into()));
                }
                Some(Command::Kill { id }) => {
                    outgoing.push_back((ToServer::Kill { id }.to_bytes(), Vec::new()));
                }
            },
        }
    }
}

/// A trial of a server.
pub(crate) struct Served {
    id: u64,
    commands: mpsc::UnboundedSender<Command>,
    end: oneshot::Receiver<Done>,
    done: Option<Done>,
}

impl Served {
    /// The trial of this number, which says at `end` how it has ended.
    pub(crate) fn new(
        id: u64,
        commands: mpsc::UnboundedSender<Command>,
        end: oneshot::Receiver<Done>,
    ) -> Self {
        Served { id, commands, end, done: None }
    }
}

impl Life for Served {
    async fn ended(&mut self) -> io::Result<()> {
        if self.done.is_none() {
            self.done = Some((&mut self.end).await.unwrap_or_else(|_| Err(GONE.to_owned())));
        }
        Ok(())
    }

    fn kill(&self) {
        // A server that is gone has taken the trial with it.
        let _ = self.commands.send(Command::Kill { id: self.id });
    }

    fn reap(&mut self) -> io::Result<ExitStatus> {
        match &self.done {
            Some(Ok(status)) => Ok(ExitStatus::from_raw(*status)),
            Some(Err(why)) => Err(io::Error::other(why.clone())),
            None => Err(io::Error::other("a trial that has not ended")),
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if self.done.is_none() {
            self.kill();
        }
    }
}
