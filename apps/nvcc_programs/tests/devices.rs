//! Programs for several devices: what one orders for its own device alone, another may see late.

use std::path::{Path, PathBuf};
use std::process::Output;

use crate::support::{Runtime, build, nvcc, passes_under_injection, programs, run};

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

fn mail() -> Option<PathBuf> {
    Some(build(&nvcc()?, "peer_mail.cu", Runtime::Shared))
}

/// Without a fence, with one of device scope, and with one of system scope: what each command says.
#[test]
fn messages_between_devices_get_the_right_verdicts() {
    let Some(program) = mail() else { return };
    for (how, wrong) in [("none", true), ("device", true), ("system", false)] {
        let exit = Some(i32::from(wrong));
        for model in ["store-buffer", "ptx"] {
            let options = ["run", "--seed", "3", "--trials", "200", "--devices", "2", "--model", model];
            let ran = run(&options, &[&program, Path::new(how)]);
            assert_eq!(ran.status.code(), exit, "run, {model}, {how}: {}", said(&ran));
            let options = ["race", "--trials", "20", "--devices", "2", "--model", model];
            let ran = run(&options, &[&program, Path::new(how)]);
            assert_eq!(ran.status.code(), exit, "race, {model}, {how}: {}", said(&ran));
            let told = said(&ran).contains("no release and acquire of system scope");
            assert_eq!(told, wrong, "race, {model}, {how}: {}", said(&ran));
        }
    }
}

#[test]
fn a_missing_acquire_between_devices_is_a_race() {
    let Some(program) = program() else { return };
    for (how, exit) in [("system", 0), ("release", 0), ("device", 1), ("narrow", 1), ("volatile", 1)] {
        let ran = run(&["race", "--trials", "20", "--devices", "2"], &[&program, Path::new(how)]);
        assert_eq!(ran.status.code(), Some(exit), "{how}: {}", said(&ran));
    }
}

/// What is missing is a fence of system scope, and the patch, compiled in, is what is right.
#[test]
fn bisect_names_fences_of_system_scope() {
    let Some(program) = mail() else { return };
    let folder = programs();
    for (how, call) in [("none", "missing __threadfence_system()"), ("device", "system scope at")] {
        let patch = folder.join(format!("../../../target/tmp/peer_mail_{how}.patch"));
        let options = [
            "bisect",
            "--trials",
            "200",
            "--devices",
            "2",
            "--patch",
            patch.to_str().expect("a path of text"),
        ];
        let ran = run(&options, &[&program, Path::new(how)]);
        let said = said(&ran);
        assert_eq!(ran.status.code(), Some(1), "{how}: {said}");
        assert!(said.contains(call), "{how}: {said}");
        let patch = std::fs::read_to_string(&patch).expect("a patch");
        let added: Vec<&str> = patch.lines().filter(|line| line.starts_with("+ ")).collect();
        assert!(added.iter().all(|line| line.contains("__threadfence_system();")), "{how}: {patch}");
        assert!(!added.is_empty(), "{how}: {patch}");
    }
    let ran = run(&["bisect", "--trials", "200", "--devices", "2"], &[&program, Path::new("system")]);
    let said = said(&ran);
    assert_eq!(ran.status.code(), Some(0), "{said}");
    assert!(said.contains("nothing is said of fences that could go or be narrower"), "{said}");
}

#[test]
fn detectors_that_look_at_one_kernel_say_so() {
    let Some(program) = mail() else { return };
    let options = ["race", "--trials", "2", "--devices", "2", "--detector", "scord"];
    let ran = run(&options, &[&program, Path::new("device")]);
    assert!(said(&ran).contains("for no races between devices"), "{}", said(&ran));
}

/// What one block tells another of its grid by way of a second grid is never late, and no race.
#[test]
fn what_another_grid_hands_on_is_in_time() {
    let Some(nvcc) = nvcc() else { return };
    let program = build(&nvcc, "relay.cu", Runtime::Shared);
    for (how, devices) in [("one", "1"), ("two", "2")] {
        for model in ["store-buffer", "ptx"] {
            let options = ["--devices", devices, "--model", model];
            passes_under_injection(&[&program, Path::new(how)], &options);
            let ran = run(&[&["race", "--trials", "20"], &options[..]].concat(), &[&program, Path::new(how)]);
            assert_eq!(ran.status.code(), Some(0), "{how}, {model}: {}", said(&ran));
        }
    }
}

/// Nor is what it tells it by way of the host, which has memory in common with both.
#[test]
fn what_the_host_hands_on_is_in_time() {
    let Some(nvcc) = nvcc() else { return };
    let program = build(&nvcc, "relay.cu", Runtime::Shared);
    for how in ["polls", "queries", "thread"] {
        for model in ["store-buffer", "ptx"] {
            passes_under_injection(&[&program, Path::new(how)], &["--model", model]);
        }
    }
}

/// Memory that a kernel of another device reaches, and that it does not.
#[test]
fn kernels_reach_what_their_device_may() {
    let Some(nvcc) = nvcc() else { return };
    let program = build(&nvcc, "peer_access.cu", Runtime::Shared);
    let tried = [
        ("not-enabled", "call cudaDeviceEnablePeerAccess(1, 0) while device 0 is current"),
        ("enabled", "call cudaDeviceEnablePeerAccess(0, 0) while device 1 is current"),
        ("misused", ""),
        ("disabled", "call cudaDeviceEnablePeerAccess(1, 0)"),
        ("reset", "call cudaDeviceEnablePeerAccess(1, 0)"),
        ("peer-reset", ""),
        ("copies", ""),
        ("shared", ""),
        ("variables", ""),
        ("managed", ""),
        ("pool-closed", "cudaMemPoolSetAccess"),
        ("pool-opened", "cudaMemPoolSetAccess"),
        ("whose", ""),
    ];
    for (name, fault) in tried {
        let options = ["run", "--trials", "2", "--devices", "2", "--ignore-faults"];
        let ran = run(&options, &[&program, Path::new(name)]);
        let said = said(&ran);
        assert_eq!(ran.status.code(), Some(0), "{name}: {said}");
        let ran = run(&["run", "--trials", "2", "--devices", "2"], &[&program, Path::new(name)]);
        let loud = String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr);
        assert!(loud.contains(fault), "{name}: {loud}");
    }
}

#[test]
fn what_cannot_go_with_several_devices_is_said() {
    for with in ["--handlers", "--model=bugaroo", "--backend=cuda"] {
        let ran = run(&["run", "--devices", "2", with], &[Path::new("/bin/true")]);
        assert_eq!(ran.status.code(), Some(2), "{with}: {}", said(&ran));
        assert!(said(&ran).contains("leave") || said(&ran).contains("real"), "{with}: {}", said(&ran));
    }
}
