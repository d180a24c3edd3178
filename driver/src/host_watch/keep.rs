//! When pages are kept from the host, and what is told of what was seen.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::atomic::Ordering;

use super::seen::{self, Trace};
use super::slots;
use super::sys;
use super::syscalls;
use super::window::{self, MOST, OURS, PAGE, Pages, State};
use crate::host_pages;
use crate::origins;
use crate::polled;
use crate::race::order::Seen;
use crate::state::Driver;

/// Bytes before and behind where a thread's own data begins that the system may look at.
const OWN_DATA: (usize, usize) = (1 << 12, 1 << 13);

const THREADS: &str = "times the host's plain accesses are not looked at: the program has other threads";
const SIGNALS: &str = "times the host's plain accesses are not looked at: the program blocks SIGSEGV, SIGTRAP or SIGSYS, or has a \
                       signal's handler that does";
const SYSTEM: &str = "times the host's plain accesses are not looked at: the system does not trap system calls (Linux 5.11) or \
                      protect these pages";
const TOO_MANY: &str = "of the host's plain accesses are not looked at: too many between two calls";
const RANGES: &str =
    "times the host's plain accesses of some registered memory are not looked at: there are too many ranges";

/// What the driver has for it.
#[derive(Debug, Default)]
pub struct Keeper {
    ranges: Vec<Pages>,
    /// Which state of the memory these are of.
    version: u64,
    /// What was not looked at, by why.
    refused: BTreeMap<&'static str, u64>,
}

impl Keeper {
    fn refuse(&mut self, why: &'static str, count: u64) {
        *self.refused.entry(why).or_default() += count;
    }

    /// What was not looked at since this was asked last, and how often.
    pub fn take_refused(&mut self) -> BTreeMap<&'static str, u64> {
        std::mem::take(&mut self.refused)
    }
}

/// Runs a body without signals, as what handlers use demands.
fn quietly<T>(body: impl FnOnce() -> T) -> T {
    let before = sys::block(u64::MAX);
    let done = body();
    sys::unblock(before);
    done
}

/// Whether the program has but one thread.
pub fn alone() -> bool {
    sys::threads() == 1 + polled::threads()
}

/// A thread has come into the driver: pages are there for it, and its system calls are ours.
pub fn entered(driver: &mut Driver) {
    if driver.queue.order.is_none() {
        return;
    }
    if window::state() != State::Open
        && let Some(slot) = slots::mine()
    {
        slot.inside.store(true, Ordering::SeqCst);
        slot.trap(false);
    }
    driver.tell_seen();
}

/// It is about to leave it.
pub fn leaving(driver: &mut Driver) {
    // A thread of ours runs beside the program's: what was lifted for it stays so until the program calls.
    if driver.queue.order.is_none() || polled::is_ours() {
        return;
    }
    driver.keep();
    // A signal's handler of the program may open it at any moment; nobody would catch calls that are trapped then.
    quietly(|| {
        if window::state() != State::Open
            && let Some(slot) = slots::mine()
        {
            slot.inside.store(false, Ordering::SeqCst);
            slot.trap(true);
        }
    });
}

/// Lets the system see the pages as they are without us, until the driver is left.
pub fn lift() {
    quietly(window::lift);
}

/// The pages that a range touches.
fn pages(address: u64, bytes: u64) -> Pages {
    let (start, end) = (address as usize, (address + bytes) as usize);
    (start & !(PAGE - 1), end.next_multiple_of(PAGE))
}

/// The thread's own data begins here.
fn thread_pointer() -> usize {
    let pointer: usize;
    // SAFETY: the first word there is its own address (System V ABI, "Thread-Local Storage").
    unsafe { std::arch::asm!("mov {}, fs:0", out(reg) pointer, options(nostack, readonly)) };
    pointer
}

/// Whether the system itself may have to look at pages at any moment.
fn is_own_data(range: &Pages) -> bool {
    let local = 0_u8;
    let stack = (&raw const local) as usize;
    let thread = thread_pointer();
    let overlaps = |start: usize, end: usize| range.0 < end && start < range.1;
    // Where the C library has the record that the system writes when it moves the thread (rseq), if it says so.
    // SAFETY: a C string; what is found is a number that does not change.
    let record = unsafe {
        let place = libc::dlsym(libc::RTLD_DEFAULT, c"__rseq_offset".as_ptr()).cast::<isize>();
        if place.is_null() { thread } else { thread.wrapping_add_signed(*place) }
    };
    let mut signals = libc::stack_t { ss_sp: std::ptr::null_mut(), ss_flags: 0, ss_size: 0 };
    // SAFETY: a place for the answer.
    unsafe { libc::sigaltstack(std::ptr::null(), &raw mut signals) };
    let signals = (signals.ss_sp as usize, signals.ss_size);
    overlaps(thread.saturating_sub(OWN_DATA.0), thread + OWN_DATA.1)
        || overlaps(record, record + PAGE)
        || overlaps(signals.0, signals.0 + signals.1)
        || host_pages::holds(range.0, range.1, stack)
}

