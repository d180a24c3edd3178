//! What CTAs hold back from the rest of the device: `tests/kernels/cta.cu`.
//!
//! What the memory model forbids is never seen (a store that a barrier or fence orders before a thread of
//! the same block, or before a fence or release of wider scope, is seen behind it); what it allows is: other
//! blocks miss a store that only the block's own barriers order.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use crate::injected::{
    Argument, Injection, Outcome, Prepared, Work, in_both_forms, natively, run, run_original, under_ptx,
    words,
};
use bugaroo_device_handlers::HandlerModel;
use proptest::prelude::*;

static KERNELS: LazyLock<Prepared> = LazyLock::new(|| Prepared::new(include_str!("kernels/cta.ptx")));

const BLOCK: u32 = 64;

fn store_buffer(pw: f64) -> Injection {
    Injection::new(HandlerModel::StoreBuffer, pw)
}

fn outcomes(kernel: &str, injection: &Injection, seeds: u64) -> Vec<Outcome> {
    let arguments = [words(&[0; 8]), words(&[0; 8]), words(&[0; 8 + 4 * BLOCK as usize])];
    let work = Work::new(kernel, 2, BLOCK, &arguments);
    (0..seeds).map(|seed| run(&KERNELS, &work, Some(injection), seed).complete()).collect()
}

/// What the witness in the writer's block and the reader in the other one saw.
fn seen(kernel: &str, injection: &Injection, seeds: u64) -> BTreeSet<(u32, u32)> {
    let both = |outcome: Outcome| (outcome.words(2)[0], outcome.words(2)[1]);
    outcomes(kernel, injection, seeds).into_iter().map(both).collect()
}

#[test]
fn fences_and_releases_cover_what_the_block_ordered_before_them() {
    in_both_forms(|| {
        for kernel in [
            "fence_of_another",
            "release_of_another",
            "fence_block_then_fence",
            "acquire_then_release",
            "fence_block_then_acquire",
        ] {
            for pw in [0.5, 1.0] {
                assert_eq!(
                    seen(kernel, &store_buffer(pw), 100),
                    BTreeSet::from([(42, 42)]),
                    "{kernel}, p_w {pw}"
                );
            }
        }
    });
}

#[test]
fn a_barrier_orders_nothing_for_another_block() {
    in_both_forms(|| {
        for pw in [0.5, 1.0] {
            let seen = seen("ticket_behind_barrier", &store_buffer(pw), 200);
            assert_eq!(seen, BTreeSet::from([(42, 0), (42, 42)]), "p_w {pw}");
        }
    });
}

#[test]
fn a_fence_that_is_narrowed_is_the_blocks_fence() {
    in_both_forms(|| {
        let narrowed = |kernel: &str| store_buffer(1.0).narrowing(&KERNELS.sites(kernel, "membar.gl"));
        let within = seen("message_within", &narrowed("message_within"), 100);
        assert_eq!(within, BTreeSet::from([(42, 42)]), "the same block");
        let across = seen("fence_of_another", &narrowed("fence_of_another"), 200);
        assert_eq!(across, BTreeSet::from([(42, 0), (42, 42)]), "another block");
        // The same for a fence that is inserted: behind the writer's store, before the barrier.
        let kernel = "ticket_behind_barrier";
        let store = &KERNELS.sites(kernel, "st.global")[..1];
        assert_eq!(seen(kernel, &store_buffer(1.0).inserting(store), 100), BTreeSet::from([(42, 42)]));
        let narrow = store_buffer(1.0).inserting(store).narrowing(store);
        assert_eq!(seen(kernel, &narrow, 200), BTreeSet::from([(42, 0), (42, 42)]));
    });
}

/// The device code drains them at any fence.
#[test]
fn a_fence_that_is_narrowed_shows_behind_strong_stores() {
    let kernel = "strong_store_then_ticket";
    let seen = |injection: &Injection| seen(kernel, injection, 200);
    in_both_forms(|| assert_eq!(seen(&store_buffer(1.0)), BTreeSet::from([(42, 42)]), "as it stands"));
    let narrowed = store_buffer(1.0).narrowing(&KERNELS.sites(kernel, "membar.gl"));
    natively(|| assert_eq!(seen(&narrowed), BTreeSet::from([(42, 0), (42, 42)])));
}

