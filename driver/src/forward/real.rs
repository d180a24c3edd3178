//! The real driver: found by its path, its functions by their names.

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::OnceLock;

use bugaroo_cuda_abi::{CUcontext, CUdeviceptr, CUfunction, CUlibrary, CUmodule, CUstream};

use bugaroo_device::error::{CallResult, Status};

/// The library, opened and never closed.
#[derive(Clone, Copy, Debug)]
pub struct Real {
    library: usize,
}

static REAL: OnceLock<Real> = OnceLock::new();

impl Real {
    /// Opens the library at this path.
    ///
    /// # Errors
    /// What the loader says.
    pub fn open(path: &Path) -> Result<Self, String> {
        let path = CString::new(path.as_os_str().as_bytes()).map_err(|error| error.to_string())?;
        // SAFETY: a path as a C string. A path with slashes is never taken for a library of the same name
        // that is loaded already. Its initialisers are the vendor's.
        let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if library.is_null() {
            // SAFETY: after a failure the loader has a text, which stays until its next call here.
            let said = unsafe { CStr::from_ptr(libc::dlerror()) };
            return Err(said.to_string_lossy().into_owned());
        }
        Ok(Real { library: library as usize })
    }
}

/// Makes a library the one that [`address`] asks.
pub fn install(real: Real) -> Result<(), Real> {
    REAL.set(real)
}

/// The address of the real driver's function of this name.
pub fn address(name: &str) -> Option<*mut c_void> {
    let name = CString::new(name).ok()?;
    let real = REAL.get()?;
    // SAFETY: the library is open, the name a C string.
    let address = unsafe { libc::dlsym(real.library as *mut c_void, name.as_ptr()) };
    (!address.is_null()).then_some(address)
}

/// Declares the real driver's functions by their prototypes in `cuda.h`.
macro_rules! real {
    ($($name:ident($($argument:ident: $type:ty),* $(,)?);)*) => {$(
        #[doc = concat!("The real `", stringify!($name), "`.")]
        ///
        /// # Safety
        /// As its documentation asks.
        #[allow(clippy::too_many_arguments, reason = "the API's own signature")]
        pub unsafe fn $name($($argument: $type),*) -> CallResult {
            static ADDRESS: OnceLock<usize> = OnceLock::new();
            let address = *ADDRESS.get_or_init(|| address(stringify!($name)).map_or(0, |address| address as usize));
            if address == 0 {
                return Err(Status::NotSupported);
            }
            // SAFETY: the prototype is the one that cuda.h states for this name.
            let function: unsafe extern "C" fn($($type),*) -> c_uint = unsafe { std::mem::transmute(address) };
            // SAFETY: the caller's promise.
            match unsafe { function($($argument),*) } {
                0 => Ok(()),
                code => Err(Status::from_code(code).unwrap_or(Status::Unknown)),
            }
        }
    )*};
}

real! {
    cuInit(flags: c_uint);
    cuDriverGetVersion(place: *mut c_int);
    cuCtxGetDevice(place: *mut c_int);
    cuDeviceGetAttribute(place: *mut c_int, attribute: c_int, device: c_int);
    cuCtxGetCurrent(place: *mut CUcontext);
    cuStreamSynchronize(stream: CUstream);
    cuStreamQuery(stream: CUstream);
    cuStreamIsCapturing(stream: CUstream, place: *mut c_int);
    cuMemAlloc_v2(place: *mut CUdeviceptr, bytes: usize);
    cuMemGetInfo_v2(free: *mut usize, total: *mut usize);
    cuMemcpyHtoD_v2(to: CUdeviceptr, from: *const c_void, bytes: usize);
    cuMemcpyHtoDAsync_v2(to: CUdeviceptr, from: *const c_void, bytes: usize, stream: CUstream);
    cuMemcpyDtoH_v2(to: *mut c_void, from: CUdeviceptr, bytes: usize);
    cuMemsetD8Async(address: CUdeviceptr, value: u8, bytes: usize, stream: CUstream);
    cuModuleLoadData(place: *mut CUmodule, image: *const c_void);
    cuModuleLoadDataEx(place: *mut CUmodule, image: *const c_void, count: c_uint, options: *const c_uint, values: *mut *mut c_void);
    cuModuleUnload(module: CUmodule);
    cuModuleGetGlobal_v2(address: *mut CUdeviceptr, bytes: *mut usize, module: CUmodule, name: *const c_char);
    cuLibraryLoadData(place: *mut CUlibrary, code: *const c_void, jit: *const c_uint, jit_values: *const *mut c_void, jit_count: c_uint, options: *const c_uint, values: *const *mut c_void, count: c_uint);
    cuLibraryUnload(library: CUlibrary);
    cuLibraryGetModule(place: *mut CUmodule, library: CUlibrary);
    cuKernelGetFunction(place: *mut CUfunction, kernel: CUfunction);
    cuFuncGetModule(place: *mut CUmodule, function: CUfunction);
    cuFuncGetName(place: *mut *const c_char, function: CUfunction);
    cuLinkCreate_v2(count: c_uint, options: *const c_uint, values: *mut *mut c_void, state: *mut *mut c_void);
    cuLinkAddData_v2(state: *mut c_void, kind: c_uint, data: *const c_void, bytes: usize, name: *const c_char, count: c_uint, options: *const c_uint, values: *mut *mut c_void);
    cuLinkComplete(state: *mut c_void, image: *mut *mut c_void, bytes: *mut usize);
    cuLinkDestroy(state: *mut c_void);
}
