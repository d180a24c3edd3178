//! The Driver API, bound by name when first called, and the door that Bugaroo's driver has for this library.
//!
//! Nothing is linked: the loader gives the `libcuda.so.1` that the program uses itself.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr::null_mut;
use std::sync::OnceLock;

/// A stream's handle.
pub type Stream = *mut c_void;

/// What a function of the driver's gives: a `CUresult` other than `CUDA_SUCCESS` is an error.
pub type Outcome<T = ()> = Result<T, c_uint>;

/// `CUDA_ERROR_NOT_INITIALIZED`
const NOT_INITIALIZED: c_uint = 3;
/// `CUDA_ERROR_NOT_SUPPORTED`
const NOT_SUPPORTED: c_uint = 801;

/// The version of the door that this library was written for (`driver/src/library_work.rs`).
const VERSION: c_uint = 1;

/// A function of the driver's; null where there is none.
fn find(name: &CStr) -> *mut c_void {
    static LIBRARY: OnceLock<usize> = OnceLock::new();
    // SAFETY: a C string; the library's initialisers are the driver's own business.
    let open =
        || unsafe { libc::dlopen(c"libcuda.so.1".as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) } as usize;
    let library = *LIBRARY.get_or_init(open) as *mut c_void;
    if library.is_null() {
        return null_mut();
    }
    // SAFETY: the library is open and never closed; the name is a C string.
    unsafe { libc::dlsym(library, name.as_ptr()) }
}

/// Declares functions of the Driver API by their C prototypes.
macro_rules! driver {
    ($($name:ident($($argument:ident: $type:ty),* $(,)?);)*) => {$(
        #[doc = concat!("`", stringify!($name), "` of the Driver API.")]
        ///
        /// # Safety
        /// As its documentation asks.
        #[allow(non_snake_case, reason = "cuda.h's own name")]
        pub unsafe fn $name($($argument: $type),*) -> Outcome {
            static ADDRESS: OnceLock<usize> = OnceLock::new();
            // The name holds no NUL: it is an identifier.
            const NAME: &CStr = match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => c"",
            };
            match *ADDRESS.get_or_init(|| find(NAME) as usize) {
                0 => Err(NOT_INITIALIZED),
                // SAFETY: the prototype is the one that cuda.h states for this name, and the caller's promise.
                found => result(unsafe {
                    let function: unsafe extern "C" fn($($type),*) -> c_uint = std::mem::transmute(found);
                    function($($argument),*)
                }),
            }
        }
    )*};
}

driver! {
    cuInit(flags: c_uint);
    cuDeviceGet(place: *mut c_int, ordinal: c_int);
    cuDevicePrimaryCtxRetain(place: *mut *mut c_void, device: c_int);
    cuCtxGetCurrent(place: *mut *mut c_void);
    cuCtxSetCurrent(context: *mut c_void);
    cuCtxSynchronize();
    cuStreamSynchronize(stream: Stream);
    cuMemcpy2D_v2(copy: *const Copy2D);
    cuMemcpy2DAsync_v2(copy: *const Copy2D, stream: Stream);
    bugarooLibraryDoor(version: c_uint, place: *mut *const Door);
}

fn result(code: c_uint) -> Outcome {
    if code == 0 { Ok(()) } else { Err(code) }
}

/// `CUDA_MEMCPY2D`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "cuda.h's own fields")]
pub struct Copy2D {
    pub source_x: usize,
    pub source_y: usize,
    pub source_type: c_uint,
    pub source_host: *const c_void,
    pub source_device: u64,
    pub source_array: *mut c_void,
    pub source_pitch: usize,
    pub x: usize,
    pub y: usize,
    pub kind: c_uint,
    pub host: *mut c_void,
    pub device: u64,
    pub array: *mut c_void,
    pub pitch: usize,
    pub width: usize,
    pub height: usize,
}

/// How a function of this library's gets at device memory while it runs, as the driver has it.
#[repr(C)]
pub struct Access {
    /// What the functions are given.
    pub state: *mut c_void,
    /// Rows from the device.
    pub read: unsafe extern "C" fn(*mut c_void, u64, *mut c_void, usize, usize, usize) -> c_uint,
    /// Rows to the device.
    pub write: unsafe extern "C" fn(*mut c_void, u64, *const c_void, usize, usize, usize) -> c_uint,
}

/// The functions behind the door, as the driver has them.
#[repr(C)]
pub struct Door {
    /// Hands work over to a stream.
    pub enqueue: unsafe extern "C" fn(
        *const c_char,
        Stream,
        unsafe extern "C" fn(*mut c_void, *const Access) -> c_uint,
        *mut c_void,
        unsafe extern "C" fn(*mut c_void),
    ) -> c_uint,
}

/// The door, which is never taken away.
///
/// # Errors
/// `NOT_SUPPORTED` where the driver is not Bugaroo's virtual GPU of this version, which is said once.
pub fn door() -> Outcome<&'static Door> {
    static DOOR: OnceLock<Option<usize>> = OnceLock::new();
    let open = || {
        let mut door: *const Door = std::ptr::null();
        // SAFETY: a place for the answer.
        let opened = unsafe { bugarooLibraryDoor(VERSION, &raw mut door) };
        if opened.is_err() || door.is_null() {
            eprintln!(
                "bugaroo: its substitutes of NVIDIA's libraries are of its virtual GPU only, and the driver of this process is \
                 another, or one of another version"
            );
            return None;
        }
        Some(door as usize)
    };
    let door = DOOR.get_or_init(open).ok_or(NOT_SUPPORTED)?;
    // SAFETY: the driver's own, which it never takes away; null was sorted out.
    Ok(unsafe { &*(door as *const Door) })
}

/// Sees to it that the calling thread has a current context: the first device's primary one, if no other. So does the runtime
/// (CUDA Runtime API, "Interactions with the CUDA Driver API").
///
/// # Errors
/// When the driver cannot be initialised.
pub fn ready() -> Outcome {
    static PRIMARY: OnceLock<Outcome<usize>> = OnceLock::new();
    // SAFETY: places for the answers; a context that was retained.
    unsafe {
        cuInit(0)?;
        let mut current = null_mut();
        cuCtxGetCurrent(&raw mut current)?;
        if !current.is_null() {
            return Ok(());
        }
        let retain = || {
            let (mut device, mut context) = (0, null_mut());
            cuDeviceGet(&raw mut device, 0)?;
            cuDevicePrimaryCtxRetain(&raw mut context, device)?;
            Ok(context as usize)
        };
        cuCtxSetCurrent((*PRIMARY.get_or_init(retain))? as *mut c_void)
    }
}
