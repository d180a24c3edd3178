//! Digests what the injector is made of, by which cached instrumentation is told from that of another version, and links
//! the empty libraries that `nvjitlink.rs` speaks of.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// What decides how instrumented modules look, beside this folder.
const INJECTOR: [&str; 4] =
    ["../injector/src", "../ptx/src", "../device-handlers/src", "../device-handlers/handlers.ptx"];

fn main() {
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
    ["libnvJitLink.so.13", "libnvJitLink.so.12"].into_iter().for_each(link_empty);
}

/// Links a library of this name with nothing in it, with the linker that Rust needs anyway.
fn link_empty(name: &str) {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo names the folder for what is generated"));
    let assembly = out.join("empty.s");
    fs::write(&assembly, ".section .note.GNU-stack,\"\",@progbits\n")
        .expect("cargo's folder can be written to");
    println!("cargo:rerun-if-env-changed=CC");
    let compiler = env::var_os("CC").unwrap_or_else(|| "cc".into());
    let mut command = Command::new(&compiler);
    command.args(["-shared", "-nostdlib", "-s"]).arg(format!("-Wl,-soname,{name}"));
    match command.arg(assembly).arg("-o").arg(out.join(name)).status() {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("linking {name} with {compiler:?} failed: {status}"),
        Err(error) => panic!("cannot run {compiler:?}, which links {name}: {error}"),
    }
}

/// The files at or under a path.
fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    match fs::read_dir(path) {
        Ok(entries) => entries.flatten().for_each(|entry| collect(&entry.path(), files)),
        Err(_) => files.push(path.to_owned()),
    }
}
