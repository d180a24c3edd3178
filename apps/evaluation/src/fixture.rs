//! Canned results for the tests of everything that shows or compares them.

use std::collections::BTreeMap;

use bugaroo_harness::clopper_pearson;
use bugaroo_protocol::{FlushLengths, Model};

use crate::memory;
use crate::paper;
use crate::results::{Cell, Counts, Evaluation, Profiled, Rated, Row, Settings, Timed};

/// Settings of the full form.
pub fn settings() -> Settings {
    Settings {
        trials: 1000,
        seed: 1,
        short: false,
        timings: 3,
        profile_trials: 10,
        built: BTreeMap::from([("libcuda.so".to_owned(), "abc".to_owned())]),
    }
}

/// cbe_dot as expected, kmeans without its rates, both under store-buffer.
pub fn results() -> Evaluation {
    let mut results = Evaluation::new(settings());
    results.rates = vec![
        rated("cbe_dot", "original_2_fence", Model::StoreBuffer, [0; 4]),
        rated("cbe_dot", "1_fence", Model::StoreBuffer, [0; 4]),
        rated("cbe_dot", "no_fence", Model::StoreBuffer, [1000, 1000, 990, 860]),
    ];
    results.profiles = vec![
        profiled("cbe_dot", "original_2_fence", (32, 256), [&[(1, 64)], &[(1, 32_704)]]),
        profiled("kmeans", "original", (1, 256), [&[(1, 400), (34, 200)], &[]]),
    ];
    results.timings = vec![
        timed("cbe_dot", "original_2_fence", [10.0, 30.0, 20.0], [30.0, 20.0, 25.0]),
        timed("kmeans", "original", [10.0, 10.0, 10.0], [11.0, 11.0, 11.0]),
    ];
    results
}

/// A row's failures at the paper's p_w, of 1000 trials each.
pub fn rated(program: &str, variant: &str, model: Model, failures: [u64; 4]) -> Rated {
    let cell = |at: usize| Cell {
        pw: paper::PW[at],
        trials: 1000,
        failures: failures[at],
        ci95: clopper_pearson(failures[at], 1000),
        outcomes: BTreeMap::from([
            ("pass".to_owned(), 1000 - failures[at]),
            ("wrong-result".to_owned(), failures[at]),
        ]),
    };
    Rated { row: Row::new(program, variant), model, cells: (0..4).map(cell).collect() }
}

fn profiled(program: &str, variant: &str, launch: (u64, u64), lengths: [&[(u32, u64)]; 2]) -> Profiled {
    let [global, shared] = lengths.map(|lengths| lengths.iter().copied().collect());
    let total = Counts {
        dynamic_instructions: 315_520,
        fences: 64,
        static_fences: 2,
        shared_stores: 0,
        global_stores: 3600,
        delayed_stores: 36_000,
        flush_lengths: FlushLengths { global, shared },
        buffer_bytes: memory::of_launch(launch),
    };
    Profiled { row: Row::new(program, variant), model: Model::StoreBuffer, total }
}

fn timed(program: &str, variant: &str, native: [f64; 3], instrumented: [f64; 3]) -> Timed {
    Timed {
        row: Row::new(program, variant),
        native_ms: native.to_vec(),
        instrumented_ms: BTreeMap::from([("store-buffer".to_owned(), instrumented.to_vec())]),
    }
}
