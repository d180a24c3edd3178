//! Gives the library its name as the loader knows it: by it, the libraries that need it find it.

fn main() {
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libbugaroo_libraries.so");
    println!("cargo:rerun-if-changed=build.rs");
}
