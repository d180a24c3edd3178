//! What stands behind the jumps, loaded when a program turns out to need it: from beside this library.

use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_uint, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::OnceLock;

use bugaroo_shims::{IMPLEMENTATION, LIBRARIES};

type Bind = unsafe extern "C" fn(*const *const c_char, *mut *const c_void, c_uint, c_int);

/// A library of ours that stands for NVIDIA's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behind {
    /// The CUDA runtime.
    Runtime,
    /// cuBLAS and its like.
    Libraries,
}

impl Behind {
    /// Its file.
    fn file(self) -> &'static str {
        match self {
            Behind::Runtime => IMPLEMENTATION,
            Behind::Libraries => LIBRARIES,
        }
    }

    /// The function that finds its functions by name; None without the library.
    pub fn bind(self) -> Option<impl Fn(&[*const c_char], &mut [*const c_void], c_int)> {
        static RUNTIME: OnceLock<usize> = OnceLock::new();
        static LIBRARIES: OnceLock<usize> = OnceLock::new();
        let (library, name) = match self {
            Behind::Runtime => (&RUNTIME, c"bugaroo_cudart_bind"),
            Behind::Libraries => (&LIBRARIES, c"bugaroo_libraries_bind"),
        };
        bind(
            self.file(),
            *library.get_or_init(|| open(self.file()).map_or(0, |library| library as usize)),
            name,
        )
    }
}

fn bind(
    file: &str,
    library: usize,
    name: &CStr,
) -> Option<impl Fn(&[*const c_char], &mut [*const c_void], c_int) + use<>> {
    let Some(found) = symbol(library, name) else {
        eprintln!("bugaroo: {file} is missing beside the preloaded library");
        return None;
    };
    // SAFETY: that is the function's type.
    let bind: Bind = unsafe { std::mem::transmute(found) };
    Some(move |names: &[*const c_char], slots: &mut [*const c_void], version| {
        let count = c_uint::try_from(names.len().min(slots.len())).unwrap_or(0);
        // SAFETY: as many names, which are C strings and never freed, and slots.
        unsafe { bind(names.as_ptr(), slots.as_mut_ptr(), count, version) }
    })
}

fn symbol(library: usize, name: &CStr) -> Option<*mut c_void> {
    if library == 0 {
        return None;
    }
    // SAFETY: the library is open and stays so; a C string.
    let found = unsafe { libc::dlsym(library as *mut c_void, name.as_ptr()) };
    (!found.is_null()).then_some(found)
}

fn open(file: &str) -> Option<*mut c_void> {
    // SAFETY: plain data; an address of ours, and a C string if the loader knows it.
    let here = unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(open as *const c_void, &raw mut info) == 0 || info.dli_fname.is_null() {
            return None;
        }
        CStr::from_ptr(info.dli_fname)
    };
    let beside = Path::new(OsStr::from_bytes(here.to_bytes())).with_file_name(file);
    let beside = CString::new(beside.as_os_str().as_bytes()).ok()?;
    // SAFETY: a C string; the library's initialisers are ours.
    let library = unsafe { libc::dlopen(beside.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    (!library.is_null()).then_some(library)
}
