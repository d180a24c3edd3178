//! What the driver's tests share: the kernels, a context of one's own, and trials in processes of
//! their own.

#![allow(dead_code, reason = "each test file uses a part")]

use std::ffi::{CString, OsStr, c_void};
use std::io::Read as _;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::panic::Location;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::ptr::{null, null_mut};

use bugaroo_cuda_abi::{CUcontext, CUdeviceptr, CUfunction, CUmodule};
use bugaroo_protocol::{Backend, Launch, Message, ORDERS_VARIABLE, Orders, VERSION, Variation};
use cuda::Status;

pub mod plain;
pub mod streams;

/// The kernels under `tests/`.
pub const KERNELS: &str = include_str!("../kernels.ptx");

/// Tells a test that it is the trial, not the one who starts it.
const TRIAL_VARIABLE: &str = "BUGAROO_TEST_TRIAL";

/// A context that nobody else uses, so that its faults are this test's alone.
pub struct Device {
    pub context: CUcontext,
    pub module: CUmodule,
}

impl Device {
    /// Initialises the driver, makes a context and loads the kernels.
    pub fn new() -> Device {
        assert_eq!(cuda::api::init::cuInit(0), Status::Success);
        let mut context = null_mut();
        // SAFETY: the place is one for a handle.
        assert_eq!(unsafe { cuda::api::context::cuCtxCreate_v2(&mut context, 0, 0) }, Status::Success);
        Device { context, module: load(KERNELS).expect("the kernels load") }
    }

    pub fn kernel(&self, name: &str) -> CUfunction {
        let name = CString::new(name).expect("names hold no NUL");
        let mut function = null_mut();
        // SAFETY: the place is one for a handle, the name a C string.
        let status =
            unsafe { cuda::api::module::cuModuleGetFunction(&mut function, self.module, name.as_ptr()) };
        assert_eq!(status, Status::Success, "{name:?}");
        function
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        assert_eq!(cuda::api::context::cuCtxDestroy_v2(self.context), Status::Success);
    }
}

/// Loads a module into the current context.
pub fn load(source: &str) -> Result<CUmodule, Status> {
    let source = CString::new(source).expect("PTX holds no NUL");
    let mut module = null_mut();
    // SAFETY: the place is one for a handle, the image a C string.
    match unsafe { cuda::api::module::cuModuleLoadData(&mut module, source.as_ptr().cast()) } {
        Status::Success => Ok(module),
        status => Err(status),
    }
}

/// Device memory with this content.
pub fn upload<T: Copy>(content: &[T]) -> CUdeviceptr {
    let bytes = size_of_val(content);
    let mut address = 0;
    // SAFETY: the place is one for an address; the content has so many bytes.
    unsafe {
        assert_eq!(cuda::api::memory::cuMemAlloc_v2(&mut address, bytes), Status::Success);
        assert_eq!(
            cuda::api::copy::cuMemcpyHtoD_v2(address, content.as_ptr().cast(), bytes),
            Status::Success
        );
    }
    address
}

/// The content of device memory.
pub fn download<T: Copy + Default>(address: CUdeviceptr, items: usize) -> Result<Vec<T>, Status> {
    let mut content = vec![T::default(); items];
    let bytes = items * size_of::<T>();
    // SAFETY: the content has so many bytes, and the tests' types are numbers.
    match unsafe { cuda::api::copy::cuMemcpyDtoH_v2(content.as_mut_ptr().cast(), address, bytes) } {
        Status::Success => Ok(content),
        status => Err(status),
    }
}

/// Launches a kernel in the default stream; the parameters are pointers to their values.
pub fn launch(function: CUfunction, grid: u32, block: u32, parameters: &[*const c_void]) -> Status {
    let each = if parameters.is_empty() { null() } else { parameters.as_ptr() };
    // SAFETY: the tests pass what the kernels take.
    unsafe {
        cuda::api::launch::cuLaunchKernel(function, grid, 1, 1, block, 1, 1, 0, null_mut(), each, null())
    }
}

