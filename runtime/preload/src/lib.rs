//! Redirects a CUDA runtime that was linked into a program (nvcc's default), or NVIDIA's shared one where a program has
//! found that, to Bugaroo's.
//!
//! `bugaroo` has this library preloaded into the program under test and all that it starts. Before any other
//! code of the process runs, it looks at the program and at the libraries that came with it
//! ([`mapped`]): one whose symbol table holds the runtime's functions has a jump written over the entry of each
//! ([`redirect`]), to the function of that name in `libbugaroo_cudart.so`. In all other processes it does nothing
//! but look at a few bytes of each file.
//!
//! Libraries that are opened later are looked at when they are ([`later`]).
//!
//! NVRTC, where a program has it compile, gives PTX in place of machine code ([`nvrtc`]). cuBLAS and its like, where a program
//! has found NVIDIA's, jump to ours as well ([`libraries`]), and do nothing at the process's end ([`ending`]).
//!
//! What it leaves alone: a runtime in a program or library without a symbol table. It runs as it is, on Bugaroo's driver, which has
//! what it needs for that (`driver/src/api/export/`).

mod arenas;
mod attend;
mod behind;
mod device_file;
mod ending;
mod later;
mod lazy;
mod libraries;
mod mapped;
mod nvrtc;
mod redirect;
mod scan;

use std::ffi::{c_char, c_int};

use crate::attend::attend;

/// Run by the loader before the initialisers of all other libraries (the library is linked with `-z initfirst`), so
/// that no code of the program has called its runtime yet. Not even the C library is initialised: nothing here
/// asks it for the environment, or loads a library.
#[used]
#[unsafe(link_section = ".init_array")]
static START: unsafe extern "C" fn(c_int, *const *const c_char, *const *const c_char) = start;

/// # Safety
/// `environment` is one, as the loader hands it over.
unsafe extern "C" fn start(
    _count: c_int,
    _arguments: *const *const c_char,
    environment: *const *const c_char,
) {
    // A panic that came out of here would end a program that might never need us.
    let _ = std::panic::catch_unwind(|| {
        let objects = mapped::objects();
        objects.iter().for_each(|object| attend(object, environment));
        objects.iter().for_each(arenas::attend);
        later::watch(objects);
    });
}
