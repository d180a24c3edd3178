//! `libcudart.so.13`, `libcublas.so.13` and their like: the names that programs are linked with, each with its version,
//! and nothing behind them but a jump into `libbugaroo_cudart.so` or `libbugaroo_libraries.so`.
//!
//! A symbol has a version only if a version script says so at linking, and rustc brings one of its own, with
//! which none can stand. So the build script links these itself, from assembly that it generates, with
//! the linker that Rust needs anyway; here they are as bytes, for whoever makes a folder of libraries. They look
//! for what they jump into beside themselves, too.

/// A library, by its name and its bytes.
#[derive(Clone, Copy, Debug)]
pub struct Shim {
    /// Its file's name, which is the name by which programs ask for it.
    pub name: &'static str,
    /// The file.
    pub bytes: &'static [u8],
}

macro_rules! shim {
    ($name:literal) => {
        Shim { name: $name, bytes: include_bytes!(concat!(env!("OUT_DIR"), "/", $name)) }
    };
}

/// The runtime's, the newest first.
pub const SHIMS: [Shim; 2] = [shim!("libcudart.so.13"), shim!("libcudart.so.12")];

/// Those of NVIDIA's libraries of functions, which jump into [`LIBRARIES`].
pub const LIBRARY_SHIMS: [Shim; 7] = [
    shim!("libcublas.so.13"),
    shim!("libcublas.so.12"),
    shim!("libcublasLt.so.13"),
    shim!("libcublasLt.so.12"),
    shim!("libcufft.so.12"),
    shim!("libcufft.so.11"),
    shim!("libcurand.so.10"),
];

/// The names that the runtime's export, divided by white space, in the same order.
pub const NAMES: [&str; 2] =
    [include_str!("../libcudart.so.13.names"), include_str!("../libcudart.so.12.names")];

/// The library that stands behind [`LIBRARY_SHIMS`].
pub const LIBRARIES: &str = "libbugaroo_libraries.so";

/// The library that the runtime's jump into.
pub const IMPLEMENTATION: &str = "libbugaroo_cudart.so";
