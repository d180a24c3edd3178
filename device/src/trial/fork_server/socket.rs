//! The driver's end of the sockets to the harness.

use std::os::fd::{OwnedFd, RawFd};
use std::{mem, ptr};

use bugaroo_protocol::FromServer;

use super::files;

/// Descriptors that come with a message at most.
const DESCRIPTORS: usize = 3;

/// A connected socket.
#[derive(Debug)]
pub struct Socket(OwnedFd);

impl Socket {
    /// The socket of this descriptor, unless it is none: the orders of a program that started this one name
    /// a descriptor that is not ours.
    pub fn of(descriptor: RawFd) -> Option<Self> {
        files::kind(descriptor)
            .is_some_and(|kind| kind == libc::S_IFSOCK)
            .then(|| files::owned(descriptor).map(Socket))?
    }

    /// Its number.
    pub fn descriptor(&self) -> RawFd {
        std::os::fd::AsRawFd::as_raw_fd(&self.0)
    }

    /// Sends a message. A harness that is gone shows at the next receiving.
    pub fn send(&self, message: &FromServer) {
        let bytes = message.to_bytes();
        loop {
            // SAFETY: the pointer and the length are those of a live vector.
            let sent = unsafe {
                libc::send(self.descriptor(), bytes.as_ptr().cast(), bytes.len(), libc::MSG_NOSIGNAL)
            };
            if sent >= 0 || std::io::Error::last_os_error().kind() != std::io::ErrorKind::Interrupted {
                return;
            }
        }
    }

    /// Receives a message, with the descriptors that came with it; None at the end.
    pub fn receive(&self, message: &mut [u8]) -> Option<(usize, Vec<OwnedFd>)> {
        // Big enough for the header and the descriptors, and aligned for the header.
        let mut control = [0_u64; 8];
        let mut part = libc::iovec { iov_base: message.as_mut_ptr().cast(), iov_len: message.len() };
        // SAFETY: plain data, for which zeroes are a value.
        let mut header: libc::msghdr = unsafe { mem::zeroed() };
        header.msg_iov = &raw mut part;
        header.msg_iovlen = 1;
        header.msg_control = control.as_mut_ptr().cast();
        header.msg_controllen = mem::size_of_val(&control);
        let length = loop {
            // SAFETY: the header names live places with their lengths.
            let length = unsafe { libc::recvmsg(self.descriptor(), &raw mut header, libc::MSG_CMSG_CLOEXEC) };
            match usize::try_from(length) {
                Ok(0) => return None,
                Ok(length) => break length,
                Err(_) if std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => return None,
            }
        };
        let mut given = Vec::with_capacity(DESCRIPTORS);
        // SAFETY: the kernel has filled in the header and what it names; the walk stays inside.
        unsafe {
            let mut item = libc::CMSG_FIRSTHDR(&raw const header);
            while !item.is_null() {
                if ((*item).cmsg_level, (*item).cmsg_type) == (libc::SOL_SOCKET, libc::SCM_RIGHTS) {
                    let bytes = (*item).cmsg_len - libc::CMSG_LEN(0) as usize;
                    let first: *const RawFd = libc::CMSG_DATA(item).cast();
                    for at in 0..bytes / mem::size_of::<RawFd>() {
                        given.extend(files::owned(ptr::read_unaligned(first.add(at))));
                    }
                }
                item = libc::CMSG_NXTHDR(&raw const header, item);
            }
        }
        Some((length, given))
    }
}
