//! What nvcc says: of the edited texts, and of the columns of `.loc`.
//!
//! The compiler is the one that `apps/rebuild-ptx --install` installs. Where it is not, the tests say so and pass,
//! unless `BUGAROO_REQUIRE_PTXAS=1` demands it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::cases::{PRELUDE, cases};
use super::{changes, insertions};
use crate::patch::apply;

fn nvcc() -> Option<PathBuf> {
    let lib = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/cuda-toolchain/V/lib");
    let folders = fs::read_dir(lib).into_iter().flatten().flatten();
    let found = folders
        .map(|entry| entry.path().join("site-packages/nvidia/cu13/bin/nvcc"))
        .find(|nvcc| nvcc.is_file());
    if found.is_none() {
        let demanded = std::env::var_os("BUGAROO_REQUIRE_PTXAS").is_some_and(|value| value == "1");
        assert!(!demanded, "BUGAROO_REQUIRE_PTXAS=1, but there is no nvcc: run apps/rebuild-ptx --install");
        eprintln!("SKIPPED: no nvcc; apps/rebuild-ptx --install installs it");
    }
    found
}

/// The PTX of a text.
fn compile(nvcc: &Path, text: &str) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (source, ptx) = (folder.path().join("a.cu"), folder.path().join("a.ptx"));
    fs::write(&source, text).expect("a file in it");
    let ran = Command::new(nvcc)
        .current_dir(folder.path())
        .args(["-O2", "-lineinfo", "-ptx", "-arch=sm_80", "-std=c++20", "-w", "a.cu", "-o", "a.ptx"])
        .output()
        .expect("nvcc can be started");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    fs::read_to_string(ptx).expect("what it wrote")
}

#[test]
fn every_edited_text_compiles() {
    let Some(nvcc) = nvcc() else { return };
    let mut all = PRELUDE.to_owned();
    let tables = [("statements", insertions::STATEMENTS), ("changes", changes::CHANGES)];
    let mut number = 0;
    for (table, text) in tables {
        for case in cases(text) {
            let edits = if table == "changes" { changes::edits(&case) } else { insertions::edits(&case) };
            let Ok(edits) = edits else { continue };
            let edited = apply(&case.text, &edits).expect("no overlap");
            let body = edited.replace("#include \"prelude.cuh\"\n", "");
            let defined: BTreeSet<&str> = body
                .lines()
                .filter_map(|line| line.strip_prefix("#define ")?.split([' ', '(']).next())
                .collect();
            number += 1;
            // Errors name the case.
            all.push_str(&format!(
                "namespace case_{number} {{\n#line 1 \"{table}: {}\"\n{body}}}\n",
                case.name
            ));
            all.extend(defined.iter().map(|name| format!("#undef {name}\n")));
        }
    }
    assert!(number > 120, "{number} texts");
    compile(&nvcc, &all);
}

/// Accesses of all forms; `.loc` must say of each what the comment on its line says.
const COLUMNS: &str = r#"__device__ int data, out;
__device__ volatile int vflag;
#define LONGER(x) ((x) + 0 + 0 + 0 + 0 + 0 + 0 + 0)
#define BOTH(a, b) do { data = (a); vflag = (b); } while (0)
__global__ void k(int *a, int *m, int n) {
    data = n; // 5
    a[threadIdx.x] += n; // 5
    int got = vflag; out = got; // 5
    while (vflag == 0) {} // 5
    if (n == 3 && vflag == 1) // 5
        data = 1; // 9
    for (int i = LONGER(n); i < 20; i += vflag) { // 61
        a[i] = i; // 9
    }
    do {
        out = 3; // 9
    } while (vflag == 1); // 14
    if (n == 4) {
        vflag = 3; // 9
    } else { vflag = 4; } // 12
    BOTH(n, 4); vflag = 9; // 5
    while (n &&
           vflag == 3) { // 12
    }
    asm volatile("membar.gl;" ::: "memory"); // 5
    auto f = [&](int z) {
        vflag = z; // 9
    };
    f(3);
    auto g = [&](int z) { vflag = z; }; // 17
    g(4);
    data =
        vflag; // 9
}
"#;

#[test]
fn a_column_is_that_of_what_comes_first_on_its_line() {
    let Some(nvcc) = nvcc() else { return };
    let ptx = compile(&nvcc, COLUMNS);
    // Places of what touches memory or orders it.
    let mut place = (0, 0);
    let mut places: BTreeSet<(usize, usize)> = BTreeSet::new();
    for line in ptx.lines() {
        let words: Vec<&str> = line.split([' ', '\t', ',']).filter(|word| !word.is_empty()).collect();
        match words[..] {
            [".loc", _, line, column, ..] => {
                place = (line.parse().expect("a number"), column.parse().expect("a number"));
            }
            [word, ..]
                if ["ld.volatile", "st.", "ld.global", "membar"]
                    .iter()
                    .any(|start| word.starts_with(start)) =>
            {
                places.insert(place);
            }
            _ => {}
        }
    }
    for (index, text) in COLUMNS.lines().enumerate() {
        let Some((_, column)) = text.split_once("// ") else { continue };
        let column: usize = column.parse().expect("a column");
        let said: Vec<usize> =
            places.iter().filter(|(line, _)| *line == index + 1).map(|(_, column)| *column).collect();
        assert!(said.contains(&column), "line {}: `{text}` has {said:?}", index + 1);
    }
}
