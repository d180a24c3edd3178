//! All that is registered, by the addresses that the program knows it by.
//!
//! An address that is registered twice keeps its first meaning: kernels that are made of one template in
//! several object files share a host function, and any of them will do.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ffi::{CStr, CString, c_char, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::binary::{Binary, RegisteredKernel, Variable};

#[derive(Default)]
struct Table {
    /// By their own addresses, which are the program's handles, in order of registration.
    binaries: Vec<&'static Binary>,
    /// By host function; several binaries may have the same.
    kernels: BTreeMap<usize, Vec<&'static RegisteredKernel>>,
    /// By the kernels' own addresses, which are handles, too.
    handles: BTreeMap<usize, &'static RegisteredKernel>,
    /// By shadow.
    variables: BTreeMap<usize, Vec<Variable>>,
    /// By the binaries' addresses, what each has in the other tables: torch registers hundreds of binaries with tens of thousands of
    /// kernels, and forgets one after the other.
    keys: BTreeMap<usize, Keys>,
}

/// What a binary is known by.
struct Keys {
    binary: &'static Binary,
    hosts: Vec<usize>,
    handles: Vec<usize>,
    shadows: Vec<usize>,
}

/// Forgets some of what is known by a key, and the key with the last of it.
fn forget<T>(table: &mut BTreeMap<usize, Vec<T>>, key: usize, stays: impl Fn(&T) -> bool) {
    if let Entry::Occupied(mut known) = table.entry(key) {
        known.get_mut().retain(stays);
        if known.get().is_empty() {
            known.remove();
        }
    }
}

fn table() -> MutexGuard<'static, Table> {
    static TABLE: Mutex<Table> = Mutex::new(Table {
        binaries: Vec::new(),
        kernels: BTreeMap::new(),
        handles: BTreeMap::new(),
        variables: BTreeMap::new(),
        keys: BTreeMap::new(),
    });
    TABLE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Notes a binary; the address is its handle.
pub fn add_binary(wrapper: *const c_void) -> *mut Binary {
    let binary: &'static Binary = Box::leak(Box::new(Binary::new(wrapper)));
    let handle = std::ptr::from_ref(binary);
    let keys = Keys { binary, hosts: Vec::new(), handles: Vec::new(), shadows: Vec::new() };
    let mut table = table();
    table.binaries.push(binary);
    table.keys.insert(handle as usize, keys);
    handle.cast_mut()
}

/// The binary with this handle.
pub fn binary(handle: *const Binary) -> Option<&'static Binary> {
    table().keys.get(&(handle as usize)).map(|keys| keys.binary)
}

/// All binaries.
pub fn binaries() -> Vec<&'static Binary> {
    table().binaries.clone()
}

/// Forgets a binary and what is in it.
pub fn remove_binary(handle: *const Binary) {
    let mut table = table();
    let Some(Keys { binary, hosts, handles, shadows }) = table.keys.remove(&(handle as usize)) else {
        return;
    };
    table.binaries.retain(|known| !std::ptr::eq(*known, binary));
    for handle in handles {
        table.handles.remove(&handle);
    }
    for host in hosts {
        forget(&mut table.kernels, host, |kernel| !std::ptr::eq(kernel.binary, binary));
    }
    for shadow in shadows {
        forget(&mut table.variables, shadow, |variable| !std::ptr::eq(variable.binary, binary));
    }
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
    let kernel: &'static RegisteredKernel = Box::leak(Box::new(RegisteredKernel::new(binary, name)));
    let own = std::ptr::from_ref(kernel) as usize;
    let mut table = table();
    table.kernels.entry(host as usize).or_default().push(kernel);
    table.handles.insert(own, kernel);
    if let Some(keys) = table.keys.get_mut(&(handle as usize)) {
        keys.hosts.push(host as usize);
        keys.handles.push(own);
    }
}

/// The kernel with this host function, or with this handle.
pub fn kernel(host: *const c_void) -> Option<&'static RegisteredKernel> {
    let table = table();
    let by_host = table.kernels.get(&(host as usize)).and_then(|kernels| kernels.first());
    by_host.or_else(|| table.handles.get(&(host as usize))).copied()
}

/// All kernels with host functions, each with that.
pub fn hosts() -> Vec<(usize, &'static RegisteredKernel)> {
    let table = table();
    table.kernels.iter().filter_map(|(host, kernels)| Some((*host, *kernels.first()?))).collect()
}

/// Notes a variable of a binary.
///
/// # Safety
/// `name` is a C string.
pub unsafe fn add_variable(handle: *const Binary, shadow: *const c_void, name: *const c_char) {
    let Some(binary) = binary(handle) else { return };
    // SAFETY: the caller's promise.
    let name = unsafe { owned(name) };
    let mut table = table();
    table.variables.entry(shadow as usize).or_default().push(Variable { binary, name });
    if let Some(keys) = table.keys.get_mut(&(handle as usize)) {
        keys.shadows.push(shadow as usize);
    }
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
