//! What an access costs. Run by hand: `cargo test --release -p bugaroo-detectors --test scord speed -- --ignored --nocapture`.

use std::time::Duration;

use bugaroo_detectors::scord::ScordOptions;

use crate::run::{At, Does, Run, Size, add, load, store};

/// The processor time of this thread: others build on this machine.
fn processor_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text.split(' ').next().and_then(|number| number.parse().ok());
    Duration::from_nanos(nanoseconds.unwrap_or(0))
}

fn measure(name: &str, options: ScordOptions, access: impl Fn(u64) -> Does) {
    let size = Size { blocks: 256, threads: 256, cluster: 1 };
    let mut run = Run::of(size, options, None);
    let start = processor_time();
    let times = std::env::var("TIMES").map_or(400, |times| times.parse().unwrap());
    for time in 0..times {
        for warp in 0..2048 {
            run.access(time % 4, warp, &access(u64::from(warp)));
        }
        if time % 8 == 0 {
            (0..256).for_each(|block| {
                run.barrier(block);
            });
        }
    }
    let took = processor_time().saturating_sub(start);
    assert!(run.findings().is_empty());
    // The machine is never quiet: what else it is doing shows in how long telling takes where nobody listens.
    let start = processor_time();
    for _ in 0..times {
        for warp in 0..2048 {
            run.access(0, warp, &Does { shared: true, ..access(u64::from(warp)) });
        }
    }
    let told = processor_time().saturating_sub(start);
    let (took, told) = (took.as_nanos() as f64, told.as_nanos() as f64);
    println!(
        "{name:32} {:6.1} ns an access, telling it {:6.1}",
        took / f64::from(times * 2048u32),
        told / f64::from(times * 2048u32)
    );
}

#[test]
#[ignore = "a measurement"]
fn speed() {
    for threads in [false, true] {
        let options = ScordOptions { independent_threads: threads, ..ScordOptions::default() };
        println!("threads apart: {threads}");
        let row = |warp: u64| warp * 128;
        measure("own rows, stored", options, |warp| store(row(warp)).weak().lanes(u32::MAX));
        measure("own rows, loaded", options, |warp| load(row(warp)).weak().lanes(u32::MAX));
        measure("one row, loaded by all", options, |_| load(0).weak().lanes(u32::MAX));
        measure("one word, loaded by all", options, |_| load(0).weak().lanes(u32::MAX).at(At::Same(0)));
        measure("one counter", options, |_| {
            add(bugaroo_ptx::types::Scope::Gpu, 0).lanes(u32::MAX).at(At::Same(0))
        });
        measure("own bytes, stored", options, |warp| store(row(warp) / 4).weak().lanes(u32::MAX).bytes(1, 1));
        measure("own columns, stored", options, |warp| {
            let each = std::array::from_fn(|lane| lane as u64 * 8192 * 4 + warp * 4);
            store(0).weak().lanes(u32::MAX).at(At::Each(Box::new(each)))
        });
    }
}
