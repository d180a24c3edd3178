//! The injector's corpus, run: kernels that nvcc compiled give the same result whatever is delayed.

use crate::injected::{
    Argument, Injection, Prepared, Work, in_both_forms, run, run_original, under_ptx, words,
};
use bugaroo_device_handlers::HandlerModel;

macro_rules! corpus {
    ($name:literal) => {
        Prepared::new(include_str!(concat!("../../injector/tests/corpus/", $name, ".ptx")))
    };
}

const BOTH: [HandlerModel; 2] = [HandlerModel::StoreBuffer, HandlerModel::Bugaroo];

fn unnoticed(prepared: &Prepared, work: &Work<'_>, models: &[HandlerModel]) {
    let expected = run_original(prepared, work, 0).complete().buffers;
    assert_ne!(expected, buffers(work), "{} does nothing", work.kernel);
    assert_eq!(run(prepared, work, None, 0).complete().buffers, expected, "{}", work.kernel);
    for model in models {
        for pw in [0.0, 0.5, 1.0] {
            for capacity in [1, 2, 256] {
                for seed in 0..4 {
                    let injection = Injection { capacity, ..Injection::new(*model, pw) };
                    let outcome = run(prepared, work, Some(&injection), seed).complete();
                    assert_eq!(outcome.buffers, expected, "{}, {injection:?}, seed {seed}", work.kernel);
                }
            }
        }
    }
}

/// The buffers as they are passed.
fn buffers(work: &Work<'_>) -> Vec<Vec<u8>> {
    let content = work.arguments.iter().filter_map(|argument| match argument {
        Argument::Buffer(content) => Some(content.clone()),
        Argument::U32(_) | Argument::U64(_) => None,
    });
    content.collect()
}

/// Bytes that are no pattern.
fn noise(count: usize) -> Argument {
    Argument::Buffer((0..count as u32).map(|i| (i.wrapping_mul(0x9e37_79b9) >> 24) as u8).collect())
}

/// Finite floating-point numbers.
fn numbers(count: usize, bytes: usize) -> Argument {
    let value = |i: usize| match bytes {
        4 => (i as f32 * 0.25).to_le_bytes().to_vec(),
        _ => (i as f64 * 0.125).to_le_bytes().to_vec(),
    };
    Argument::Buffer((0..count).flat_map(value).collect())
}

#[test]
fn guarded_instructions() {
    in_both_forms(|| {
        let prepared = corpus!("predicated");
        let arguments = [words(&[5; 128]), words(&[9; 64]), words(&[0]), Argument::U32(50)];
        unnoticed(&prepared, &Work::new("guarded", 2, 32, &arguments), &BOTH);
        unnoticed(&prepared, &Work::new("guarded_exit", 2, 32, &[words(&[5; 64]), Argument::U32(50)]), &BOTH);
    });
}

#[test]
fn vectors() {
    in_both_forms(|| {
        let prepared = corpus!("vectors");
        let arguments = [
            numbers(256, 4),
            numbers(256, 4),
            numbers(128, 8),
            noise(512),
            noise(256),
            noise(512),
            noise(1024),
            numbers(128, 4),
        ];
        unnoticed(&prepared, &Work::new("copies", 2, 32, &arguments), &BOTH);
        unnoticed(&prepared, &Work::new("in_shared", 2, 64, &[numbers(512, 4)]), &BOTH);
    });
}

#[test]
fn every_width() {
    in_both_forms(|| {
        let prepared = corpus!("widths");
        let bytes = |size: usize| noise(size * 3 * 64);
        let arguments = [
            bytes(1),
            bytes(1),
            bytes(2),
            bytes(2),
            bytes(4),
            bytes(4),
            bytes(8),
            bytes(8),
            numbers(192, 4),
            numbers(192, 8),
            Argument::Buffer(vec![0x3c; 2 * 192]),
            Argument::Buffer(vec![0x3c; 4 * 192]),
            Argument::Buffer(vec![1; 192]),
        ];
        unnoticed(&prepared, &Work::new("all", 2, 32, &arguments), &BOTH);
        // Sub-words of a larger value: the paper's equality of addresses does not see them.
        unnoticed(
            &prepared,
            &Work::new("parts", 2, 32, &[noise(512), noise(512)]),
            &[HandlerModel::StoreBuffer],
        );
    });
}

#[test]
fn generic_addresses() {
    in_both_forms(|| {
        let prepared = corpus!("generic");
        for which in 0..4 {
            let mut work = Work::new("spaces", 2, 64, &[words(&[3; 128]), Argument::U32(which)]);
            work.dynamic_shared = 256;
            unnoticed(&prepared, &work, &BOTH);
        }
    });
}

#[test]
fn device_functions() {
    in_both_forms(|| {
        let prepared = corpus!("functions");
        unnoticed(&prepared, &Work::new("diverged", 2, 32, &[words(&[0; 128])]), &BOTH);
        unnoticed(&prepared, &Work::new("recursive", 2, 32, &[words(&[9; 64 * 16]), words(&[0; 64])]), &BOTH);
        unnoticed(&prepared, &Work::new("pointers", 2, 32, &[words(&[0; 64])]), &BOTH);
    });
}

#[test]
fn ways_out() {
    in_both_forms(|| {
        let prepared = corpus!("control");
        unnoticed(&prepared, &Work::new("early", 2, 64, &[words(&[0; 128]), Argument::U32(100)]), &BOTH);
        unnoticed(&prepared, &Work::new("exits", 1, 64, &[words(&[0; 128])]), &BOTH);
    });
}

#[test]
fn wide_atomics() {
    // Whoever saw half of a store or of an exchange would write to the second buffer.
    let prepared = Prepared::new(include_str!("ptx/wide_atomics.ptx"));
    let count = Work::new("count", 2, 32, &[words(&[0; 4]), words(&[0; 2])]);
    let once = Work::new("once", 1, 1, &[words(&[1, 0, 2, 0, 3, 0, 4, 0]), words(&[0; 16])]);
    in_both_forms(|| {
        unnoticed(&prepared, &count, &[HandlerModel::StoreBuffer]);
        unnoticed(&prepared, &once, &[HandlerModel::StoreBuffer]);
    });
    under_ptx(|| {
        unnoticed(&prepared, &count, &[HandlerModel::StoreBuffer]);
        unnoticed(&prepared, &once, &[HandlerModel::StoreBuffer]);
    });
}
