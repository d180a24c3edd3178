//! A little of NVML, which `bugaroo` shows to programs as `libnvidia-ml.so.1`: XLA takes a machine without it for one without a GPU.
//!
//! It begins and ends, and answers that all else is not supported. Names that a program would take for an answer are left out, so that
//! the program looks elsewhere: torch counts devices by NVML where it can, and otherwise by the driver.

use std::ffi::{CStr, c_char, c_int};

/// `NVML_SUCCESS`
const SUCCESS: c_int = 0;

/// `NVML_ERROR_NOT_SUPPORTED`
const NOT_SUPPORTED: c_int = 3;

macro_rules! answers {
    ($answer:ident: $($name:ident)*) => {
        $(
            /// Takes no notice of its arguments.
            #[unsafe(no_mangle)]
            pub extern "C" fn $name() -> c_int {
                $answer
            }
        )*
    };
}

answers! { SUCCESS: nvmlInit nvmlInit_v2 nvmlInitWithFlags nvmlShutdown }

answers! {
    NOT_SUPPORTED:
    nvmlSystemGetDriverVersion nvmlDeviceGetHandleByPciBusId nvmlDeviceGetHandleByPciBusId_v2
    nvmlDeviceGetHandleByIndex nvmlDeviceGetHandleByIndex_v2 nvmlDeviceGetHandleByUUID
    nvmlDeviceGetFieldValues nvmlDeviceGetGpuFabricInfo nvmlDeviceGetGpuFabricInfoV
    nvmlDeviceGetNvLinkCapability nvmlDeviceGetNvLinkState nvmlDeviceGetNvLinkRemotePciInfo_v2
    nvmlDeviceGetP2PStatus nvmlDeviceGetPciInfo_v3
}

/// What an answer means.
#[unsafe(no_mangle)]
pub extern "C" fn nvmlErrorString(answer: c_int) -> *const c_char {
    let text: &CStr = match answer {
        SUCCESS => c"Success",
        _ => c"Not supported by Bugaroo",
    };
    text.as_ptr()
}
