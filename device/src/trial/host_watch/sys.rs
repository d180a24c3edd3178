//! System calls that are always let through, and the few instructions that stand between a trapped system call and the program.
//!
//! Everything here lies in one stretch of code, the one that [`dispatch`] exempts.

use std::arch::global_asm;
use std::sync::atomic::AtomicU8;

use super::sys;
use crate::trial::own_thread;

global_asm!(
    ".pushsection .text.bugaroo_watch,\"ax\",@progbits",
    ".balign 16",
    ".hidden bugaroo_watch_begin",
    ".globl bugaroo_watch_begin",
    "bugaroo_watch_begin:",
    // System call `rdi` with the six arguments behind it.
    ".hidden bugaroo_watch_call",
    ".globl bugaroo_watch_call",
    "bugaroo_watch_call:",
    ".cfi_startproc",
    "mov rax, rdi",
    "mov rdi, rsi",
    "mov rsi, rdx",
    "mov rdx, rcx",
    "mov r10, r8",
    "mov r8, r9",
    "mov r9, [rsp + 8]",
    "syscall",
    "ret",
    ".cfi_endproc",
    // What returns from a handler: these very bytes are what unwinders know a signal's frame by.
    "nop",
    ".hidden bugaroo_watch_restore",
    ".globl bugaroo_watch_restore",
    "bugaroo_watch_restore:",
    ".byte 0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00",
    "syscall",
    "ud2",
    // A trapped call, in its thread's own context: the place behind it was put below the red zone.
    ".hidden bugaroo_watch_pass",
    ".globl bugaroo_watch_pass",
    "bugaroo_watch_pass:",
    ".cfi_startproc",
    ".cfi_def_cfa rsp, 136",
    ".cfi_offset rip, -136",
    "syscall",
    "ret 128",
    ".cfi_endproc",
    // The same for one that makes a thread. The child finds on its new stack the place to go on at, and below that its slot.
    ".hidden bugaroo_watch_thread",
    ".globl bugaroo_watch_thread",
    "bugaroo_watch_thread:",
    "syscall",
    "mov rcx, rax",
    "jrcxz 2f",
    "ret 128",
    "2:",
    "lea rsp, [rsp - 16]",
    "push rdi",
    "push rsi",
    "push rdx",
    "push r10",
    "push r8",
    // prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, begin, bytes, selector)
    "mov edi, 59",
    "mov esi, 1",
    "lea rdx, [rip + bugaroo_watch_begin]",
    // mov r10d, bytes: assemblers of this syntax take the difference for a place in memory.
    ".byte 0x41, 0xba",
    ".long bugaroo_watch_end - bugaroo_watch_begin",
    "mov r8, [rsp + 40]",
    "mov eax, 157",
    "syscall",
    // gettid()
    "mov eax, 186",
    "syscall",
    "mov r8, [rsp + 40]",
    "mov [r8 + 4], eax",
    "mov byte ptr [r8], 1",
    "pop r8",
    "pop r10",
    "pop rdx",
    "pop rsi",
    "pop rdi",
    "mov eax, 0",
    "lea rsp, [rsp + 8]",
    "ret",
    ".hidden bugaroo_watch_end",
    ".globl bugaroo_watch_end",
    "bugaroo_watch_end:",
    ".popsection",
);

unsafe extern "C" {
    fn bugaroo_watch_begin();
    fn bugaroo_watch_end();
    fn bugaroo_watch_call(number: i64, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> isize;
    fn bugaroo_watch_restore();
    fn bugaroo_watch_pass();
    fn bugaroo_watch_thread();
}

/// A signal's action as the kernel has it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct SignalAction {
    /// The handler, or 0 for the default, or 1 for none.
    pub handler: usize,
    /// `SA_…`
    pub flags: u64,
    restorer: usize,
    /// Signals that are blocked meanwhile.
    pub mask: u64,
}

impl SignalAction {
    /// The default, for a place that is filled in later.
    pub const NONE: SignalAction = SignalAction { handler: 0, flags: 0, restorer: 0, mask: 0 };
}

/// Where a trapped call goes on.
pub fn pass() -> usize {
    bugaroo_watch_pass as *const () as usize
}

/// Where one goes on that makes a thread.
pub fn make_thread() -> usize {
    bugaroo_watch_thread as *const () as usize
}

/// A system call; what it gives is a negative error number where it fails.
///
/// # Safety
/// As the call's.
pub unsafe fn call(number: i64, arguments: [usize; 5]) -> isize {
    let [a, b, c, d, e] = arguments;
    // SAFETY: the caller's promise.
    unsafe { bugaroo_watch_call(number, a, b, c, d, e, 0) }
}

