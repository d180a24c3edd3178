use super::*;

#[test]
fn toolkit_headers_are_known_by_their_paths() {
    for path in [
        "cuda/include/crt/device_functions.hpp",
        "/opt/env/lib/python3.12/site-packages/nvidia/cu13/include/device_atomic_functions.hpp",
        "/usr/local/cuda/include/sm_32_atomic_functions.hpp",
        "/usr/local/cuda-13.0/targets/x86_64-linux/include/cooperative_groups/details/sync.h",
        "/usr/local/cuda/include/cuda/std/detail/libcxx/include/atomic",
        "C:\\Program Files\\NVIDIA GPU Computing Toolkit\\CUDA\\v13.0\\include\\crt\\sm_70_rt.hpp",
        "device_atomic_functions.hpp",
        "sm_20_atomic_functions.hpp",
    ] {
        assert!(is_toolkit_header(path), "{path}");
    }
}

#[test]
fn user_files_are_not() {
    for path in [
        "apps/cbe_dot/kernel.cu",
        "/home/someone/cuda/lock.cuh",
        "/home/someone/cuda-samples/include/helper.h",
        "kernel.cu",
        "/srv/project/src/sm_scheduler.hpp",
        "smooth.h",
    ] {
        assert!(!is_toolkit_header(path), "{path}");
    }
}
