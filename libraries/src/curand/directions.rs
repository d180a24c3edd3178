//! The direction vectors of Sobol's sequences, which programs hand to the states of their own kernels.

use std::ffi::{c_int, c_void};

use bugaroo_cuda_abi::{FunctionAddress, Functions};

use super::status::{Outcome, Status, anytime, unsupported};
use crate::random::sobol::{self, Word};

/// Puts the table's address where the program wants it. `set`: which it asks for, `known`: the one that there is, `scrambled`: the other one.
///
/// # Safety
/// `place` is null or points to a place for an address.
unsafe fn give<W: Word>(
    place: *mut *const W::Vectors,
    set: c_int,
    (known, scrambled): (c_int, c_int),
) -> Outcome {
    if set == scrambled {
        return Err(unsupported("cuRAND's table of scrambled direction vectors"));
    }
    if set != known || place.is_null() {
        return Err(Status::OUT_OF_RANGE);
    }
    // SAFETY: not null, and the caller vouches for the rest.
    unsafe { place.write_unaligned(sobol::vectors::<W>(sobol::MOST).as_ptr()) };
    Ok(())
}

/// `curandDirectionVectorSet_t`: 101 Joe and Kuo's with 32 bits, 102 scrambled.
unsafe extern "C" fn narrow(place: *mut *const [u32; 32], set: c_int) -> c_int {
    // SAFETY: the caller's promise.
    anytime("curandGetDirectionVectors32", || unsafe { give::<u32>(place, set, (101, 102)) })
}

/// The same with 64 bits: 103 and 104.
unsafe extern "C" fn wide(place: *mut *const [u64; 64], set: c_int) -> c_int {
    // SAFETY: the caller's promise.
    anytime("curandGetDirectionVectors64", || unsafe { give::<u64>(place, set, (103, 104)) })
}

/// The functions of this file, by name.
pub static FUNCTIONS: Functions = &[
    ("curandGetDirectionVectors32", FunctionAddress(narrow as *const c_void)),
    ("curandGetDirectionVectors64", FunctionAddress(wide as *const c_void)),
];
