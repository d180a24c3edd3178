//! The driver's internal functions that NVIDIA's own runtime needs: each table's, called as that runtime calls them.

use std::ffi::{c_uint, c_void};
use std::ptr::{null, null_mut, without_provenance_mut};
use std::sync::Mutex;

use bugaroo_cuda_abi::{CUcontext, CUdevice, CUuuid};
use bugaroo_protocol::Message;
use cuda::Status;
use cuda::api::context::*;
use cuda::api::export::cuGetExportTable;
use cuda::api::init::cuInit;
use cuda::api::primary::*;

use crate::support::{baseline, trial};

const CUDART: u128 = 0x6bd5fb6c_5bf4_e74a_8987_d93912fd9df9;
const HOOKS: u128 = 0xa094798c_2e74_2e74_93f2_0800200c0a66;
const THREADS: u128 = 0x42d85a81_23f6_cb47_8298_f6e78a3aecdc;
const STORAGE: u128 = 0xc693336e_1121_df11_a8c3_68f355d89593;
const CHECKS: u128 = 0x263e8860_7cd2_6143_92f6_bbd5006dfa7e;
const TOOLS: u128 = 0x21318c60_9714_3248_8ca6_41ff7324c8f2;
const INTEGRITY: u128 = 0xd4082055_bde6_704b_8d34_ba123c66e1f2;

/// Asks for a table.
fn ask(id: u128) -> (Status, *const *const c_void) {
    let mut table = null();
    // SAFETY: there are a place and a UUID.
    let status = unsafe { cuGetExportTable(&raw mut table, &CUuuid { bytes: id.to_be_bytes() }) };
    (status, table.cast())
}

/// A word of a table.
fn word(id: u128, index: usize) -> *const c_void {
    let (status, table) = ask(id);
    assert_eq!(status, Status::Success);
    // SAFETY: tests name words that there are.
    unsafe { *table.add(index) }
}

/// A slot of a table, as a function.
macro_rules! slot {
    ($id:expr, $index:literal, fn($($argument:ty),*) -> $result:ty) => {
        // SAFETY: the slot's prototype.
        unsafe { std::mem::transmute::<*const c_void, unsafe extern "C" fn($($argument),*) -> $result>(word($id, $index)) }
    };
}

#[test]
fn tables_begin_with_their_size_but_for_one() {
    for (id, words) in [(CUDART, 13), (HOOKS, 7), (THREADS, 4), (CHECKS, 4), (INTEGRITY, 3), (TOOLS, 95)] {
        assert_eq!(word(id, 0).addr(), words * size_of::<usize>(), "{id:x}");
        let (_, table) = ask(id);
        for index in 1..words {
            // SAFETY: within the size.
            assert!(!unsafe { *table.add(index) }.is_null(), "{id:x}, slot {index}");
        }
    }
    assert!(word(STORAGE, 0).addr() > 4096, "a function");
    // SAFETY: null is what is wrong.
    unsafe {
        assert_eq!(cuGetExportTable(null_mut(), &CUuuid { bytes: [0; 16] }), Status::InvalidValue);
        assert_eq!(cuGetExportTable(&mut null(), null()), Status::InvalidValue);
    }
}

#[test]
fn a_primary_context_is_made_current_before_it_is_retained() {
    trial("a_primary_context_is_made_current_before_it_is_retained", &baseline(), || {
        assert_eq!(cuInit(0), Status::Success);
        let primary = slot!(CUDART, 2, fn(*mut CUcontext, CUdevice) -> Status);
        let (mut context, mut active, mut flags) = (null_mut(), 9, 9);
        // SAFETY: places for all answers; null is what is wrong.
        unsafe {
            assert_eq!(primary(&mut context, 1), Status::InvalidDevice);
            assert_eq!(primary(null_mut(), 0), Status::InvalidValue);
            assert_eq!(primary(&mut context, 0), Status::Success);
            assert_eq!(cuDevicePrimaryCtxGetState(0, &mut flags, &mut active), Status::Success);
        }
        assert_eq!((active, cuCtxSetCurrent(context)), (0, Status::Success));
        assert_eq!(cuCtxSynchronize(), Status::ContextIsDestroyed, "it is not there yet");
        let mut retained = null_mut();
        // SAFETY: a place for the handle.
        assert_eq!(unsafe { cuDevicePrimaryCtxRetain(&mut retained, 0) }, Status::Success);
        assert_eq!((retained, cuCtxSynchronize()), (context, Status::Success));
    });
}

