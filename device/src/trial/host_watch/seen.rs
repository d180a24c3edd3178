//! What handlers have seen, until the driver takes it.
//!
//! Handlers ask for no memory: there is room for so much, and what does not fit is counted.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};

use super::sys;
use crate::trial::host_watch::sys::PAGE;

/// Accesses between two calls of the API.
const MOST: usize = 2048;
/// Accesses of one page between two calls.
const OF_PAGE: u16 = 64;
/// Pages that are counted.
const PAGES: usize = 1024;
/// Instructions whose callers are kept, between two calls.
const TRACES: usize = 128;
/// Return addresses of each.
const DEPTH: usize = 24;

/// One access.
#[derive(Clone, Copy, Debug)]
pub struct HostAccess {
    /// The first byte.
    pub address: usize,
    /// How many are known to be accessed.
    pub bytes: usize,
    /// Whether it writes.
    pub writes: bool,
    /// Which of the traces.
    pub trace: usize,
}

/// An instruction and who called it, innermost first, as return addresses are told: the first points behind the instruction's
/// first byte.
#[derive(Clone, Copy, Debug)]
pub struct Trace {
    /// The addresses.
    pub frames: [usize; DEPTH],
    /// How many there are.
    pub count: usize,
}

struct Seen {
    accesses: [HostAccess; MOST],
    count: usize,
    traces: [Trace; TRACES],
    traced: usize,
    pages: [(usize, u16); PAGES],
    left_out: u64,
}

struct Guarded(UnsafeCell<Seen>);

// SAFETY: whoever looks at it holds `BUSY`.
unsafe impl Sync for Guarded {}

static SEEN: Guarded = Guarded(UnsafeCell::new(Seen {
    accesses: [HostAccess { address: 0, bytes: 0, writes: false, trace: 0 }; MOST],
    count: 0,
    traces: [Trace { frames: [0; DEPTH], count: 0 }; TRACES],
    traced: 0,
    pages: [(0, 0); PAGES],
    left_out: 0,
}));
static BUSY: AtomicBool = AtomicBool::new(false);
/// There is something to take.
static ANY: AtomicBool = AtomicBool::new(false);

/// Runs a body under the lock. Signals are blocked, as their handlers may want it.
fn locked<T>(body: impl FnOnce(&mut Seen) -> T) -> T {
    while BUSY.swap(true, Ordering::Acquire) {
        std::hint::spin_loop();
    }
    // SAFETY: nobody else holds the lock.
    let done = body(unsafe { &mut *SEEN.0.get() });
    BUSY.store(false, Ordering::Release);
    done
}

/// What is to be done with the page of an access that was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextStep {
    /// Keep it again behind this instruction.
    Step,
    /// Enough of this page was seen.
    OpenPage,
    /// Enough was seen.
    OpenAll,
}

impl Seen {
    /// Whether one more access of a page is to be seen.
    fn counts(&mut self, page: usize) -> bool {
        let start = (page >> 12).wrapping_mul(0x9e37_79b9) % PAGES;
        for step in 0..16 {
            let (known, count) = &mut self.pages[(start + step) % PAGES];
            if *known == 0 {
                *known = page;
            }
            if *known == page {
                *count += 1;
                return *count <= OF_PAGE;
            }
        }
        false
    }

    fn trace(&mut self, pc: usize) -> Option<usize> {
        let known = self.traces[..self.traced].iter().position(|trace| trace.frames[0] == pc + 1);
        if known.is_some() {
            return known;
        }
        let at = self.traced;
        let trace = self.traces.get_mut(at)?;
        self.traced += 1;
        trace.frames[0] = pc + 1;
        trace.count = 1;
        let mut found = false;
        let take = |frame: &backtrace::Frame| {
            let ip = frame.ip() as usize;
            if found && trace.count < DEPTH {
                trace.frames[trace.count] = ip;
                trace.count += 1;
            }
            // What is further in is the handler's.
            found |= ip == pc;
            trace.count < DEPTH
        };
        // SAFETY: as in `origins`; walking the stack takes no memory.
        unsafe { backtrace::trace_unsynchronized(take) };
        Some(at)
    }
}

/// An access was seen, at this instruction.
pub fn note(address: usize, bytes: usize, writes: bool, pc: usize) -> NextStep {
    locked(|seen| {
        let page = address & !(PAGE - 1);
        if !seen.counts(page) {
            seen.left_out += 1;
            ANY.store(true, Ordering::Release);
            return NextStep::OpenPage;
        }
        let Some(trace) = seen.trace(pc).filter(|_| seen.count < MOST) else {
            seen.left_out += 1;
            ANY.store(true, Ordering::Release);
            return NextStep::OpenAll;
        };
        seen.accesses[seen.count] = HostAccess { address, bytes, writes, trace };
        seen.count += 1;
        ANY.store(true, Ordering::Release);
        NextStep::Step
    })
}

/// Takes what was seen: accesses, traces, and how often something was left out.
pub fn take() -> Option<(Vec<HostAccess>, Vec<Trace>, u64)> {
    if !ANY.load(Ordering::Acquire) {
        return None;
    }
    // Room is asked for before the lock is taken: a handler may want it in between.
    let (mut accesses, mut traces) = (Vec::with_capacity(MOST), Vec::with_capacity(TRACES));
    let before = sys::block(u64::MAX);
    let left_out = locked(|seen| {
        accesses.extend_from_slice(&seen.accesses[..seen.count]);
        traces.extend_from_slice(&seen.traces[..seen.traced]);
        (seen.count, seen.traced) = (0, 0);
        seen.pages = [(0, 0); PAGES];
        ANY.store(false, Ordering::Release);
        std::mem::take(&mut seen.left_out)
    });
    sys::unblock(before);
    Some((accesses, traces, left_out))
}
