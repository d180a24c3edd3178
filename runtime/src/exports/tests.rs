use std::collections::BTreeSet;
use std::ffi::{CStr, c_int, c_void};
use std::mem::transmute;
use std::ptr::null;

use super::{FUNCTIONS, bugaroo_cudart_bind, find};
use crate::{entry, registration};

#[test]
fn every_name_is_listed_once() {
    let names: BTreeSet<_> = FUNCTIONS.iter().map(|(name, _)| name).collect();
    assert_eq!(names.len(), FUNCTIONS.len());
}

#[test]
fn slots_get_the_functions_of_their_names() {
    let names = [c"cudaLaunchKernel".as_ptr(), c"__cudaRegisterVar".as_ptr()];
    let mut slots = [null::<c_void>(); 2];
    // SAFETY: two names, two slots.
    unsafe { bugaroo_cudart_bind(names.as_ptr(), slots.as_mut_ptr(), 2, 13) };
    assert_eq!(slots[0], find("cudaLaunchKernel", 13).unwrap().0);
    assert_eq!(slots[1], registration::__cudaRegisterVar as *const c_void);
}

#[test]
fn a_name_that_is_missing_gets_a_stub_that_knows_its_name_and_says_not_supported() {
    const NAME: &CStr = c"cudaDoWhatNobodyCan";
    let names = [NAME.as_ptr()];
    let mut slots = [null::<c_void>(); 1];
    // SAFETY: one name, one slot.
    unsafe { bugaroo_cudart_bind(names.as_ptr(), slots.as_mut_ptr(), 1, 13) };
    // SAFETY: the stub's address, called as it asks: the name's address in rax.
    let answer: c_int = unsafe {
        let stub: unsafe extern "C" fn() = transmute(slots[0]);
        let mut answer: u64;
        std::arch::asm!("call {stub}", stub = in(reg) stub, inout("rax") NAME.as_ptr() => answer, clobber_abi("C"));
        i32::try_from(answer & 0xffff_ffff).unwrap()
    };
    assert_eq!(answer, 801);
    assert_eq!(entry::last_error(true), 801);
}
