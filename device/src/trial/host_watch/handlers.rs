//! The handlers: a kept page was touched, one instruction is done, a system call was made.

use std::ffi::c_void;
use std::sync::atomic::Ordering;

use super::decode::{self, Registers};
use super::seen::{self, NextStep};
use super::slots::{self, STEPPED, WatchSlot};
use super::sys::{self, SignalAction};
use super::syscalls::{self, Verdict};
use super::window::{self, OURS, WindowState};
use crate::trial::host_watch::sys::PAGE;

/// The trap flag: the processor stops behind the next instruction.
const TRAP: i64 = 0x100;
/// Of the page fault's error: it was a write.
const WRITE: i64 = 2;
/// `SEGV_ACCERR`: there is a page, and the access is not allowed.
const NOT_ALLOWED: i32 = 2;
/// `TRAP_TRACE`
const ONE_INSTRUCTION: i32 = 2;
/// `SYS_USER_DISPATCH`
const DISPATCHED: i32 = 2;
/// `AUDIT_ARCH_X86_64`
const THIS_MACHINE: u32 = 0xc000_003e;
/// Bytes below the stack pointer that are in use.
const RED_ZONE: usize = 128;

type Context = libc::ucontext_t;

/// Ours, in the order of the window's signals.
pub fn actions() -> [SignalAction; 3] {
    [fault as *const () as usize, trap as *const () as usize, system_call as *const () as usize]
        .map(sys::our_action)
}

/// Whether an action is one of ours.
fn is_ours(action: &SignalAction) -> bool {
    actions().iter().any(|ours| ours.handler == action.handler)
}

/// Whether a handler of the program could run while our signals are blocked: then a fault or a trapped call in there would be
/// the end.
pub fn handlers_block() -> bool {
    let blocks = |action: SignalAction| action.handler > 1 && action.mask & OURS != 0 && !is_ours(&action);
    (1..=64).any(|signal| sys::action(signal).is_some_and(blocks))
}

fn register(context: &Context, which: i32) -> i64 {
    context.uc_mcontext.gregs[which as usize]
}

fn set(context: &mut Context, which: i32, value: i64) {
    context.uc_mcontext.gregs[which as usize] = value;
}

/// A signal that is none of this module's doing: the program gets it as it would have without us.
fn theirs(signal: i32, info: *const libc::siginfo_t, comes_again: bool) {
    window::open_for_theirs();
    if !comes_again {
        sys::send_again(signal, info);
    }
}

/// Runs a handler's body while the thread's system calls are let go.
fn with_calls(slot: Option<&'static WatchSlot>, body: impl FnOnce()) {
    if let Some(slot) = slot {
        slot.trap(false);
    }
    body();
    if let Some(slot) = slot {
        let outside = slot.is_there() && !slot.inside.load(Ordering::SeqCst);
        let traps = window::state() != WindowState::Open && outside;
        slot.trap(traps);
        // It may have been opened in between.
        if traps && window::state() == WindowState::Open {
            slot.trap(false);
        }
    }
}

extern "C" fn fault(signal: i32, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: what the kernel passes to a handler.
    let (told, context) = unsafe { (&*info, &mut *context.cast::<Context>()) };
    let slot = slots::mine();
    with_calls(slot, || {
        let by_access = told.si_code > 0;
        // SAFETY: a fault's signal tells its address.
        let address = if by_access { unsafe { told.si_addr() as usize } } else { 0 };
        if told.si_code != NOT_ALLOWED || !window::overlaps(address, 1) {
            end_step(slot, context);
            return theirs(signal, info, by_access);
        }
        match (window::state(), slot) {
            (WindowState::Closed, _) => touched(slot, context, address),
            // Somebody has opened it in between.
            (WindowState::Lifted, _) => {}
            (WindowState::Open, Some(slot)) if slot.met.swap(address, Ordering::SeqCst) != address => {}
            // The program keeps the page itself.
            (WindowState::Open, _) => theirs(signal, info, true),
        }
    });
}

fn touched(slot: Option<&'static WatchSlot>, context: &mut Context, address: usize) {
    let pc = register(context, libc::REG_RIP) as usize;
    let slot = match slot {
        Some(slot) if !slot.inside.load(Ordering::SeqCst) => slot,
        // The driver itself: the program's thread, or one of ours.
        _ => return window::lift(),
    };
    let writes = register(context, libc::REG_ERR) & WRITE != 0;
    let next = match decode::bytes(code(pc), &registers(context), address as u64) {
        Some(bytes) => {
            let bytes = bytes.min(PAGE - address % PAGE);
            seen::note(address, bytes, writes, pc)
        }
        None => NextStep::Step,
    };
    let at = slot.opened.load(Ordering::SeqCst);
    match next {
        NextStep::OpenAll => window::lift(),
        NextStep::OpenPage => window::page(address, true),
        NextStep::Step if at == STEPPED => window::lift(),
        NextStep::Step => {
            slot.pages[at].store(address, Ordering::SeqCst);
            slot.opened.store(at + 1, Ordering::SeqCst);
            window::page(address, true);
            let flags = register(context, libc::REG_EFL);
            if flags & TRAP == 0 {
                slot.stops.fetch_add(1, Ordering::SeqCst);
                set(context, libc::REG_EFL, flags | TRAP);
            }
        }
    }
}

