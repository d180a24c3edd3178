//! The door for libraries: what goes through it is work of a stream.

use std::ffi::{c_uint, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};

use bugaroo_cuda_abi::CUstream;
use bugaroo_cuda_abi::door::{Door, DoorAccess, VERSION};
use cuda::Status;
use cuda::api::door::bugarooDoor;
use cuda::api::stream::{cuStreamCreate, cuStreamSynchronize};

use crate::support::{Device, download, upload};

/// `CU_STREAM_NON_BLOCKING`
const NON_BLOCKING: c_uint = 1;

fn door() -> &'static Door {
    let mut door = std::ptr::null();
    // SAFETY: a place for the answer, which stays.
    unsafe {
        assert_eq!(bugarooDoor(VERSION, &raw mut door), Status::Success);
        &*door
    }
}

/// Doubles every other pair of four numbers, or reads where nothing is.
struct Task {
    address: u64,
    released: &'static AtomicUsize,
}

unsafe extern "C" fn double(data: *mut c_void, access: *const DoorAccess) -> c_uint {
    // SAFETY: what the test handed over; two rows of two numbers.
    unsafe {
        let (task, access) = (&*data.cast::<Task>(), &*access);
        let mut numbers = [0_i32; 4];
        let status = (access.read)(access.state, task.address, numbers.as_mut_ptr().cast(), 8, 2, 16);
        if status != 0 {
            return status;
        }
        numbers.iter_mut().for_each(|number| *number *= 2);
        (access.write)(access.state, task.address, numbers.as_ptr().cast(), 8, 2, 16)
    }
}

unsafe extern "C" fn release(data: *mut c_void) {
    // SAFETY: what the test handed over.
    let task = unsafe { Box::from_raw(data.cast::<Task>()) };
    task.released.fetch_add(1, Ordering::Relaxed);
}

fn enqueue(stream: CUstream, address: u64, released: &'static AtomicUsize) -> Status {
    let data = Box::into_raw(Box::new(Task { address, released })).cast();
    // SAFETY: the functions go with the data.
    let code = unsafe { (door().enqueue)(c"double".as_ptr(), stream, double, data, release) };
    Status::from_code(code).expect("a status of CUDA's")
}

#[test]
fn another_version_is_refused() {
    let mut door = std::ptr::null();
    // SAFETY: a place for the answer, or none.
    unsafe {
        assert_eq!(bugarooDoor(VERSION + 1, &raw mut door), Status::NotSupported);
        assert!(door.is_null());
        assert_eq!(bugarooDoor(VERSION, null_mut()), Status::InvalidValue);
    }
}

#[test]
fn work_is_done_in_the_order_of_its_stream_and_released() {
    static RELEASED: AtomicUsize = AtomicUsize::new(0);
    let _device = Device::new();
    let address = upload(&[1_i32, 2, 3, 4, 5, 6, 7, 8]);
    let mut stream = null_mut();
    // SAFETY: a place for the answer.
    assert_eq!(unsafe { cuStreamCreate(&raw mut stream, NON_BLOCKING) }, Status::Success);
    assert_eq!(enqueue(stream, address, &RELEASED), Status::Success);
    assert_eq!(enqueue(stream, address, &RELEASED), Status::Success);
    assert_eq!(cuStreamSynchronize(stream), Status::Success);
    assert_eq!(download::<i32>(address, 8), Ok(vec![4, 8, 3, 4, 20, 24, 7, 8]));
    assert_eq!(RELEASED.load(Ordering::Relaxed), 2);
}

#[test]
fn what_is_outside_of_memory_breaks_the_context() {
    static RELEASED: AtomicUsize = AtomicUsize::new(0);
    let device = Device::new();
    assert_eq!(enqueue(null_mut(), 64, &RELEASED), Status::Success);
    assert_eq!(cuStreamSynchronize(null_mut()), Status::IllegalAddress);
    assert_eq!(RELEASED.load(Ordering::Relaxed), 1);
    drop(device);
}
