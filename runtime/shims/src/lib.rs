//! `libcudart.so.13` and `libcudart.so.12`: the names that programs are linked with, each with its version,
//! and nothing behind them but a jump into `libbugaroo_cudart.so`.
//!
//! A symbol has a version only if a version script says so at linking, and rustc brings one of its own, with
//! which none can stand. So the build script links these two itself, from assembly that it generates, with
//! the linker that Rust needs anyway; here they are as bytes, for whoever makes a folder of libraries. Both look
//! for `libbugaroo_cudart.so` beside themselves, too.

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

/// All of them, the newest first.
pub const SHIMS: [Shim; 2] = [shim!("libcudart.so.13"), shim!("libcudart.so.12")];

/// The names that they export, divided by white space, in the same order.
pub const NAMES: [&str; 2] =
    [include_str!("../libcudart.so.13.names"), include_str!("../libcudart.so.12.names")];

/// The library that they jump into.
pub const IMPLEMENTATION: &str = "libbugaroo_cudart.so";
