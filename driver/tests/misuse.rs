//! What a program can do wrong, and the error that it gets.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr::{null, null_mut};

use bugaroo_protocol::{ORDERS_VARIABLE, Orders};
use cuda::Status;
use cuda::api::context::*;
use cuda::api::device::*;
use cuda::api::error::{cuGetErrorName, cuGetErrorString};
use cuda::api::event::*;
use cuda::api::function::*;
use cuda::api::init::{cuDriverGetVersion, cuInit};
use cuda::api::module::*;
use cuda::api::stream::*;

use crate::support::{Device, KERNELS, baseline, load, trial};

/// A handle that was never given out.
const MADE_UP: *mut c_void = 0x1234 as *mut c_void;

#[test]
fn nothing_works_before_initialisation() {
    // A process of its own: the others of this file initialise.
    let trial = trial("nothing_works_before_initialisation", &baseline(), || {
        let (mut number, mut context) = (0, null_mut());
        // SAFETY: the places are there.
        unsafe {
            assert_eq!(cuDeviceGetCount(&mut number), Status::NotInitialized);
            assert_eq!(cuCtxGetCurrent(&mut context), Status::NotInitialized);
            assert_eq!(cuDriverGetVersion(&mut number), Status::Success);
        }
        assert_eq!(number, 13000);
        assert_eq!(cuCtxSynchronize(), Status::NotInitialized);
        assert_eq!(cuda::api::memory::cuMemFree_v2(0), Status::NotInitialized);
        assert_eq!(cuInit(1), Status::InvalidValue);
        assert_eq!(cuCtxSynchronize(), Status::NotInitialized);
        assert_eq!(cuInit(0), Status::Success);
        assert_eq!(cuInit(0), Status::Success);
        assert_eq!(cuCtxSynchronize(), Status::InvalidContext);
        assert_eq!(load(KERNELS), Err(Status::InvalidContext));
    });
    assert_eq!(trial.messages.len(), 1, "one hello, however often it is initialised");
}

#[test]
fn a_forked_child_has_no_device_and_does_not_crash() {
    let trial = trial("a_forked_child_has_no_device_and_does_not_crash", &baseline(), || {
        let _device = Device::new();
        // SAFETY: the trial has one thread that matters, and the child only calls the driver.
        match unsafe { libc::fork() } {
            0 => {
                let told = [cuInit(0), cuCtxSynchronize()];
                let as_expected = told == [Status::NotInitialized; 2];
                // SAFETY: ends the child without the parent's destructors.
                unsafe { libc::_exit(if as_expected { 7 } else { 8 }) }
            }
            child => {
                let mut status = 0;
                // SAFETY: there is a place for the status.
                assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
                assert!(libc::WIFEXITED(status));
                assert_eq!(libc::WEXITSTATUS(status), 7);
                assert_eq!(cuCtxSynchronize(), Status::Success);
            }
        }
    });
    assert_eq!(trial.messages.len(), 2, "hello and the module, of the parent alone");
}

#[test]
fn orders_that_are_none_are_refused() {
    if std::env::var_os(ORDERS_VARIABLE).is_some() {
        return println!("cuInit: {}", cuInit(0) as u32);
    }
    let mut wrong = serde_json::to_value(baseline()).expect("orders are plain data");
    wrong["version"] = 999.into();
    for (orders, code) in [("{".to_owned(), 1), (wrong.to_string(), 803)] {
        assert!(Orders::from_json(&orders).is_err());
        let child = std::process::Command::new(std::env::current_exe().expect("it knows itself"))
            .args(["misuse::orders_that_are_none_are_refused", "--exact", "--nocapture"])
            .env(ORDERS_VARIABLE, orders)
            .output()
            .expect("the test binary starts");
        let said = String::from_utf8_lossy(&child.stdout);
        assert!(said.contains(&format!("cuInit: {code}\n")), "{said}");
        assert!(String::from_utf8_lossy(&child.stderr).starts_with("bugaroo: "));
    }
}