/// Contexts whose end was told, with key and value.
static ENDED: Mutex<Vec<(usize, usize, usize)>> = Mutex::new(Vec::new());

/// Notes an end; the driver can be called meanwhile.
unsafe extern "C" fn ended(context: CUcontext, key: *mut c_void, value: *mut c_void) {
    let mut version = 0;
    // SAFETY: a place for the number.
    assert_eq!(unsafe { cuCtxGetApiVersion(context, &mut version) }, Status::Success, "it is still there");
    ENDED.lock().unwrap().push((context.addr(), key.addr(), value.addr()));
}

#[test]
fn what_is_kept_with_a_context_is_told_of_its_end() {
    type Ended = unsafe extern "C" fn(CUcontext, *mut c_void, *mut c_void);
    trial("what_is_kept_with_a_context_is_told_of_its_end", &baseline(), || {
        assert_eq!(cuInit(0), Status::Success);
        let keep = slot!(STORAGE, 0, fn(CUcontext, *mut c_void, *mut c_void, Option<Ended>) -> Status);
        let forget = slot!(STORAGE, 1, fn(CUcontext, *mut c_void) -> Status);
        let find = slot!(STORAGE, 2, fn(*mut *mut c_void, CUcontext, *mut c_void) -> Status);
        let at = without_provenance_mut::<c_void>;
        let told = || std::mem::take(&mut *ENDED.lock().unwrap());
        // SAFETY: places for all answers; keys and values are numbers to the driver.
        unsafe {
            let mut found = null_mut();
            assert_eq!(find(&mut found, null_mut(), at(8)), Status::InvalidContext, "none is current");
            let mut context = null_mut();
            assert_eq!(cuCtxCreate_v2(&mut context, 0, 0), Status::Success);
            assert_eq!(find(&mut found, null_mut(), at(8)), Status::InvalidHandle);
            for (key, value) in [(8, 1), (9, 2), (8, 3), (10, 4)] {
                assert_eq!(keep(null_mut(), at(key), at(value), Some(ended)), Status::Success);
            }
            assert_eq!(keep(context, at(11), at(5), None), Status::Success, "nobody to be told");
            assert_eq!((find(&mut found, null_mut(), at(8)), found), (Status::Success, at(3)));
            assert_eq!((find(&mut found, context, at(9)), found), (Status::Success, at(2)));
            assert_eq!(find(null_mut(), context, at(9)), Status::InvalidValue);
            assert_eq!(forget(context, at(9)), Status::Success);
            assert_eq!(find(&mut found, context, at(9)), Status::InvalidHandle);
            assert_eq!(told(), []);
            assert_eq!(cuCtxDestroy_v2(context), Status::Success);
            assert_eq!(told(), [(context.addr(), 8, 3), (context.addr(), 10, 4)]);

            assert_eq!(cuDevicePrimaryCtxRetain(&mut context, 0), Status::Success);
            assert_eq!(cuDevicePrimaryCtxRetain(&mut context, 0), Status::Success);
            for end in [cuDevicePrimaryCtxReset_v2, cuDevicePrimaryCtxRelease_v2] {
                assert_eq!(keep(context, at(8), at(6), Some(ended)), Status::Success);
                assert_eq!(cuDevicePrimaryCtxGetState(0, &mut 0, &mut 0), Status::Success);
                assert_eq!(end(0), Status::Success);
            }
            assert_eq!(told(), [(context.addr(), 8, 6)], "it is retained once more");
            assert_eq!(cuDevicePrimaryCtxRelease_v2(0), Status::Success);
            assert_eq!(told(), [(context.addr(), 8, 6)]);
        }
    });
}

