//! Contexts: the stack of each thread, flags and limits, the primary one.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use bugaroo_cuda_abi::CUctxCreateParams;
use cuda::Status;
use cuda::api::context::*;
use cuda::api::init::cuInit;
use cuda::api::module::*;
use cuda::api::primary::*;

use crate::support::{Device, KERNELS, baseline, load, trial};

/// A handle that was never given out.
const MADE_UP: *mut c_void = 0x1234 as *mut c_void;

#[test]
fn contexts_stack_per_thread() {
    let first = Device::new();
    let second = Device::new();
    let current = || {
        let mut context = MADE_UP;
        // SAFETY: there is a place for the handle.
        assert_eq!(unsafe { cuCtxGetCurrent(&mut context) }, Status::Success);
        context
    };
    assert_eq!(current(), second.context);
    let mut popped = null_mut();
    // SAFETY: there is a place for the handle.
    assert_eq!(unsafe { cuCtxPopCurrent_v2(&mut popped) }, Status::Success);
    assert_eq!((popped, current()), (second.context, first.context));
    assert_eq!(cuCtxPushCurrent_v2(popped), Status::Success);
    assert_eq!(cuCtxSetCurrent(first.context), Status::Success);
    assert_eq!(current(), first.context);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut context = MADE_UP;
            // SAFETY: there is a place for the handle.
            assert_eq!(unsafe { cuCtxGetCurrent(&mut context) }, Status::Success);
            assert!(context.is_null(), "another thread has none");
            assert_eq!(cuCtxSynchronize(), Status::InvalidContext);
        });
    });
    assert_eq!(cuCtxSetCurrent(MADE_UP), Status::InvalidContext);
    assert_eq!(cuCtxPushCurrent_v2(MADE_UP), Status::InvalidContext);
    assert_eq!(cuCtxDestroy_v2(MADE_UP), Status::InvalidContext);
    assert_eq!(cuCtxSetCurrent(null_mut()), Status::Success);
    assert_eq!(current(), first.context, "the one below");
}

#[test]
fn context_flags_and_limits() {
    let _device = Device::new();
    let (mut context, mut value) = (null_mut(), 0_usize);
    let mut flags = 0;
    // SAFETY: the places are there; null is what is wrong.
    unsafe {
        assert_eq!(cuCtxCreate_v2(&mut context, 3, 0), Status::InvalidValue, "two scheduling choices");
        assert_eq!(cuCtxCreate_v2(&mut context, 0x100, 0), Status::InvalidValue);
        assert_eq!(cuCtxCreate_v2(&mut context, 0, 1), Status::InvalidDevice);
        assert_eq!(cuCtxCreate_v2(null_mut(), 0, 0), Status::InvalidValue);
        for (affinity_count, graphics, status) in [
            (0, null(), Status::Success),
            (1, null(), Status::UnsupportedExecAffinity),
            (0, MADE_UP.cast_const(), Status::NotSupported),
        ] {
            let parameters = CUctxCreateParams { affinity: MADE_UP, affinity_count, graphics };
            assert_eq!(cuCtxCreate_v4(&mut context, &parameters, 0, 0), status);
        }
        assert_eq!(cuCtxDestroy_v2(context), Status::Success);
        assert_eq!(cuCtxSetFlags(4), Status::Success);
        assert_eq!(cuCtxGetFlags(&mut flags), Status::Success);
        assert_eq!(flags, 4);
        assert_eq!(cuCtxGetLimit(&mut value, 2), Status::Success);
        assert_eq!(value, 8 << 20);
        assert_eq!(cuCtxSetLimit(2, 77), Status::Success);
        assert_eq!(cuCtxGetLimit(&mut value, 2), Status::Success);
        assert_eq!(value, 77);
        assert_eq!(cuCtxGetLimit(&mut value, 55), Status::UnsupportedLimit);
        assert_eq!(cuCtxGetLimit(null_mut(), 2), Status::InvalidValue);
    }
    assert_eq!(cuCtxSetCacheConfig(9), Status::InvalidValue);
}

#[test]
fn primary_contexts_are_counted() {
    let trial = trial("primary_contexts_are_counted", &baseline(), || {
        assert_eq!(cuInit(0), Status::Success);
        let state = || {
            let (mut flags, mut active) = (9, 9);
            // SAFETY: the places are there.
            let status = unsafe { cuDevicePrimaryCtxGetState(0, &mut flags, &mut active) };
            assert_eq!(status, Status::Success);
            (flags, active)
        };
        let retain = || {
            let mut context = null_mut();
            // SAFETY: there is a place for the handle.
            assert_eq!(unsafe { cuDevicePrimaryCtxRetain(&mut context, 0) }, Status::Success);
            context
        };
        assert_eq!(state(), (0, 0));
        assert_eq!(cuDevicePrimaryCtxRelease_v2(0), Status::InvalidContext);
        assert_eq!(cuDevicePrimaryCtxSetFlags_v2(0, 4), Status::Success);
        let context = retain();
        assert_eq!(retain(), context);
        assert_eq!(state(), (4, 1));
        assert_eq!(cuCtxSetCurrent(context), Status::Success);
        assert_eq!(cuCtxDestroy_v2(context), Status::InvalidContext, "it is released, not destroyed");
        let module = load(KERNELS).expect("the kernels load");
        assert_eq!(cuDevicePrimaryCtxRelease_v2(0), Status::Success);
        assert_eq!(cuCtxSynchronize(), Status::Success);
        assert_eq!(cuDevicePrimaryCtxRelease_v2(0), Status::Success);
        assert_eq!(cuCtxSynchronize(), Status::ContextIsDestroyed);
        assert_eq!(retain(), context);
        assert_eq!(cuModuleUnload(module), Status::InvalidHandle, "it went with the context");
        // SAFETY: null is what is wrong.
        unsafe {
            assert_eq!(cuDevicePrimaryCtxRetain(null_mut(), 0), Status::InvalidValue);
            assert_eq!(cuDevicePrimaryCtxRetain(&mut null_mut(), 1), Status::InvalidDevice);
        }
    });
    assert!(trial.launches().is_empty());
}
