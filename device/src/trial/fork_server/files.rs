//! The program's open files, as a fork shares them: which of them trials may share, which each needs for
//! itself, and which forbid to fork.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::{fs, io};

use bugaroo_protocol::{FileId, ForkServer};

/// Major number of `/dev/null`, `/dev/urandom` and their like, which keep nothing for those who use them.
const MEMORY_DEVICES: u32 = 1;

/// Open files that each trial needs for itself.
#[derive(Debug, Default)]
pub struct Files {
    /// Descriptors of pipes that are exchanged, each with what it is of.
    outputs: Vec<(RawFd, FileId)>,
    /// Files that are read, and the places where they are read on.
    read: Vec<(RawFd, libc::off_t)>,
}

impl Files {
    /// Looks at all open files; `own` are descriptors of the driver's.
    ///
    /// # Errors
    /// Why trials cannot share one of them, in one line.
    pub fn examine(wanted: &ForkServer, own: &[RawFd]) -> Result<Self, String> {
        let mut files = Files::default();
        let listed = fs::read_dir("/proc/self/fd").map_err(|error| format!("/proc/self/fd: {error}"))?;
        let numbers = listed.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<RawFd>().ok());
        // Before the listing itself is closed, whose descriptor is then gone.
        let numbers: Vec<RawFd> = numbers.collect();
        for descriptor in numbers.into_iter().filter(|descriptor| !own.contains(descriptor)) {
            let Some(status) = status(descriptor) else { continue };
            files.examine_one(descriptor, &status, wanted)?;
        }
        Ok(files)
    }

    fn examine_one(
        &mut self,
        descriptor: RawFd,
        status: &libc::stat,
        wanted: &ForkServer,
    ) -> Result<(), String> {
        let id = FileId { device: status.st_dev, inode: status.st_ino };
        if id == wanted.stdout || id == wanted.stderr {
            self.outputs.push((descriptor, id));
            return Ok(());
        }
        if wanted.inherited.contains(&id) {
            return Ok(());
        }
        let refuse = |what: &str| {
            let name = fs::read_link(format!("/proc/self/fd/{descriptor}"));
            let name = name.map_or_else(|_| String::new(), |name| format!(" ({})", name.display()));
            Err(format!("before its first launch the program has opened {what}{name}"))
        };
        // SAFETY: the call touches no memory.
        let flags = unsafe { libc::fcntl(descriptor, libc::F_GETFL) };
        if flags & libc::O_PATH != 0 {
            return Ok(());
        }
        match status.st_mode & libc::S_IFMT {
            libc::S_IFREG | libc::S_IFDIR if flags & libc::O_ACCMODE == libc::O_RDONLY => {
                // SAFETY: the call touches no memory.
                let at = unsafe { libc::lseek(descriptor, 0, libc::SEEK_CUR) };
                self.read.push((descriptor, at));
                Ok(())
            }
            libc::S_IFREG => refuse("a file to write"),
            libc::S_IFCHR if libc::major(status.st_rdev) == MEMORY_DEVICES => Ok(()),
            libc::S_IFCHR | libc::S_IFBLK => refuse("a device"),
            libc::S_IFIFO => refuse("a pipe"),
            libc::S_IFSOCK => refuse("a socket"),
            _ => refuse("something that its forks would share"),
        }
    }

    /// In a trial: outputs become these, and files that are read are opened again.
    ///
    /// # Errors
    /// When the system has no descriptors left, or a file is gone.
    pub fn make_own(&self, outputs: &[(FileId, OwnedFd)]) -> io::Result<()> {
        for (place, id) in &self.outputs {
            if let Some((_, output)) = outputs.iter().find(|(of, _)| of == id) {
                // SAFETY: neither call touches memory.
                unsafe {
                    let flags = libc::fcntl(*place, libc::F_GETFL);
                    libc::fcntl(output.as_raw_fd(), libc::F_SETFL, flags);
                }
                replace(output, *place)?;
            }
        }
        for (place, at) in &self.read {
            // SAFETY: the call touches no memory.
            let flags = unsafe { libc::fcntl(*place, libc::F_GETFL) };
            let path = std::ffi::CString::new(format!("/proc/self/fd/{place}"))?;
            // Flags that do something at the opening are not among those that `F_GETFL` gives.
            // SAFETY: the path is a C string.
            let opened = owned(unsafe { libc::open(path.as_ptr(), flags | libc::O_CLOEXEC) });
            let opened = opened.ok_or_else(io::Error::last_os_error)?;
            // SAFETY: the call touches no memory.
            unsafe { libc::lseek(opened.as_raw_fd(), *at, libc::SEEK_SET) };
            replace(&opened, *place)?;
        }
        Ok(())
    }
}

/// Puts a file in the place of another, which is inherited by what the program executes, or not, as before.
fn replace(file: &OwnedFd, place: RawFd) -> io::Result<()> {
    // SAFETY: none of the calls touches memory; the place is open, and stays so.
    let put = unsafe {
        let kept = libc::fcntl(place, libc::F_GETFD);
        let flags = if kept & libc::FD_CLOEXEC != 0 { libc::O_CLOEXEC } else { 0 };
        libc::dup3(file.as_raw_fd(), place, flags)
    };
    if put < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Puts a file in the place of another for good.
pub fn put(file: OwnedFd, place: RawFd) -> io::Result<()> {
    replace(&file, place)
}

/// The descriptor, if it is one.
pub fn owned(descriptor: RawFd) -> Option<OwnedFd> {
    // SAFETY: whoever asks got it from the kernel just now, or from the harness for this process to keep.
    (descriptor >= 0).then(|| unsafe { OwnedFd::from_raw_fd(descriptor) })
}

/// Keeps a descriptor from programs that this one executes.
pub fn close_on_exec(descriptor: RawFd) {
    // SAFETY: neither call touches memory; a descriptor that is not open is an error without effect.
    unsafe {
        let flags = libc::fcntl(descriptor, libc::F_GETFD);
        if flags >= 0 {
            libc::fcntl(descriptor, libc::F_SETFD, flags | libc::FD_CLOEXEC);
        }
    }
}

/// What kind of file a descriptor stands for: an `S_IF…`.
pub fn kind(descriptor: RawFd) -> Option<libc::mode_t> {
    status(descriptor).map(|status| status.st_mode & libc::S_IFMT)
}

fn status(descriptor: RawFd) -> Option<libc::stat> {
    // SAFETY: plain data, which `fstat` fills in when it answers 0.
    unsafe {
        let mut status: libc::stat = std::mem::zeroed();
        (libc::fstat(descriptor, &raw mut status) == 0).then_some(status)
    }
}

/// A descriptor for a child that is not waited for yet.
pub(crate) fn pidfd(pid: libc::pid_t) -> Option<OwnedFd> {
    // SAFETY: the call takes numbers and gives a descriptor or -1.
    let descriptor = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    owned(RawFd::try_from(descriptor).ok()?)
}
