//! Programs that call NVIDIA's libraries of functions: what stands for them works in its stream, and what the program forgets
//! to order shows as it does beside a kernel.

use std::path::{Path, PathBuf};
use std::process::Output;

use crate::support::{Runtime, build, nvcc, passes_under_injection, run};
use serde_json::Value;

fn program() -> Option<PathBuf> {
    Some(build(&nvcc()?, "cublas.cu", Runtime::Static))
}

fn fourier() -> Option<PathBuf> {
    Some(build(&nvcc()?, "cufft.cu", Runtime::Shared))
}

fn said(ran: &Output) -> String {
    [&ran.stdout, &ran.stderr].map(|text| String::from_utf8_lossy(text).into_owned()).concat()
}

#[test]
fn a_product_in_the_order_of_its_stream_is_right() {
    let Some(program) = program() else { return };
    for how in ["one", "event", "device", "graph"] {
        passes_under_injection(&[&program, Path::new(how)], &[]);
    }
    passes_under_injection(&[&program, Path::new("event")], &["--model", "ptx"]);
}

/// What `bugaroo race` reports of a way of the program's.
fn races(program: &Path, how: &str, code: i32) -> Vec<Value> {
    let ran = run(&["race", "--seed", "3", "--trials", "4", "--format", "json"], &[program, Path::new(how)]);
    assert_eq!(ran.status.code(), Some(code), "{how}: {}", said(&ran));
    let report: Value = serde_json::from_slice(&ran.stdout).expect("a report");
    report["races"].as_array().expect("races").clone()
}

#[test]
fn a_missing_event_is_a_race_with_the_call() {
    let Some(program) = program() else { return };
    for (how, kernel) in [("before", "prepare"), ("after", "finish")] {
        let races = races(&program, how, 1);
        assert!(!races.is_empty());
        for race in races {
            let text = race.to_string();
            assert!(text.contains("cublasSgemm") && text.contains(kernel), "{how}: {race:#}");
        }
    }
    for how in ["one", "event", "device", "graph"] {
        assert_eq!(races(&program, how, 0), [Value::Null; 0], "{how}");
    }
}

#[test]
fn a_missing_event_shows_in_results() {
    let Some(program) = program() else { return };
    for how in ["before", "after"] {
        let ran = run(&["run", "--seed", "3", "--trials", "60", "--pw", "0"], &[&program, Path::new(how)]);
        assert_eq!(ran.status.code(), Some(1), "{how}: {}", said(&ran));
    }
}

#[test]
fn what_is_not_there_is_named() {
    let Some(program) = program() else { return };
    let ran = run(&["run", "--trials", "1"], &[&program, Path::new("missing")]);
    assert!(said(&ran).contains("cublasSgelsBatched is not supported"), "{}", said(&ran));
}

#[test]
fn a_result_without_room_is_a_fault_that_names_the_call() {
    let Some(program) = program() else { return };
    let ran = run(&["run", "--trials", "1"], &[&program, Path::new("outside")]);
    let said = said(&ran);
    assert_ne!(ran.status.code(), Some(0), "{said}");
    assert!(
        said.contains("cublasSgemm reads 96 bytes at") || said.contains("cublasSgemm writes 96 bytes at"),
        "{said}"
    );
}

#[test]
fn transforms_are_ordered_as_products_are() {
    let Some(program) = fourier() else { return };
    passes_under_injection(&[&program, Path::new("one")], &[]);
    assert_eq!(races(&program, "one", 0), [Value::Null; 0]);
    let races = races(&program, "apart", 1);
    let text = |kernel| races.iter().any(|race| race.to_string().contains(kernel));
    assert!(text("prepare") && text("scale"), "{races:#?}");
    assert!(races.iter().all(|race| race.to_string().contains("cufftExec")), "{races:#?}");
}
