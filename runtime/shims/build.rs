//! Links the libraries from generated assembly.
//!
//! Each name is a jump through a slot. A function of the library that it jumps into, as `bugaroo_cudart_bind` of
//! `libbugaroo_cudart.so`, fills the slots when the library is loaded; a name that it lacks is refused there by a function which learns
//! by `rax` whom it stands for.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// A library that is linked here, once for each of its versions.
struct Library {
    /// Its name without a version.
    name: &'static str,
    /// The major versions.
    versions: &'static [u32],
    /// The file with the names that it exports; where it ends with a dot, there is one for each version.
    names: &'static str,
    /// What a version script says of them.
    exports: &'static str,
    /// What it jumps into, without `lib` and `.so`.
    implementation: &'static str,
    /// The function there that fills its slots.
    bind: &'static str,
}

const LIBRARIES: [Library; 5] = [
    Library {
        name: "libcudart.so",
        versions: &[13, 12],
        names: "libcudart.so.",
        exports: "cuda*; __cuda*",
        implementation: "bugaroo_cudart",
        bind: "bugaroo_cudart_bind",
    },
    Library {
        name: "libcublas.so",
        versions: &[13, 12],
        names: "libcublas.names",
        exports: "cublas*",
        implementation: "bugaroo_libraries",
        bind: "bugaroo_libraries_bind",
    },
    Library {
        name: "libcublasLt.so",
        versions: &[13, 12],
        names: "libcublasLt.names",
        exports: "cublasLt*",
        implementation: "bugaroo_libraries",
        bind: "bugaroo_libraries_bind",
    },
    Library {
        name: "libcufft.so",
        versions: &[12, 11],
        names: "libcufft.names",
        exports: "cufft*",
        implementation: "bugaroo_libraries",
        bind: "bugaroo_libraries_bind",
    },
    Library {
        name: "libcurand.so",
        versions: &[10],
        names: "libcurand.names",
        exports: "curand*",
        implementation: "bugaroo_libraries",
        bind: "bugaroo_libraries_bind",
    },
];

fn main() {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo names the folder for what is generated"));
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=CC");
    for library in LIBRARIES {
        let Library { implementation, bind, .. } = library;
        // What the libraries are linked with in place of the implementation: that one need not be built yet.
        let stand_in = out.join(format!("lib{implementation}.so"));
        let text = format!(".globl {bind}\n{bind}: ret\n.section .note.GNU-stack,\"\",@progbits\n");
        let assembly = out.join(format!("{implementation}.s"));
        fs::write(&assembly, text).expect("cargo's folder can be written to");
        link(&assembly, &stand_in, &format!("lib{implementation}.so"), &[]);
        for version in library.versions {
            one(&library, *version, &out, &stand_in);
        }
    }
}

/// Links one version of a library.
fn one(library: &Library, version: u32, out: &Path, stand_in: &Path) {
    let name = format!("{}.{version}", library.name);
    let list = if library.names.ends_with('.') {
        format!("{}{version}.names", library.names)
    } else {
        library.names.to_owned()
    };
    println!("cargo:rerun-if-changed={list}");
    let names = fs::read_to_string(list).expect("a list of names stands beside");
    let names: Vec<_> = names.split_whitespace().collect();
    let (assembly, script) = (out.join(format!("{name}.s")), out.join(format!("{name}.map")));
    fs::write(&assembly, code(&names, version, library.bind)).expect("cargo's folder can be written to");
    let exports = format!("{name} {{ global: {}; local: *; }};\n", library.exports);
    fs::write(&script, exports).expect("cargo's folder can be written to");
    let script = format!("-Wl,--version-script={}", script.display());
    let stand_in = stand_in.to_str().expect("cargo's folder has a name of text");
    link(&assembly, &out.join(&name), &name, &[&script, stand_in]);
}

fn code(names: &[&str], version: u32, fill: &str) -> String {
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
         mov ${count}, %edx\nmov ${version}, %ecx\ncall {fill}@PLT\nadd $8, %rsp\nret\n\
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