#[test]
fn devices() {
    assert_eq!(cuInit(0), Status::Success);
    let (mut device, mut number) = (9, 0);
    let mut bytes = 0_usize;
    let mut name = [1 as c_char; 8];
    // SAFETY: the places are there; null is what is wrong.
    unsafe {
        assert_eq!(cuDeviceGetCount(&mut number), Status::Success);
        assert_eq!(number, 1);
        assert_eq!(cuDeviceGetCount(null_mut()), Status::InvalidValue);
        assert_eq!(cuDeviceGet(&mut device, 0), Status::Success);
        assert_eq!(device, 0);
        assert_eq!(cuDeviceGet(&mut device, 1), Status::InvalidDevice);
        assert_eq!(cuDeviceGet(&mut device, -1), Status::InvalidDevice);
        assert_eq!(cuDeviceGet(null_mut(), 0), Status::InvalidValue);
        assert_eq!(cuDeviceTotalMem_v2(&mut bytes, 0), Status::Success);
        assert_eq!(bytes, 16 << 30);
        assert_eq!(cuDeviceTotalMem_v2(&mut bytes, 3), Status::InvalidDevice);
        assert_eq!(cuDeviceGetName(name.as_mut_ptr(), 8, 0), Status::Success);
        assert_eq!(CStr::from_ptr(name.as_ptr()), c"Bugaroo", "cut, with its NUL");
        assert_eq!(cuDeviceGetName(name.as_mut_ptr(), 0, 0), Status::InvalidValue);
        assert_eq!(cuDeviceGetName(null_mut(), 8, 0), Status::InvalidValue);
        let (mut major, mut minor) = (0, 1);
        assert_eq!(cuDeviceComputeCapability(&mut major, &mut minor, 0), Status::Success);
        assert_eq!((major, minor), (9, 0));
    }
}

#[test]
fn attributes() {
    assert_eq!(cuInit(0), Status::Success);
    let get = |number: c_uint| {
        let mut value = -77;
        // SAFETY: there is a place for the value.
        let status = unsafe { cuDeviceGetAttribute(&mut value, number, 0) };
        (status, value)
    };
    for (number, value) in [(1, 1024), (4, 64), (6, 65535), (10, 32), (16, 16), (39, 2048), (75, 9), (76, 0)]
    {
        assert_eq!(get(number), (Status::Success, value), "attribute {number}");
    }
    let known = (0..1000).filter(|number| get(*number).0 == Status::Success).count();
    assert_eq!(known, 147);
    assert_eq!(get(0).0, Status::InvalidValue);
    assert_eq!(get(148).0, Status::InvalidValue);
}

#[test]
fn every_error_code_has_a_name_and_a_text() {
    let mut count = 0;
    for code in 0..1100 {
        let (mut name, mut text) = (null(), null());
        // SAFETY: the places are there.
        let told = unsafe { (cuGetErrorName(code, &mut name), cuGetErrorString(code, &mut text)) };
        if Status::from_code(code).is_none() {
            assert_eq!(told, (Status::InvalidValue, Status::InvalidValue));
            assert!(name.is_null() && text.is_null());
            continue;
        }
        assert_eq!(told, (Status::Success, Status::Success));
        // SAFETY: the texts are the library's own.
        let (name, text) = unsafe { (CStr::from_ptr(name), CStr::from_ptr(text)) };
        assert!(name.to_bytes().starts_with(b"CUDA_"), "{name:?}");
        assert!(text.to_bytes().len() > 3, "{text:?}");
        count += 1;
    }
    assert_eq!(count, 101);
    // SAFETY: null is what is wrong.
    assert_eq!(unsafe { cuGetErrorName(0, null_mut()) }, Status::InvalidValue);
}

