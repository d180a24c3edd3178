//! The harness's end of the sockets to the driver.

use std::io;
use std::mem;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;

use bugaroo_protocol::FromServer;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Longest message from a server: a reason, in one line.
const LONGEST: usize = 4096;

/// A connected socket that keeps messages apart.
#[derive(Debug)]
pub(crate) struct Socket(AsyncFd<OwnedFd>);

impl Socket {
    /// A pair: ours, and the other end.
    pub(crate) fn pair() -> io::Result<(Self, OwnedFd)> {
        let mut ends: [RawFd; 2] = [-1; 2];
        let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC;
        // SAFETY: there is a place for two descriptors.
        if unsafe { libc::socketpair(libc::AF_UNIX, kind, 0, ends.as_mut_ptr()) } != 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: both were made just now, and nobody else knows them.
        let [ours, theirs] = ends.map(|end| unsafe { OwnedFd::from_raw_fd(end) });
        // SAFETY: the socket owns its descriptor, always gives the same, and is closed with the registration.
        let ours = unsafe { AsyncFd::register(ours) };
        Ok((Self(ours.map_err(io::Error::from)?), theirs))
    }

    /// Receives a message; None at the end, which also follows what is no message.
    pub(crate) async fn receive(&self) -> io::Result<Option<FromServer>> {
        let mut bytes = [0_u8; LONGEST];
        let receive = |socket: &OwnedFd| {
            // SAFETY: the pointer and the length are those of a live array.
            let length = unsafe {
                libc::recv(socket.as_raw_fd(), bytes.as_mut_ptr().cast(), bytes.len(), libc::MSG_DONTWAIT)
            };
            usize::try_from(length).map_err(|_| io::Error::last_os_error())
        };
        let length = self.0.async_io(Interest::READABLE, receive).await?;
        Ok(FromServer::from_bytes(&bytes[..length]))
    }

    /// Sends a message, with descriptors.
    pub(crate) async fn send(&self, message: &[u8], files: &[OwnedFd]) -> io::Result<()> {
        self.0.async_io(Interest::WRITABLE, |socket| send(socket.as_raw_fd(), message, files)).await
    }

    /// Ends the conversation, for both sides.
    pub(crate) fn shut(&self) {
        // SAFETY: no memory is involved.
        unsafe { libc::shutdown(self.0.get_ref().as_raw_fd(), libc::SHUT_RDWR) };
    }
}

fn send(socket: RawFd, message: &[u8], files: &[OwnedFd]) -> io::Result<()> {
    let descriptors: Vec<RawFd> = files.iter().map(AsRawFd::as_raw_fd).collect();
    let bytes = mem::size_of_val(descriptors.as_slice());
    // Words, so that the header in it is aligned; more than enough for one item and three descriptors.
    let mut control = [0_u64; 8];
    let mut part = libc::iovec { iov_base: message.as_ptr().cast_mut().cast(), iov_len: message.len() };
    // SAFETY: plain data, for which zeroes are a value.
    let mut header: libc::msghdr = unsafe { mem::zeroed() };
    header.msg_iov = &raw mut part;
    header.msg_iovlen = 1;
    if !descriptors.is_empty() {
        let size = u32::try_from(bytes).expect("three descriptors at most");
        header.msg_control = control.as_mut_ptr().cast();
        // SAFETY: the two compute sizes only; the item lies at the beginning of the control words, which have
        // room for it, and the descriptors behind it.
        unsafe {
            header.msg_controllen = libc::CMSG_SPACE(size) as usize;
            assert!(header.msg_controllen <= mem::size_of_val(&control), "three descriptors at most");
            let item = libc::CMSG_FIRSTHDR(&raw const header);
            (*item).cmsg_level = libc::SOL_SOCKET;
            (*item).cmsg_type = libc::SCM_RIGHTS;
            (*item).cmsg_len = libc::CMSG_LEN(size) as usize;
            ptr::copy_nonoverlapping(descriptors.as_ptr().cast::<u8>(), libc::CMSG_DATA(item), bytes);
        }
    }
    let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
    // SAFETY: the header names live places with their lengths.
    match unsafe { libc::sendmsg(socket, &raw const header, flags) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}
