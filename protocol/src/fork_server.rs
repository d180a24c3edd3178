//! What harness and fork server say to each other.
//!
//! A fork server is the program under test, stopped before its first kernel begins: from there each trial is a
//! fork of it. Both sides talk over a pair of connected sockets that keep messages apart
//! (`SOCK_SEQPACKET`), a message each, none longer than [`LONGEST_MESSAGE`]. With
//! [`ToServer::Trial`] come three descriptors: standard output, standard error and the report's pipe.

use serde::{Deserialize, Serialize};

/// No message is longer, in bytes; orders that do not fit are for a process of their own.
pub const LONGEST_MESSAGE: usize = 64 << 10;

/// What a driver has to know to be a fork server, or to tell whether it could be one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForkServer {
    /// Descriptor of the driver's end of the sockets; None: only tell ([`crate::Message::FirstLaunch`]).
    pub control_fd: Option<i32>,
    /// Whether trials are forked where the program calls for its first launch, and not as late as may be: when the first kernel begins.
    /// Also where the driver only tells.
    pub sooner: bool,
    /// The pipe that is standard output.
    pub stdout: FileId,
    /// The pipe that is standard error.
    pub stderr: FileId,
    /// What else the harness itself was given open, and hands on to every program that it starts.
    pub inherited: Vec<FileId>,
}

/// What names an open file on a machine: device and inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileId {
    /// `st_dev`.
    pub device: u64,
    /// `st_ino`.
    pub inode: u64,
}

/// A message to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToServer<'a> {
    /// Run a trial.
    Trial {
        /// Names it in later messages.
        id: u64,
        /// As [`crate::Orders::to_json`] writes them; `report_fd` does not count.
        orders: &'a str,
    },
    /// Kill a trial's process group, if it still runs.
    Kill {
        /// Which.
        id: u64,
    },
    /// Be no server any more, but a process like any other. Said before the first trial only.
    GoOn,
}

/// A message from the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FromServer {
    /// It stands before its first launch and waits for trials.
    Ready {
        /// Process that speaks.
        pid: u32,
        /// Bytes that it has written so far to anywhere, but for the driver's own.
        wrote: u64,
        /// Bytes that those of its children have written that have ended.
        children_wrote: u64,
    },
    /// It may not be forked, and goes on as a process like any other.
    Cannot {
        /// Why, in one line.
        why: String,
    },
    /// A trial has ended; none of its process group lives.
    Ended {
        /// Which.
        id: u64,
        /// As `waitpid` gives it.
        status: i32,
    },
    /// A trial could not be started.
    Failed {
        /// Which.
        id: u64,
        /// Why, in one line.
        why: String,
    },
}

impl<'a> ToServer<'a> {
    /// The message's bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        match *self {
            ToServer::Trial { id, orders } => join(b'T', &id.to_le_bytes(), orders.as_bytes()),
            ToServer::Kill { id } => join(b'K', &id.to_le_bytes(), &[]),
            ToServer::GoOn => vec![b'G'],
        }
    }

    /// Reads what [`Self::to_bytes`] wrote; None where it is no such message.
    pub fn from_bytes(bytes: &'a [u8]) -> Option<Self> {
        let (kind, rest) = bytes.split_first()?;
        Some(match kind {
            b'T' => {
                let (id, orders) = rest.split_first_chunk()?;
                ToServer::Trial { id: u64::from_le_bytes(*id), orders: std::str::from_utf8(orders).ok()? }
            }
            b'K' => ToServer::Kill { id: u64::from_le_bytes(rest.try_into().ok()?) },
            b'G' if rest.is_empty() => ToServer::GoOn,
            _ => return None,
        })
    }
}

impl FromServer {
    /// The message's bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            FromServer::Ready { pid, wrote, children_wrote } => {
                let counts = [wrote.to_le_bytes(), children_wrote.to_le_bytes()].concat();
                join(b'R', &pid.to_le_bytes(), &counts)
            }
            FromServer::Cannot { why } => join(b'C', &[], why.as_bytes()),
            FromServer::Ended { id, status } => join(b'E', &id.to_le_bytes(), &status.to_le_bytes()),
            FromServer::Failed { id, why } => join(b'F', &id.to_le_bytes(), why.as_bytes()),
        }
    }

    /// Reads what [`Self::to_bytes`] wrote; None where it is no such message.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (kind, rest) = bytes.split_first()?;
        Some(match kind {
            b'R' => {
                let (pid, rest) = rest.split_first_chunk()?;
                let (wrote, children_wrote) = rest.split_first_chunk()?;
                FromServer::Ready {
                    pid: u32::from_le_bytes(*pid),
                    wrote: u64::from_le_bytes(*wrote),
                    children_wrote: u64::from_le_bytes(children_wrote.try_into().ok()?),
                }
            }
            b'C' => FromServer::Cannot { why: text(rest) },
            b'E' => {
                let (id, status) = rest.split_first_chunk()?;
                FromServer::Ended {
                    id: u64::from_le_bytes(*id),
                    status: i32::from_le_bytes(status.try_into().ok()?),
                }
            }
            b'F' => {
                let (id, why) = rest.split_first_chunk()?;
                FromServer::Failed { id: u64::from_le_bytes(*id), why: text(why) }
            }
            _ => return None,
        })
    }
}

fn join(kind: u8, first: &[u8], second: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(1 + first.len() + second.len());
    bytes.push(kind);
    bytes.extend_from_slice(first);
    bytes.extend_from_slice(second);
    bytes
}
