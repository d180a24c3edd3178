//! Threads whose system calls are trapped.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU8, AtomicUsize, Ordering};

use super::sys;

/// Most threads at a time.
const MOST: usize = 64;
/// Pages that one instruction touches at most (a gather of 16, each across two).
pub const STEPPED: usize = 32;

/// A thread. The first two fields are known to the instructions of [`sys`].
#[repr(C)]
#[derive(Debug)]
pub struct WatchSlot {
    /// 1: its system calls are trapped.
    pub selector: AtomicU8,
    /// Its number; 0: nobody's.
    tid: AtomicI32,
    /// It is in the driver.
    pub inside: AtomicBool,
    taken: AtomicBool,
    /// How many of its contexts stop behind one instruction: a signal's handler may have come in between, and stop, too.
    pub stops: AtomicUsize,
    /// Pages that were opened for that.
    pub opened: AtomicUsize,
    /// See above.
    pub pages: [AtomicUsize; STEPPED],
    /// Where it met a page that was open by then.
    pub met: AtomicUsize,
}

static SLOTS: [WatchSlot; MOST] = [const {
    WatchSlot {
        selector: AtomicU8::new(0),
        tid: AtomicI32::new(0),
        inside: AtomicBool::new(false),
        taken: AtomicBool::new(false),
        stops: AtomicUsize::new(0),
        opened: AtomicUsize::new(0),
        pages: [const { AtomicUsize::new(0) }; STEPPED],
        met: AtomicUsize::new(0),
    }
}; MOST];

impl WatchSlot {
    /// Has system calls of the thread trapped, or not.
    pub fn trap(&self, traps: bool) {
        self.selector.store(u8::from(traps), Ordering::SeqCst);
    }

    /// The thread is about to end. Until then the kernel looks at its selector, so that nobody else may have it.
    pub fn leave(&self) {
        self.trap(false);
        self.tid.store(0, Ordering::SeqCst);
    }

    /// Whether the thread is there.
    pub fn is_there(&self) -> bool {
        self.tid.load(Ordering::SeqCst) != 0
    }

    fn clear(&self) {
        self.trap(false);
        self.tid.store(0, Ordering::SeqCst);
        self.inside.store(false, Ordering::SeqCst);
        self.stops.store(0, Ordering::SeqCst);
        self.opened.store(0, Ordering::SeqCst);
        self.met.store(0, Ordering::SeqCst);
        self.taken.store(false, Ordering::SeqCst);
    }
}

/// The calling thread's.
pub fn mine() -> Option<&'static WatchSlot> {
    let tid = sys::thread();
    SLOTS.iter().find(|slot| slot.tid.load(Ordering::SeqCst) == tid)
}

/// One for a thread that is to be made; it says its number itself.
pub fn take() -> Option<&'static WatchSlot> {
    let free = |slot: &&WatchSlot| {
        slot.taken.compare_exchange(false, true, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    };
    SLOTS.iter().find(free)
}

/// The calling thread's, which is the only one that the program has.
pub fn mine_alone() -> &'static WatchSlot {
    SLOTS.iter().for_each(WatchSlot::clear);
    let slot = &SLOTS[0];
    slot.taken.store(true, Ordering::SeqCst);
    slot.tid.store(sys::thread(), Ordering::SeqCst);
    slot
}

/// Lets system calls of all threads go.
pub fn release_all() {
    SLOTS.iter().for_each(|slot| slot.trap(false));
}

/// Whether a thread will stop behind an instruction.
pub fn any_stops() -> bool {
    SLOTS.iter().any(|slot| slot.taken.load(Ordering::SeqCst) && slot.stops.load(Ordering::SeqCst) > 0)
}
