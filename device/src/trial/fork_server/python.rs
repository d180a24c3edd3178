//! A program that is a Python interpreter, before it is forked.
//!
//! At its end Python looks for cycles among all its objects, and so touches, in each trial, every page of what scripts have
//! imported: where torch is among it, more than a second. What is there before the first launch is made permanent instead
//! (`gc.freeze`, which Python's documentation names for this very use).
//!
//! What it can miss: a cycle of objects that nobody holds any more, and that the collector has not met before the first launch, is
//! not taken apart in a trial.

use std::ffi::{c_char, c_int, c_void};

use libc::{RTLD_DEFAULT, dlsym};

/// A `PyObject *`.
type Object = *mut c_void;

type Asks = unsafe extern "C" fn() -> c_int;
type Releases = unsafe extern "C" fn(c_int);
type Imports = unsafe extern "C" fn(*const c_char) -> Object;
type Calls = unsafe extern "C" fn(Object, *const c_char, *const c_char, ...) -> Object;
type Clears = unsafe extern "C" fn();
type Drops = unsafe extern "C" fn(Object);

/// The interpreter's functions (Python/C API, "Initialization, Finalization, and Threads"; "Importing Modules"; "Call Protocol").
struct Python {
    ensure: Asks,
    release: Releases,
    import: Imports,
    call: Calls,
    clear: Clears,
    drop: Drops,
}

impl Python {
    /// The interpreter of this process, if there is one that runs.
    fn find() -> Option<Self> {
        // SAFETY: the names are C strings, and the functions by these names are of these types in all versions of Python 3.
        unsafe {
            let found = |name: &std::ffi::CStr| {
                let place = dlsym(RTLD_DEFAULT, name.as_ptr());
                (!place.is_null()).then_some(place)
            };
            let runs = std::mem::transmute::<Object, Asks>(found(c"Py_IsInitialized")?);
            if runs() == 0 {
                return None;
            }
            Some(Self {
                ensure: std::mem::transmute::<Object, Asks>(found(c"PyGILState_Ensure")?),
                release: std::mem::transmute::<Object, Releases>(found(c"PyGILState_Release")?),
                import: std::mem::transmute::<Object, Imports>(found(c"PyImport_ImportModule")?),
                call: std::mem::transmute::<Object, Calls>(found(c"PyObject_CallMethod")?),
                clear: std::mem::transmute::<Object, Clears>(found(c"PyErr_Clear")?),
                drop: std::mem::transmute::<Object, Drops>(found(c"Py_DecRef")?),
            })
        }
    }
}

/// Makes the objects that a Python interpreter has so far permanent. Where it cannot be done, trials take longer.
///
/// The process has one thread: whether or not that has let go of the interpreter's lock for the call, it gets it.
pub fn prepare() {
    let Some(python) = Python::find() else { return };
    // SAFETY: the interpreter runs, and we hold its lock between the first call and the last. Errors of ours do not stay: none was
    // set before, as no foreign code is called while one is.
    unsafe {
        let state = (python.ensure)();
        let gc = (python.import)(c"gc".as_ptr());
        let done = if gc.is_null() { gc } else { (python.call)(gc, c"freeze".as_ptr(), std::ptr::null()) };
        for held in [gc, done] {
            if held.is_null() {
                (python.clear)();
            } else {
                (python.drop)(held);
            }
        }
        (python.release)(state);
    }
}
