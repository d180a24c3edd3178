//! Images of every kind: fat binaries and their wrappers in memory and in files, and links.

use std::ffi::{CString, c_char, c_uint, c_void};
use std::ptr::{null, null_mut};

use bugaroo_cuda_abi::{CUfunction, CUlinkState, CUmodule};
use bugaroo_device::images::fatbin::{WRAPPER_MAGIC, of_ptx};
use cuda::Status;
use cuda::api::library::{cuLibraryGetKernel, cuLibraryLoadData, cuLibraryUnload};
use cuda::api::link::{cuLinkAddData_v2, cuLinkAddFile_v2, cuLinkComplete, cuLinkCreate_v2, cuLinkDestroy};
use cuda::api::module::{cuModuleGetFunction, cuModuleLoad, cuModuleLoadData, cuModuleLoadFatBinary};

use crate::support::{Device, download, launch, number, parameter, upload};

const HEAD: &str = ".version 7.0\n.target sm_75\n.address_size 64\n";

/// `*out = helper(*out)`
const CALLER: &str = "
.extern .func (.param .b32 result) helper (.param .b32 x);
.visible .entry kernel(.param .u64 out) {
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    .param .b32 argument;
    .param .b32 result;
    ld.param.u64 %rd1, [out];
    ld.global.u32 %r1, [%rd1];
    st.param.b32 [argument], %r1;
    call.uni (result), helper, (argument);
    ld.param.b32 %r2, [result];
    st.global.u32 [%rd1], %r2;
    ret;
}
";

/// `x + 7`
const HELPER: &str = "
.visible .func (.param .b32 result) helper (.param .b32 x) {
    .reg .b32 %r<3>;
    ld.param.b32 %r1, [x];
    add.u32 %r2, %r1, 7;
    st.param.b32 [result], %r2;
    ret;
}
";

fn module(body: &str) -> String {
    format!("{HEAD}{body}")
}

/// What nvcc puts into a program's data.
#[repr(C)]
struct Wrapper {
    magic: u32,
    version: u32,
    data: *const u8,
    list: *const *const u8,
}

impl Wrapper {
    fn new(version: u32, data: *const u8, list: *const *const u8) -> Wrapper {
        Wrapper { magic: WRAPPER_MAGIC, version, data, list }
    }

    fn load(&self) -> Result<CUmodule, Status> {
        load((&raw const *self).cast())
    }
}

fn load(image: *const c_void) -> Result<CUmodule, Status> {
    let mut loaded = null_mut();
    // SAFETY: the place is one for a handle; the tests pass images.
    match unsafe { cuModuleLoadData(&mut loaded, image) } {
        Status::Success => Ok(loaded),
        status => Err(status),
    }
}

fn function(module: CUmodule) -> CUfunction {
    let mut function = null_mut();
    // SAFETY: the place is one for a handle, the name a C string.
    let status = unsafe { cuModuleGetFunction(&mut function, module, c"kernel".as_ptr()) };
    assert_eq!(status, Status::Success);
    function
}

/// Runs `kernel` on a number in device memory.
fn run(function: CUfunction, value: u32) -> u32 {
    let out = upload(&[value]);
    assert_eq!(launch(function, 1, 1, &[parameter(&out)]), Status::Success);
    download::<u32>(out, 1).expect("it ran")[0]
}

#[test]
fn a_program_of_several_device_modules_is_linked() {
    let _device = Device::new();
    let (caller, helper) = (of_ptx(&module(CALLER), 75), of_ptx(&module(HELPER), 75));
    // The machine code that nvlink made of them: nothing that runs here.
    let mut own = of_ptx("", 75);
    own[8..16].fill(0);
    let list = [caller.as_ptr(), helper.as_ptr(), null()];
    let wrapper = Wrapper::new(2, own.as_ptr(), list.as_ptr());
    assert_eq!(run(function(wrapper.load().expect("they fit")), 35), 42);
    // One of them alone, and in a wrapper of its own.
    let list = [caller.as_ptr(), null()];
    assert_eq!(Wrapper::new(2, own.as_ptr(), list.as_ptr()).load(), Err(Status::InvalidImage));
    assert!(Wrapper::new(1, helper.as_ptr(), null()).load().is_ok());
    assert_eq!(Wrapper::new(1, own.as_ptr(), null()).load(), Err(Status::NoBinaryForGpu));
}

