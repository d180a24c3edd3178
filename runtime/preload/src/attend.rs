//! What is done with one object in memory: a library whose functions we have, a program with a runtime in it, or neither.

use std::ffi::{CStr, c_char, c_void};

use bugaroo_protocol::{ORDERS_VARIABLE, notice};

use crate::behind::Behind;
use crate::mapped::{File, Object};
use crate::scan::Found;
use crate::{ending, lazy, libraries, nvrtc, redirect, scan};

/// Redirects what there is to redirect in one object.
pub fn attend(object: &Object, environment: *const *const c_char) {
    let Some(file) = File::map(object.path()) else { return };
    if nvrtc::is_nvrtc(object.path()) {
        // Where it cannot be done, the driver says what is wrong with machine code.
        let _ = nvrtc::attend(object, file.bytes());
        return;
    }
    if let Some(theirs) = libraries::find(object.path(), file.bytes()) {
        // Where it cannot be done, the driver says what is wrong with machine code.
        let slots = redirect::redirect(object, &theirs.functions, lazy::first_call as *const c_void);
        let Ok(slots) = slots else { return };
        ending::redirected(object.place());
        return slots.into_iter().for_each(|slots| lazy::add(slots, Behind::Libraries, theirs.version));
    }
    if scan::is_ours(object.path(), file.bytes()) {
        return;
    }
    let Found::Static { version, functions } = scan::scan(file.bytes()) else { return };
    let reason = match redirect::redirect(object, &functions, lazy::first_call as *const c_void) {
        Ok(slots) => return slots.into_iter().for_each(|slots| lazy::add(slots, Behind::Runtime, version)),
        Err(reason) => reason,
    };
    let cannot = format!("{}: its CUDA runtime cannot be redirected: {reason}", object.name());
    // SAFETY: the environment that the loader handed over.
    let orders = if object.is_program() { unsafe { orders(environment) } } else { None };
    notice::unsupported(orders, &cannot);
}

/// The harness's orders in an environment.
///
/// # Safety
/// `environment` is null or ends with null; before it are C strings.
unsafe fn orders<'a>(mut environment: *const *const c_char) -> Option<&'a str> {
    // SAFETY: the caller's promise; the end is not passed.
    unsafe {
        while !environment.is_null() && !(*environment).is_null() {
            let variable = CStr::from_ptr(*environment).to_str().unwrap_or_default();
            if let Some((ORDERS_VARIABLE, orders)) = variable.split_once('=') {
                return Some(orders);
            }
            environment = environment.add(1);
        }
    }
    None
}
