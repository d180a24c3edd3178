//! What injected store buffers do, kernel by kernel: `tests/kernels/injection.cu`.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use crate::injected::{
    Argument, Injection, Outcome, Prepared, Work, in_both_forms, natively, run, run_original, words,
};
use bugaroo_device_handlers::{HandlerModel, coin, threshold};
use bugaroo_simulator::End;

static KERNELS: LazyLock<Prepared> = LazyLock::new(|| Prepared::new(include_str!("kernels/injection.ptx")));

const STORE_BUFFER: HandlerModel = HandlerModel::StoreBuffer;

/// The values that word 0 of the last buffer takes over some seeds.
fn seen(kernel: &str, block: u32, injection: &Injection, seeds: u64) -> BTreeSet<u32> {
    let arguments = [words(&[0; 8]), words(&[0; 8]), words(&[0; 8])];
    let work = Work::new(kernel, 2, block, &arguments);
    let last = |outcome: Outcome| outcome.complete().words(2)[0];
    (0..seeds).map(|seed| last(run(&KERNELS, &work, Some(injection), seed))).collect()
}

fn store_buffer(pw: f64) -> Injection {
    Injection::new(STORE_BUFFER, pw)
}

#[test]
fn a_message_without_a_fence_is_stale_at_times() {
    in_both_forms(|| {
        for pw in [0.25, 0.5, 0.75, 1.0] {
            assert_eq!(seen("message", 1, &store_buffer(pw), 60), BTreeSet::from([0, 42]), "p_w {pw}");
        }
        assert_eq!(seen("message", 1, &store_buffer(0.0), 60), BTreeSet::from([42]));
    });
}

#[test]
fn a_message_behind_a_fence_or_release_never_is() {
    in_both_forms(|| {
        for kernel in ["message_fenced", "message_released"] {
            for pw in [0.0, 0.5, 1.0] {
                for capacity in [1, 2, 256] {
                    let injection = Injection { capacity, ..store_buffer(pw) };
                    assert_eq!(seen(kernel, 1, &injection, 60), BTreeSet::from([42]), "{kernel}, p_w {pw}");
                }
            }
        }
    });
}

#[test]
fn a_strong_vector_stays_whole() {
    in_both_forms(|| {
        for pw in [0.5, 1.0] {
            assert_eq!(
                seen("message_in_a_vector", 1, &store_buffer(pw), 60),
                BTreeSet::from([42]),
                "p_w {pw}"
            );
        }
    });
}

#[test]
fn fences_come_and_go_by_the_site_table() {
    in_both_forms(|| {
        let fences = KERNELS.sites("message_fenced", "membar.gl");
        assert_eq!(fences.len(), 2, "{fences:?}");
        let omitted = store_buffer(1.0).omitting(&fences);
        assert_eq!(seen("message_fenced", 1, &omitted, 60), BTreeSet::from([0, 42]));
        let readers = store_buffer(1.0).omitting(&fences[..1]);
        assert_eq!(
            seen("message_fenced", 1, &readers, 60),
            BTreeSet::from([42]),
            "store buffers need no reader's fence"
        );

        let data = KERNELS.sites("message", "st.global.u32");
        assert_eq!(data.len(), 2, "the reader's result, then the writer's data: {data:?}");
        let inserted = store_buffer(1.0).inserting(&data[1..]);
        assert_eq!(seen("message", 1, &inserted, 60), BTreeSet::from([42]));
        // Flags alone, with nothing delayed, change nothing.
        let idle = store_buffer(0.0).inserting(&data).omitting(&fences);
        assert_eq!(seen("message", 1, &idle, 20), BTreeSet::from([42]));
        assert_eq!(seen("message_fenced", 1, &idle, 20), BTreeSet::from([42]));
    });
}

#[test]
fn strong_stores_come_out_while_their_thread_waits() {
    in_both_forms(|| {
        for model_pw in [0.5, 1.0] {
            for kernel in ["handshake", "handshake_atomics"] {
                for seed in 0..20 {
                    let arguments = [words(&[0]), words(&[0]), words(&[0; 2])];
                    let work = Work::new(kernel, 2, 32, &arguments);
                    let outcome = run(&KERNELS, &work, Some(&store_buffer(model_pw)), seed).complete();
                    assert_eq!(outcome.words(2), [1, 1], "{kernel}");
                }
            }
            for seed in 0..20 {
                let arguments = [words(&[0]), words(&[0; 2])];
                let work = Work::new("handshake_lanes", 1, 2, &arguments);
                let outcome = run(&KERNELS, &work, Some(&store_buffer(model_pw)), seed).complete();
                assert_eq!(outcome.words(1), [10, 10]);
            }
        }
    });
}