#[test]
fn pointers_to_nothing_are_errors() {
    let _device = Device::new();
    let image = of_ptx(&module(HELPER), 75);
    for nothing in [null(), number(16).cast_const().cast::<u8>(), number(usize::MAX - 7).cast_const().cast()]
    {
        assert_eq!(Wrapper::new(1, nothing, null()).load(), Err(Status::InvalidImage));
        let list = [image.as_ptr(), nothing, nothing];
        let ends = nothing.is_null();
        assert_eq!(Wrapper::new(2, image.as_ptr(), list.as_ptr()).load().is_ok(), ends);
    }
    assert_eq!(
        Wrapper::new(2, image.as_ptr(), number(24).cast_const().cast()).load(),
        Err(Status::InvalidImage)
    );
    let mut lying = image.clone();
    lying[8..16].copy_from_slice(&(1_u64 << 62).to_le_bytes());
    assert_eq!(load(lying.as_ptr().cast()), Err(Status::InvalidImage));
}

/// A link with logs.
struct Link {
    state: CUlinkState,
    log: Box<[u8; 512]>,
    _values: Box<[*mut c_void; 2]>,
}

impl Link {
    fn new() -> Link {
        /// `CU_JIT_ERROR_LOG_BUFFER` and its size.
        const OPTIONS: [c_uint; 2] = [5, 6];
        let mut log = Box::new([0_u8; 512]);
        let mut values = Box::new([log.as_mut_ptr().cast(), number(log.len())]);
        let mut state = null_mut();
        // SAFETY: options and values are two each, and live as long as the link.
        let status = unsafe { cuLinkCreate_v2(2, OPTIONS.as_ptr(), values.as_mut_ptr(), &mut state) };
        assert_eq!(status, Status::Success);
        Link { state, log, _values: values }
    }

    fn add(&self, kind: c_uint, name: &str, content: &[u8]) -> Status {
        let name = CString::new(name).expect("no NUL in it");
        let data = content.as_ptr().cast_mut().cast();
        // SAFETY: the content has so many bytes, and the name is a C string.
        unsafe {
            cuLinkAddData_v2(self.state, kind, data, content.len(), name.as_ptr(), 0, null(), null_mut())
        }
    }

    fn add_file(&self, kind: c_uint, path: &std::path::Path) -> Status {
        let path = CString::new(path.to_str().expect("a name of text")).expect("no NUL in it");
        // SAFETY: the path is a C string.
        unsafe { cuLinkAddFile_v2(self.state, kind, path.as_ptr(), 0, null(), null_mut()) }
    }

    fn complete(&self) -> Result<Vec<u8>, Status> {
        let (mut image, mut size) = (null_mut(), 0);
        // SAFETY: the places are those for a pointer and a number; the image has so many bytes.
        unsafe {
            match cuLinkComplete(self.state, &mut image, &mut size) {
                Status::Success => Ok(std::slice::from_raw_parts(image.cast::<u8>(), size).to_vec()),
                status => Err(status),
            }
        }
    }

    fn said(&self) -> String {
        let end = self.log.iter().position(|byte| *byte == 0).expect("a NUL ends the log");
        String::from_utf8(self.log[..end].to_vec()).expect("the log is text")
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        assert_eq!(cuLinkDestroy(self.state), Status::Success);
    }
}

const CUBIN: c_uint = 0;
const PTX: c_uint = 1;
const FAT_BINARY: c_uint = 2;
const LIBRARY: c_uint = 4;

#[test]
fn a_link_gives_an_image() {
    let _device = Device::new();
    let folder = tempfile::tempdir().expect("a folder");
    let link = Link::new();
    assert_eq!(link.add(PTX, "caller.ptx", module(CALLER).as_bytes()), Status::Success);
    let file = folder.path().join("helper.fatbin");
    std::fs::write(&file, of_ptx(&module(HELPER), 75)).expect("the folder can be written to");
    assert_eq!(link.add_file(FAT_BINARY, &file), Status::Success);
    let image = link.complete().expect("they fit");
    assert_eq!(link.complete().as_ref(), Ok(&image), "it may be asked for twice");
    assert_eq!(link.said(), "");
    drop(link);
    assert_eq!(run(function(load(image.as_ptr().cast()).expect("it is an image")), 1), 8);

    let (mut library, mut kernel) = (null_mut(), null_mut());
    // SAFETY: places for handles, an image, no options.
    unsafe {
        let data = image.as_ptr().cast();
        let (none, no_values) = (null(), null_mut());
        let status = cuLibraryLoadData(&mut library, data, none, no_values, 0, none, null(), 0);
        assert_eq!(status, Status::Success);
        assert_eq!(cuLibraryGetKernel(&mut kernel, library, c"kernel".as_ptr()), Status::Success);
    }
    assert_eq!(run(kernel, 2), 9);
    assert_eq!(cuLibraryUnload(library), Status::Success);

    let file = folder.path().join("linked");
    std::fs::write(&file, &image).expect("the folder can be written to");
    let path = CString::new(file.to_str().expect("a name of text")).expect("no NUL in it");
    let mut from_file = null_mut();
    // SAFETY: a place for a handle and a C string; then an image.
    unsafe {
        assert_eq!(cuModuleLoad(&mut from_file, path.as_ptr()), Status::Success);
        assert_eq!(cuModuleLoadFatBinary(&mut from_file, image.as_ptr().cast()), Status::Success);
    }
    assert_eq!(run(function(from_file), 3), 10);
}

