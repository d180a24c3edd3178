//! Finds the functions behind the jumps when one of them is first taken.
//!
//! Not before: while this library is initialised, the C library is not yet, and would be by the loading of
//! another one, without the program's environment and arguments.

use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};

use crate::behind::Behind;
use crate::redirect::Slots;

/// Slots that are to be filled, each with what stands behind them and the version of the API.
static SLOTS: Mutex<Vec<(Slots, Behind, c_int)>> = Mutex::new(Vec::new());

/// Has slots filled when a function is first called.
pub fn add(slots: Slots, behind: Behind, version: c_int) {
    SLOTS.lock().unwrap_or_else(PoisonError::into_inner).push((slots, behind, version));
}

/// What slots hold at first: fills them, and goes on to the function that was called, whose name's address is in
/// `rax`. Whatever may carry an argument is kept.
#[unsafe(naked)]
pub unsafe extern "C" fn first_call() {
    std::arch::naked_asm!(
        "push rdi", "push rsi", "push rdx", "push rcx", "push r8", "push r9", "push rax",
        "sub rsp, 128",
        "movups [rsp], xmm0", "movups [rsp + 16], xmm1", "movups [rsp + 32], xmm2", "movups [rsp + 48], xmm3",
        "movups [rsp + 64], xmm4", "movups [rsp + 80], xmm5", "movups [rsp + 96], xmm6", "movups [rsp + 112], xmm7",
        "mov rdi, rax",
        "call {fill}",
        "mov r11, rax",
        "movups xmm0, [rsp]", "movups xmm1, [rsp + 16]", "movups xmm2, [rsp + 32]", "movups xmm3, [rsp + 48]",
        "movups xmm4, [rsp + 64]", "movups xmm5, [rsp + 80]", "movups xmm6, [rsp + 96]", "movups xmm7, [rsp + 112]",
        "add rsp, 128",
        "pop rax", "pop r9", "pop r8", "pop rcx", "pop rdx", "pop rsi", "pop rdi",
        "jmp r11",
        fill = sym fill,
    )
}

/// Fills all slots that go to the same library of ours, and gives the function of a name.
extern "C" fn fill(name: *const c_char) -> *const c_void {
    let mut all = SLOTS.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let asked = all.iter().find(|(slots, ..)| slots.names.contains(&name)).map(|(_, behind, _)| *behind);
    all.retain(|(_, behind, _)| Some(*behind) == asked);
    let bind = asked.and_then(Behind::bind);
    let mut called = unavailable as *const c_void;
    for (Slots { names, slots }, _, version) in all {
        let mut functions = vec![unavailable as *const c_void; names.len()];
        if let Some(bind) = &bind {
            bind(names, &mut functions, version);
        }
        for ((slot, function), of) in slots.iter().zip(functions).zip(names) {
            slot.store(function.cast_mut(), Ordering::Relaxed);
            if *of == name {
                called = function;
            }
        }
    }
    called
}

/// Answers for all functions when what stands behind them is not there, which was said.
extern "C" fn unavailable() -> c_int {
    // cudaErrorInsufficientDriver; for the other libraries a failure, too.
    35
}