/// The instruction's bytes, as far as they lie in its page.
fn code(pc: usize) -> &'static [u8] {
    let length = decode::LONGEST.min(PAGE - pc % PAGE);
    // SAFETY: an instruction was executed there, and pages are whole.
    unsafe { std::slice::from_raw_parts(pc as *const u8, length) }
}

fn registers(context: &Context) -> Registers {
    let by_number = [
        libc::REG_RAX,
        libc::REG_RCX,
        libc::REG_RDX,
        libc::REG_RBX,
        libc::REG_RSP,
        libc::REG_RBP,
        libc::REG_RSI,
        libc::REG_RDI,
        libc::REG_R8,
        libc::REG_R9,
        libc::REG_R10,
        libc::REG_R11,
        libc::REG_R12,
        libc::REG_R13,
        libc::REG_R14,
        libc::REG_R15,
    ];
    Registers {
        general: by_number.map(|which| register(context, which) as u64),
        pc: register(context, libc::REG_RIP) as u64,
    }
}

/// The instruction is done, or will not be: the pages are kept again. Whether the context was one that stops.
fn end_step(slot: Option<&'static WatchSlot>, context: &mut Context) -> bool {
    let flags = register(context, libc::REG_EFL);
    let stops = |slot: &&WatchSlot| flags & TRAP != 0 && slot.stops.load(Ordering::SeqCst) > 0;
    let Some(slot) = slot.filter(stops) else { return false };
    for page in &slot.pages[..slot.opened.swap(0, Ordering::SeqCst)] {
        window::page(page.load(Ordering::SeqCst), false);
    }
    slot.stops.fetch_sub(1, Ordering::SeqCst);
    set(context, libc::REG_EFL, flags & !TRAP);
    true
}

extern "C" fn trap(signal: i32, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: what the kernel passes to a handler.
    let (told, context) = unsafe { (&*info, &mut *context.cast::<Context>()) };
    let slot = slots::mine();
    with_calls(slot, || {
        if told.si_code != ONE_INSTRUCTION || !end_step(slot, context) {
            theirs(signal, info, false);
        }
    });
}

extern "C" fn system_call(signal: i32, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: what the kernel passes to a handler.
    let (told, context) = unsafe { (&*info, &mut *context.cast::<Context>()) };
    let slot = slots::mine();
    with_calls(slot, || {
        if told.si_code != DISPATCHED {
            return theirs(signal, info, false);
        }
        // Behind the signal's address stand the call's number and the machine (`siginfo_t`, `_sigsys`).
        // SAFETY: a signal of this code has them.
        let machine = unsafe { info.cast::<u32>().add(7).read() };
        let argument = |which| register(context, which) as usize;
        let arguments = [
            argument(libc::REG_RDI),
            argument(libc::REG_RSI),
            argument(libc::REG_RDX),
            argument(libc::REG_R10),
            argument(libc::REG_R8),
            argument(libc::REG_R9),
        ];
        let mask = context_mask(context);
        let verdict = match machine {
            THIS_MACHINE if window::state() != WindowState::Open => {
                syscalls::verdict(register(context, libc::REG_RAX), arguments, mask)
            }
            _ => Verdict::Open,
        };
        match verdict {
            Verdict::Pass => go_through(context, sys::pass()),
            Verdict::Thread(stack, slot) => {
                syscalls::prepare(stack, register(context, libc::REG_RIP) as usize, slot);
                go_through(context, sys::make_thread());
            }
            Verdict::Done(result, mask) => {
                set(context, libc::REG_RAX, result as i64);
                set_context_mask(context, mask);
            }
            Verdict::Open => {
                window::open();
                again(context);
            }
            Verdict::Exit => {
                syscalls::exit();
                again(context);
            }
        }
    });
}

/// The thread goes on at these instructions, which make the call and come back to where it was made.
fn go_through(context: &mut Context, at: usize) {
    let behind = register(context, libc::REG_RIP);
    let stack = register(context, libc::REG_RSP) as usize - RED_ZONE - 8;
    // SAFETY: below what the thread uses of its stack there is room, as a signal was delivered there or could have been.
    unsafe { (stack as *mut i64).write_unaligned(behind) };
    set(context, libc::REG_RSP, stack as i64);
    set(context, libc::REG_RIP, at as i64);
}

/// The thread makes the call once more, and nobody traps it.
fn again(context: &mut Context) {
    // The instruction has two bytes.
    let at = register(context, libc::REG_RIP) - 2;
    set(context, libc::REG_RIP, at);
}

fn context_mask(context: &Context) -> u64 {
    // SAFETY: the kernel's mask is the first word of the C library's.
    unsafe { (&raw const context.uc_sigmask).cast::<u64>().read() }
}

fn set_context_mask(context: &mut Context, mask: u64) {
    // SAFETY: as above.
    unsafe { (&raw mut context.uc_sigmask).cast::<u64>().write(mask) };
}
