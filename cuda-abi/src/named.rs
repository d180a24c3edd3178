//! Functions that a library hands out by name and does not export, as programs may want those of one version and others those of the
//! next: small libraries with NVIDIA's names have slots, which are filled when they are loaded.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

/// A function's address.
#[derive(Clone, Copy, Debug)]
pub struct FunctionAddress(pub *const c_void);

// SAFETY: an address of code, which never changes.
unsafe impl Sync for FunctionAddress {}
// SAFETY: as above.
unsafe impl Send for FunctionAddress {}

/// Functions by name.
pub type Functions = &'static [(&'static str, FunctionAddress)];

/// Answers for a function that is missing, given its name.
pub type MissingAnswer = unsafe extern "C" fn(name: *const c_char) -> c_int;

/// Fills `slots` with the functions that `names` stand for; what is missing is refused by name. See [`refusal!`](crate::refusal).
///
/// # Safety
/// `names` are `count` C strings that are never freed, `slots` as many places.
pub unsafe fn fill_slots(
    (names, slots, count): (*const *const c_char, *mut *const c_void, c_uint),
    find: impl Fn(&str) -> Option<FunctionAddress>,
    missing: unsafe extern "C" fn(),
) {
    for index in 0..count as usize {
        // SAFETY: the caller's promise.
        let name = unsafe { CStr::from_ptr(*names.add(index)) };
        let found = name.to_str().ok().and_then(&find);
        let found = found.unwrap_or(FunctionAddress(missing as *const c_void));
        // SAFETY: the caller's promise.
        unsafe { slots.add(index).write(found.0) };
    }
}

/// Defines the function that stands for all names that are missing. It tells a [`MissingAnswer`] the name, which whoever jumps to it leaves in `rax`: that
/// carries nothing else in a call by the C calling convention of 64-bit Linux without variable arguments.
#[macro_export]
macro_rules! refusal {
    ($refusal:ident, $missing:ident) => {
        #[doc = concat!("Tells [`", stringify!($missing), "`] the name that its caller left in `rax`.")]
        #[unsafe(naked)]
        unsafe extern "C" fn $refusal() {
            std::arch::naked_asm!("mov rdi, rax", "jmp {missing}", missing = sym $missing)
        }
    };
}
