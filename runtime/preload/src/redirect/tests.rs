use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::mem::transmute;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

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
fn entries_jump_to_what_is_in_the_slots_and_others_stay() {
    let (code, object) = functions();
    let wanted = [at(16, "double"), at(32, "negate"), at(4096, "double")];
    let slots = redirect(&object, &wanted, double as *const c_void).unwrap().unwrap();
    let answers = |offsets: [usize; 6]| offsets.map(|offset| call(code + offset, 21));
    assert_eq!(answers([0, 16, 32, 48, 4096, 4112]), [1, 42, 42, 1, 42, 1]);
    // SAFETY: the names above.
    let names = slots.names.iter().map(|name| unsafe { CStr::from_ptr(*name) }).collect::<Vec<_>>();
    assert_eq!(names, [c"double", c"negate", c"double"]);
    slots.slots[1].store(negate as *mut c_void, Ordering::Relaxed);
    assert_eq!(answers([0, 16, 32, 48, 4096, 4112]), [1, 42, -21, 1, 42, 1]);
}

#[test]
fn the_name_comes_along() {
    #[unsafe(naked)]
    extern "C" fn name() {
        std::arch::naked_asm!("ret");
    }
    let (code, object) = functions();
    redirect(&object, &[at(64, "cudaMalloc")], name as *const c_void).unwrap();
    // SAFETY: the function leaves rax as it gets it: the address of a name that is never freed.
    let name = unsafe { CStr::from_ptr(transmute::<usize, extern "C" fn() -> *const c_char>(code + 64)()) };
    assert_eq!(name, c"cudaMalloc");
}

#[test]
fn functions_that_are_too_short_or_elsewhere_are_refused_and_nothing_is_written() {
    let (code, object) = functions();
    let double = double as *const c_void;
    let error = redirect(&object, &[at(0, "cudaA"), at(4, "cudaB")], double).unwrap_err();
    assert_eq!(error, "cudaA is shorter than a jump");
    let error = redirect(&object, &[at(16, "cudaA"), at(1 << 20, "cudaB")], double).unwrap_err();
    assert!(error.contains("outside of its code"), "{error}");
    assert_eq!(call(code, 21), 1);
    assert_eq!(call(code + 16, 21), 1);
    assert!(redirect(&object, &[], double).unwrap().is_none());
}

#[test]
fn two_names_of_one_function_are_redirected_once() {
    let (code, object) = functions();
    let names = [at(16, "cudaA"), at(16, "cudaB")];
    let slots = redirect(&object, &names, double as *const c_void).unwrap().unwrap();
    assert_eq!(slots.names.len(), 1);
    assert_eq!(call(code + 16, 4), 8);
}

#[test]
fn the_first_call_fills_all_slots() {
    let (code, object) = functions();
    let first = crate::lazy::first_call as *const c_void;
    let names = [at(16, "cudaDoWhatNobodyCan"), at(32, "cudaDoNothing")];
    let slots = redirect(&object, &names, first).unwrap().unwrap();
    crate::lazy::add(slots, crate::behind::Behind::Runtime, 13);
    // cudaErrorNotSupported, or, where cargo built no runtime beside this test, cudaErrorInsufficientDriver.
    assert!([801, 35].contains(&call(code + 16, 21)));
    let filled = |slot: &AtomicPtr<c_void>| slot.load(Ordering::Relaxed).cast_const() != first;
    assert!(slots.slots.iter().all(filled));
    assert_eq!(call(code + 16, 21), call(code + 32, 21));
    assert_eq!(call(code + 48, 21), 1);
}

#[test]
fn a_jump_reaches_two_gigabytes() {
    assert_eq!(jump(0x1000, 0x1005), Some([0xe9, 0, 0, 0, 0]));
    assert_eq!(jump(0x1005, 0x1000), Some([0xe9, 0xf6, 0xff, 0xff, 0xff]));
    assert_eq!(jump(0, 0x8000_0004), Some([0xe9, 0xff, 0xff, 0xff, 0x7f]));
    assert_eq!(jump(0, 0x8000_0005), None);
}
