//! All that is registered, by the addresses that the program knows it by.
//!
//! An address that is registered twice keeps its first meaning: kernels that are made of one template in
//! several object files share a host function, and any of them will do.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::binary::{Binary, Kernel, Variable};

#[derive(Default)]
struct Table {
    /// By their own addresses, which are the program's handles, in order of registration.
    binaries: Vec<&'static Binary>,
    /// By host function; several binaries may have the same.
    kernels: BTreeMap<usize, Vec<&'static Kernel>>,
    /// By the kernels' own addresses, which are handles, too.
    handles: BTreeMap<usize, &'static Kernel>,
    /// By shadow.
    variables: BTreeMap<usize, Vec<Variable>>,
}

fn table() -> MutexGuard<'static, Table> {
    static TABLE: Mutex<Table> = Mutex::new(Table {
        binaries: Vec::new(),
        kernels: BTreeMap::new(),
        handles: BTreeMap::new(),
        variables: BTreeMap::new(),
    });
    TABLE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Notes a binary; the address is its handle.
pub fn add_binary(wrapper: *const c_void) -> *mut Binary {
    let binary: &'static Binary = Box::leak(Box::new(Binary::new(wrapper)));
    table().binaries.push(binary);
    std::ptr::from_ref(binary).cast_mut()
}

/// The binary with this handle.
pub fn binary(handle: *const Binary) -> Option<&'static Binary> {
    table().binaries.iter().copied().find(|binary| std::ptr::eq(*binary, handle))
}

/// All binaries.
pub fn binaries() -> Vec<&'static Binary> {
    table().binaries.clone()
}

/// Forgets a binary and what is in it.
pub fn remove_binary(handle: *const Binary) {
    let Some(binary) = binary(handle) else { return };
    let mut table = table();
    table.binaries.retain(|known| !std::ptr::eq(*known, binary));
    table.handles.retain(|_, kernel| !std::ptr::eq(kernel.binary, binary));
    table.kernels.retain(|_, kernels| {
        kernels.retain(|kernel| !std::ptr::eq(kernel.binary, binary));
        !kernels.is_empty()
    });
    table.variables.retain(|_, variables| {
        variables.retain(|variable| !std::ptr::eq(variable.binary, binary));
        !variables.is_empty()
    });
    drop(table);
    binary.remove();
}

/// Notes a kernel of a binary.
///
/// # Safety
/// `name` is a C string.
pub unsafe fn add_kernel(handle: *const Binary, host: *const c_void, name: *const c_char) {
    let Some(binary) = binary(handle) else { return };
    // SAFETY: the caller's promise.
    let name = unsafe { owned(name) };
    let kernel: &'static Kernel = Box::leak(Box::new(Kernel::new(binary, name)));
    let mut table = table();
    table.kernels.entry(host as usize).or_default().push(kernel);
    table.handles.insert(std::ptr::from_ref(kernel) as usize, kernel);
}

/// The kernel with this host function, or with this handle.
pub fn kernel(host: *const c_void) -> Option<&'static Kernel> {
    let table = table();
    let by_host = table.kernels.get(&(host as usize)).and_then(|kernels| kernels.first());
    by_host.or_else(|| table.handles.get(&(host as usize))).copied()
}

/// Notes a variable of a binary.
///
/// # Safety
/// `name` is a C string.
pub unsafe fn add_variable(handle: *const Binary, shadow: *const c_void, name: *const c_char) {
    let Some(binary) = binary(handle) else { return };
    // SAFETY: the caller's promise.
    let name = unsafe { owned(name) };
    table().variables.entry(shadow as usize).or_default().push(Variable { binary, name });
}

/// Notes a managed variable of a binary.
///
/// # Safety
/// `name` is a C string; `place` is a place for a pointer.
pub unsafe fn add_managed(handle: *const Binary, place: *mut *mut c_void, name: *const c_char) {
    let Some(binary) = binary(handle) else { return };
    // SAFETY: the caller's promise.
    binary.add_managed(place, unsafe { owned(name) });
}

/// The variable with this shadow, or the managed one at this address.
pub fn variable(symbol: *const c_void) -> Option<Variable> {
    if symbol.is_null() {
        return None;
    }
    if let Some(variables) = table().variables.get(&(symbol as usize)) {
        return variables.first().cloned();
    }
    binaries().into_iter().find_map(|binary| {
        let name = binary.managed_at(symbol)?;
        Some(Variable { binary, name })
    })
}

/// # Safety
/// `name` is a C string.
unsafe fn owned(name: *const c_char) -> CString {
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(name) }.to_owned()
}
