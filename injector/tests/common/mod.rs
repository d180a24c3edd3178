//! Where ptxas is, and what it says.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The workspace's root.
pub fn workspace() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// ptxas: `BUGAROO_PTXAS`, or where `apps/rebuild-ptx` installs it, or on the path. None, loudly, where
/// there is none, unless `BUGAROO_REQUIRE_PTXAS=1` demands one.
pub fn ptxas() -> Option<PathBuf> {
    let installed = || {
        let lib = workspace().join("target/cuda-toolchain/V/lib");
        let mut versions: Vec<_> = std::fs::read_dir(lib).ok()?.flatten().map(|entry| entry.path()).collect();
        versions.sort();
        let ptxas = |version: PathBuf| version.join("site-packages/nvidia/cu13/bin/ptxas");
        versions.into_iter().map(ptxas).find(|path| path.is_file())
    };
    let on_path = || {
        let paths = std::env::var_os("PATH")?;
        std::env::split_paths(&paths).map(|folder| folder.join("ptxas")).find(|path| path.is_file())
    };
    let found = std::env::var_os("BUGAROO_PTXAS").map(PathBuf::from).or_else(installed).or_else(on_path);
    if found.is_none() {
        let demanded = std::env::var_os("BUGAROO_REQUIRE_PTXAS").is_some_and(|value| value == "1");
        assert!(!demanded, "BUGAROO_REQUIRE_PTXAS=1, but no ptxas: run apps/rebuild-ptx --install");
        eprintln!("\n*** SKIPPED: no ptxas (apps/rebuild-ptx --install, or set BUGAROO_PTXAS) ***\n");
    }
    found
}

/// Assembles a module for the target that it names. What it takes is asked, not how good the code is: without
/// optimising, which is most of the time on large texts.
///
/// # Errors
/// What ptxas says.
pub fn assemble(ptxas: &Path, text: &str) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let file = folder.path().join("module.ptx");
    std::fs::write(&file, text).map_err(|error| error.to_string())?;
    let target = bugaroo_ptx::parse(text).map_err(|error| error.to_string())?.targets;
    let arch = target.first().map_or("sm_75", String::as_str);
    let output = Command::new(ptxas)
        .arg(format!("-arch={arch}"))
        .args(["-O0", "--compile-only", "--output-file"])
        .arg(folder.path().join("module.o"))
        .arg(&file)
        .output()
        .map_err(|error| format!("{}: {error}", ptxas.display()))?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(()) } else { Err(said) }
}
