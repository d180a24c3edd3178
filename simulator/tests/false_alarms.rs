//! Where the paper's Algorithm 1 raises a false alarm: `tests/kernels/false_alarms.cu` holds programs that are
//! right under the PTX memory model. Under model bugaroo they give wrong results, under store-buffer never.

use std::sync::LazyLock;

use crate::injected::{Injection, Prepared, Work, run, run_original, words};
use bugaroo_device_handlers::HandlerModel;

static KERNELS: LazyLock<Prepared> =
    LazyLock::new(|| Prepared::new(include_str!("kernels/false_alarms.ptx")));

/// Seeds whose memory ends otherwise than it has to.
fn wrong(kernel: &str, (grid, block): (u32, u32), model: HandlerModel, pw: f64) -> usize {
    let zeros = words(&vec![0; block as usize]);
    let work = Work::new(kernel, grid, block, &[zeros.clone(), zeros]);
    let right = run_original(&KERNELS, &work, 0).complete().buffers;
    let ends = |seed| run(&KERNELS, &work, Some(&Injection::new(model, pw)), seed).complete().buffers;
    (0..100).filter(|seed| ends(*seed) != right).count()
}

fn only_the_paper_fails(kernel: &str, shape: (u32, u32)) {
    for pw in [0.25, 0.5, 0.75, 1.0] {
        assert_eq!(
            wrong(kernel, shape, HandlerModel::StoreBuffer, pw),
            0,
            "{kernel}, store-buffer, p_w {pw}"
        );
    }
    let wrong = wrong(kernel, shape, HandlerModel::Bugaroo, 1.0);
    assert!(wrong > 0, "{kernel}: no false alarm in 100 trials of model bugaroo");
}

#[test]
fn global_stores_stay_buffered_across_a_barrier() {
    only_the_paper_fails("neighbours", (1, 64));
}

#[test]
fn atomics_go_by_the_threads_own_buffered_store() {
    only_the_paper_fails("own_store_then_atomic", (1, 32));
}

#[test]
fn a_new_value_is_visible_for_a_moment() {
    only_the_paper_fails("seen_twice", (2, 1));
}

#[test]
fn syncwarp_drains_nothing() {
    only_the_paper_fails("neighbours_in_a_warp", (1, 32));
}
