use std::fs;

use tempfile::TempDir;

use super::{fences, same};

fn program(text: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("main.cu"), text).expect("it can be written");
    fs::write(folder.path().join("app"), "no source").expect("it can be written");
    folder
}

fn alike(one: &str, other: &str) -> bool {
    same(program(one).path(), program(other).path()).expect("both can be read")
}

#[test]
fn layout_does_not_matter() {
    assert!(alike("a = 1;\n\t__threadfence();\n\n    f = 1;\n", "a = 1; __threadfence(); f = 1;"));
    assert!(alike("#define P \\\n  a(); \\\n  b()\n", "#define P \\\n  a();       \\\n  b()\n"));
}

#[test]
fn the_place_the_braces_and_the_form_matter() {
    assert!(!alike("a = 1; __threadfence(); f = 1;", "a = 1; f = 1; __threadfence();"));
    assert!(!alike("if (a) { __threadfence(); f = 1; }", "__threadfence(); if (a) f = 1;"));
    assert!(!alike("__threadfence();", "__threadfence_block();"));
}

#[test]
fn fences_and_barriers_are_counted() {
    let text = "__threadfence(); __threadfence_block (); __syncthreads(); my__threadfence(); __syncwarp();
        cuda::atomic_thread_fence(cuda::memory_order_release); atomicAdd(&x, 1);";
    assert_eq!(fences(program(text).path()).expect("it can be read"), 5);
}
