//! Programs for several devices: what one orders for its own device alone, another may see late.

use std::path::{Path, PathBuf};
use std::process::Output;

use crate::support::{Runtime, build, nvcc, passes_under_injection, run};

fn program() -> Option<PathBuf> {
    Some(build(&nvcc()?, "peer_messages.cu", Runtime::Shared))
}

fn said(ran: &Output) -> String {
    [&ran.stdout, &ran.stderr].map(|text| String::from_utf8_lossy(text).into_owned()).concat()
}

#[test]
fn what_is_ordered_for_the_system_another_device_sees_in_time() {
    let Some(program) = program() else { return };
    for model in ["store-buffer", "ptx"] {
        for how in ["system", "release"] {
            passes_under_injection(&[&program, Path::new(how)], &["--devices", "2", "--model", model]);
        }
    }
}

#[test]
fn what_is_ordered_for_the_device_another_device_may_see_late() {
    let Some(program) = program() else { return };
    for model in ["store-buffer", "ptx"] {
        for how in ["device", "narrow", "volatile"] {
            let options = ["run", "--seed", "3", "--trials", "200", "--devices", "2", "--model", model];
            let ran = run(&options, &[&program, Path::new(how)]);
            assert_eq!(ran.status.code(), Some(1), "{model}, {how}: {}", said(&ran));
        }
    }
}

#[test]
fn a_program_finds_as_many_devices_as_it_is_given() {
    let Some(program) = program() else { return };
    let ran = run(&["run", "--trials", "1"], &[&program]);
    assert_eq!(ran.status.code(), Some(3), "{}", said(&ran));
    assert!(said(&ran).contains("needs two devices, and there is 1"), "{}", said(&ran));
    passes_under_injection(&[&program], &["--devices", "3"]);
}

#[test]
fn what_cannot_go_with_several_devices_is_said() {
    let ran = run(&["bisect", "--devices", "2"], &[Path::new("/bin/true")]);
    assert_eq!(ran.status.code(), Some(2), "{}", said(&ran));
    assert!(said(&ran).contains("system scope"), "{}", said(&ran));
    for with in ["--handlers", "--model=bugaroo", "--backend=cuda"] {
        let ran = run(&["run", "--devices", "2", with], &[Path::new("/bin/true")]);
        assert_eq!(ran.status.code(), Some(2), "{with}: {}", said(&ran));
        assert!(said(&ran).contains("leave") || said(&ran).contains("real"), "{with}: {}", said(&ran));
    }
}
