//! What is made and destroyed in turn takes no more and no more memory.

mod support;

use std::ptr::null_mut;

use cuda::Status;

use crate::support::{Device, load};

/// Bytes of this process that the host has in memory.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").expect("/proc");
    let pages = text.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok());
    4096 * pages.expect("a number of pages")
}

/// Does something so many times, and asserts that the last nine tenths grow by less than so many MiB.
fn does_not_grow(what: &str, times: u32, mebibytes: u64, mut act: impl FnMut()) {
    (0..times / 10).for_each(|_| act());
    let before = resident();
    (times / 10..times).for_each(|_| act());
    let grown = resident().saturating_sub(before) >> 20;
    assert!(grown < mebibytes, "{what}: {grown} MiB");
}

/// One test, as each looks at the whole process.
#[test]
fn nothing_grows() {
    let _device = Device::new();
    does_not_grow("2,500 bytes of memory", 1_000_000, 16, || {
        let mut address = 0;
        // SAFETY: the place is one for an address.
        unsafe {
            assert_eq!(cuda::api::memory::cuMemAlloc_v2(&mut address, 2500), Status::Success);
            assert_eq!(cuda::api::fill::cuMemsetD8_v2(address, 1, 2500), Status::Success);
        }
        assert_eq!(cuda::api::memory::cuMemFree_v2(address), Status::Success);
    });
    does_not_grow("memory that host and device share", 200_000, 16, || {
        let mut address = 0;
        // SAFETY: the place is one for an address; the memory has 2500 bytes.
        unsafe {
            assert_eq!(cuda::api::memory::cuMemAllocManaged(&mut address, 2500, 1), Status::Success);
            (address as *mut u8).write_bytes(1, 2500);
        }
        assert_eq!(cuda::api::memory::cuMemFree_v2(address), Status::Success);
    });
    does_not_grow("a module", 10_000, 16, || {
        let module = load(".version 8.0\n.target sm_70\n.address_size 64\n.global .u32 x[1000];\n.visible .entry k() { ret; }")
            .expect("it loads");
        assert_eq!(cuda::api::module::cuModuleUnload(module), Status::Success);
    });
    does_not_grow("a context", 100_000, 16, || {
        let mut context = null_mut();
        let mut address = 0;
        // SAFETY: the places are those for a handle and an address.
        unsafe {
            assert_eq!(cuda::api::context::cuCtxCreate_v2(&mut context, 0, 0), Status::Success);
            assert_eq!(cuda::api::memory::cuMemAlloc_v2(&mut address, 100), Status::Success);
        }
        assert_eq!(cuda::api::context::cuCtxDestroy_v2(context), Status::Success);
    });
    does_not_grow("an allocation from a pool", 100_000, 16, || {
        let mut address = 0;
        // SAFETY: the place is one for an address.
        unsafe {
            assert_eq!(cuda::api::memory::cuMemAllocAsync(&mut address, 2500, null_mut()), Status::Success);
        }
        assert_eq!(cuda::api::memory::cuMemFreeAsync(address, null_mut()), Status::Success);
        assert_eq!(cuda::api::context::cuCtxSynchronize(), Status::Success);
    });
}