#[test]
fn modules() {
    let device = Device::new();
    let (mut module, mut function) = (null_mut(), null_mut());
    let (mut address, mut bytes, mut count) = (0, 0, 0);
    // SAFETY: the places are there; null and made-up handles are what is wrong.
    unsafe {
        assert_eq!(cuModuleLoadData(&mut module, null()), Status::InvalidValue);
        assert_eq!(cuModuleLoadData(null_mut(), c"".as_ptr().cast()), Status::InvalidValue);
        assert_eq!(cuModuleLoad(&mut module, c"/nonexistent/file.ptx".as_ptr()), Status::FileNotFound);
        assert_eq!(cuModuleUnload(MADE_UP), Status::InvalidHandle);
        assert_eq!(cuModuleUnload(null_mut()), Status::InvalidHandle);
        let find = |name: &CStr, function: &mut *mut c_void| {
            cuModuleGetFunction(function, device.module, name.as_ptr())
        };
        assert_eq!(find(c"nobody", &mut function), Status::NotFound);
        assert_eq!(find(c"", &mut function), Status::NotFound);
        assert_eq!(find(c"count", &mut function), Status::Success);
        assert_eq!(cuModuleGetFunction(&mut function, MADE_UP, c"count".as_ptr()), Status::InvalidHandle);
        assert_eq!(cuModuleGetFunction(null_mut(), device.module, c"count".as_ptr()), Status::InvalidValue);
        assert_eq!(cuModuleGetFunction(&mut function, device.module, null()), Status::InvalidValue);
        let global = cuModuleGetGlobal_v2(&mut address, &mut bytes, device.module, c"counter".as_ptr());
        assert_eq!((global, bytes), (Status::Success, 4));
        assert_eq!(crate::support::download(address, 1), Ok(vec![41_u32]));
        assert_eq!(cuda::api::memory::cuMemFree_v2(address), Status::InvalidValue, "a variable is not freed");
        let nobody = cuModuleGetGlobal_v2(&mut address, &mut bytes, device.module, c"nobody".as_ptr());
        assert_eq!(nobody, Status::NotFound);
        assert_eq!(cuModuleGetFunctionCount(&mut count, device.module), Status::Success);
        assert_eq!(count, 10);
        let mut functions = [null_mut(); 10];
        assert_eq!(cuModuleEnumerateFunctions(functions.as_mut_ptr(), 10, device.module), Status::Success);
        let mut name = null();
        assert_eq!(cuFuncGetName(&mut name, functions[0]), Status::Success);
        assert_eq!(CStr::from_ptr(name), c"vector_add");
    }
    assert_eq!(cuModuleUnload(device.module), Status::Success);
    assert_eq!(cuModuleUnload(device.module), Status::InvalidHandle);
    assert_eq!(cuFuncLoad(function), Status::InvalidHandle, "functions go with their module");
}

#[test]
fn images_that_are_no_modules() {
    let _device = Device::new();
    let broken = KERNELS.replace(".param .u64 address", ".param u64 address");
    assert_eq!(load(&broken), Err(Status::InvalidPtx));
    assert_eq!(load(&KERNELS[..KERNELS.len() / 2]), Err(Status::InvalidPtx), "cut in the middle");
    assert_eq!(load("this is no PTX at all"), Err(Status::InvalidImage));
    assert_eq!(load(""), Err(Status::InvalidImage));
    let unknown = KERNELS.replace("trap;", "frobnicate.u32 %r0;");
    assert!(load(&unknown).is_ok(), "only a launch needs to know the instruction");
    let binaries = [
        ([0x50_u8, 0xed, 0x55, 0xba], Status::InvalidImage),
        ([0xb1, 0x43, 0x62, 0x46], Status::InvalidImage),
        (*b"\x7fELF", Status::NoBinaryForGpu),
    ];
    for (magic, wanted) in binaries {
        let mut image = [0; 64];
        image[..4].copy_from_slice(&magic);
        let mut module = null_mut();
        // SAFETY: an image whose header says that nothing follows.
        let status = unsafe { cuModuleLoadData(&mut module, image.as_ptr().cast()) };
        assert_eq!(status, wanted, "{magic:x?}");
    }
}

