//! What is done with a system call of the program while pages are kept from it.
//!
//! The kernel refuses what touches such pages (`EFAULT`). So only calls go on by themselves whose arguments are numbers, or
//! point to what they mean directly, and not into such pages; before any other the window is opened.

use std::sync::atomic::Ordering;

use super::slots::{self, WatchSlot};
use super::sys::SignalAction;
use super::window::{self, OURS};

/// Bytes that a call may read or write behind a pointer for which nothing else says how many.
const STRUCTURE: usize = 4096;
/// `CLONE_VM | CLONE_SIGHAND | CLONE_THREAD | CLONE_SETTLS`
const THREAD: usize = 0x100 | 0x800 | 0x1_0000 | 0x8_0000;

/// See the head.
pub enum Verdict {
    /// It goes on, pages are kept.
    Pass,
    /// It goes on, and the thread that it makes goes on with the next instruction, on this stack, as this slot's.
    Thread(usize, &'static WatchSlot),
    /// It has been done: this is what it gives, and the thread blocks these signals from now on.
    Done(isize, u64),
    /// Everything has to be as the program expects it.
    Open,
    /// The thread ends.
    Exit,
}

/// What to do with a call, of a thread that blocks these signals.
pub fn verdict(number: i64, arguments: [usize; 6], mask: u64) -> Verdict {
    let [a, b, c, ..] = arguments;
    let structures = || arguments.iter().all(|argument| !window::overlaps(*argument, STRUCTURE));
    let pass = |passes: bool| if passes { Verdict::Pass } else { Verdict::Open };
    match number {
        // A buffer, and its length.
        libc::SYS_read | libc::SYS_write | libc::SYS_pread64 | libc::SYS_pwrite64 | libc::SYS_getdents64 => {
            pass(!window::overlaps(b, c))
        }
        libc::SYS_getrandom => pass(!window::overlaps(a, b)),
        // Pages.
        libc::SYS_mmap | libc::SYS_mprotect | libc::SYS_munmap | libc::SYS_madvise => {
            pass(!window::overlaps(a, b.max(1)))
        }
        libc::SYS_rt_sigaction => pass(structures() && spares(a, b)),
        libc::SYS_rt_sigprocmask => block(arguments, mask),
        libc::SYS_clone => thread(a, b),
        libc::SYS_clone3 => clone3(a, b),
        libc::SYS_exit => Verdict::Exit,
        libc::SYS_futex
        | libc::SYS_brk
        | libc::SYS_sched_yield
        | libc::SYS_getpid
        | libc::SYS_gettid
        | libc::SYS_getcpu
        | libc::SYS_clock_gettime
        | libc::SYS_clock_getres
        | libc::SYS_clock_nanosleep
        | libc::SYS_nanosleep
        | libc::SYS_gettimeofday
        | libc::SYS_time
        | libc::SYS_set_robust_list
        | libc::SYS_rseq
        | libc::SYS_membarrier
        | libc::SYS_sched_getaffinity
        | libc::SYS_sched_setaffinity
        | libc::SYS_prlimit64
        | libc::SYS_getrusage
        | libc::SYS_sysinfo
        | libc::SYS_uname
        | libc::SYS_tgkill
        | libc::SYS_close
        | libc::SYS_fstat
        | libc::SYS_newfstatat
        | libc::SYS_stat
        | libc::SYS_statx
        | libc::SYS_lseek
        | libc::SYS_openat
        | libc::SYS_open
        | libc::SYS_access
        | libc::SYS_readlink
        | libc::SYS_fcntl
        | libc::SYS_getuid
        | libc::SYS_geteuid => pass(structures()),
        _ => Verdict::Open,
    }
}

/// `rt_sigprocmask`: a thread that blocks our signals would end at its next system call, so these it never blocks.
fn block([how, new, old, size, ..]: [usize; 6], mask: u64) -> Verdict {
    let misses = |place: usize| place != 0 && window::overlaps(place, 8);
    if size != 8 || misses(new) || misses(old) || how > 2 {
        return Verdict::Open;
    }
    // SAFETY: the program's mask; where there is none, the call would have failed, and this is the end as for any wild pointer.
    let asked = (new != 0).then(|| unsafe { (new as *const u64).read_unaligned() });
    let next = match (how, asked) {
        (_, None) => mask,
        (0, Some(asked)) => mask | asked & !OURS,
        (1, Some(asked)) => mask & !asked,
        (_, Some(asked)) => asked & !OURS,
    };
    if old != 0 {
        // SAFETY: as above.
        unsafe { (old as *mut u64).write_unaligned(mask) };
    }
    // SIGKILL and SIGSTOP
    Verdict::Done(0, next & !(1 << 8 | 1 << 18))
}

/// Whether an action, if there is one, leaves our signals alone.
fn spares(signal: usize, action: usize) -> bool {
    let ours = (1..=64).contains(&signal) && OURS >> (signal - 1) & 1 != 0;
    // SAFETY: as above.
    let mask = || unsafe { (action as *const SignalAction).read_unaligned().mask };
    !ours && (action == 0 || mask() & OURS == 0)
}

fn thread(flags: usize, stack: usize) -> Verdict {
    if flags & THREAD != THREAD || stack == 0 || window::overlaps(stack - STRUCTURE, STRUCTURE) {
        return Verdict::Open;
    }
    slots::take().map_or(Verdict::Open, |slot| Verdict::Thread(stack, slot))
}

fn clone3(arguments: usize, size: usize) -> Verdict {
    // Flags first, the stack and its size in the sixth and seventh place.
    if size < 64 || window::overlaps(arguments, size) {
        return Verdict::Open;
    }
    // SAFETY: as in `block`.
    let [flags, stack, bytes] = [0, 5, 6].map(|at| unsafe { (arguments as *const usize).add(at).read() });
    if stack == 0 { Verdict::Open } else { thread(flags, stack.wrapping_add(bytes)) }
}

/// Puts what a new thread needs on its stack.
pub fn prepare(stack: usize, behind: usize, slot: &'static WatchSlot) {
    // SAFETY: the stack that the program has made for the thread, which nobody uses yet, grows down from there.
    unsafe {
        (stack as *mut usize).sub(1).write(behind);
        (stack as *mut usize).sub(2).write(std::ptr::from_ref(slot) as usize);
    }
}

/// The calling thread ends.
pub fn exit() {
    if let Some(slot) = slots::mine() {
        slot.inside.store(false, Ordering::SeqCst);
        slot.leave();
    }
}
