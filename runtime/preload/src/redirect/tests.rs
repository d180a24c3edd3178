use std::ffi::{CString, c_char, c_int, c_void};
use std::mem::transmute;
use std::ptr::null_mut;

use super::{jump, redirect};
use crate::mapped::Object;
use crate::scan::Redirection;

/// Two pages of functions that return 1, each of 16 bytes.
fn functions() -> (usize, Object) {
    let (read, write, execute) = (libc::PROT_READ, libc::PROT_WRITE, libc::PROT_EXEC);
    // SAFETY: new memory.
    let code =
        unsafe { libc::mmap(null_mut(), 8192, read | write, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0) };
    assert_ne!(code, libc::MAP_FAILED);
    for index in 0..512 {
        // mov eax, 1; ret
        let text = [0xb8_u8, 1, 0, 0, 0, 0xc3];
        // SAFETY: in the new memory.
        unsafe {
            std::ptr::copy_nonoverlapping(text.as_ptr(), code.cast::<u8>().add(16 * index), text.len())
        };
    }
    // SAFETY: the new memory.
    assert_eq!(unsafe { libc::mprotect(code, 8192, read | execute) }, 0);
    (code as usize, Object::made(code as usize..code as usize + 8192))
}

fn at(address: u64, name: &str) -> Redirection {
    Redirection { address, name: CString::new(name).unwrap() }
}

/// Calls the function at an address; it takes a number and gives one.
fn call(address: usize, number: c_int) -> c_int {
    // SAFETY: such a function is there.
    unsafe { transmute::<usize, extern "C" fn(c_int) -> c_int>(address)(number) }
}

extern "C" fn double(number: c_int) -> c_int {
    2 * number
}

extern "C" fn negate(number: c_int) -> c_int {
    -number
}

#[test]
fn entries_jump_to_what_was_bound_and_others_stay() {
    let (code, object) = functions();
    let wanted = [at(16, "double"), at(32, "negate"), at(4096, "double")];
    redirect(&object, &wanted, |names, slots| {
        for (name, slot) in names.iter().zip(slots) {
            // SAFETY: the names above.
            let name = unsafe { std::ffi::CStr::from_ptr(*name) };
            *slot = if name == c"double" { double as *const c_void } else { negate as *const c_void };
        }
    })
    .unwrap();
    let answers = [0, 16, 32, 48, 4096, 4112].map(|offset| call(code + offset, 21));
    assert_eq!(answers, [1, 42, -21, 1, 42, 1]);
}

#[test]
fn the_name_comes_along() {
    #[unsafe(naked)]
    extern "C" fn name() {
        std::arch::naked_asm!("ret");
    }
    let (code, object) = functions();
    redirect(&object, &[at(64, "cudaMalloc")], |_, slots| slots[0] = name as *const c_void).unwrap();
    // SAFETY: the function leaves rax as it gets it: the address of a name that is never freed.
    let name = unsafe {
        std::ffi::CStr::from_ptr(transmute::<usize, extern "C" fn() -> *const c_char>(code + 64)())
    };
    assert_eq!(name, c"cudaMalloc");
}

#[test]
fn functions_that_are_too_short_or_elsewhere_are_refused_and_nothing_is_written() {
    let (code, object) = functions();
    let error = redirect(&object, &[at(0, "cudaA"), at(4, "cudaB")], |_, _| {}).unwrap_err();
    assert_eq!(error, "cudaA is shorter than a jump");
    let error = redirect(&object, &[at(16, "cudaA"), at(1 << 20, "cudaB")], |_, _| {}).unwrap_err();
    assert!(error.contains("outside of its code"), "{error}");
    assert_eq!(call(code, 21), 1);
    assert_eq!(call(code + 16, 21), 1);
}

#[test]
fn two_names_of_one_function_are_redirected_once() {
    let (code, object) = functions();
    redirect(&object, &[at(16, "cudaA"), at(16, "cudaB")], |names, slots| {
        assert_eq!(names.len(), 1);
        slots[0] = double as *const c_void;
    })
    .unwrap();
    assert_eq!(call(code + 16, 4), 8);
}

#[test]
fn a_jump_reaches_two_gigabytes() {
    assert_eq!(jump(0x1000, 0x1005), Some([0xe9, 0, 0, 0, 0]));
    assert_eq!(jump(0x1005, 0x1000), Some([0xe9, 0xf6, 0xff, 0xff, 0xff]));
    assert_eq!(jump(0, 0x8000_0004), Some([0xe9, 0xff, 0xff, 0xff, 0x7f]));
    assert_eq!(jump(0, 0x8000_0005), None);
}
