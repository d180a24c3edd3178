//! The shared library: its names, its looking up of them, and cudarc on top of it.
//!
//! A program loads the library when it starts, so the tests that need it there start themselves again
//! with the library's folder on the loader's path.

mod support;

use std::ffi::{CStr, CString, c_int, c_uint, c_ulonglong, c_void};
use std::path::PathBuf;
use std::process::Command;
use std::ptr::null_mut;

use cudarc::driver::{CudaContext, DriverError, LaunchConfig, PushKernelArg as _};
use cudarc::nvrtc::Ptx;

/// Every function that CUDA 13.0's `cuda.h` declares, versions and stream variants included.
const NAMES: &str = include_str!("driver_api_names.txt");

/// The library as cargo leaves it beside the test binaries.
fn library() -> PathBuf {
    let binary = std::env::current_exe().expect("the test binary knows itself");
    binary.parent().expect("it is in a folder").join("libcuda.so")
}

/// Runs `body` in a process that finds the library.
fn with_library(test: &str, body: impl FnOnce()) {
    const INSIDE: &str = "BUGAROO_TEST_WITH_LIBRARY";
    if std::env::var_os(INSIDE).is_some() {
        return body();
    }
    let folder = library().parent().expect("it is in a folder").to_owned();
    let output = Command::new(std::env::current_exe().expect("the test binary knows itself"))
        .args([test, "--exact", "--nocapture"])
        .env(INSIDE, "1")
        .env("LD_LIBRARY_PATH", folder)
        .output()
        .expect("the test binary starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The library, opened; never closed.
fn open() -> *mut c_void {
    let path = CString::new(library().into_os_string().into_encoded_bytes()).expect("paths hold no NUL");
    // SAFETY: a path as a C string; the library's initialisers do nothing.
    let opened = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    assert!(!opened.is_null(), "{path:?} is not built");
    opened
}

fn symbol(library: *mut c_void, name: &str) -> Option<*mut c_void> {
    let name = CString::new(name).expect("names hold no NUL");
    // SAFETY: the library is open, the name a C string.
    let address = unsafe { libc::dlsym(library, name.as_ptr()) };
    (!address.is_null()).then_some(address)
}

#[test]
fn every_function_of_the_api_is_exported() {
    let library = open();
    let missing: Vec<_> = NAMES.lines().filter(|name| symbol(library, name).is_none()).collect();
    assert_eq!(missing, [""; 0]);
    assert!(NAMES.lines().count() > 600);
}

#[test]
fn functions_are_looked_up_by_version() {
    type GetProcAddress =
        unsafe extern "C" fn(*const i8, *mut *mut c_void, c_int, c_ulonglong, *mut c_uint) -> c_uint;
    let library = open();
    let address = symbol(library, "cuGetProcAddress_v2").expect("it is exported");
    // SAFETY: that is the function's type.
    let get: GetProcAddress = unsafe { std::mem::transmute(address) };
    let find = |name: &CStr, version, flags| {
        let (mut found, mut status) = (null_mut(), 9);
        // SAFETY: the places are there, the name is a C string.
        let told = unsafe { get(name.as_ptr().cast(), &mut found, version, flags, &mut status) };
        (told, found, status)
    };
    let export = |name| symbol(library, name).expect("it is exported");
    assert_eq!(find(c"cuInit", 13000, 0), (0, export("cuInit"), 0));
    assert_eq!(find(c"cuMemAlloc", 13000, 0), (0, export("cuMemAlloc_v2"), 0));
    assert_eq!(find(c"cuCtxCreate", 13000, 0), (0, export("cuCtxCreate_v4"), 0));
    assert_eq!(find(c"cuCtxCreate", 12000, 0), (0, export("cuCtxCreate_v3"), 0));
    assert_eq!(find(c"cuLaunchKernel", 13000, 1), (0, export("cuLaunchKernel"), 0));
    assert_eq!(find(c"cuLaunchKernel", 13000, 2), (0, export("cuLaunchKernel_ptsz"), 0));
    assert_eq!(find(c"cuMemcpyHtoD", 13000, 2), (0, export("cuMemcpyHtoD_v2_ptds"), 0));
    assert_eq!(find(c"cuNobody", 13000, 0), (0, null_mut(), 1));
    assert_eq!(find(c"cuInit", 13000, 64).0, 1);
    let mut found = null_mut();
    // SAFETY: as above, without a place for the status.
    let told = unsafe { get(c"cuNobody".as_ptr().cast(), &mut found, 13000, 0, null_mut()) };
    assert_eq!(told, 500);
}

fn add_with_cudarc() -> Result<(), DriverError> {
    let context = CudaContext::new(0)?;
    assert_eq!(context.name()?, "Bugaroo virtual GPU");
    assert_eq!(context.compute_capability()?, (9, 0));
    assert_eq!(context.total_mem()?, 16 << 30);
    let module = context.load_module(Ptx::from_src(crate::support::KERNELS))?;
    let kernel = module.load_function("vector_add")?;
    let n = 5000_u32;
    let a: Vec<f32> = (0..n).map(|i| i as f32).collect();
    for stream in [context.default_stream(), context.new_stream()?] {
        let (da, db) = (stream.clone_htod(&a)?, stream.clone_htod(&a)?);
        let mut sum = stream.alloc_zeros::<f32>(n as usize)?;
        let mut launch = stream.launch_builder(&kernel);
        launch.record_kernel_launch(cudarc::driver::sys::CUevent_flags::CU_EVENT_DEFAULT);
        launch.arg(&da).arg(&db).arg(&mut sum).arg(&n);
        // SAFETY: the arguments are the kernel's parameters, with `n` elements each.
        let (start, end) = unsafe { launch.launch(LaunchConfig::for_num_elems(n)) }?.expect("recorded");
        assert!(start.elapsed_ms(&end)? > 0.0);
        let copy = stream.clone_dtod(&sum.slice(10..20))?;
        stream.synchronize()?;
        assert_eq!(stream.clone_dtoh(&copy)?, (10..20).map(|i| 2.0 * i as f32).collect::<Vec<_>>());
        assert_eq!(stream.clone_dtoh(&sum)?[4999], 9998.0);
    }
    let fork = context.default_stream().fork()?;
    fork.join(&context.default_stream())?;
    // SAFETY: it is written before it is read.
    let mut pinned = unsafe { context.alloc_pinned::<f32>(16) }?;
    pinned.as_mut_slice()?.fill(3.0);
    let back = fork.clone_dtoh(&fork.clone_htod(&pinned)?)?;
    assert_eq!(back, [3.0; 16]);
    Ok(())
}

#[test]
fn cudarc_s_safe_interface_works() {
    with_library("cudarc_s_safe_interface_works", || {
        add_with_cudarc().expect("no call fails");
    });
}

#[test]
fn cudarc_sees_faults() {
    with_library("cudarc_sees_faults", || {
        let context = CudaContext::new(0).expect("there is a device");
        let stream = context.default_stream();
        let module = context.load_module(Ptx::from_src(crate::support::KERNELS)).expect("the kernels load");
        assert!(module.load_function("nobody").is_err());
        let kernel = module.load_function("store_at").expect("it is there");
        let mut launch = stream.launch_builder(&kernel);
        launch.arg(&16_u64);
        // SAFETY: the kernel stores nowhere, which is the point.
        unsafe { launch.launch(LaunchConfig::for_num_elems(1)) }.expect("the launch itself succeeds");
        let error = stream.synchronize().expect_err("it stored nowhere");
        assert_eq!(error.0 as u32, 700);
        assert!(context.load_module(Ptx::from_src("nonsense")).is_err());
    });
}
