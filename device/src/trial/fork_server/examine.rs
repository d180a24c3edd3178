//! Whether the program may be forked here: only where a trial that goes on from here does what a process
//! of its own would.
//!
//! A fork has one thread, none of its parent's children and timers, and shares open files, shared
//! memory and whatever else was changed outside of the process. So: one thread; no child; no timer; no signal handler
//! for children, whom the server waits for; no memory that is shared and written; no files but those that can
//! be opened again ([`Files`]); and nothing written to anywhere but the outputs, by the kernel's account of
//! bytes written, from which the harness subtracts what came out of the outputs. To that account Linux adds what a child has
//! written, once it is waited for; an interpreter asks programs like `ldconfig` all the time, so that what children wrote is told
//! apart ([`Account`]).
//!
//! What it misses: files that were made, emptied, renamed or removed without a byte written; what
//! went through a socket that is closed again; and what a child did that has ended.

use std::ffi::c_char;
use std::fs;
use std::os::fd::RawFd;

use rustix::process::getpid;

use bugaroo_protocol::ForkServer;

use super::files::Files;
use crate::own_writes;

/// A program that may be forked.
#[derive(Debug)]
pub struct Examined {
    /// Files that each trial needs for itself.
    pub files: Files,
    /// Bytes that were written to anywhere, but for the driver's own.
    pub wrote: u64,
    /// Bytes that those of its children have written that have ended.
    pub children_wrote: u64,
}

/// Looks at this process.
///
/// # Errors
/// Why it must not be forked, in one line.
pub fn examine(wanted: &ForkServer, report: Option<RawFd>) -> Result<Examined, String> {
    let threads = fs::read_dir("/proc/self/task").map_err(|error| format!("/proc/self/task: {error}"))?;
    match threads.count() {
        1 => {}
        count => return Err(format!("the program has {count} threads")),
    }
    if has_children() {
        return Err("the program has started other processes".to_owned());
    }
    if handles_children() {
        return Err("the program handles the end of child processes (SIGCHLD)".to_owned());
    }
    if has_timer() {
        return Err("the program has set a timer".to_owned());
    }
    if has_shared_memory() {
        return Err("the program shares memory with others, or with a file".to_owned());
    }
    let own: Vec<RawFd> = report.into_iter().chain(wanted.control_fd).collect();
    let files = Files::examine(wanted, &own)?;
    crate::trial::fork_server::files::pidfd(getpid())
        .ok_or("the system cannot watch processes by descriptors (pidfd_open, Linux 5.3)")?;
    let account =
        Account::read().ok_or("the system keeps no account of what a process writes (/proc/self/io)")?;
    let wrote = account.own.saturating_sub(own_writes::total());
    Ok(Examined { files, wrote, children_wrote: account.children })
}

fn has_children() -> bool {
    // SAFETY: plain data, for which zeroes are a value.
    let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
    let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT | libc::__WALL;
    // SAFETY: `info` is a valid place for the answer.
    let result = unsafe { libc::waitid(libc::P_ALL, 0, &raw mut info, flags) };
    // An error says that there is none.
    result == 0
}

fn handles_children() -> bool {
    // SAFETY: plain data, for which zeroes are a value; a null action only asks.
    let action = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(libc::SIGCHLD, std::ptr::null(), &raw mut action);
        action
    };
    action.sa_sigaction != libc::SIG_DFL || action.sa_flags & libc::SA_NOCLDWAIT != 0
}

fn has_timer() -> bool {
    let ticks = |which| {
        // SAFETY: plain data, for which zeroes are a value, and a valid place for the answer.
        unsafe {
            let mut timer: libc::itimerval = std::mem::zeroed();
            libc::getitimer(which, &raw mut timer);
            timer.it_value.tv_sec != 0 || timer.it_value.tv_usec != 0
        }
    };
    [libc::ITIMER_REAL, libc::ITIMER_VIRTUAL, libc::ITIMER_PROF].into_iter().any(ticks)
        // Not every kernel lists POSIX timers.
        || fs::read("/proc/self/timers").is_ok_and(|list| !list.is_empty())
}

/// Whether any memory is mapped that is both shared and writable.
fn has_shared_memory() -> bool {
    let Ok(maps) = fs::read_to_string("/proc/self/maps") else { return true };
    let permissions = maps.lines().filter_map(|line| line.split(' ').nth(1));
    permissions.map(str::as_bytes).any(|p| p.get(1) == Some(&b'w') && p.get(3) == Some(&b's'))
}

/// Bytes written to anywhere, by the kernel's account (`proc_pid_io(5)`).
#[derive(Debug, PartialEq, Eq)]
struct Account {
    /// By this process. By its children too, where they cannot be told apart.
    own: u64,
    /// By those of its children that it has waited for.
    children: u64,
}

impl Account {
    /// Reads it. The account of a process is that of its threads that live, of those that have ended, and of the children that were
    /// waited for. So the children's part is known where no thread has ever ended: the account of the only thread is the process's own.
    fn read() -> Option<Self> {
        let all = written("/proc/self/io")?;
        let own = if has_always_had_one_thread() { written("/proc/thread-self/io")? } else { all };
        Some(Self { own, children: all.saturating_sub(own) })
    }
}

/// Whether the C library has never started a thread: its own note, which single-threaded shortcuts rest on
/// (`<sys/single_threaded.h>`, glibc 2.32; false once a thread was started, also when that has ended). Without it we do not know.
fn has_always_had_one_thread() -> bool {
    // SAFETY: the name is a C string, and the variable by that name is a `char` that lives as long as the C library.
    unsafe {
        let place = libc::dlsym(libc::RTLD_DEFAULT, c"__libc_single_threaded".as_ptr()).cast::<c_char>();
        !place.is_null() && place.read_volatile() != 0
    }
}

/// The bytes written in an account.
fn written(account: &str) -> Option<u64> {
    let account = fs::read_to_string(account).ok()?;
    account.lines().find_map(|line| line.strip_prefix("wchar: "))?.trim().parse().ok()
}
