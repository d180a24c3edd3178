//! Has the library's initialiser run before those of all others that a program starts with.

fn main() {
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,initfirst");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libbugaroo_preload.so");
    println!("cargo:rerun-if-changed=build.rs");
}
