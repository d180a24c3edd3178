//! Links the libraries from generated assembly.
//!
//! Each name is a jump through a slot. `bugaroo_cudart_bind`, which `libbugaroo_cudart.so` exports, fills the
//! slots when the library is loaded; a name that it lacks gets a stub there, which learns by `rax` whom it
//! stands for.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Major versions of the API; each has its list of names beside this file.
const VERSIONS: [u32; 2] = [13, 12];

fn main() {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo names the folder for what is generated"));
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=CC");
    // What the libraries are linked with in place of the implementation: that one need not be built yet.
    let stand_in = out.join("libbugaroo_cudart.so");
    let text =
        ".globl bugaroo_cudart_bind\nbugaroo_cudart_bind: ret\n.section .note.GNU-stack,\"\",@progbits\n";
    fs::write(out.join("stand_in.s"), text).expect("cargo's folder can be written to");
    link(&out.join("stand_in.s"), &stand_in, "libbugaroo_cudart.so", &[]);
    for version in VERSIONS {
        let library = format!("libcudart.so.{version}");
        println!("cargo:rerun-if-changed={library}.names");
        let names = fs::read_to_string(format!("{library}.names")).expect("a list of names stands beside");
        let names: Vec<_> = names.split_whitespace().collect();
        let (assembly, script) = (out.join(format!("{library}.s")), out.join(format!("{library}.map")));
        fs::write(&assembly, code(&names, version)).expect("cargo's folder can be written to");
        let exports = format!("{library} {{ global: cuda*; __cuda*; local: *; }};\n");
        fs::write(&script, exports).expect("cargo's folder can be written to");
        let script = format!("-Wl,--version-script={}", script.display());
        let stand_in = stand_in.to_str().expect("cargo's folder has a name of text");
        link(&assembly, &out.join(&library), &library, &[&script, stand_in]);
    }
}

fn code(names: &[&str], version: u32) -> String {
    let count = names.len();
    let mut text = String::from(".text\n");
    for (index, name) in names.iter().enumerate() {
        let slot = 8 * index;
        write!(
            text,
            ".globl {name}\n.type {name}, @function\n.p2align 4\n{name}:\n\
             endbr64\nlea n{index}(%rip), %rax\njmp *slots+{slot}(%rip)\n.size {name}, .-{name}\n"
        )
        .expect("writing to a string cannot fail");
    }
    write!(
        text,
        ".type bind, @function\nbind:\nendbr64\nsub $8, %rsp\nlea names(%rip), %rdi\nlea slots(%rip), %rsi\n\
         mov ${count}, %edx\nmov ${version}, %ecx\ncall bugaroo_cudart_bind@PLT\nadd $8, %rsp\nret\n\
         .size bind, .-bind\n.section .init_array, \"aw\"\n.p2align 3\n.quad bind\n\
         .section .data.rel.ro, \"aw\"\n.p2align 3\nnames:\n"
    )
    .expect("writing to a string cannot fail");
    (0..count).for_each(|index| writeln!(text, ".quad n{index}").expect("as above"));
    text.push_str(".section .rodata\n");
    for (index, name) in names.iter().enumerate() {
        writeln!(text, "n{index}: .asciz \"{name}\"").expect("as above");
    }
    writeln!(text, ".local slots\n.comm slots, {}, 8\n.section .note.GNU-stack,\"\",@progbits", 8 * count)
        .expect("as above");
    text
}

fn link(assembly: &Path, library: &Path, name: &str, more: &[&str]) {
    let compiler = env::var_os("CC").unwrap_or_else(|| "cc".into());
    let mut command = Command::new(&compiler);
    command.args(["-shared", "-nostdlib", "-Wl,-z,now", "-Wl,-z,relro", "-Wl,-rpath,$ORIGIN"]);
    command.arg(format!("-Wl,-soname,{name}")).arg(assembly).args(more).arg("-o").arg(library);
    match command.status() {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("linking {name} with {compiler:?} failed: {status}"),
        Err(error) => panic!("cannot run {compiler:?}, which links {name}: {error}"),
    }
}
