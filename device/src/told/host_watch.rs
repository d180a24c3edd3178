//! When pages are kept from the host, and what is told of its accesses ([`crate::trial::host_watch`]).

use std::ffi::c_void;
use std::sync::atomic::Ordering;

use crate::state::Gpu;
use crate::trial::host_watch::keep::{is_own_data, pages, quietly};
use crate::trial::host_watch::seen::{self, Trace};
use crate::trial::host_watch::sys::{self, Pages, alone};
use crate::trial::host_watch::window::{self, MOST, OURS, WindowState};
use crate::trial::host_watch::{handlers, slots};
use crate::trial::race::order::SeenAccess;
use crate::trial::{host_pages, origins, own_thread};

const THREADS: &str = "times the host's plain accesses are not looked at: the program has other threads";
const SIGNALS: &str = "times the host's plain accesses are not looked at: the program blocks SIGSEGV, SIGTRAP or SIGSYS, or has a \
                       signal's handler that does";
const SYSTEM: &str = "times the host's plain accesses are not looked at: the system does not trap system calls (Linux 5.11) or \
                      protect these pages";
const TOO_MANY: &str = "of the host's plain accesses are not looked at: too many between two calls";
const RANGES: &str =
    "times the host's plain accesses of some registered memory are not looked at: there are too many ranges";

/// A thread has come into the driver: pages are there for it, and its system calls are ours.
pub fn entered(gpu: &mut Gpu) {
    if gpu.running.queue.order.is_none() {
        return;
    }
    if window::state() != WindowState::Open
        && let Some(slot) = slots::mine()
    {
        slot.inside.store(true, Ordering::SeqCst);
        slot.trap(false);
    }
    gpu.tell_seen();
}

/// It is about to leave it.
pub fn leaving(gpu: &mut Gpu) {
    // A thread of ours runs beside the program's: what was lifted for it stays so until the program calls.
    if gpu.running.queue.order.is_none() || own_thread::is_ours() {
        return;
    }
    gpu.keep();
    // A signal's handler of the program may open it at any moment; nobody would catch calls that are trapped then.
    quietly(|| {
        if window::state() != WindowState::Open
            && let Some(slot) = slots::mine()
        {
            slot.inside.store(false, Ordering::SeqCst);
            slot.trap(true);
        }
    });
}

impl Gpu {
    fn keep(&mut self) {
        let state = window::state();
        let hot = self.running.queue.order.as_mut().is_some_and(|order| order.is_hot())
            || self.is_pending_for_host();
        if !hot {
            if state != WindowState::Open {
                quietly(window::open);
            }
            return;
        }
        let changed = self.find_ranges();
        match (state, slots::mine()) {
            (WindowState::Closed, Some(_)) if !changed => {}
            (WindowState::Lifted, Some(_)) if !changed => quietly(window::lower),
            _ => self.close(),
        }
    }

    /// Whether there is work to do that may reach what the host reaches.
    fn is_pending_for_host(&self) -> bool {
        !self.running.queue.is_empty()
            && self.running.queue.order.as_ref().is_some_and(|order| order.shares())
    }

    /// Brings the ranges up to date; whether they have changed.
    fn find_ranges(&mut self) -> bool {
        let Some((race, order)) = self.trial.race.as_mut().zip(self.running.queue.order.as_ref()) else {
            return false;
        };
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
            } else if self.held.host_blocks.contains_key(&(address as usize)) {
                keeper.ranges.push(found);
            }
        }
        keeper.ranges.extend(window);
        true
    }

    fn close(&mut self) {
        let Some(race) = &mut self.trial.race else { return };
        let keeper = &mut race.keeper;
        let refused = if !alone() {
            Some(THREADS)
        } else if sys::block(0) & OURS != 0 || handlers::handlers_block() {
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
            (!ranges.is_empty() && !quietly(|| window::close(&ranges, handlers::actions()))).then_some(SYSTEM)
        };
        if let Some(why) = refused {
            keeper.refuse(why, 1);
            quietly(window::open);
        }
    }

    /// Tells what handlers have seen.
    fn tell_seen(&mut self) {
        let Some((accesses, traces, left_out)) = seen::take() else { return };
        let Some(race) = &mut self.trial.race else { return };
        if left_out > 0 {
            race.keeper.refuse(TOO_MANY, left_out);
        }
        let counts: Vec<bool> = traces.iter().map(is_the_programs).collect();
        let mut found: Vec<SeenAccess<'_>> = Vec::new();
        for access in accesses.iter().filter(|access| counts[access.trace]) {
            let address = access.address as u64;
            let Some((base, size)) =
                self.memory.allocation(address).filter(|_| self.is_host_visible(address))
            else {
                continue;
            };
            let bytes = (access.bytes as u64).min(base + size - address);
            let trace = &traces[access.trace];
            found.push(SeenAccess {
                address,
                bytes,
                writes: access.writes,
                frames: &trace.frames[..trace.count],
            });
        }
        if !found.is_empty() {
            self.running.queue.tell(|order| order.host_accessed(found));
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