/// A pointer to a parameter's value.
pub fn parameter<T>(value: &T) -> *const c_void {
    std::ptr::from_ref(value).cast()
}

/// A number in a pointer's place: a constant of the API, or a handle that was never given out.
pub fn number(number: usize) -> *mut c_void {
    std::ptr::without_provenance_mut(number)
}

/// Orders without injection.
pub fn baseline() -> Orders {
    Orders {
        injects: false,
        variation: Variation { pw: 0.0, ..Variation::default() },
        version: VERSION,
        seed: 1,
        check_insert: Default::default(),
        warp_synchronous: false,
        backend: Backend::Sim,
        devices: 1,
        real_driver: None,
        step_budget: Some(1_000_000),
        report_sites: false,
        conflicts: false,
        launches: false,
        ends: false,
        digest: false,
        cache: None,
        report_fd: -1,
        fork_server: None,
    }
}

/// Orders with sound store buffers.
pub fn store_buffers(pw: f64) -> Orders {
    varied(Orders { injects: true, ..baseline() }, |variation| variation.pw = pw)
}

/// Orders with another variation.
pub fn varied(mut orders: Orders, change: impl FnOnce(&mut Variation)) -> Orders {
    change(&mut orders.variation);
    orders
}

/// What a trial left behind.
pub struct Trial {
    pub output: Output,
    pub messages: Vec<Message>,
}

impl Trial {
    pub fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.output.stderr).into_owned()
    }

    pub fn launches(&self) -> Vec<&Launch> {
        fn launch(message: &Message) -> Option<&Launch> {
            if let Message::Launch(launch) = message { Some(launch) } else { None }
        }
        self.messages.iter().filter_map(launch).collect()
    }
}

/// Runs `body` as a trial in a process of its own: the test binary again, this test of the caller's file alone, with the
/// orders in its environment and a pipe for its report. In that process it does not return.
#[track_caller]
pub fn trial(test: &str, orders: &Orders, body: impl FnOnce()) -> Trial {
    if std::env::var_os(TRIAL_VARIABLE).is_some() {
        body();
        std::process::exit(0);
    }
    let file = Path::new(Location::caller().file());
    let module = file.file_stem().and_then(OsStr::to_str).expect("test files have names");
    let (mut reader, writer) = pipe();
    let orders = Orders { report_fd: writer.as_raw_fd(), ..orders.clone() };
    let child = Command::new(std::env::current_exe().expect("the test binary knows itself"))
        .args([&format!("{module}::{test}"), "--exact", "--nocapture", "--test-threads=1"])
        .env(TRIAL_VARIABLE, "1")
        .env(ORDERS_VARIABLE, orders.to_json())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the test binary starts");
    drop(writer);
    let mut report = String::new();
    reader.read_to_string(&mut report).expect("the report is text");
    let output = child.wait_with_output().expect("the trial ends");
    let parse = |line| serde_json::from_str(line).expect("each line is a message");
    let messages = report.lines().map(parse).collect();
    let trial = Trial { output, messages };
    assert!(trial.output.status.success(), "the trial failed: {}", trial.stderr());
    // With a wrong name none runs, and all is well.
    let ran = String::from_utf8_lossy(&trial.output.stdout).contains("running 1 test\n");
    assert!(ran, "there is no test {module}::{test}");
    trial
}

/// A pipe whose write end children inherit.
fn pipe() -> (std::fs::File, OwnedFd) {
    let mut ends = [0; 2];
    // SAFETY: there is room for two descriptors, which nobody else owns.
    unsafe {
        assert_eq!(libc::pipe(ends.as_mut_ptr()), 0);
        libc::fcntl(ends[0], libc::F_SETFD, libc::FD_CLOEXEC);
        (std::fs::File::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1]))
    }
}
