//! A signal blocked for the calling thread while the driver writes: what it raises is the program's only where the program
//! did it.

/// The signal is blocked while this lives; one raised meanwhile is taken away at the end.
pub struct Blocked {
    before: libc::sigset_t,
    signals: libc::sigset_t,
    was_pending: bool,
}

impl Blocked {
    /// Blocks a signal that writing raises in the thread that writes: `SIGPIPE`, `SIGXFSZ`.
    pub fn new(signal: libc::c_int) -> Self {
        // SAFETY: signal sets are plain data, initialised by `sigemptyset` and friends before use;
        // the calls only read and write the sets that they are given.
        unsafe {
            let mut signals: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&mut signals);
            libc::sigaddset(&mut signals, signal);
            let mut pending: libc::sigset_t = std::mem::zeroed();
            libc::sigpending(&mut pending);
            let was_pending = libc::sigismember(&pending, signal) == 1;
            let mut before: libc::sigset_t = std::mem::zeroed();
            libc::pthread_sigmask(libc::SIG_BLOCK, &signals, &mut before);
            Blocked { before, signals, was_pending }
        }
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        // SAFETY: as in `new`; the null and zero arguments ask for no information and no waiting.
        unsafe {
            if !self.was_pending {
                let at_once = libc::timespec { tv_sec: 0, tv_nsec: 0 };
                libc::sigtimedwait(&self.signals, std::ptr::null_mut(), &at_once);
            }
            libc::pthread_sigmask(libc::SIG_SETMASK, &self.before, std::ptr::null_mut());
        }
    }
}