impl Driver {
    fn keep(&mut self) {
        let state = window::state();
        let hot = self.queue.order.as_mut().is_some_and(|order| order.is_hot()) || self.is_pending_for_host();
        if !hot {
            if state != State::Open {
                quietly(window::open);
            }
            return;
        }
        let changed = self.find_ranges();
        match (state, slots::mine()) {
            (State::Closed, Some(_)) if !changed => {}
            (State::Lifted, Some(_)) if !changed => quietly(window::lower),
            _ => self.close(),
        }
    }

    /// Whether there is work to do that may reach what the host reaches.
    fn is_pending_for_host(&self) -> bool {
        self.queue.len() > 0 && self.queue.order.as_ref().is_some_and(|order| order.shares())
    }

    /// Brings the ranges up to date; whether they have changed.
    fn find_ranges(&mut self) -> bool {
        let Some((race, order)) = self.race.as_mut().zip(self.queue.order.as_ref()) else { return false };
        let keeper = &mut race.keeper;
        if keeper.version == order.shared_version() {
            return false;
        }
        keeper.version = order.shared_version();
        keeper.ranges.clear();
        let mut window: Option<Pages> = None;
        for (address, bytes) in order.shared() {
            let found = pages(address, bytes);
            if self.memory.covers_host_visible(address) {
                // The range that they are cut from is the driver's, gaps and all.
                let (start, end) = window.unwrap_or(found);
                window = Some((start.min(found.0), end.max(found.1)));
            } else if self.host_blocks.contains_key(&(address as usize)) {
                keeper.ranges.push(found);
            }
        }
        keeper.ranges.extend(window);
        true
    }

    fn close(&mut self) {
        let Some(race) = &mut self.race else { return };
        let keeper = &mut race.keeper;
        let refused = if !alone() {
            Some(THREADS)
        } else if sys::block(0) & OURS != 0 || syscalls::handlers_block() {
            Some(SIGNALS)
        } else {
            // Only then nobody changes them.
            quietly(window::open);
            let plain = |range: &&Pages| host_pages::is_plain(range.0, range.1) && !is_own_data(range);
            let mut ranges: Vec<Pages> = keeper.ranges.iter().filter(plain).copied().collect();
            if ranges.len() > MOST {
                ranges.drain(..ranges.len() - MOST);
                keeper.refuse(RANGES, 1);
            }
            (!ranges.is_empty() && !quietly(|| window::close(&ranges))).then_some(SYSTEM)
        };
        if let Some(why) = refused {
            keeper.refuse(why, 1);
            quietly(window::open);
        }
    }

    /// Tells what handlers have seen.
    fn tell_seen(&mut self) {
        let Some((accesses, traces, left_out)) = seen::take() else { return };
        let Some(race) = &mut self.race else { return };
        if left_out > 0 {
            race.keeper.refuse(TOO_MANY, left_out);
        }
        let counts: Vec<bool> = traces.iter().map(is_the_programs).collect();
        let mut found: Vec<Seen<'_>> = Vec::new();
        for access in accesses.iter().filter(|access| counts[access.trace]) {
            let address = access.address as u64;
            let Some((base, size)) =
                self.memory.allocation(address).filter(|_| self.is_host_visible(address))
            else {
                continue;
            };
            let bytes = (access.bytes as u64).min(base + size - address);
            let trace = &traces[access.trace];
            found.push(Seen { address, bytes, writes: access.writes, frames: &trace.frames[..trace.count] });
        }
        if !found.is_empty() {
            self.queue.tell(|order| order.host_accessed(found));
        }
    }
}

/// Whether an access is one that the program means: not one by our own libraries for it, nor by a function of the C library that
/// reads more than it is asked for.
fn is_the_programs(trace: &Trace) -> bool {
    let frames = &trace.frames[..trace.count];
    let is_system = |frame: &&usize| origins::is_system(**frame);
    let first = frames.iter().find(|frame| !is_system(frame));
    if first.is_some_and(|frame| origins::is_ours_at(*frame)) {
        return false;
    }
    !origins::is_system(frames[0]) || is_exact(frames[0])
}

/// Whether an instruction belongs to a function that accesses what it is asked for and no more.
fn is_exact(behind: usize) -> bool {
    unsafe extern "C" {
        fn _Unwind_FindEnclosingFunction(pc: *mut c_void) -> *mut c_void;
    }
    // SAFETY: any address may be asked about.
    let function = unsafe { _Unwind_FindEnclosingFunction((behind - 1) as *mut c_void) } as usize;
    let exact = [
        libc::memcpy as *const () as usize,
        libc::memmove as *const () as usize,
        libc::memset as *const () as usize,
    ];
    exact.contains(&function)
}
