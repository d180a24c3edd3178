//! The runtime, loaded when a program turns out to need it: from beside this library.

use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_uint, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::OnceLock;

use bugaroo_shims::IMPLEMENTATION;

type Bind = unsafe extern "C" fn(*const *const c_char, *mut *const c_void, c_uint, c_int);

/// The function that finds functions by name; None without the library.
pub fn bind() -> Option<impl Fn(&[*const c_char], &mut [*const c_void], c_int)> {
    let Some(found) = symbol(c"bugaroo_cudart_bind") else {
        eprintln!("bugaroo: {IMPLEMENTATION} is missing beside the preloaded library");
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

fn symbol(name: &CStr) -> Option<*mut c_void> {
    static LIBRARY: OnceLock<usize> = OnceLock::new();
    let library = *LIBRARY.get_or_init(|| open().map_or(0, |library| library as usize));
    if library == 0 {
        return None;
    }
    // SAFETY: the library is open and stays so; a C string.
    let found = unsafe { libc::dlsym(library as *mut c_void, name.as_ptr()) };
    (!found.is_null()).then_some(found)
}

fn open() -> Option<*mut c_void> {
    // SAFETY: plain data; an address of ours, and a C string if the loader knows it.
    let here = unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(open as *const c_void, &raw mut info) == 0 || info.dli_fname.is_null() {
            return None;
        }
        CStr::from_ptr(info.dli_fname)
    };
    let beside = Path::new(OsStr::from_bytes(here.to_bytes())).with_file_name(IMPLEMENTATION);
    let beside = CString::new(beside.as_os_str().as_bytes()).ok()?;
    // SAFETY: a C string; the library's initialisers are ours.
    let library = unsafe { libc::dlopen(beside.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    (!library.is_null()).then_some(library)
}
