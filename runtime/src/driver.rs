//! The functions of the Driver API that are called here. Files of subjects declare those that they call.

use std::ffi::{c_int, c_uint};

use bugaroo_cuda_abi::{CUcontext, CUdevice, CallFailure, functions_of_driver};

use crate::error::RuntimeError;

impl From<CallFailure> for RuntimeError {
    fn from(failure: CallFailure) -> RuntimeError {
        match failure {
            CallFailure::Absent => RuntimeError::INSUFFICIENT_DRIVER,
            CallFailure::Code(code) => RuntimeError::from_driver(code.cast_signed()),
        }
    }
}

/// Declares functions of the Driver API by their C prototypes; each gives an [`Outcome`](crate::error::Outcome).
macro_rules! driver {
    ($($functions:tt)*) => {
        bugaroo_cuda_abi::functions_of_driver! { $crate::error::RuntimeError; $($functions)* }
    };
}
pub(crate) use driver;

functions_of_driver! { RuntimeError;
    cuInit(flags: c_uint);
    cuDriverGetVersion(place: *mut c_int);
    cuDeviceGet(place: *mut CUdevice, ordinal: c_int);
    cuDeviceGetCount(place: *mut c_int);
    cuDevicePrimaryCtxRetain(place: *mut CUcontext, device: CUdevice);
    cuCtxGetCurrent(place: *mut CUcontext);
    cuCtxSetCurrent(context: CUcontext);
}
