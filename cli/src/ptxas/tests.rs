use std::ffi::OsString;
use std::fs;

use super::{Asked, Error, asked, copy, is_meant, version};

fn words(line: &str) -> Vec<OsString> {
    line.split_whitespace().map(OsString::from).collect()
}

#[test]
fn only_the_name_counts() {
    assert!(is_meant(&words("/tmp/bugaroo-x/ptxas --version")));
    assert!(is_meant(&words("ptxas")));
    for other in ["/ptxas/bugaroo run", "bugaroo ptxas", "ptxas-blackwell", ""] {
        assert!(!is_meant(&words(other)), "{other}");
    }
}

#[test]
fn the_version_is_told_as_triton_looks_for_it() {
    assert_eq!(asked(&words("--version")).unwrap(), Asked::Version);
    let text = version();
    let line = text.lines().find(|line| line.contains("release ")).unwrap();
    assert!(line.contains("release 12.8, "), "{text}");
}

#[test]
fn reads_what_triton_says() {
    let copies = Asked::Copy { from: "/tmp/a.ptx".into(), to: "/tmp/a.ptx.o".into() };
    let line = "-lineinfo --fmad=false -v --opt-level 0 --regAllocOptLevel=2 --gpu-name=sm_90a /tmp/a.ptx -o /tmp/a.ptx.o";
    assert_eq!(asked(&words(line)).unwrap(), copies);
    assert_eq!(asked(&words("--output-file=/tmp/a.ptx.o /tmp/a.ptx")).unwrap(), copies);
    assert!(matches!(asked(&words("-v -o x.o")), Err(Error::NoInput)));
    assert!(matches!(asked(&words("a.ptx")), Err(Error::NoOutput)));
    assert!(matches!(asked(&words("a.ptx b.ptx -o c")), Err(Error::Inputs(..))));
}

#[test]
fn reads_what_xla_says() {
    let copies = Asked::Copy { from: "/tmp/tempfile-1".into(), to: "/tmp/tempfile-2".into() };
    let line = "/tmp/tempfile-1 -o /tmp/tempfile-2 -arch=sm_90a --warn-on-spills -v";
    assert_eq!(asked(&words(line)).unwrap(), copies);
    assert!(matches!(asked(&words("-arch sm_90a -o /tmp/tempfile-2")), Err(Error::NoInput)));
}

#[test]
fn ptx_is_handed_on_byte_for_byte_and_all_else_is_refused_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("a.ptx"), folder.path().join("a.o"));
    let ptx = ".version 8.7\n.target sm_89\n.address_size 64\n.visible .entry k()\n{\n\tret;\n}\n";
    fs::write(&from, ptx).unwrap();
    copy(&from, &to).unwrap();
    assert_eq!(fs::read_to_string(&to).unwrap(), format!("{ptx}\0"), "a zero ends it");

    fs::remove_file(&to).unwrap();
    fs::write(&from, ptx.replace("ret;", "ret")).unwrap();
    let said = copy(&from, &to).unwrap_err().to_string();
    assert!(said.contains("a.ptx: 7:1: expected `;`"), "{said}");
    assert!(!to.exists(), "nothing half right is left");
    let said = copy(&folder.path().join("none.ptx"), &to).unwrap_err().to_string();
    assert!(said.contains("none.ptx: No such file"), "{said}");
}
