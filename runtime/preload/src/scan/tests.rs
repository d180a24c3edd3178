use std::fs;
use std::process::Command;

use super::{Found, is_ours, scan};

/// What a shared object of this assembly is found to be.
fn scanned(assembly: &str, flags: &[&str]) -> Found {
    let folder = tempfile::tempdir().unwrap();
    let (source, library) = (folder.path().join("a.s"), folder.path().join("a.so"));
    fs::write(&source, format!("{assembly}\n.section .note.GNU-stack,\"\",@progbits\n")).unwrap();
    let done = Command::new("cc")
        .args(["-shared", "-nostdlib", "-o"])
        .args([&library, &source])
        .args(flags)
        .status()
        .unwrap();
    assert!(done.success());
    scan(&fs::read(&library).unwrap())
}

fn function(name: &str) -> String {
    format!(".hidden {name}\n.globl {name}\n.type {name}, @function\n{name}: .skip 16, 0xc3\n")
}

fn text(names: &[&str]) -> String {
    names.iter().map(|name| function(name)).collect()
}

const DEVICE_CODE: &str = ".section .nvFatBinSegment, \"aw\"\n.quad 0\n.text\n";

fn names(found: &Found) -> Vec<&str> {
    let Found::Static { functions, .. } = found else { panic!("{found:?}") };
    functions.iter().map(|function| function.name.to_str().unwrap()).collect()
}

#[test]
fn the_runtimes_functions_are_found_also_new_ones_and_no_others() {
    let program = text(&[
        "cudaMine",
        "__cudaRegisterFatBinary",
        "cudaOfAVersionToCome",
        "cudart_helper",
        "__cudaRegisterLinkedBinary_1234_5_a_cu",
        "__cudaUnregisterBinaryUtil",
        "cudaMalloc",
        "cudaAfterAll",
    ]);
    let found = scanned(&program, &[]);
    assert_eq!(names(&found), ["__cudaRegisterFatBinary", "cudaOfAVersionToCome", "cudaMalloc"]);
    assert!(matches!(found, Found::Static { version: 13, .. }));
}

#[test]
fn the_runtime_of_version_12_is_known_by_its_names() {
    let found = scanned(&text(&["__cudaRegisterFatBinary", "cudaGetDeviceProperties_v2"]), &[]);
    assert!(matches!(found, Found::Static { version: 12, .. }), "{found:?}");
}

#[test]
fn without_symbols_there_is_nothing_to_redirect() {
    let program = DEVICE_CODE.to_owned() + &text(&["__cudaRegisterFatBinary", "cudaMalloc"]);
    assert_eq!(names(&scanned(&program, &[])).len(), 2);
    assert_eq!(scanned(&program, &["-s"]), Found::Nothing);
}

#[test]
fn programs_of_the_shared_runtime_and_all_others_are_left_alone() {
    let call = "call __cudaRegisterFatBinary@PLT\n";
    for flags in [&["-s"][..], &[]] {
        assert_eq!(scanned(&format!("{DEVICE_CODE}{call}"), flags), Found::Nothing);
    }
    assert_eq!(scanned(&text(&["cudaMalloc", "cudaFree"]), &[]), Found::Nothing);
    for file in [&b""[..], b"#!/bin/sh\n", b"\x7fELF", &[0x7f; 4096]] {
        assert_eq!(scan(file), Found::Nothing);
    }
}

#[test]
fn broken_files_are_nothing_and_nothing_worse() {
    let folder = tempfile::tempdir().unwrap();
    let (source, library) = (folder.path().join("a.s"), folder.path().join("a.so"));
    fs::write(&source, DEVICE_CODE.to_owned() + &text(&["__cudaRegisterFatBinary", "cudaMalloc"])).unwrap();
    let done =
        Command::new("cc").args(["-shared", "-nostdlib", "-o"]).args([&library, &source]).status().unwrap();
    assert!(done.success());
    let whole = fs::read(&library).unwrap();
    for length in (0..whole.len()).step_by(97) {
        scan(&whole[..length]);
    }
    for index in 0..whole.len() {
        let mut flipped = whole.clone();
        flipped[index] ^= 0xff;
        scan(&flipped);
    }
    assert!(matches!(scan(&whole), Found::Static { .. }));
}

#[test]
fn our_runtime_is_known_by_its_name_and_what_it_needs() {
    let ours = b"\x7fELF...libbugaroo_cudart.so...";
    assert!(is_ours(c"/usr/lib/libcudart.so.13", ours) && is_ours(c"libcudart.so.12.8.90", ours));
    assert!(!is_ours(c"/opt/libcudart.so.d/app", ours) && !is_ours(c"", ours));
    assert!(!is_ours(c"/opt/cuda/lib64/libcudart.so.13", b"\x7fELF...libpthread.so.0..."));
}

#[test]
fn the_vendors_shared_runtime_is_redirected_by_what_it_exports() {
    let exported = |name: &str| format!(".globl {name}\n.type {name}, @function\n{name}: .skip 16, 0xc3\n");
    let library: String = ["__cudaRegisterFatBinary", "cudaMalloc", "cudaFree"].map(exported).concat();
    assert_eq!(names(&scanned(&library, &["-s"])).len(), 3);
}