#[test]
fn what_drains_drains_and_what_does_not_does_not() {
    in_both_forms(|| {
        let injection = store_buffer(1.0);
        // The reader is in another block, for which a barrier of this one orders nothing.
        let of_the_block = ["past_fence_block", "past_barrier", "past_warp_barrier"];
        for kernel in
            ["past_nothing", "past_shuffle", "past_atomic_elsewhere"].into_iter().chain(of_the_block)
        {
            assert!(seen(kernel, 32, &injection, 60).contains(&0), "{kernel} drains");
        }
        for kernel in [
            "past_fence",
            "past_atomic_there",
            "past_release",
            "past_release_atomic",
            "past_partial_load",
            "past_exit",
        ] {
            assert_eq!(seen(kernel, 32, &injection, 60), BTreeSet::from([42]), "{kernel} does not drain");
        }
        // The byte that is stored on top is delayed itself; what it lies on is not.
        let partial = seen("past_partial_store", 32, &injection, 60);
        assert!(
            partial.is_subset(&BTreeSet::from([42, 42 | 1 << 8])) && partial.contains(&42),
            "{partial:?}"
        );
    });
}

#[test]
fn a_full_buffer_drains() {
    in_both_forms(|| {
        for (capacity, stale) in [(1, false), (2, false), (3, true), (256, true)] {
            let seen = seen("past_capacity", 32, &Injection { capacity, ..store_buffer(1.0) }, 60);
            assert_eq!(seen.contains(&0), stale, "{capacity} entries: {seen:?}");
        }
    });
}

#[test]
fn the_papers_barrier_leaves_global_stores_behind() {
    let stale = |model, pw| {
        let arguments = [words(&[0; 64]), words(&[0; 128])];
        let work = Work::new("across_barrier", 1, 64, &arguments);
        let outcomes =
            (0..20).map(|seed| run(&KERNELS, &work, Some(&Injection::new(model, pw)), seed).complete());
        let mut global = false;
        for outcome in outcomes {
            let out = outcome.words(1);
            for thread in 0..64 {
                global |= out[2 * thread] == 0;
                assert_eq!(out[2 * thread + 1], (thread as u32 ^ 1) + 1, "shared memory, {model:?}");
            }
            assert_eq!(outcome.words(0), (1..=64).collect::<Vec<_>>(), "at exit everything is there");
        }
        global
    };
    assert!(stale(HandlerModel::Bugaroo, 1.0) && stale(HandlerModel::Bugaroo, 0.5));
    assert!(!stale(HandlerModel::Bugaroo, 0.0));
    assert!(!stale(STORE_BUFFER, 1.0) && !stale(STORE_BUFFER, 0.5));
}

#[test]
fn the_paper_sees_unfenced_messages_too_and_heeds_fences() {
    let injection = Injection::new(HandlerModel::Bugaroo, 0.5);
    assert!(seen("message", 1, &injection, 60).contains(&0));
    assert_eq!(seen("message_fenced", 1, &injection, 60), BTreeSet::from([42]));
    let fences = KERNELS.sites("message_fenced", "membar.gl");
    assert!(seen("message_fenced", 1, &injection.omitting(&fences), 60).contains(&0));
}

#[test]
fn the_device_tosses_the_hosts_coins() {
    in_both_forms(|| {
        const ROUNDS: u32 = 9;
        let (global, shared) = (KERNELS.sites("coins", "st.global"), KERNELS.sites("coins", "st.shared"));
        assert_eq!((global.len(), shared.len()), (1, 1));
        for seed in [0, 1, 77, u64::MAX] {
            for pw in [0.0, 0.1, 0.5, 0.75, 1.0] {
                let expected = |site: u32| -> u64 {
                    let all = (0..128).flat_map(|thread| (0..ROUNDS).map(move |count| (thread, count)));
                    let delays = |(thread, count): &(u32, u32)| {
                        u64::from(coin(seed, 0, *thread, site, *count)) < threshold(pw)
                    };
                    all.filter(delays).count() as u64
                };
                let work =
                    Work::new("coins", 2, 64, &[words(&[0; 128 * ROUNDS as usize]), Argument::U32(ROUNDS)]);
                let delayed = |pw_global, pw_shared| {
                    let injection = Injection { pw_global, pw_shared, ..store_buffer(pw) };
                    run(&KERNELS, &work, Some(&injection), seed).complete().delayed
                };
                assert_eq!(delayed(pw, 0.0), expected(global[0]), "seed {seed}, p_w {pw}");
                assert_eq!(delayed(0.0, pw), expected(shared[0]), "seed {seed}, p_w {pw}");
                assert_eq!(
                    delayed(pw, pw),
                    expected(global[0]) + expected(shared[0]),
                    "spaces do not meddle"
                );
            }
        }
    });
}