#[test]
fn rooms_for_profilers_are_empty_and_contexts_are_what_they_seem() {
    for (index, words) in [(2_usize, 1024), (6, 14)] {
        let room = match index {
            2 => slot!(HOOKS, 2, fn(*mut *const u64, *mut usize) -> ()),
            _ => slot!(HOOKS, 6, fn(*mut *const u64, *mut usize) -> ()),
        };
        let (mut start, mut size) = (null(), 0);
        // SAFETY: places for the answers; the room is as large as it says.
        let content = unsafe {
            room(&mut start, &mut size);
            std::slice::from_raw_parts(start, size)
        };
        assert_eq!((size, content.iter().all(|word| *word == 0)), (words, true));
    }
    let all = slot!(CHECKS, 3, fn() -> c_uint);
    let check = slot!(CHECKS, 2, fn(CUcontext, *mut c_uint, *mut *const c_void) -> Status);
    let mut answer = 9;
    // SAFETY: a place for the answer; null is what is wrong.
    unsafe {
        assert_eq!((check(null_mut(), &mut answer, null_mut()), answer), (Status::Success, 0));
        assert_eq!(check(null_mut(), null_mut(), null_mut()), Status::InvalidValue);
        assert_eq!(all(), 0);
    }
}

/// That the answers are those that the runtime expects, it says itself: `apps/nvcc_programs/tests/stripped.rs`.
#[test]
fn the_third_answer_depends_on_what_is_asked() {
    fn ask(version: c_uint, seconds: u64) -> [u64; 2] {
        let asked = slot!(INTEGRITY, 1, fn(c_uint, u64, *mut [u64; 2]) -> Status);
        let mut answer = [0; 2];
        // SAFETY: a place for the answer.
        assert_eq!(unsafe { asked(version, seconds, &mut answer) }, Status::Success);
        answer
    }
    assert_eq!(cuInit(0), Status::Success);
    assert_eq!(ask(13000, 7), ask(13000, 8));
    assert_ne!(ask(13000, 7), ask(13001, 7));
    assert_eq!(ask(13002, 7), ask(13002, 7));
    assert_ne!(ask(13002, 7), ask(13002, 8));
    assert_ne!(ask(13002, 7), ask(12092, 7));
    let elsewhere = std::thread::spawn(|| ask(13002, 7)).join().unwrap();
    assert_ne!(ask(13002, 7), elsewhere, "another thread");
}

#[test]
fn a_slot_that_is_lacking_is_named_and_ends_the_trial_as_unsupported() {
    let trial =
        trial("a_slot_that_is_lacking_is_named_and_ends_the_trial_as_unsupported", &baseline(), || {
            assert_eq!(cuInit(0), Status::Success);
            for _ in 0..2 {
                let seventh = slot!(CUDART, 7, fn(usize, usize) -> Status);
                // SAFETY: it looks at no arguments.
                assert_eq!(unsafe { seventh(1, 2) }, Status::NotSupported);
            }
            assert_eq!(ask(0x69a28e9f_2449_8b47_b030_c5da330ea4e9), (Status::NotSupported, null()));
            for unneeded in [0xf8cff951_2146_8b4e_b9e2_fb469e7c0dd9, 0xda9151d3_3ae6_cc41_a5c0_4f26d533e328] {
                assert_eq!(ask(unneeded), (Status::NotSupported, null()));
            }
        });
    let what = "slot 7 of the driver's internal table CUDART_INTERFACE is not supported";
    let said: Vec<_> =
        trial.messages.iter().filter(|message| matches!(message, Message::Unsupported { .. })).collect();
    assert!(matches!(&said[..], [Message::Unsupported { what: said }] if said == what), "{said:?}");
    let errors = String::from_utf8_lossy(&trial.output.stderr);
    assert_eq!(errors.matches(what).count(), 1, "{errors}");
    let asked = "asks for internal functions of NVIDIA's driver that Bugaroo lacks (table 69a28e9f-2449-8b47-b030-c5da330ea4e9)";
    assert_eq!(errors.matches(asked).count(), 1, "{errors}");
    assert!(!errors.contains("f8cff951") && !errors.contains("da9151d3"), "{errors}");
}
