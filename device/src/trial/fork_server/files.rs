//! The program's open files, as a fork shares them: which of them trials may share, which each needs for
//! itself, and which forbid to fork.

use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::{fs, io};

use bugaroo_protocol::{FileId, ForkServer};
use rustix::fs::{Mode, OFlags, SeekFrom, fcntl_getfl, fcntl_setfl, seek, tell};
use rustix::io::{FdFlags, fcntl_getfd};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// Major number of `/dev/null`, `/dev/urandom` and their like, which keep nothing for those who use them.
const MEMORY_DEVICES: u32 = 1;

/// Open files that each trial needs for itself.
#[derive(Debug, Default)]
pub struct Files {
    /// Descriptors of pipes that are exchanged, each with what it is of.
    outputs: Vec<(RawFd, FileId)>,
    /// Files that are read, and the places where they are read on.
    read: Vec<(RawFd, u64)>,
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
        let flags =
            fcntl_getfl(open(descriptor)).map_err(|error| format!("descriptor {descriptor}: {error}"))?;
        if flags.contains(OFlags::PATH) {
            return Ok(());
        }
        match status.st_mode & libc::S_IFMT {
            libc::S_IFREG | libc::S_IFDIR if flags.intersection(OFlags::RWMODE) == OFlags::RDONLY => {
                // What cannot be asked begins at its beginning.
                self.read.push((descriptor, tell(open(descriptor)).unwrap_or(0)));
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
                // One that cannot be asked or told stays as it is.
                let _ = fcntl_getfl(open(*place)).and_then(|flags| fcntl_setfl(output, flags));
                replace(output, *place)?;
            }
        }
        for (place, at) in &self.read {
            let flags = fcntl_getfl(open(*place))?;
            let path = format!("/proc/self/fd/{place}");
            // Flags that do something at the opening are not among those that `F_GETFL` gives.
            let opened = rustix::fs::open(path, flags | OFlags::CLOEXEC, Mode::empty())?;
            // What has no place to read on has none.
            let _ = seek(&opened, SeekFrom::Start(*at));
            replace(&opened, *place)?;
        }
        Ok(())
    }
}

/// Puts a file in the place of another, which is inherited by what the program executes, or not, as before.
fn replace(file: &OwnedFd, place: RawFd) -> io::Result<()> {
    let kept = fcntl_getfd(open(place)).unwrap_or(FdFlags::CLOEXEC);
    let flags = if kept.contains(FdFlags::CLOEXEC) { libc::O_CLOEXEC } else { 0 };
    // SAFETY: the call touches no memory; the place is open, and stays so.
    let put = unsafe { libc::dup3(file.as_raw_fd(), place, flags) };
    if put < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// A descriptor of the program's that is open while this process looks at it: nobody else runs in it.
fn open(descriptor: RawFd) -> BorrowedFd<'static> {
    // SAFETY: it was listed as open, and this process has but one thread.
    unsafe { BorrowedFd::borrow_raw(descriptor) }
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
pub(crate) fn pidfd(pid: Pid) -> Option<OwnedFd> {
    pidfd_open(pid, PidfdFlags::empty()).ok()
}
