//! The first program under test, as kernels: a lock whose unlock lacks its fence is found out under both
//! models, and one that has it never fails. `cbe_dot` itself is tried end to end elsewhere.

use crate::injected::{Argument, Injection, Prepared, Work, in_both_forms, run, run_original, words};
use bugaroo_device_handlers::HandlerModel;

/// Blocks and threads of each. What fails is between blocks, so that these are small.
const SHAPE: (u32, u32) = (32, 64);
const ELEMENTS: u32 = 4096;
/// At least nine in ten have to fail of a kernel that fails in 97 of 100: chance alone breaks that once in 1,000 times.
const TRIALS: u64 = 100;

fn work(kernel: &str) -> Work<'_> {
    // Small whole numbers: the sum is exact in whatever order.
    let numbers: Vec<u32> = (0..ELEMENTS).map(|i| ((i % 7) as f32).to_bits()).collect();
    let ones = vec![1f32.to_bits(); ELEMENTS as usize];
    let arguments = [words(&numbers), words(&ones), words(&[0]), words(&[0]), Argument::U32(ELEMENTS)];
    Work::new(kernel, SHAPE.0, SHAPE.1, &arguments)
}

/// Trials, of all, whose sum is wrong.
fn failures(prepared: &Prepared, kernel: &str, injection: &Injection) -> u64 {
    let work = work(kernel);
    let expected = run_original(prepared, &work, 0).complete().words(2);
    let wrong = |seed: &u64| run(prepared, &work, Some(injection), *seed).complete().words(2) != expected;
    (0..TRIALS).filter(wrong).count() as u64
}

#[test]
fn the_unlock_needs_its_fence_and_the_lock_does_not() {
    let prepared = Prepared::new(include_str!("../../apps/cbe_dot/kernel.ptx"));
    in_both_forms(|| {
        for model in [HandlerModel::StoreBuffer, HandlerModel::Bugaroo] {
            for pw in [0.25, 0.5, 0.75, 1.0] {
                let injection = Injection::new(model, pw);
                for kernel in ["dot_original_2_fence", "dot_1_fence"] {
                    assert_eq!(failures(&prepared, kernel, &injection), 0, "{kernel}, {model:?}, p_w {pw}");
                }
                let failed = failures(&prepared, "dot_no_fence", &injection);
                let least = if pw < 0.5 { TRIALS / 2 } else { TRIALS * 9 / 10 };
                println!("{model:?}, p_w {pw}: {failed} of {TRIALS}");
                assert!(failed > least, "{model:?}, p_w {pw}: only {failed} of {TRIALS} fail");
            }
        }
    });
}

#[test]
fn instrumentation_costs_little_where_nothing_is_delayed() {
    let prepared = Prepared::new(include_str!("../../apps/cbe_dot/kernel.ptx"));
    let work = work("dot_1_fence");
    let original = run_original(&prepared, &work, 0).complete().thread_instructions;
    let off = run(&prepared, &work, None, 0).complete().thread_instructions;
    let on = run(&prepared, &work, Some(&Injection::new(HandlerModel::StoreBuffer, 0.75)), 0)
        .complete()
        .thread_instructions;
    println!("{original} instructions, {off} instrumented, {on} with stores delayed");
    assert!(off < 2 * original, "{original} became {off}");
}
