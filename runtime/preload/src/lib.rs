//! Redirects a CUDA runtime that was linked into a program (nvcc's default) to Bugaroo's.
//!
//! `bugaroo` has this library preloaded into the program under test and all that it starts. Before any other
//! code of the process runs, it looks at the program and at the libraries that came with it
//! ([`mapped`]): one whose symbol table holds the runtime's functions has a jump written over the entry of each
//! ([`redirect`]), to the function of that name in `libbugaroo_cudart.so`. In all other processes it does nothing
//! but look at a few bytes of each file.
//!
//! What it can miss: a program without a symbol table ([`scan`] says so, by the sections that nvcc's code has
//! in any case), and libraries that are opened later.

mod mapped;
mod redirect;
mod runtime;
mod scan;

use std::ffi::{c_char, c_int};

pub use mapped::{File, Object};
pub use scan::{Found, Redirection, scan};

/// Run by the loader before the initialisers of all other libraries (the library is linked with `-z initfirst`), so
/// that no code of the program has called its runtime yet.
#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn(c_int, *const *const c_char, *const *const c_char) = start;

extern "C" fn start(_count: c_int, _arguments: *const *const c_char, _environment: *const *const c_char) {
    // A panic that came out of here would end a program that might never need us.
    let _ = std::panic::catch_unwind(|| mapped::objects().iter().for_each(attend));
}

/// Redirects what there is to redirect in one object.
fn attend(object: &Object) {
    let Some(file) = File::map(object.path()) else { return };
    match scan(file.bytes()) {
        Found::Nothing => {}
        Found::Static { version, functions } => {
            let Some(bind) = runtime::bind() else {
                eprintln!("bugaroo: libbugaroo_cudart.so is missing beside the preloaded library");
                return;
            };
            if let Err(reason) =
                redirect::redirect(object, &functions, |names, slots| bind(names, slots, version))
            {
                runtime::unsupported(&format!(
                    "{}: its CUDA runtime cannot be redirected: {reason}",
                    object.name()
                ));
            }
        }
        Found::Stripped => {
            let what = format!(
                "{} was linked with the static CUDA runtime and stripped of its symbols: relink with \
                 `-cudart shared`, or don't strip it",
                object.name()
            );
            // What a library cannot do, its program may never ask of it.
            if object.is_program() { runtime::unsupported(&what) } else { eprintln!("bugaroo: {what}") }
        }
    }
}