#[test]
fn a_vectors_elements_have_coins_of_their_own() {
    const ROUNDS: u32 = 5;
    let site = KERNELS.sites("vector_coins", "st.global.v4")[0];
    for seed in 0..5 {
        let arguments = [Argument::Buffer(vec![0; 64 * ROUNDS as usize * 16]), Argument::U32(ROUNDS)];
        let work = Work::new("vector_coins", 1, 64, &arguments);
        let outcome = run(&KERNELS, &work, Some(&store_buffer(0.5)), seed).complete();
        let tosses =
            (0..64).flat_map(|thread| (0..4 * ROUNDS).map(move |count| coin(seed, 0, thread, site, count)));
        let expected = tosses.filter(|coin| u64::from(*coin) < threshold(0.5)).count() as u64;
        assert_eq!(outcome.delayed, expected);
        // The simulator's own vectors are one store, with the first element's coin.
        let native = natively(|| run(&KERNELS, &work, Some(&store_buffer(0.5)), seed)).complete();
        assert_eq!(native.buffers, outcome.buffers);
        let whole =
            (0..64).flat_map(|thread| (0..ROUNDS).map(move |count| coin(seed, 0, thread, site, 4 * count)));
        let expected = whole.filter(|coin| u64::from(*coin) < threshold(0.5)).count() as u64;
        assert_eq!(native.delayed, expected);
    }
}

#[test]
fn a_seed_is_a_run() {
    in_both_forms(|| {
        let arguments = [words(&[0; 8]), words(&[0; 8]), words(&[0; 8])];
        let work = Work::new("message", 2, 32, &arguments);
        let distinct: BTreeSet<_> = (0..30)
            .map(|seed| {
                let first = run(&KERNELS, &work, Some(&store_buffer(0.5)), seed);
                assert_eq!(run(&KERNELS, &work, Some(&store_buffer(0.5)), seed), first);
                first.thread_instructions
            })
            .collect();
        assert!(distinct.len() > 1, "seeds differ");
    });
}

#[test]
fn bad_addresses_fault_where_they_are_stored_to() {
    in_both_forms(|| {
        let far = [words(&[0; 4]), Argument::U64(1 << 40)];
        for (kernel, arguments) in [
            ("beyond", far.to_vec()),
            ("misaligned", vec![words(&[0; 16])]),
            ("misaligned_vector", vec![words(&[0; 16])]),
        ] {
            let work = Work::new(kernel, 1, 1, &arguments);
            let kind = |outcome: Outcome| match outcome.end {
                End::Fault(fault) => (std::mem::discriminant(&fault.kind), fault.place.function),
                end => panic!("{kernel}: {end:?}"),
            };
            let original = kind(run_original(&KERNELS, &work, 1));
            for model in [STORE_BUFFER, HandlerModel::Bugaroo] {
                for pw in [0.0, 1.0] {
                    let (injected, function) =
                        kind(run(&KERNELS, &work, Some(&Injection::new(model, pw)), 1));
                    assert_eq!(injected, original.0, "{kernel}, {model:?}");
                    if model == STORE_BUFFER {
                        assert_eq!(function, original.1, "{kernel}");
                    }
                }
            }
        }
    });
}

/// Race-free programs: the same result whatever is delayed.
#[test]
fn programs_without_races_do_not_notice() {
    in_both_forms(|| {
        let numbers = |count: usize| -> Vec<u32> { (0..count as u32).map(|i| i * 7 % 31).collect() };
        let floats: Vec<u32> = numbers(1000).iter().map(|n| (*n as f32).to_bits()).collect();
        let reduction = [words(&floats), words(&[0]), words(&[0]), Argument::U32(1000)];
        let works = [
            Work::new("reduction", 5, 64, &reduction),
            Work::new("stencil", 3, 64, &[words(&numbers(192)), Argument::U32(6)]),
            Work::new("warp_scan", 3, 64, &[words(&numbers(192))]),
        ];
        for work in &works {
            let expected = run_original(&KERNELS, work, 0).complete().buffers;
            assert_eq!(
                run(&KERNELS, work, None, 0).complete().buffers,
                expected,
                "{}, not written to",
                work.kernel
            );
            for model in [STORE_BUFFER, HandlerModel::Bugaroo] {
                // The paper's buffers do not drain at __syncwarp, and it shows.
                if model == HandlerModel::Bugaroo && work.kernel == "warp_scan" {
                    continue;
                }
                for pw in [0.0, 0.5, 1.0] {
                    for capacity in [1, 2, 256] {
                        for seed in 0..6 {
                            let injection = Injection { capacity, ..Injection::new(model, pw) };
                            let outcome = run(&KERNELS, work, Some(&injection), seed).complete();
                            assert_eq!(
                                outcome.buffers, expected,
                                "{}, {injection:?}, seed {seed}",
                                work.kernel
                            );
                            assert_eq!(outcome.delayed == 0, pw == 0.0);
                        }
                    }
                }
            }
        }
    });
}
