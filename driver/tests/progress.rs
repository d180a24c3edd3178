//! What a harness hears of launches that take long: work goes on, or nothing but spinning.

use bugaroo_protocol::{Message, Orders};
use cuda::api::context::cuCtxSynchronize;

use crate::support::{Trial, baseline, launch, load, parameter, trial, upload};

/// Kernels of one block that take some hundred million instructions, or for ever: one that stores, one that adds up by
/// atomics, one that waits for a flag, one that waits for a lock.
const KERNELS: &str = "
.version 8.0
.target sm_70
.address_size 64
.visible .entry stores(.param .u64 place)
{
    .reg .b64 a; .reg .b32 i; .reg .pred p;
    ld.param.u64 a, [place];
    mov.u32 i, 0;
LOOP:
    st.volatile.global.u32 [a], 7;
    add.u32 i, i, 1;
    setp.lt.u32 p, i, 25000000;
    @p bra LOOP;
    ret;
}
.visible .entry adds(.param .u64 place)
{
    .reg .b64 a; .reg .b32 i, x; .reg .pred p;
    ld.param.u64 a, [place];
    mov.u32 i, 0;
LOOP:
    red.global.add.u32 [a], 1;
    add.u32 i, i, 1;
    setp.lt.u32 p, i, 25000000;
    @p bra LOOP;
    ret;
}
.visible .entry waits(.param .u64 place)
{
    .reg .b64 a; .reg .b32 x; .reg .pred p;
    ld.param.u64 a, [place];
LOOP:
    ld.volatile.global.u32 x, [a];
    setp.ne.u32 p, x, 9;
    @p bra LOOP;
    ret;
}
.visible .entry locks(.param .u64 place)
{
    .reg .b64 a; .reg .b32 x; .reg .pred p;
    ld.param.u64 a, [place];
LOOP:
    atom.global.cas.b32 x, [a], 0, 1;
    setp.ne.u32 p, x, 0;
    @p bra LOOP;
    ret;
}
";

/// How often the driver says that work goes on while this kernel runs.
fn progress(test: &str, kernel: &str) -> usize {
    let orders = Orders { step_budget: Some(100_000_000), ..baseline() };
    let trial: Trial = trial(test, &orders, || {
        assert_eq!(cuda::api::init::cuInit(0), cuda::Status::Success);
        let mut context = std::ptr::null_mut();
        // SAFETY: the place is one for a handle.
        let made = unsafe { cuda::api::context::cuCtxCreate_v2(&mut context, 0, 0) };
        assert_eq!(made, cuda::Status::Success);
        let module = load(KERNELS).expect("the kernels load");
        let name = std::ffi::CString::new(kernel).expect("a name");
        let mut function = std::ptr::null_mut();
        // SAFETY: the place is one for a handle, the name a C string.
        let found = unsafe { cuda::api::module::cuModuleGetFunction(&mut function, module, name.as_ptr()) };
        assert_eq!(found, cuda::Status::Success);
        let place = upload(&[1_u32]);
        assert_eq!(launch(function, 1, 1, &[parameter(&place)]), cuda::Status::Success);
        let _ = cuCtxSynchronize();
    });
    trial.messages.iter().filter(|message| **message == Message::Progress).count()
}

#[test]
fn stores_are_work() {
    assert!(progress("stores_are_work", "stores") > 0);
}

#[test]
fn memory_that_changes_is_work() {
    assert!(progress("memory_that_changes_is_work", "adds") > 0);
}

#[test]
fn waiting_is_no_work() {
    assert_eq!(progress("waiting_is_no_work", "waits"), 0);
}

#[test]
fn trying_to_lock_is_no_work() {
    assert_eq!(progress("trying_to_lock_is_no_work", "locks"), 0);
}
