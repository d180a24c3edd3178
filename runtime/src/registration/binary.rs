//! One fat binary, and what is in it. They live for ever: handles to them are the program's.

use std::ffi::{CString, c_char, c_uint, c_void};
use std::ptr::null_mut;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bugaroo_cuda_abi::{CUdeviceptr, CUkernel};

use crate::driver::driver;
use crate::error::{RuntimeError, RuntimeResult};
use crate::{context, wanted};

driver! {
    cuLibraryLoadData(
        place: *mut *mut c_void, image: *const c_void, jit_options: *const c_uint, jit_values: *mut *mut c_void,
        jit_count: c_uint, options: *const c_uint, values: *const *mut c_void, count: c_uint,
    );
    cuLibraryUnload(library: *mut c_void);
    cuLibraryGetKernel(place: *mut CUkernel, library: *mut c_void, name: *const c_char);
    cuLibraryGetManaged(place: *mut CUdeviceptr, bytes: *mut usize, library: *mut c_void, name: *const c_char);
}

/// A registered fat binary.
#[derive(Debug, Default)]
pub struct Binary {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Address of its wrapper; 0: it was unregistered.
    wrapper: usize,
    /// The library made of it, and how often one was made.
    library: Option<usize>,
    /// Counts libraries, so that kernels' handles of an earlier one are told.
    loads: u64,
    /// Its managed variables: where the program keeps the address, and the name.
    managed: Vec<(usize, CString)>,
}

/// A registered kernel.
#[derive(Debug)]
pub struct RegisteredKernel {
    /// Where it is.
    pub binary: &'static Binary,
    /// As the PTX names it.
    pub name: CString,
    /// Its handle in the binary's library, and which load that was.
    handle: Mutex<(u64, usize)>,
}

/// A registered variable.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Where it is.
    pub binary: &'static Binary,
    /// As the PTX names it.
    pub name: CString,
}

impl Binary {
    /// A binary with this wrapper.
    pub fn new(wrapper: *const c_void) -> Self {
        Binary { state: Mutex::new(State { wrapper: wrapper as usize, ..State::default() }) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a managed variable. One that comes after the binary was loaded gets its address at once
    /// or, when that fails, never: there is nobody to tell.
    pub fn add_managed(&self, place: *mut *mut c_void, name: CString) {
        let mut state = self.state();
        if let Some(library) = state.library {
            // An error shows as the null pointer that the program keeps.
            let _ = place_managed(library as *mut c_void, place as usize, &name);
        }
        state.managed.push((place as usize, name));
    }

    /// Whether a managed variable of this binary is at this address: its name.
    pub fn managed_at(&self, address: *const c_void) -> Option<CString> {
        let state = self.state();
        let at = |place: usize| {
            // SAFETY: the program's promise at registration; the binary is still registered.
            unsafe { *(place as *const *const c_void) }
        };
        state.managed.iter().find(|(place, _)| at(*place) == address).map(|(_, name)| name.clone())
    }

    /// The library of this binary, loaded if it is not yet; its managed variables are in their places then.
    ///
    /// # Errors
    /// What the driver says.
    pub fn library(&self) -> RuntimeResult<*mut c_void> {
        self.load(&mut self.state())
    }

    fn load(&self, state: &mut State) -> RuntimeResult<*mut c_void> {
        if let Some(library) = state.library {
            return Ok(library as *mut c_void);
        }
        if state.wrapper == 0 {
            return Err(RuntimeError::INVALID_DEVICE_FUNCTION);
        }
        context::ready()?;
        let mut library = null_mut();
        let image = state.wrapper as *const c_void;
        // SAFETY: a place for the answer; the wrapper is still registered; no options.
        unsafe {
            let (none, no_values) = (std::ptr::null(), null_mut());
            cuLibraryLoadData(&raw mut library, image, none, no_values, 0, none, std::ptr::null(), 0)?;
        }
        state.library = Some(library as usize);
        state.loads += 1;
        for (place, name) in &state.managed {
            place_managed(library, *place, name)?;
        }
        Ok(library)
    }

    /// Unloads the library.
    pub fn unload(&self) {
        if let Some(library) = self.state().library.take() {
            // SAFETY: a library that was loaded. It may have gone with its context; nothing is left to do then.
            let _ = unsafe { cuLibraryUnload(library as *mut c_void) };
        }
    }

    /// Unloads the library for good: the wrapper may be gone.
    pub fn remove(&self) {
        self.unload();
        let mut state = self.state();
        state.wrapper = 0;
        state.managed.clear();
    }
}

/// Puts a managed variable's address where the program keeps it.
fn place_managed(library: *mut c_void, place: usize, name: &CString) -> RuntimeResult {
    let (mut address, mut bytes) = (0, 0);
    // SAFETY: places for the answers, a library that was loaded, a C string.
    match unsafe { cuLibraryGetManaged(&raw mut address, &raw mut bytes, library, name.as_ptr()) } {
        // The compiler left it out: nothing on the device uses it, and the host does not, either.
        Err(RuntimeError::SYMBOL_NOT_FOUND) => return Ok(()),
        outcome => outcome?,
    }
    // SAFETY: the program's promise at registration; the binary is still registered.
    unsafe { *(place as *mut usize) = address as usize };
    Ok(())
}

impl RegisteredKernel {
    /// A kernel of a binary.
    pub fn new(binary: &'static Binary, name: CString) -> Self {
        RegisteredKernel { binary, name, handle: Mutex::new((0, 0)) }
    }

    /// Its handle, if somebody has asked for it since the binary was loaded.
    pub fn known(&self) -> Option<CUkernel> {
        let loads = self.binary.state().loads;
        let known = self.handle.lock().unwrap_or_else(PoisonError::into_inner);
        (known.0 == loads && known.1 != 0).then_some(known.1 as CUkernel)
    }

    /// Its handle, the binary loaded if it is not yet.
    ///
    /// # Errors
    /// `cudaErrorInvalidDeviceFunction` when the binary lacks it; otherwise what the driver says.
    pub fn handle(&self) -> RuntimeResult<CUkernel> {
        let mut state = self.binary.state();
        let library = match state.library {
            Some(library) => library as *mut c_void,
            None => wanted::for_kernel(&self.name, || self.binary.load(&mut state))?,
        };
        let mut known = self.handle.lock().unwrap_or_else(PoisonError::into_inner);
        if known.0 != state.loads {
            let mut kernel = null_mut();
            // SAFETY: a place for the answer, a library that was loaded, a C string.
            match unsafe { cuLibraryGetKernel(&raw mut kernel, library, self.name.as_ptr()) } {
                Err(RuntimeError::SYMBOL_NOT_FOUND) => return Err(RuntimeError::INVALID_DEVICE_FUNCTION),
                outcome => outcome?,
            }
            *known = (state.loads, kernel as usize);
        }
        Ok(known.1 as CUkernel)
    }
}
