//! What the shell that started us limits (`ulimit`), and what its limits look like when they are met.

use std::fs;
use std::io;

use libc::c_int;

/// Files that a trial has open at most, in us: the ends of its three pipes, and what its start takes for a moment.
const FILES_OF_A_TRIAL: u64 = 8;
/// Files that we open besides.
const OWN_FILES: u64 = 24;

/// How many trials can run at the same time by the limit of open files, and that limit; None where there is none.
pub(crate) fn trials_at_a_time() -> Option<(usize, u64)> {
    let limit = soft(libc::RLIMIT_NOFILE)?;
    let open = fs::read_dir("/proc/self/fd").map_or(0, |entries| entries.count() as u64);
    let trials = limit.saturating_sub(open + OWN_FILES) / FILES_OF_A_TRIAL;
    Some((usize::try_from(trials).unwrap_or(usize::MAX).max(1), limit))
}

fn soft(what: libc::__rlimit_resource_t) -> Option<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is a valid place for the answer.
    let asked = unsafe { libc::getrlimit(what, &raw mut limit) };
    (asked == 0 && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
}

/// Has a write past the limit of file sizes fail instead of ending us. Programs that we start find the signal as it was.
pub fn survive_file_size_limit() {
    extern "C" fn nothing(_: c_int) {}
    let handler: extern "C" fn(c_int) = nothing;
    // A handler, unlike being ignored, is not inherited.
    // SAFETY: the action is plain data, for which zeroes are a value, and the handler does nothing.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as usize;
        action.sa_flags = libc::SA_RESTART;
        libc::sigaction(libc::SIGXFSZ, &raw const action, std::ptr::null_mut());
    }
}

/// What an error of the system means where a limit of the shell is behind it, to be put behind the error; else nothing.
pub fn explanation(error: &io::Error) -> &'static str {
    match error.raw_os_error() {
        Some(libc::EFBIG) => ": more than a file may hold by this shell's limit (ulimit -f)",
        Some(libc::EMFILE) => {
            ": more than this shell's limit of open files (ulimit -n); fewer --jobs need fewer"
        }
        Some(libc::EAGAIN) => ": perhaps this shell's limit of processes (ulimit -u) is reached",
        _ => "",
    }
}
