//! Finding the tools, building a program, running it under `bugaroo`.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use serde_json::Value;

/// Which of nvcc's runtimes a program is linked with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runtime {
    /// nvcc's default.
    Static,
    /// `-cudart shared`
    Shared,
    /// The same, with a `DT_RPATH` that leads to NVIDIA's before ours is looked for.
    OwnPath,
}

/// The repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The programs.
pub fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("programs")
}

/// What is not there and was not demanded is said once; the test that needs it has then nothing to test.
fn missing(what: &str, demanded_by: &str, how: &str) {
    let demanded = env::var_os(demanded_by).is_some_and(|value| value == "1");
    assert!(!demanded, "{demanded_by}=1, but there is no {what}: run {how}");
    eprintln!("SKIPPED: no {what}; {how} installs it");
}

/// The compiler, installed by `apps/rebuild-ptx --install`.
pub fn nvcc() -> Option<PathBuf> {
    let lib = root().join("target/cuda-toolchain/V/lib");
    let folders = fs::read_dir(lib).into_iter().flatten().flatten();
    let mut compilers = folders.map(|entry| entry.path().join("site-packages/nvidia/cu13/bin/nvcc"));
    let found = compilers.find(|nvcc| nvcc.is_file());
    if found.is_none() {
        missing("nvcc", "BUGAROO_REQUIRE_PTXAS", "apps/rebuild-ptx --install");
    }
    found
}

/// A Python that has numba-cuda, installed by `apps/install-numba`.
pub fn python() -> Option<PathBuf> {
    installed("numba", "numba-cuda", "BUGAROO_REQUIRE_NUMBA", "apps/install-numba")
}

/// A Python that has Triton, installed by `apps/install-triton`.
pub fn triton() -> Option<PathBuf> {
    installed("triton", "Triton", "BUGAROO_REQUIRE_TRITON", "apps/install-triton")
}

fn installed(folder: &str, what: &str, demanded_by: &str, how: &str) -> Option<PathBuf> {
    let python = root().join("target").join(folder).join("bin/python");
    if python.is_file() {
        return Some(python);
    }
    missing(what, demanded_by, how);
    None
}

/// `bugaroo` beside the test binaries.
fn bugaroo() -> PathBuf {
    let test = env::current_exe().expect("the test binary knows itself");
    let folder = test.parent().and_then(Path::parent).expect("it lies in target/PROFILE/deps");
    let bugaroo = folder.join("bugaroo");
    assert!(bugaroo.is_file(), "{} is missing: build the whole workspace first", bugaroo.display());
    bugaroo
}

/// A folder with what stands for NVIDIA's libraries of functions, to link with.
fn libraries() -> &'static Path {
    // Programs that are built side by side link with the same.
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    MADE.get_or_init(make_libraries)
}

fn make_libraries() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("libraries");
    fs::create_dir_all(&folder).expect("the folder is ours");
    let built = bugaroo().with_file_name(bugaroo_shims::LIBRARIES);
    let link = |from: &Path, name: &str| {
        let link = folder.join(name);
        let _ = fs::remove_file(&link);
        symlink(from, link).expect("the folder is ours");
    };
    link(&built, bugaroo_shims::LIBRARIES);
    for shim in bugaroo_shims::LIBRARY_SHIMS {
        fs::write(folder.join(shim.name), shim.bytes).expect("the folder is ours");
    }
    let newest = [("libcublas.so", "13"), ("libcufft.so", "12"), ("libcurand.so", "10")];
    for (name, version) in newest {
        link(Path::new(&format!("{name}.{version}")), name);
    }
    folder
}

/// Waits until nobody else of this process builds the same.
fn alone(what: &Path) -> MutexGuard<'static, ()> {
    static LOCKS: Mutex<BTreeMap<PathBuf, &'static Mutex<()>>> = Mutex::new(BTreeMap::new());
    let mut locks = LOCKS.lock().unwrap_or_else(PoisonError::into_inner);
    // There are as many as programs, for as long as the process lives.
    let lock = *locks.entry(what.to_owned()).or_insert_with(|| Box::leak(Box::default()));
    drop(locks);
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Builds a program, unless it stands there already as it would be built. Its first line says with what.
pub fn build(nvcc: &Path, source: &str, runtime: Runtime) -> PathBuf {
    let source = programs().join(source);
    let text = fs::read_to_string(&source).expect("the program's source");
    let order = text.lines().next().and_then(|line| line.strip_prefix("// nvcc program:"));
    let words: Vec<&str> = order.expect("the first line says how to build it").split_whitespace().collect();
    let (more, flags): (Vec<&str>, Vec<&str>) = words.iter().partition(|word| word.ends_with(".cu"));
    let folder = source.parent().expect("a file stands in a folder");
    let name = source
        .with_extension("")
        .strip_prefix(programs())
        .expect("in the folder")
        .to_string_lossy()
        .replace('/', "-");
    let kind = if runtime == Runtime::Static { "static" } else { "shared" };
    let suffix = if runtime == Runtime::OwnPath { "own-path" } else { kind };
    let built = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{suffix}"));
    // Nobody runs what is half written, and CUB takes gigabytes.
    let large = ["#include <cub/", "#include <thrust/"].iter().any(|header| text.contains(header));
    let _alone = alone(if large { Path::new("CUB") } else { &built });
    let newest = fs::read_dir(folder)
        .expect("its folder")
        .flatten()
        .filter_map(|entry| entry.metadata().ok()?.modified().ok())
        .max();
    let made = fs::metadata(&built).and_then(|metadata| metadata.modified()).ok();
    if made.is_some() && made > newest {
        return built;
    }
    let library = nvcc.parent().and_then(Path::parent).expect("nvcc stands in bin/").join("lib");
    let path = format!("-Xlinker=--disable-new-dtags,-rpath,{}", library.display());
    let ran = Command::new(nvcc)
        .current_dir(folder)
        .args(["-O2", "-cudart", kind])
        .args((runtime == Runtime::OwnPath).then_some(path))
        .args(flags)
        .arg(&source)
        .args(more)
        .arg("-L")
        .arg(library)
        .arg("-L")
        .arg(libraries())
        .arg("-o")
        .arg(&built)
        .output()
        .expect("nvcc can be started");
    assert!(ran.status.success(), "nvcc on {}: {}", source.display(), String::from_utf8_lossy(&ran.stderr));
    built
}

/// Runs `bugaroo OPTIONS… PROGRAM…` in an empty state folder.
pub fn run(options: &[&str], program: &[&Path]) -> Output {
    let state = tempfile::tempdir().expect("a temporary folder");
    Command::new(bugaroo())
        .env("XDG_STATE_HOME", state.path())
        .env_remove("BUGAROO_DRIVER")
        .args(options)
        .args(program)
        .output()
        .expect("bugaroo can be started")
}

/// Runs 50 trials at p_w 0.75 and asks that none of them fails.
pub fn passes_under_injection(program: &[&Path], options: &[&str]) {
    let fixed = ["run", "--pw", "0.75", "--trials", "50", "--seed", "11", "--format", "json"];
    let ran = run(&[&fixed, options].concat(), program);
    let errors = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(0), "{program:?}: {errors}{}", String::from_utf8_lossy(&ran.stdout));
    let report: Value = serde_json::from_slice(&ran.stdout).expect("a report");
    let cell = &report["cells"][0];
    assert_eq!(
        (&cell["trials"], &cell["failures"]),
        (&50.into(), &0.into()),
        "{program:?}: {report:#}\n{errors}"
    );
}