#[test]
fn the_compiler_log_tells_line_and_column() {
    let _device = Device::new();
    let broken = c".version 9.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param u64 a) { }\n";
    let mut log = [b'?' as c_char; 200];
    let mut small = [b'?' as c_char; 4];
    for (buffer, size) in [(log.as_mut_ptr(), 200_usize), (small.as_mut_ptr(), 4)] {
        let mut module = null_mut();
        let options = [5, 6];
        let mut values = [buffer.cast::<c_void>(), size as *mut c_void];
        // SAFETY: the places are there, and the buffer has its size.
        let status = unsafe {
            cuModuleLoadDataEx(&mut module, broken.as_ptr().cast(), 2, options.as_ptr(), values.as_mut_ptr())
        };
        assert_eq!(status, Status::InvalidPtx);
        // SAFETY: the log ends with a NUL.
        let text = unsafe { CStr::from_ptr(buffer) }.to_str().expect("it is text");
        assert_eq!(values[1] as usize, text.len() + 1);
    }
    // SAFETY: as above.
    let text = unsafe { CStr::from_ptr(log.as_ptr()) }.to_str().expect("it is text");
    assert!(text.starts_with("PTX line 4:26: expected a parameter's type"), "{text}");
    // SAFETY: as above.
    assert_eq!(unsafe { CStr::from_ptr(small.as_ptr()) }, c"PTX");
    let (options, mut values) = ([99], [null_mut()]);
    // SAFETY: the option is what is wrong.
    let unknown = unsafe {
        cuModuleLoadDataEx(&mut null_mut(), broken.as_ptr().cast(), 1, options.as_ptr(), values.as_mut_ptr())
    };
    assert_eq!(unknown, Status::InvalidValue);
}

#[test]
fn functions() {
    let device = Device::new();
    let kernel = device.kernel("bounded");
    let get = |number| {
        let mut value = -1;
        // SAFETY: there is a place for the value.
        let status = unsafe { cuFuncGetAttribute(&mut value, number, kernel) };
        (status, value)
    };
    assert_eq!(get(0), (Status::Success, 64));
    assert_eq!(get(1), (Status::Success, 0));
    assert_eq!(get(2), (Status::Success, 0));
    assert_eq!(get(5), (Status::Success, 75));
    assert_eq!(get(6), (Status::Success, 90));
    assert_eq!(get(16).0, Status::InvalidValue);
    assert_eq!(cuFuncSetAttribute(kernel, 0, 5), Status::InvalidValue, "it cannot be set");
    assert_eq!(cuFuncSetAttribute(MADE_UP, 8, 5), Status::InvalidHandle);
    assert_eq!(cuFuncSetCacheConfig(kernel, 2), Status::Success);
    assert_eq!(cuFuncSetCacheConfig(kernel, 4), Status::InvalidValue);
    let (mut offset, mut size) = (0, 0);
    let mut info = |index| {
        // SAFETY: the places are there.
        let status =
            unsafe { cuFuncGetParamInfo(device.kernel("parameters"), index, &mut offset, &mut size) };
        (status, offset, size)
    };
    assert_eq!(info(0), (Status::Success, 0, 1));
    assert_eq!(info(1), (Status::Success, 8, 12));
    assert_eq!(info(2), (Status::Success, 24, 8));
    assert_eq!(info(3).0, Status::InvalidValue);
}

#[test]
fn streams() {
    let device = Device::new();
    let (mut stream, mut context, mut priority) = (null_mut(), null_mut(), 9);
    // SAFETY: the places are there; null and made-up handles are what is wrong.
    unsafe {
        assert_eq!(cuStreamCreate(null_mut(), 0), Status::InvalidValue);
        assert_eq!(cuStreamCreate(&mut stream, 2), Status::InvalidValue);
        assert_eq!(cuStreamCreateWithPriority(&mut stream, 1, -100), Status::Success);
        assert_eq!(cuStreamGetPriority(stream, &mut priority), Status::Success);
        assert_eq!(priority, -5);
        assert_eq!(cuStreamGetCtx(stream, &mut context), Status::Success);
        assert_eq!(context, device.context);
        assert_eq!(cuStreamGetFlags(MADE_UP, &mut 0), Status::InvalidHandle);
    }
    assert_eq!(cuStreamQuery(stream), Status::Success);
    for default in [null_mut(), crate::support::number(1), crate::support::number(2)] {
        assert_eq!(cuStreamSynchronize(default), Status::Success);
    }
    assert_eq!(cuStreamDestroy_v2(stream), Status::Success);
    assert_eq!(cuStreamDestroy_v2(stream), Status::InvalidHandle);
    assert_eq!(cuStreamSynchronize(stream), Status::InvalidHandle);
    assert_eq!(cuStreamDestroy_v2(null_mut()), Status::InvalidHandle);
    assert_eq!(cuStreamWaitEvent(null_mut(), MADE_UP, 0), Status::InvalidHandle);
}

