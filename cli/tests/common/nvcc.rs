//! Programs that nvcc builds.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// The toolkit, and a folder that holds its runtime under the name that programs are linked by; None, loudly, without nvcc where
/// `apps/rebuild-ptx` installs it, unless `BUGAROO_REQUIRE_PTXAS=1` demands one.
pub fn toolkit() -> Option<(PathBuf, TempDir)> {
    let lib = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/cuda-toolchain/V/lib");
    let versions = fs::read_dir(lib).into_iter().flatten().flatten();
    let mut toolkits = versions.map(|version| version.path().join("site-packages/nvidia/cu13"));
    let Some(toolkit) = toolkits.find(|toolkit| toolkit.join("bin/nvcc").is_file()) else {
        let demanded = std::env::var_os("BUGAROO_REQUIRE_PTXAS").is_some_and(|value| value == "1");
        assert!(!demanded, "BUGAROO_REQUIRE_PTXAS=1, but no nvcc: run apps/rebuild-ptx --install");
        eprintln!("\n*** SKIPPED: no nvcc (apps/rebuild-ptx --install) ***\n");
        return None;
    };
    let folder = tempfile::tempdir().unwrap();
    // The wheels hold the library under its full name alone.
    symlink(toolkit.join("lib/libcudart.so.13"), folder.path().join("libcudart.so")).unwrap();
    Some((toolkit, folder))
}

/// A program of this source, in a folder of its own; None as for [`toolkit`].
pub fn program(source: &str) -> Option<(TempDir, PathBuf)> {
    let (toolkit, folder) = toolkit()?;
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = folder.path().join("program");
    let nvcc = Command::new(toolkit.join("bin/nvcc"))
        .args(["-arch=compute_75", "-lineinfo", "-cudart", "shared", "-L"])
        .arg(folder.path())
        .arg("-L")
        .arg(toolkit.join("lib"))
        .arg(tests.join("tests").join(source))
        .arg("-o")
        .arg(&program)
        .output()
        .unwrap();
    assert!(nvcc.status.success(), "{}", String::from_utf8_lossy(&nvcc.stderr));
    Some((folder, program))
}
