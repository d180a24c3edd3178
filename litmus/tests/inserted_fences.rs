//! A fence that is inserted at a site and the same fence compiled into the kernel there are one program; likewise one
//! that is left out and one that is not in the text, and one that is narrowed and `__threadfence_block()`.
//!
//! `BUGAROO_FENCE_PROGRAMS` sets the number of random programs.

mod inserted;

use std::path::Path;

use bugaroo_device_handlers::HandlerModel;
use bugaroo_litmus::kernel::{CopyLayout, KERNEL, KernelForm, ThreadPlacement, kernel};
use bugaroo_litmus::{find, parse};
use inserted::handlers::{likelihood, rates};
use inserted::random::{Random, work};
use inserted::{Work, choices, same, table};

fn programs(default: u64) -> u64 {
    std::env::var("BUGAROO_FENCE_PROGRAMS").ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// Every litmus test, every site, everything that can be asked of it: the same instructions, and the same outcome in each
/// trial under each model.
#[test]
fn litmus_tests_with_fences_asked_for_are_those_with_fences_compiled_in() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut compared = 0;
    for file in find(&folder).expect("the folder of tests") {
        let test = std::fs::read_to_string(&file).expect("a test can be read");
        let test = parse(&test).unwrap_or_else(|error| panic!("{}:{error}", file.display()));
        let layout = CopyLayout::new(&test);
        for placement in [ThreadPlacement::Warps, ThreadPlacement::Lanes] {
            let text = kernel(&test, &layout, placement, KernelForm::default());
            let grid = [test.ctas().max(1), 2, 1];
            let block = placement.block(&test);
            let bytes = layout.initial(2).len();
            let work = Work { text: &text, kernel: KERNEL, grid, block, bytes };
            for point in &table(&text).points {
                for word in choices(point) {
                    let site = point.site.expect("one with choices has a number");
                    same(&work, &vec![(site, word)], 0..3);
                    compared += 1;
                }
            }
        }
    }
    println!("{compared} programs compared");
}

#[test]
fn random_programs_with_fences_asked_for_are_those_with_fences_compiled_in() {
    for seed in 0..programs(400) {
        let mut random = Random::new(seed);
        let text = random.text();
        let asked = random.asked(&text);
        same(&work(&text), &asked, 0..12);
    }
}

/// Under the device code rates are the same: no program of all is told apart with an error of 0.1 % for all together.
#[test]
fn the_device_codes_fences_are_those_compiled_in() {
    let (programs, trials) = (programs(24), 150);
    let mut least: f64 = 1.0;
    for seed in 0..programs {
        let mut random = Random::new(seed);
        let text = random.text();
        let asked = random.asked(&text);
        for model in [HandlerModel::StoreBuffer, HandlerModel::Bugaroo] {
            // That model knows no scopes: a narrowed fence is a fence there, a block's fence none of a thread's.
            if model == HandlerModel::Bugaroo && asked.iter().any(|(_, word)| word & 4 != 0) {
                continue;
            }
            let seen = rates(&work(&text), &asked, model, trials);
            let p = likelihood(&seen);
            least = least.min(p);
            let all = 2.0 * programs as f64;
            assert!(p * all > 0.001, "{model:?}, p {p}, {asked:?}\n{text}\n{seen:?}");
        }
    }
    println!("{programs} programs, least p {least}");
}