#[test]
fn a_fence_that_is_inserted_behind_a_barrier_covers_what_others_wrote_before_it() {
    let kernel = "ticket_behind_barrier";
    let behind = store_buffer(1.0).inserting(&KERNELS.sites(kernel, "bar")[..1]);
    in_both_forms(|| assert_eq!(seen(kernel, &behind, 100), BTreeSet::from([(42, 42)])));
    under_ptx(|| {
        assert!(seen(kernel, &store_buffer(1.0), 200).contains(&(42, 0)), "without it");
        assert_eq!(seen(kernel, &behind, 200), BTreeSet::from([(42, 42)]));
    });
}

#[test]
fn the_papers_model_takes_a_narrowed_fence_for_a_fence() {
    let sites = KERNELS.sites("fence_of_another", "membar.gl");
    let injection = |model| Injection::new(model, 1.0);
    let kernel = "fence_of_another";
    let whole = seen(kernel, &injection(HandlerModel::Bugaroo), 60);
    assert_eq!(seen(kernel, &injection(HandlerModel::Bugaroo).narrowing(&sites), 60), whole);
}

#[test]
fn writers_of_the_same_bytes_come_one_after_the_other() {
    in_both_forms(|| {
        for pw in [0.3, 0.7, 1.0] {
            for outcome in outcomes("one_after_the_other", &store_buffer(pw), 60) {
                let out = outcome.words(2);
                assert_eq!(out[0], 5, "what the atomic found");
                for thread in 0..BLOCK as usize {
                    let read = &out[8 + 4 * thread..12 + 4 * thread];
                    assert_eq!(read, [2, 0x0102_0904, 15, 0x0102_0904], "thread {thread}, p_w {pw}");
                }
                assert_eq!(outcome.words(0)[..3], [2, 0x0102_0904, 15], "in the end");
            }
        }
    });
}

#[test]
fn who_spins_on_a_plain_store_behind_a_barrier_ends() {
    in_both_forms(|| {
        assert_eq!(seen("plain_handshake", &store_buffer(1.0), 30), BTreeSet::from([(42, 42)]));
    });
}

#[test]
fn a_dry_pool_loses_nothing() {
    let rounds = 40;
    let prepared = Prepared::new(include_str!("kernels/injection.ptx"));
    for model in [HandlerModel::StoreBuffer, HandlerModel::Bugaroo] {
        let mut delayed = BTreeSet::new();
        // Room for every store, for some, and for hardly any: counts and tables alone take the rest.
        for budget in [256 << 20, 100_000, 70_000, 1] {
            let work = Work::new(
                "coins",
                2,
                64,
                &[Argument::Buffer(vec![0xff; 4 * 128 * rounds as usize]), Argument::U32(rounds)],
            );
            let injection = Injection { budget, ..Injection::new(model, 1.0) };
            let outcome = run(&prepared, &work, Some(&injection), 7).complete();
            let expected: Vec<u32> = (0..128).flat_map(|_| 0..rounds).collect();
            assert_eq!(outcome.words(0), expected, "{model:?}, {budget} bytes");
            delayed.insert(outcome.delayed);
        }
        assert!(delayed.len() > 1, "{model:?}: the pool never ran dry: {delayed:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Without races nothing of all this can be seen.
    #[test]
    fn phases_without_races_end_as_they_would_without_injection(
        table in prop::collection::vec(prop::collection::vec(any::<u32>(), BLOCK as usize + 2), 1..24),
        pw in prop_oneof![Just(0.3), Just(0.8), Just(1.0)],
        capacity in prop_oneof![Just(1u32), Just(3), Just(256)],
        seed in any::<u64>(),
    ) {
        let count = table.len() as u32;
        let table: Vec<u32> = table.concat();
        let cells = vec![0; 2 * 8 * BLOCK as usize];
        let arguments =
            [Argument::Buffer(cells.clone()), words(&table), Argument::Buffer(cells), Argument::U32(count)];
        let work = Work::new("phases", 2, BLOCK, &arguments);
        let injection = Injection { capacity, ..store_buffer(pw) };
        let plain = run_original(&KERNELS, &work, seed).complete();
        let injected = run(&KERNELS, &work, Some(&injection), seed).complete();
        prop_assert!(injected.delayed > 0 || count < 3);
        prop_assert_eq!(&plain.buffers, &injected.buffers);
        let native = natively(|| run(&KERNELS, &work, Some(&injection), seed)).complete();
        prop_assert_eq!(plain.buffers, native.buffers);
    }
}