/// The calling thread's number.
pub fn thread() -> i32 {
    // SAFETY: it always may be asked for.
    unsafe { call(libc::SYS_gettid, [0; 5]) as i32 }
}

/// Sets what may be done with pages; whether it went well.
pub fn protect(start: usize, end: usize, accessible: bool) -> bool {
    let protection = if accessible { libc::PROT_READ | libc::PROT_WRITE } else { libc::PROT_NONE };
    // SAFETY: only pages of the program's data that this module watches; what accesses them meanwhile is brought here.
    unsafe { call(libc::SYS_mprotect, [start, end - start, protection as usize, 0, 0]) == 0 }
}

/// A signal's action.
pub fn action(signal: i32) -> Option<SignalAction> {
    let mut old = SignalAction::default();
    let place = (&raw mut old) as usize;
    // SAFETY: a place of the kernel's form.
    let done = unsafe { call(libc::SYS_rt_sigaction, [signal as usize, 0, place, 8, 0]) };
    (done == 0).then_some(old)
}

/// Sets a signal's action.
pub fn set_action(signal: i32, new: &SignalAction) -> bool {
    let place = std::ptr::from_ref(new) as usize;
    // SAFETY: the kernel's form, with a handler of ours or what the kernel had given.
    unsafe { call(libc::SYS_rt_sigaction, [signal as usize, place, 0, 8, 0]) == 0 }
}

/// An action of ours: nothing interrupts it, and it uses the thread's own stack for signals if it has one.
pub fn our_action(handler: usize) -> SignalAction {
    const RESTORER: u64 = 0x0400_0000;
    let flags = libc::SA_SIGINFO as u64 | libc::SA_ONSTACK as u64 | RESTORER;
    SignalAction { handler, flags, restorer: bugaroo_watch_restore as *const () as usize, mask: u64::MAX }
}

/// Blocks signals in the calling thread besides those that are blocked, and gives these.
pub fn block(mask: u64) -> u64 {
    let mut old = 0_u64;
    let (new, old_place) = ((&raw const mask) as usize, (&raw mut old) as usize);
    // SIG_BLOCK
    // SAFETY: places for masks.
    unsafe { call(libc::SYS_rt_sigprocmask, [0, new, old_place, 8, 0]) };
    old
}

/// Has the calling thread block these signals and no others.
pub fn unblock(mask: u64) {
    // SIG_SETMASK
    // SAFETY: a place for a mask.
    unsafe { call(libc::SYS_rt_sigprocmask, [2, (&raw const mask) as usize, 0, 8, 0]) };
}

/// Has the calling thread's system calls trapped while this byte says so; false where the system cannot do that.
pub fn dispatch(selector: &'static AtomicU8) -> bool {
    let begin = bugaroo_watch_begin as *const () as usize;
    let bytes = bugaroo_watch_end as *const () as usize - begin;
    // PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON
    // SAFETY: the byte lives as long as the process.
    unsafe { call(libc::SYS_prctl, [59, 1, begin, bytes, selector.as_ptr() as usize]) == 0 }
}

/// Threads of the process; 0 where the system does not say.
pub fn threads() -> usize {
    // SAFETY: plain data, for which zeroes are a value.
    let mut found: libc::stat = unsafe { std::mem::zeroed() };
    let path = c"/proc/self/task".as_ptr() as usize;
    // SAFETY: a C string, and a place of the kernel's form, which is the C library's.
    let done = unsafe { call(libc::SYS_stat, [path, (&raw mut found) as usize, 0, 0, 0]) };
    // A link for each, and two for the folder itself.
    if done == 0 { (found.st_nlink as usize).saturating_sub(2) } else { 0 }
}

/// Sends the calling thread a signal with all that was told of it.
pub fn send_again(signal: i32, info: *const libc::siginfo_t) {
    let (pid, thread) = (std::process::id() as usize, thread() as usize);
    // SAFETY: what the kernel has told itself.
    unsafe { call(libc::SYS_rt_tgsigqueueinfo, [pid, thread, signal as usize, info as usize, 0]) };
}

/// Whether the program has but one thread.
pub fn alone() -> bool {
    sys::threads() == 1 + own_thread::threads()
}

/// Bytes of a page.
pub const PAGE: usize = 4096;

/// Pages from the first address to the one behind.
pub type Pages = (usize, usize);
