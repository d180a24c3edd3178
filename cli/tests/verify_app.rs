//! `bugaroo verify APP`: kernels of programs, as they launch them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::common::{Ended, Place, end, signal, until, wait};
use serde_json::Value;
use tempfile::TempDir;

/// A program of the repository, beside the built `bugaroo`.
fn built(name: &str) -> String {
    let built = Path::new(env!("CARGO_BIN_EXE_bugaroo")).with_file_name(name);
    assert!(
        built.exists() && built.with_file_name("libcuda.so").exists(),
        "{} or libcuda.so beside it is missing: build the whole workspace first, in the same profile",
        built.display()
    );
    built.to_str().unwrap().to_owned()
}

/// `bugaroo verify` with the real driver.
fn verify(place: &Place, words: &[&str]) -> Ended {
    end(place.command(&[&["verify"], words].concat()).env_remove("BUGAROO_DRIVER"))
}

fn json(place: &Place, words: &[&str], code: i32) -> Value {
    verify(place, &[&["--format", "json"], words].concat()).exits(code).json()
}

/// Verdict and launches of each kernel's verdicts.
fn verdicts(json: &Value) -> Vec<(String, String, u64)> {
    let kernels = json["kernels"].as_array().unwrap().iter();
    kernels
        .map(|row| {
            let word = |name: &str| row[name].as_str().unwrap().to_owned();
            (word("demangled"), word("verdict"), row["launches"].as_u64().unwrap())
        })
        .collect()
}

fn program() -> Option<(TempDir, PathBuf)> {
    crate::common::nvcc::program("verify_app/program.cu")
}

#[test]
fn programs_of_the_repository() {
    let place = Place::new();
    for (name, kernel, verdict) in [
        ("hotspot", "hotspot", "verified"),
        ("sdk_red", "reduce_original_1_fence", "verified"),
        ("cbe_dot", "dot_original_2_fence", "verified"),
        // It waits for what other blocks write to global memory.
        ("cub_scan", "scan_original_all_3_fence", "verified"),
        // A child is written somewhere into the structure whose other fields the threads go by.
        ("ct_octree", "octree_original_no_fence", "possible-race"),
    ] {
        let code = i32::from(verdict != "verified");
        let json = json(&place, &[&built(name)], code);
        assert_eq!(verdicts(&json), [(kernel.to_owned(), verdict.to_owned(), 1)], "{name}");
        assert_eq!(json["not_looked_at"], 0);
        if verdict != "verified" {
            assert!(json["kernels"][0]["races"][0]["possible"] == true, "{json:#}");
        }
    }
    let kmeans = json(&place, &[&built("kmeans")], 0);
    assert!(verdicts(&kmeans).iter().all(|(_, verdict, _)| verdict == "verified"), "{kmeans:#}");
    verify(&place, &[&built("hotspot")])
        .exits(0)
        .prints("grid × block")
        .prints("6·6 × 16·16")
        .prints("every block  verified")
        .prints("1 launch: 1 verified");
    // More than a thousand launches of one kernel, and one verification.
    let streamcluster = json(&place, &[&built("streamcluster")], 0);
    let [(_, verdict, launches)] = &verdicts(&streamcluster)[..] else { panic!("{streamcluster:#}") };
    assert!(verdict == "verified" && *launches > 1000, "{streamcluster:#}");
}

#[test]
fn arguments_behind_the_program_are_its_own() {
    let place = Place::new();
    let report = json(&place, &[&built("cbe_dot"), "--variant", "no_fence"], 0);
    assert_eq!(report["args"], serde_json::json!(["--variant", "no_fence"]));
    assert_eq!(verdicts(&report)[0].0, "dot_no_fence");
    let also = json(&place, &["--kernel", "dot", "--", &built("cbe_dot"), "--variant", "no_fence"], 0);
    assert_eq!(verdicts(&also), verdicts(&report));
    verify(&place, &["--kernel", "dott", &built("cbe_dot")])
        .exits(2)
        .says("of what the program launches: no kernel `dott` (there are: dot_original_2_fence)");
    // What looks like one of ours is the program's all the same, which is said.
    verify(&place, &[&built("cbe_dot"), "--variant", "no_fence", "--kernel=dot"])
        .says("warning: --kernel=dot stands behind cbe_dot and is its own: options of verify stand before the program");
    for option in ["--block=1", "--grid=1", "--param=a=1", "--shared=1", "--graph=a.svg"] {
        verify(&place, &[option, &built("cbe_dot")]).exits(2).says("is for PTX files");
    }
}

#[test]
fn what_is_no_program_is_said() {
    let place = Place::new();
    fs::write(place.path("empty"), "").unwrap();
    verify(&place, &["./empty"]).exits(2).says("the file is empty");
    fs::write(place.path("words"), "neither here nor there\n").unwrap();
    verify(&place, &["./words"]).exits(2).says("./words is neither PTX").says("nor a program");
    fs::write(place.path("script"), "#!/bin/sh\n").unwrap();
    verify(&place, &["./script"]).exits(2).says("./script is not executable (chmod +x ./script ?)");
    verify(&place, &["./hotspott"]).exits(2).says("program not found: ./hotspott");
    verify(&place, &["./hotspott", "--format", "json"]).exits(2).says("program not found");
    verify(&place, &["./"]).exits(2).says("./ is a directory");
    // What never uses the driver has nothing to verify; a failure of its own is one.
    verify(&place, &["true"]).exits(4).says("never used Bugaroo's CUDA driver");
    verify(&place, &["false"]).exits(3).says("fails without injection");
    let ptx =
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n.reqntid 32\n{\n ret;\n}\n";
    // PTX by its content, whatever it is called.
    fs::write(place.path("kernel"), ptx).unwrap();
    verify(&place, &["kernel", "--kernel", "k"]).exits(0).prints("kernel k (32 threads): verified");
    verify(&place, &["kernel", "--launches", "3"]).exits(2).says("--launches is for programs");
    let json = verify(&place, &["kernel", "--bogus", "--format", "json"]).exits(2).json();
    assert_eq!(json["exit_code"], 2);
}

