//! Gives the library its name as the loader knows it, by which the libraries that need it find it, and has it stay once it is loaded.

fn main() {
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libbugaroo_libraries.so");
    // Work that waits in the driver calls into it, whatever the program closes meanwhile.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    println!("cargo:rerun-if-changed=build.rs");
}
