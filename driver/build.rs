//! Gives the library its name as the loader knows it, and digests what the injector is made of, by
//! which cached instrumentation is told from that of another version.

use std::fs;
use std::path::{Path, PathBuf};

/// What decides how instrumented modules look, beside this folder.
const INJECTOR: [&str; 4] =
    ["../injector/src", "../ptx/src", "../device-handlers/src", "../device-handlers/handlers.ptx"];

fn main() {
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libcuda.so.1");
    println!("cargo:rerun-if-changed=build.rs");
    let mut files = Vec::new();
    for path in INJECTOR {
        println!("cargo:rerun-if-changed={path}");
        collect(Path::new(path), &mut files);
    }
    files.sort();
    // FNV-1a of 64 bits: any change shows.
    let mut digest = 0xcbf2_9ce4_8422_2325_u64;
    for file in files {
        for byte in fs::read(file).unwrap_or_default() {
            digest = (digest ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    println!("cargo:rustc-env=BUGAROO_INJECTOR_DIGEST={digest:016x}");
}

/// The files at or under a path.
fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    match fs::read_dir(path) {
        Ok(entries) => entries.flatten().for_each(|entry| collect(&entry.path(), files)),
        Err(_) => files.push(path.to_owned()),
    }
}
