//! The real driver's internal functions, as far as NVIDIA's own CUDA runtime needs them: a program that has that runtime linked in
//! and was stripped of its symbols cannot be redirected to Bugaroo's (`runtime/preload`), and runs it on this driver.
//!
//! `cuGetExportTable` is documented nowhere. It takes a UUID and gives a table of functions, which have no names and no prototypes.
//! The runtime of CUDA 12 and 13 asks for seven or eight tables at its start, and does without one of them. It calls a handful of functions
//! in them, and the public API for all else. One file describes one table.
//!
//! **Source.** What is known is what others have seen and published: the project ZLUDA (`dark_api`, its tests against the
//! real driver, and the names used here), and who has repeated that on Linux with newer runtimes. The order of calls and their
//! arguments were then looked at by running programs on this driver. No code of NVIDIA's was read.
//!
//! **What it can miss.** Slots that nobody has seen a use of are there, since a runtime may test for them, but refuse ([`table::refused`]):
//! a program that calls one ends as unsupported, and the slot is named. Tables that are not here are none for the caller; whoever asks is
//! named ([`foreign_runtime`]).

mod checks;
mod cudart;
mod hooks;
mod integrity;
mod storage;
mod table;
mod threads;
mod tools;

use std::ffi::c_void;

use bugaroo_cuda_abi::CUuuid;

use crate::api::entry::anytime;
use crate::api::foreign_runtime;
use bugaroo_device::error::Status;
use bugaroo_device::places::{not_null, read, write};

use table::Word;

/// Tables by UUID.
static TABLES: [(u128, &[Word]); 7] = [
    (0x6bd5fb6c_5bf4_e74a_8987_d93912fd9df9, &cudart::TABLE),
    (0xa094798c_2e74_2e74_93f2_0800200c0a66, &hooks::TABLE),
    (0x42d85a81_23f6_cb47_8298_f6e78a3aecdc, &threads::TABLE),
    (0xc693336e_1121_df11_a8c3_68f355d89593, &storage::TABLE),
    (0x263e8860_7cd2_6143_92f6_bbd5006dfa7e, &checks::TABLE),
    (0xd4082055_bde6_704b_8d34_ba123c66e1f2, &integrity::TABLE),
    (0x21318c60_9714_3248_8ca6_41ff7324c8f2, &tools::TABLE),
];

/// Tables that whoever asks does without: with the first the runtime would start in another way, the second is one that NVIDIA's
/// compilers ask for, also where a library has them linked in.
const DONE_WITHOUT: [u128; 2] =
    [0xf8cff951_2146_8b4e_b9e2_fb469e7c0dd9, 0xda9151d3_3ae6_cc41_a5c0_4f26d533e328];

/// A table of the real driver's internal functions. `CUDA_ERROR_NOT_SUPPORTED` for those that this driver lacks.
///
/// # Safety
/// `place` is null or points to a place for a pointer; `id` is null or points to a UUID.
pub unsafe extern "C" fn cuGetExportTable(place: *mut *const c_void, id: *const CUuuid) -> Status {
    anytime("cuGetExportTable", || {
        not_null(place)?;
        // SAFETY: the caller's promise.
        let id = u128::from_be_bytes(unsafe { read(id) }?.bytes);
        let found = TABLES.iter().find(|(known, _)| *known == id);
        // SAFETY: the caller's promise.
        unsafe { write(place, found.map_or(std::ptr::null(), |(_, table)| table.as_ptr().cast())) }?;
        if found.is_some() {
            return Ok(());
        }
        if !DONE_WITHOUT.contains(&id) {
            foreign_runtime::tell(id);
        }
        Err(Status::NotSupported)
    })
}
