use std::ffi::{CString, c_int};
use std::fs;
use std::process::Command;

use super::{attend, is_nvrtc};
use crate::mapped::{File, objects};

#[test]
fn the_compiler_is_known_by_its_name_and_its_other_half_is_none() {
    for name in [c"/usr/lib/libnvrtc.so.13", c"libnvrtc.so", c"/a/libnvrtc.alt.so.13"] {
        assert!(is_nvrtc(name), "{name:?}");
    }
    for name in [c"/usr/lib/libnvrtc-builtins.so.13.0", c"/libnvrtc.so/libm.so", c""] {
        assert!(!is_nvrtc(name), "{name:?}");
    }
}

/// Loads a library of functions that answer so, attends to it, and calls one of them.
fn answer(functions: &[(&str, u8)], called: &str) -> c_int {
    let folder = tempfile::tempdir().unwrap();
    let (source, library) = (folder.path().join("a.s"), folder.path().join("libnvrtc.so.13"));
    let text: String = functions
        .iter()
        .map(|(name, answer)| {
            format!(
                ".balign 16\n.globl {name}\n.type {name}, @function\n{name}: endbr64\nmov ${answer}, %eax\nret\n"
            )
        })
        .collect();
    fs::write(&source, format!("{text}.section .note.GNU-stack,\"\",@progbits\n")).unwrap();
    let done = Command::new("cc").args(["-shared", "-nostdlib", "-o"]).args([&library, &source]).status();
    assert!(done.unwrap().success());
    let path = CString::new(library.to_str().unwrap()).unwrap();
    // SAFETY: a C string; the library has no initialisers.
    let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    assert!(!handle.is_null());
    let objects = objects();
    let object = objects.iter().find(|object| object.path() == path.as_c_str()).unwrap();
    attend(object, File::map(object.path()).unwrap().bytes()).unwrap();
    let name = CString::new(called).unwrap();
    // SAFETY: the library is open, and stays so; its functions take nothing and give an `int`.
    unsafe {
        let function = libc::dlsym(handle, name.as_ptr());
        std::mem::transmute::<*mut libc::c_void, extern "C" fn() -> c_int>(function)()
    }
}

#[test]
fn who_asks_for_machine_code_gets_ptx() {
    let all = [("nvrtcGetCUBINSize", 1), ("nvrtcGetCUBIN", 2), ("nvrtcGetPTXSize", 3), ("nvrtcGetPTX", 4)];
    for (called, expected) in
        [("nvrtcGetCUBINSize", 3), ("nvrtcGetCUBIN", 4), ("nvrtcGetPTXSize", 3), ("nvrtcGetPTX", 4)]
    {
        assert_eq!(answer(&all, called), expected, "{called}");
    }
}

#[test]
fn a_version_without_machine_code_is_left_alone() {
    assert_eq!(answer(&[("nvrtcGetPTX", 4)], "nvrtcGetPTX"), 4);
    assert_eq!(answer(&[("nvrtcGetCUBIN", 2)], "nvrtcGetCUBIN"), 2);
}
