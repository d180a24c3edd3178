//! The pages that are kept from the host, and when.
//!
//! - *Open*: nothing is kept, and all signals are the program's.
//! - *Closed*: the pages are kept; what touches them, and the system calls of the program's threads, come to [`super::handlers`].
//! - *Lifted*: the same, but the pages may be touched: the driver itself has to, or enough was seen.
//!
//! Everything here may be done by a handler of signals: no lock of others', no memory asked for, no call of the C library. Who
//! calls blocks all signals: a handler that waited for the thread that it interrupts would wait for ever.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use super::slots;
use super::sys::{self, SignalAction};
use crate::trial::host_watch::sys::{PAGE, Pages};

/// Ranges of pages at most; what the program registered beyond is not watched.
pub const MOST: usize = 64;

/// The signals that are ours while it is not open.
const SIGNALS: [i32; 3] = [libc::SIGSEGV, libc::SIGTRAP, libc::SIGSYS];

/// The same as a mask.
pub const OURS: u64 = 1 << (libc::SIGSEGV - 1) | 1 << (libc::SIGTRAP - 1) | 1 << (libc::SIGSYS - 1);

/// See the head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowState {
    /// Nothing is kept.
    Open,
    /// The pages are kept.
    Closed,
    /// The pages are kept, but they may be touched.
    Lifted,
}

/// What the lock guards.
struct Window {
    ranges: [Pages; MOST],
    count: usize,
    /// Our actions are set, and [`Self::theirs`] were the program's.
    installed: bool,
    theirs: [SignalAction; 3],
    ours: [SignalAction; 3],
}

struct Guarded(UnsafeCell<Window>);

// SAFETY: whoever looks at it holds `BUSY`.
unsafe impl Sync for Guarded {}

static WINDOW: Guarded = Guarded(UnsafeCell::new(Window {
    ranges: [(0, 0); MOST],
    count: 0,
    installed: false,
    theirs: [SignalAction::NONE; 3],
    ours: [SignalAction::NONE; 3],
}));
static STATE: AtomicU8 = AtomicU8::new(WindowState::Open as u8);
static BUSY: AtomicBool = AtomicBool::new(false);

/// Runs a body under the lock.
fn locked<T>(body: impl FnOnce(&mut Window) -> T) -> T {
    while BUSY.swap(true, Ordering::Acquire) {
        std::hint::spin_loop();
    }
    // SAFETY: nobody else holds the lock.
    let done = body(unsafe { &mut *WINDOW.0.get() });
    BUSY.store(false, Ordering::Release);
    done
}

/// How it is.
pub fn state() -> WindowState {
    match STATE.load(Ordering::SeqCst) {
        0 => WindowState::Open,
        1 => WindowState::Closed,
        _ => WindowState::Lifted,
    }
}

fn set(state: WindowState) {
    STATE.store(state as u8, Ordering::SeqCst);
}

impl Window {
    fn ranges(&self) -> &[Pages] {
        &self.ranges[..self.count]
    }

    fn protect(&self, accessible: bool) -> bool {
        self.ranges().iter().all(|(start, end)| sys::protect(*start, *end, accessible))
    }

    fn open(&mut self) {
        if state() == WindowState::Open {
            return;
        }
        self.protect(true);
        slots::release_all();
        set(WindowState::Open);
        self.give_back();
    }

    /// Gives the program its signals back, where nobody can be on the way to ours.
    fn give_back(&mut self) {
        if !self.installed || slots::any_stops() || !sys::alone() {
            return;
        }
        for (signal, (theirs, ours)) in SIGNALS.into_iter().zip(self.theirs.iter().zip(&self.ours)) {
            let mine = sys::action(signal).is_some_and(|now| now.handler == ours.handler);
            if mine {
                sys::set_action(signal, theirs);
            }
        }
        self.installed = false;
    }
}

/// Gives the program everything: pages, system calls, and signals.
pub fn open() {
    locked(Window::open);
}

/// The same, whoever is on the way: what comes next is the program's own.
pub fn open_for_theirs() {
    locked(|window| {
        window.open();
        if window.installed {
            for (signal, theirs) in SIGNALS.into_iter().zip(&window.theirs) {
                sys::set_action(signal, theirs);
            }
            window.installed = false;
        }
    });
}

/// Lets pages be touched until it is closed again.
pub fn lift() {
    locked(|window| {
        if state() == WindowState::Closed {
            window.protect(true);
            set(WindowState::Lifted);
        }
    });
}

/// Keeps the pages again that were kept before.
pub fn lower() {
    locked(|window| {
        if state() == WindowState::Lifted {
            let kept = window.protect(false);
            set(WindowState::Closed);
            if !kept {
                window.open();
            }
        }
    });
}

/// Closes, with these ranges, and with these actions for the three signals; false where the system does not let us. The calling
/// thread is the program's only one.
pub fn close(ranges: &[Pages], actions: [SignalAction; 3]) -> bool {
    locked(|window| {
        window.open();
        window.give_back();
        let slot = slots::mine_alone();
        slot.inside.store(true, Ordering::SeqCst);
        if !sys::dispatch(&slot.selector) {
            return false;
        }
        window.count = ranges.len().min(MOST);
        window.ranges[..window.count].copy_from_slice(&ranges[..window.count]);
        if !window.installed {
            for (at, signal) in SIGNALS.into_iter().enumerate() {
                let Some(theirs) = sys::action(signal) else { return false };
                window.theirs[at] = theirs;
            }
            window.installed = true;
            window.ours = actions;
            let set =
                SIGNALS.into_iter().zip(&actions).all(|(signal, action)| sys::set_action(signal, action));
            if !set {
                window.give_back();
                return false;
            }
        }
        let kept = window.protect(false);
        set(WindowState::Closed);
        if !kept {
            window.open();
        }
        kept
    })
}

/// Whether any of so many bytes from an address lie in what is kept.
pub fn overlaps(address: usize, bytes: usize) -> bool {
    locked(|window| {
        let end = address.saturating_add(bytes);
        window.ranges().iter().any(|(start, stop)| address < *stop && *start < end)
    })
}

/// Opens the page of an address, or keeps it again, as long as it is closed.
pub fn page(address: usize, accessible: bool) {
    locked(|_| {
        if state() == WindowState::Closed {
            let start = address & !(PAGE - 1);
            sys::protect(start, start + PAGE, accessible);
        }
    });
}