#[test]
fn constants_are_those_of_each_launch() {
    let Some((folder, program)) = program() else { return };
    let (place, program) = (Place::new(), program.to_str().unwrap());
    let report = json(&place, &[program, "constants"], 0);
    let turn = || ("turn(int*, int)".to_owned(), "verified".to_owned(), 1);
    assert_eq!(verdicts(&report), [turn(), turn(), turn()]);
    let barriers = |row: usize| report["kernels"][row]["stats"]["dynamic_barriers"].as_u64().unwrap();
    // One, and two more for each round.
    assert_eq!([barriers(0), barriers(1), barriers(2)], [1, 3, 5]);
    verify(&place, &[program, "constants"]).exits(0).prints("turn(int*, int)  2 × 128              3");
    drop(folder);
}

#[test]
fn other_pointers_make_no_other_launch_and_what_is_left_out_is_said() {
    let Some((_folder, program)) = program() else { return };
    let (place, program) = (Place::new(), program.to_str().unwrap());
    let report = json(&place, &[program, "thousand"], 0);
    assert_eq!(verdicts(&report), [("turn(int*, int)".to_owned(), "verified".to_owned(), 1000)]);
    assert_eq!(report["kernels"][0]["blocks"], "every");
    assert_eq!(report["kernels"][0]["forms"], 1000);
    // Each with another block has to be verified by itself.
    let report = json(&place, &["--launches", "5", program, "shapes"], 1);
    assert_eq!((verdicts(&report).len(), &report["not_looked_at"]), (5, &25.into()));
    assert_eq!(
        (&report["left_out"][0]["launches"], &report["left_out"][0]["forms"]),
        (&25.into(), &25.into())
    );
    verify(&place, &["--launches", "5", program, "shapes"])
        .exits(1)
        .prints("missing(int*): 25 launches of 25 kinds more were left out; --launches N verifies more kinds")
        .prints("30 launches: ")
        .prints("25 not looked at");
}

#[test]
fn a_missing_barrier_is_found() {
    let Some((_folder, program)) = program() else { return };
    let (place, program) = (Place::new(), program.to_str().unwrap());
    verify(&place, &[program, "missing"])
        .exits(1)
        .prints("missing(int*)    4 × 128              3  block 0 of 4  race")
        .prints("turn(int*, int)  1 × 128              1  every block   verified")
        .prints("3 launches of 3 kinds with 4 × 128, the first of which is launch 1 of the program; block 0 of 4:")
        .prints("kernel missing(int*) (128 threads): RACE in shared memory")
        .prints("box[threadIdx.x] = threadIdx.x;")
        .prints("4 launches: 3 race, 1 verified");
    verify(&place, &["--error-exitcode", "9", program, "missing"]).exits(9);
    verify(&place, &["--kernel", "turn", program, "missing"]).exits(0).prints("1 launch: 1 verified");
}

#[test]
fn the_last_block_is_looked_at() {
    let Some((_folder, program)) = program() else { return };
    let (place, program) = (Place::new(), program.to_str().unwrap());
    verify(&place, &[program, "ragged", "1024"]).exits(0);
    verify(&place, &[program, "ragged", "1000"]).exits(1).prints("block 15 of 16").prints("DEADLOCK");
}

#[test]
fn programs_that_launch_nothing_or_fail() {
    let Some((_folder, program)) = program() else { return };
    let (place, program) = (Place::new(), program.to_str().unwrap());
    let nothing = "the program launches no kernel: there is nothing to verify";
    verify(&place, &[program]).exits(0).says(nothing);
    let report = json(&place, &[program], 0);
    assert_eq!((&report["launches"], &report["kernels"]), (&0.into(), &serde_json::json!([])));
    verify(&place, &[program, "code"]).exits(3).says(nothing).says("exit code 7");
    verify(&place, &[program, "crash"])
        .exits(3)
        .says("the program failed (crash: signal 6 (SIGABRT)); what it launched all the same was looked at")
        .prints("1 launch: 1 verified");
    // What a kernel does wrong is a finding.
    verify(&place, &[program, "fault"])
        .exits(1)
        .says("the program failed (crash: kernel turn(int*, int): ")
        .prints("program: an illegal memory access")
        .prints("1 launch: 1 verified");
    let report = json(&place, &["--timeout", "1s", program, "spins"], 3);
    assert_eq!(report["failure"]["outcome"], "timeout");
    assert_eq!(verdicts(&report).len(), 1);
}

#[test]
fn the_user_can_stop_it() {
    let Some((folder, program)) = program() else { return };
    let place = Place::new();
    let mut command = place.command(&["verify", program.to_str().unwrap(), "spins"]);
    command.env_remove("BUGAROO_DRIVER").stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    // Once the program runs, as the child's child.
    let children = format!("/proc/{0}/task/{0}/children", child.id());
    until(|| fs::read_to_string(&children).is_ok_and(|list| !list.trim().is_empty()));
    signal(&child, libc::SIGINT);
    wait(child).exits(130).says("interrupted");
    drop(folder);
}