#[test]
fn what_cannot_be_linked_is_told_in_the_log() {
    let _device = Device::new();
    let link = Link::new();
    assert_eq!(link.complete(), Err(Status::InvalidImage));
    assert_eq!(link.add(PTX, "caller.ptx", module(CALLER).as_bytes()), Status::Success);
    assert_eq!(link.complete(), Err(Status::InvalidImage));
    assert!(link.said().contains("undefined: helper (declared in caller.ptx)"), "{}", link.said());
    assert_eq!(link.add(PTX, "broken.ptx", b".version 7.0\nwhat"), Status::InvalidPtx);
    assert!(link.said().contains("PTX line 2"), "{}", link.said());
    assert_eq!(link.add(CUBIN, "code.cubin", b"\x7fELF"), Status::NoBinaryForGpu);
    assert!(link.said().contains("code.cubin is machine code"), "{}", link.said());
    assert_eq!(link.add(LIBRARY, "libother.a", b"!<arch>\n"), Status::NoBinaryForGpu);
    assert!(link.said().contains("libother.a is a library"), "{}", link.said());
    assert_eq!(link.add(77, "x", b"x"), Status::InvalidValue);
    assert_eq!(link.add_file(PTX, std::path::Path::new("no such file")), Status::FileNotFound);
    // What was refused does not count.
    assert_eq!(link.add(PTX, "helper.ptx", module(HELPER).as_bytes()), Status::Success);
    assert!(link.complete().is_ok());
    let twice = Link::new();
    for name in ["one.ptx", "two.ptx"] {
        assert_eq!(twice.add(PTX, name, module(HELPER).as_bytes()), Status::Success);
    }
    assert_eq!(twice.complete(), Err(Status::InvalidImage));
    assert!(twice.said().contains("helper is defined in one.ptx and in two.ptx"), "{}", twice.said());
}

#[test]
fn launches_from_the_device_are_refused_by_name() {
    let _device = Device::new();
    let caller = module(&CALLER.replace("helper", "cudaGetParameterBufferV2"));
    let link = Link::new();
    assert_eq!(link.add(PTX, "caller.ptx", caller.as_bytes()), Status::Success);
    assert_eq!(link.complete(), Err(Status::InvalidImage));
    assert!(
        link.said().contains("cudaGetParameterBufferV2") && link.said().contains("launches from the device")
    );
    // With the library, the grid's barrier is there, and kernels without launches may run.
    assert_eq!(link.add(LIBRARY, "libcudadevrt.a", b"!<arch>\n"), Status::Success);
    let barrier = "
.extern .func (.param .b64 handle) cudaCGGetIntrinsicHandle (.param .b32 scope);
.visible .entry handle(.param .u64 out) {
    .reg .b64 %rd<3>;
    .param .b32 scope;
    .param .b64 handle;
    ld.param.u64 %rd1, [out];
    st.param.b32 [scope], 2;
    call.uni (handle), cudaCGGetIntrinsicHandle, (scope);
    ld.param.b64 %rd2, [handle];
    st.global.u64 [%rd1], %rd2;
    ret;
}
";
    let link = Link::new();
    assert_eq!(link.add(PTX, "grid.ptx", module(barrier).as_bytes()), Status::Success);
    assert_eq!(link.add(LIBRARY, "/somewhere/libcudadevrt.a", b"!<arch>\n"), Status::Success);
    let image = link.complete().expect("it is all there");
    let loaded = load(image.as_ptr().cast()).expect("it is an image");
    let mut kernel = null_mut();
    // SAFETY: the place is one for a handle, the name a C string.
    let name: *const c_char = c"handle".as_ptr();
    // SAFETY: a place for a handle, and a C string.
    assert_eq!(unsafe { cuModuleGetFunction(&mut kernel, loaded, name) }, Status::Success);
    let out = upload(&[5_u64]);
    assert_eq!(launch(kernel, 1, 1, &[parameter(&out)]), Status::Success);
    assert_eq!(download::<u64>(out, 1), Ok(vec![0]), "no grid of several devices");
}
