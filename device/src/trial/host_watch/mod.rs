//! Plain loads and stores of the host program in managed and page-locked memory, for race detectors.
//!
//! While device work that reaches such memory has been asked for and the host has not waited for it, the pages are kept from the
//! program (`mprotect`). What touches them comes to a handler of signals ([`handlers`]), which notes the access and its
//! callers ([`seen`]), lets the one instruction through by the processor's trap flag, and keeps the page again. At the
//! next call of the API the accesses are told to detectors as the host's, behind all that the host has waited for by then
//! and before what it asks for next.
//!
//! **System calls** would fail on kept pages. So the program's calls are trapped meanwhile (Linux 5.11, "Syscall User Dispatch"), and
//! one that may touch such a page opens the window first ([`syscalls`]). Signals are the program's own again as soon as the window
//! is open; a fault that is none of ours opens it and happens once more.
//!
//! **What is taken for certain.** The first byte that the processor names, and as many as a plain move is known to touch
//! ([`decode`]). Functions of the C library that read more than they are asked for (`strlen` and its like) are not looked
//! at: only its copies and fills are. Whether the host's access is volatile or atomic cannot be seen: it is told as plain.
//! A kernel that speaks to the host by strong accesses of system scope is taken as ordered with it ([`crate::trial::race`]).
//!
//! **What it misses.** Accesses of a window that was opened: behind a system call that is not known to be harmless, and more than
//! some to one page or in all between two calls (a warning says so). All accesses of a program that had other threads when it
//! asked for the work, that blocks our signals or has handlers that do, and where the system does not trap calls (a
//! warning says so); threads that the program makes while pages are kept are looked at. What system calls read and write. Registered
//! memory on a stack, beside the thread's own data, or that the program itself protects. Instructions with masks. Accesses beside
//! work that is known to be done, as by the clock.
//!
//! **What could break a program.** Rings of input and output (`io_uring`) that were asked before the window for buffers in kept
//! pages; a signal's handler that has interrupted the driver and hands such a page to the system.

mod decode;
pub mod handlers;
pub mod keep;
pub mod seen;
pub mod slots;
pub mod sys;
mod syscalls;
pub mod window;
pub use keep::{Keeper, lift};
