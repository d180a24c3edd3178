use std::ffi::{CStr, CString};
use std::fs;
use std::path::Path;
use std::process::Command;

use bugaroo_shims::LIBRARY_SHIMS;

use super::find;
use crate::mapped::File;

/// The names of what is to be redirected in a file.
fn names(path: &Path) -> Option<(i32, Vec<String>)> {
    let path = CString::new(path.to_str().unwrap()).unwrap();
    let found = find(&path, File::map(&path).unwrap().bytes())?;
    let text = |name: &CStr| name.to_str().unwrap().to_owned();
    Some((found.version, found.functions.iter().map(|function| text(&function.name)).collect()))
}

/// Links a library of this name that exports these functions.
fn linked(folder: &Path, name: &str, functions: &[&str]) -> std::path::PathBuf {
    let (source, library) = (folder.join("a.s"), folder.join(name));
    let text: String = functions
        .iter()
        .map(|name| {
            format!(
                ".balign 16\n.globl {name}\n.type {name}, @function\n{name}: endbr64\nmov $1, %eax\nret\n"
            )
        })
        .collect();
    fs::write(&source, format!("{text}.section .note.GNU-stack,\"\",@progbits\n")).unwrap();
    let done = Command::new("cc").args(["-shared", "-nostdlib", "-o"]).args([&library, &source]).status();
    assert!(done.unwrap().success());
    library
}

#[test]
fn functions_of_nvidias_libraries_are_found_and_others_stay() {
    let folder = tempfile::tempdir().unwrap();
    let functions = ["cufftPlan1d", "cufftExecC2C", "helper"];
    let library = linked(folder.path(), "libcufft.so.12", &functions);
    let expected = Some((12, vec!["cufftPlan1d".to_owned(), "cufftExecC2C".to_owned()]));
    assert_eq!(names(&library), expected);
    // What a name says of the version.
    let library = linked(folder.path(), "libcublasLt.so.13.1.0", &["cublasLtCreate", "cublasCreate_v2"]);
    assert_eq!(names(&library), Some((13, vec!["cublasLtCreate".to_owned()])));
}

#[test]
fn other_libraries_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["libcublasXt.so.13", "libmycufft.so.12", "libcufftw.so.12"] {
        assert_eq!(names(&linked(folder.path(), name, &["cufftPlan1d"])), None, "{name}");
    }
}

#[test]
fn bugaroos_own_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    for shim in LIBRARY_SHIMS {
        let path = folder.path().join(shim.name);
        fs::write(&path, shim.bytes).unwrap();
        assert_eq!(names(&path), None, "{}", shim.name);
    }
}
