//! Programs that nvcc built, as they come, run on these libraries: `tests/programs/`.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// nvcc: where `apps/rebuild-ptx` installs it. None, loudly, where there is none, unless
/// `BUGAROO_REQUIRE_PTXAS=1` demands one.
fn toolkit() -> Option<PathBuf> {
    let lib = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/cuda-toolchain/V/lib");
    let versions = fs::read_dir(lib).into_iter().flatten().flatten();
    let found = versions
        .map(|version| version.path().join("site-packages/nvidia/cu13"))
        .find(|toolkit| toolkit.join("bin/nvcc").is_file());
    let named = std::env::var_os("BUGAROO_CUDA").map(PathBuf::from);
    let found = named.or(found);
    if found.is_none() {
        let demanded = std::env::var_os("BUGAROO_REQUIRE_PTXAS").is_some_and(|value| value == "1");
        assert!(!demanded, "BUGAROO_REQUIRE_PTXAS=1, but no nvcc: run apps/rebuild-ptx --install");
        eprintln!("\n*** SKIPPED: no nvcc (apps/rebuild-ptx --install, or set BUGAROO_CUDA) ***\n");
    }
    found
}

/// A folder with the libraries that a program asks for: the shims, and links to what cargo built.
fn libraries(folder: &Path) {
    let binary = std::env::current_exe().expect("the test binary knows itself");
    let built = binary.ancestors().nth(2).expect("it is in a folder of the profile's");
    for (name, file) in [("libcuda.so.1", "libcuda.so"), ("libbugaroo_cudart.so", "libbugaroo_cudart.so")] {
        let file = built.join(file);
        assert!(file.is_file(), "{} is not built: build the workspace first", file.display());
        symlink(file, folder.join(name)).expect("the folder is ours");
    }
    for shim in bugaroo_shims::SHIMS {
        fs::write(folder.join(shim.name), shim.bytes).expect("the folder is ours");
    }
    symlink("libcudart.so.13", folder.join("libcudart.so")).expect("the folder is ours");
}

/// Builds a program and runs it; it must succeed.
fn run(program: &str, flags: &[&str]) {
    let Some(toolkit) = toolkit() else { return };
    let folder = tempfile::tempdir().expect("there is room");
    libraries(folder.path());
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(program);
    let binary = folder.path().join("program");
    let nvcc = Command::new(toolkit.join("bin/nvcc"))
        .args(["-arch=sm_90", "-cudart", "shared", "-diag-suppress", "1444", "-w", "-L"])
        .arg(folder.path())
        .args(flags)
        .arg("-o")
        .arg(&binary)
        .arg(source)
        .output()
        .expect("nvcc starts");
    assert!(nvcc.status.success(), "{}", String::from_utf8_lossy(&nvcc.stderr));
    let ran = Command::new(binary).env("LD_LIBRARY_PATH", folder.path()).output().expect("it starts");
    let said = [ran.stdout, ran.stderr].map(|said| String::from_utf8_lossy(&said).into_owned()).concat();
    assert!(ran.status.success(), "{program} {flags:?}: {}\n{said}", ran.status);
}

#[test]
fn memory() {
    run("memory.cu", &[]);
}

#[test]
fn boxes_and_arrays() {
    run("boxes.cu", &[]);
}

#[test]
fn memory_that_host_and_device_share() {
    run("shared.cu", &[]);
}

#[test]
fn graphs() {
    run("graphs.cu", &[]);
}

#[test]
fn textures() {
    run("textures.cu", &[]);
}

#[test]
fn surfaces() {
    run("surfaces.cu", &[]);
}

#[test]
fn streams() {
    run("streams.cu", &[]);
}

#[test]
fn default_streams_of_each_thread() {
    run("streams.cu", &["--default-stream", "per-thread"]);
    run("memory.cu", &["--default-stream", "per-thread"]);
    run("boxes.cu", &["--default-stream", "per-thread"]);
    run("graphs.cu", &["--default-stream", "per-thread"]);
}
