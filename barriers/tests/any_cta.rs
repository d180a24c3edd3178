//! A verdict of any block of a grid, held against those of single blocks: of this crate's example kernels, and of the programs under
//! test.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use bugaroo_barriers::emulate::{KernelOptions, KernelText};
use bugaroo_barriers::findings::{KernelFindings, verify};

/// All PTX files with kernels to look at.
fn files() -> Vec<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![here.join("tests/kernels")];
    let apps = fs::read_dir(here.join("../apps")).expect("the programs under test");
    folders.extend(apps.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()));
    let listed = folders.iter().flat_map(|folder| fs::read_dir(folder).into_iter().flatten().flatten());
    let mut files: Vec<PathBuf> = listed
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "ptx"))
        .collect();
    files.sort();
    files
}

/// What is found; None where the request will not do.
fn found(text: &KernelText, kernel: &str, options: &KernelOptions) -> Option<KernelFindings> {
    verify(text, kernel, options).ok().map(|verified| verified.findings)
}

#[test]
fn what_holds_of_any_block_holds_of_each() {
    let mut seen: BTreeMap<&str, u32> = BTreeMap::new();
    for file in files() {
        let ptx = fs::read_to_string(&file).expect("a text");
        let Ok(text) = KernelText::new(&ptx) else { continue };
        let kernels: Vec<String> = text.kernels().map(str::to_owned).collect();
        // As the kernel says, or else of two warps.
        let launches = kernels.iter().flat_map(|kernel| [(kernel, None), (kernel, Some([64, 1, 1]))]);
        for (kernel, block) in launches {
            let grid = Some([5, 3, 1]);
            let one = KernelOptions { grid, block, max_steps: 100_000, ..KernelOptions::default() };
            let any = KernelOptions { any_cta: true, ..one.clone() };
            let Some(of_any) = found(&text, kernel, &any) else { continue };
            let certain = !of_any.is_open() && of_any.verdict != "possible-race" && of_any.example.is_empty();
            if !certain {
                *seen.entry("open").or_default() += 1;
                continue;
            }
            *seen.entry(of_any.verdict).or_default() += 1;
            for cta in [[0, 0, 0], [4, 2, 0], [2, 1, 0]] {
                let of_one = found(&text, kernel, &KernelOptions { cta, ..one.clone() }).expect("as before");
                let place = format!("{} {kernel} {cta:?}", file.display());
                assert_eq!(of_one.verdict, of_any.verdict, "{place}");
            }
        }
    }
    println!("{seen:?}");
    assert!(seen["verified"] > 30 && seen["race"] > 5 && seen["deadlock"] > 3, "{seen:?}");
}