#[test]
fn host_functions_run_and_may_not_call_back() {
    unsafe extern "C" fn note(user_data: *mut c_void) {
        // SAFETY: the test passes a number.
        unsafe { *user_data.cast::<c_int>() += 1 };
        assert_eq!(cuCtxSynchronize(), Status::NotPermitted);
    }
    let _device = Device::new();
    let mut calls: c_int = 0;
    let user_data = std::ptr::from_mut(&mut calls).cast();
    // SAFETY: the function takes a number.
    unsafe {
        assert_eq!(cuLaunchHostFunc(null_mut(), Some(note), user_data), Status::Success);
        assert_eq!(cuLaunchHostFunc(null_mut(), None, user_data), Status::InvalidValue);
        assert_eq!(cuLaunchHostFunc(MADE_UP, Some(note), user_data), Status::InvalidHandle);
    }
    assert_eq!(calls, 1);
}

#[test]
fn events() {
    let device = Device::new();
    let (mut start, mut end, mut untimed, mut time) = (null_mut(), null_mut(), null_mut(), -1.0);
    // SAFETY: the places are there; null and made-up handles are what is wrong.
    unsafe {
        assert_eq!(cuEventCreate(&mut start, 8), Status::InvalidValue);
        assert_eq!(cuEventCreate(&mut start, 4), Status::InvalidValue, "interprocess with timing");
        assert_eq!(cuEventCreate(null_mut(), 0), Status::InvalidValue);
        assert_eq!(cuEventCreate(&mut start, 0), Status::Success);
        assert_eq!(cuEventCreate(&mut end, 1), Status::Success);
        assert_eq!(cuEventCreate(&mut untimed, 2), Status::Success);
        assert_eq!(cuEventQuery(start), Status::Success, "nothing to wait for");
        assert_eq!(cuEventElapsedTime_v2(&mut time, start, end), Status::InvalidHandle);
        assert_eq!(cuEventRecord(start, null_mut()), Status::Success);
        assert_eq!(crate::support::launch(device.kernel("count"), 1, 1, &[]), Status::Success);
        assert_eq!(cuEventRecord(end, null_mut()), Status::Success);
        assert_eq!(cuEventRecord(untimed, null_mut()), Status::Success);
        assert_eq!(cuEventSynchronize(end), Status::Success);
        assert_eq!(cuEventElapsedTime_v2(&mut time, start, end), Status::Success);
        assert!(time > 0.0 && time < 1.0, "{time} ms");
        assert_eq!(cuEventElapsedTime_v2(&mut time, start, untimed), Status::InvalidHandle);
    }
    assert_eq!(cuEventDestroy_v2(end), Status::Success);
    assert_eq!(cuEventDestroy_v2(end), Status::InvalidHandle);
    assert_eq!(cuEventRecord(end, null_mut()), Status::InvalidHandle);
}

#[test]
fn what_is_missing_says_so() {
    let trial = trial("what_is_missing_says_so", &baseline(), || {
        assert_eq!(cuInit(0), Status::Success);
        assert_eq!(cuda::api::missing::refused::cuTexRefDestroy(), Status::NotSupported);
        assert_eq!(cuda::api::missing::refused::cuTexRefDestroy(), Status::NotSupported);
        assert_eq!(cuda::api::missing::refused::cuTexRefCreate(), Status::NotSupported);
    });
    let stderr = trial.stderr();
    assert_eq!(stderr.matches("bugaroo: cuTexRefDestroy is not supported").count(), 1, "{stderr}");
    assert_eq!(stderr.matches("bugaroo: cuTexRefCreate is not supported").count(), 1, "{stderr}");
    assert_eq!(trial.messages.len(), 3, "hello, and each once");
}

#[test]
fn constant_memory_is_told_of_every_kernel_of_its_module() {
    let _device = Device::new();
    let source = ".version 8.0 .target sm_75 .address_size 64 .const .b32 c[5]; .visible .entry k() { ret; }";
    let module = load(source).expect("it loads");
    let (mut function, mut bytes) = (null_mut(), -1);
    // SAFETY: the places are there, and a C string.
    unsafe {
        assert_eq!(cuModuleGetFunction(&mut function, module, c"k".as_ptr()), Status::Success);
        assert_eq!(cuFuncGetAttribute(&mut bytes, 2, function), Status::Success);
    }
    assert_eq!(bytes, 20);
}
