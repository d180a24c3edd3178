//! Trials per second of the litmus tests, on two threads: `cargo bench -p bugaroo-litmus [-- MODEL]`.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use bugaroo_litmus::{Options, Strategy, TestJob, TestModel, find, keys, parse, run};

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let tests: Vec<_> = find(&folder)
        .expect("the folder of tests")
        .iter()
        .step_by(24)
        .map(|path| parse(&std::fs::read_to_string(path).expect("a test")).expect("it parses"))
        .collect();
    for (model, name) in [
        (TestModel::Sc, "sc"),
        (TestModel::Bugaroo, "bugaroo"),
        (TestModel::StoreBufferHandlers, "handlers"),
        (TestModel::StoreBuffer, "store-buffer"),
        (TestModel::Ptx, "ptx"),
    ] {
        for (strategy, by) in [(Strategy::Random, "random"), (Strategy::Pct, "pct")] {
            let mut rates = Vec::new();
            for test in &tests {
                let options = Options { model, strategy, jobs: 2, trials: 20_000, ..Options::default() };
                let keys = keys(test, None).expect("no table");
                let start = Instant::now();
                let seen =
                    run(&[TestJob { test, keys: &keys }], &options, &AtomicBool::new(false), &|_, _| {});
                let seconds = start.elapsed().as_secs_f64();
                rates.push(seen[0].as_ref().expect("it runs").trials as f64 / seconds);
            }
            rates.sort_by(f64::total_cmp);
            let (slowest, median) = (rates[0], rates[rates.len() / 2]);
            println!("{name:>14} {by:>7}: median {median:>9.0} trials/s, slowest {slowest:>9.0}");
        }
    }
}
