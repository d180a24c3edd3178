//! Asynchronous copies that complete late, and what store buffers do around barriers in memory.

use std::collections::BTreeSet;

use crate::injected::{
    Argument, Injection, Prepared, Work, in_both_forms, natively, run, run_original, words,
};
use crate::support::Device;
use bugaroo_device_handlers::HandlerModel;
use bugaroo_simulator::{Activity, DeviceConfig, End};

/// A kernel of one warp: each thread's word of shared memory is 7, `body` does something with it, `in` and
/// the barrier, and `out` gets what the thread of the next number left there.
fn kernel(body: &str) -> String {
    format!(
        ".version 8.0
.target sm_90
.address_size 64
.shared .align 16 .b8 words[512];
.shared .align 8 .b64 barrier;
.visible .entry copy(.param .u64 from, .param .u64 to)
{{
    .reg .b32 tid, at, x;
    .reg .b64 in, out, offset, state;
    .reg .pred p, first;
    ld.param.u64 in, [from];
    ld.param.u64 out, [to];
    mov.u32 tid, %tid.x;
    mul.wide.u32 offset, tid, 4;
    add.s64 in, in, offset;
    add.s64 out, out, offset;
    mov.u32 at, words;
    mad.lo.u32 at, tid, 4, at;
    st.shared.u32 [at], 7;
    setp.eq.u32 first, tid, 0;
    @first mbarrier.init.shared.b64 [barrier], 32;
    bar.sync 0;
    {body}
    xor.b32 at, tid, 1;
    mul.lo.u32 at, at, 4;
    mov.u32 x, words;
    add.u32 at, at, x;
    ld.shared.u32 x, [at];
    st.global.u32 [out], x;
    ret;
}}"
    )
}

/// The values that `out` has over some seeds.
fn seen(body: &str, late: bool) -> BTreeSet<u32> {
    let config = DeviceConfig { late_copies: late, ..DeviceConfig::default() };
    let mut device = Device::with(&kernel(body), config);
    let (input, out) = (device.buffer(128), device.buffer(128));
    let mut all = BTreeSet::new();
    for seed in 0..40 {
        device.memory.fill(input, 128, &42u32.to_le_bytes()).expect("allocated");
        let result = device.launch("copy", 1, 32, &[input, out], seed);
        assert_eq!(result.end, End::Complete);
        all.extend(device.words(out, 32));
    }
    all
}

const COPY: &str = "cp.async.ca.shared.global [at], [in], 4;";

#[test]
fn a_copy_for_which_nobody_waits_is_not_there_at_times() {
    let unwaited = format!("{COPY} bar.sync 0;");
    assert_eq!(seen(&unwaited, true), BTreeSet::from([7, 42]));
    assert_eq!(seen(&unwaited, false), BTreeSet::from([42]), "completes at once");
    for wait in ["cp.async.wait_all;", "cp.async.commit_group; cp.async.wait_group 0;"] {
        assert_eq!(seen(&format!("{COPY} {wait} bar.sync 0;"), true), BTreeSet::from([42]), "{wait}");
    }
}

#[test]
fn waiting_covers_the_groups_that_it_names() {
    let one_left = format!("{COPY} cp.async.commit_group; cp.async.wait_group 1; bar.sync 0;");
    assert_eq!(seen(&one_left, true), BTreeSet::from([7, 42]));
    let uncommitted = format!("{COPY} cp.async.wait_group 0; bar.sync 0;");
    assert_eq!(seen(&uncommitted, true), BTreeSet::from([7, 42]));
    let older =
        format!("{COPY} cp.async.commit_group; cp.async.commit_group; cp.async.wait_group 1; bar.sync 0;");
    assert_eq!(seen(&older, true), BTreeSet::from([42]));
}

#[test]
fn a_source_that_changes_too_early_is_copied_changed_at_times() {
    let early = format!("{COPY} st.global.u32 [in], 9; cp.async.wait_all; bar.sync 0;");
    assert_eq!(seen(&early, true), BTreeSet::from([9, 42]));
    let late = format!("{COPY} cp.async.wait_all; st.global.u32 [in], 9; bar.sync 0;");
    assert_eq!(seen(&late, true), BTreeSet::from([42]));
}

const WAIT: &str = "again: mbarrier.test_wait.parity.shared.b64 p, [barrier], 0; @!p bra again;";

#[test]
fn a_barrier_that_tracks_copies_opens_behind_them() {
    let noinc = format!("{COPY} cp.async.mbarrier.arrive.noinc.shared.b64 [barrier]; {WAIT}");
    assert_eq!(seen(&noinc, true), BTreeSet::from([42]));
    let counted = format!(
        "{COPY} cp.async.mbarrier.arrive.shared.b64 [barrier]; mbarrier.arrive.shared.b64 state, [barrier]; {WAIT}"
    );
    assert_eq!(seen(&counted, true), BTreeSet::from([42]));
    let untracked = format!("{COPY} mbarrier.arrive.shared.b64 state, [barrier]; {WAIT}");
    assert_eq!(seen(&untracked, true), BTreeSet::from([7, 42]));
}

#[test]
fn a_bulk_copy_is_there_when_its_bytes_have_been_counted() {
    let copy = "@first mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [barrier], 128;
    mov.u32 at, words;
    @first cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [at], [in], 128, [barrier];
    mbarrier.arrive.shared.b64 state, [barrier];";
    assert_eq!(seen(&format!("{copy} {WAIT}"), true), BTreeSet::from([42]));
    assert_eq!(seen(&format!("{copy} bar.sync 0;"), true), BTreeSet::from([7, 42]));
}

#[test]
fn a_phase_that_nobody_completes_is_a_deadlock_that_says_so() {
    let spin = "mbarrier.arrive.shared.b64 state, [barrier];
again: mbarrier.try_wait.shared.b64 p, [barrier], state; @!p bra again;";
    let ptx = kernel(&format!("@first ret; {spin}"));
    let mut device = Device::new(&ptx);
    let (input, out) = (device.buffer(128), device.buffer(128));
    let End::Deadlock(diagnosis) = device.launch("copy", 1, 32, &[input, out], 0).end else {
        panic!("one arrival is missing")
    };
    let waits = Activity::Mbarrier { address: 512, pending: 1, transactions: 0 };
    assert!(diagnosis.groups.iter().all(|group| group.activity == waits), "{diagnosis}");
    assert_eq!(diagnosis.groups.iter().map(|group| group.threads).sum::<u32>(), 31);
}

#[test]
fn waiting_in_vain_for_a_while_is_no_deadlock() {
    // Whoever has waited for a millisecond gives up.
    let bounded = "mov.u64 state, %globaltimer;
    add.u64 state, state, 1000000;
again: mbarrier.try_wait.parity.shared.b64 p, [barrier], 0;
    @p trap;
    mov.u64 offset, %globaltimer;
    setp.lt.u64 p, offset, state;
    @p bra again;";
    assert_eq!(seen(bounded, false), BTreeSet::from([7]));
}

#[test]
fn what_was_stored_before_an_arrival_is_there_behind_the_wait() {
    // Thread 0's stores to both memories, then its arrival; everybody reads after the wait.
    let body = format!(
        "@first st.shared.u32 [words+4], 42;
    @first st.global.u32 [out+4], 1;
    mbarrier.arrive.shared.b64 state, [barrier];
    {WAIT}
    ld.shared.u32 x, [words+4];
    st.shared.u32 [at], x;
    bar.warp.sync -1;"
    );
    let prepared = Prepared::new(&kernel(&body));
    let arguments = [words(&[0; 32]), words(&[0; 32])];
    let work = Work::new("copy", 1, 32, &arguments);
    let mut delayed = 0;
    for seed in 0..60 {
        let injection = Injection::new(HandlerModel::StoreBuffer, 1.0);
        let native = natively(|| run(&prepared, &work, Some(&injection), seed)).complete();
        assert_eq!(native.words(1), [42; 32], "natively, seed {seed}");
        let outcome = run(&prepared, &work, Some(&injection), seed).complete();
        assert_eq!(outcome.words(1), [42; 32], "seed {seed}");
        delayed += outcome.delayed;
    }
    assert!(delayed > 0);
}

/// A script's kernel gives under injection what it gives without.
fn unnoticed(prepared: &Prepared, work: &Work<'_>, seeds: u64) {
    let expected = run_original(prepared, work, 0).complete().buffers;
    assert_eq!(run(prepared, work, None, 0).complete().buffers, expected, "{}", work.kernel);
    for pw in [0.5, 1.0] {
        for seed in 0..seeds {
            in_both_forms(|| {
                let injection = Injection::new(HandlerModel::StoreBuffer, pw);
                let outcome = run(prepared, work, Some(&injection), seed).complete();
                assert!(outcome.buffers == expected, "{}, p_w {pw}, seed {seed}", work.kernel);
            });
        }
    }
}

fn zeros(count: usize) -> Argument {
    words(&vec![0; count])
}

fn counted(count: u32) -> Argument {
    words(&(0..count).collect::<Vec<_>>())
}

#[test]
fn programs_that_wait_as_they_should_notice_nothing() {
    let prepared = Prepared::new(include_str!("ptx/mbarrier.ptx"));
    unnoticed(&prepared, &Work::new("phases", 1, 64, &[zeros(256)]), 6);
    let prepared = Prepared::new(include_str!("ptx/async_copy.ptx"));
    unnoticed(&prepared, &Work::new("copies", 1, 64, &[zeros(256), counted(512)]), 12);
    let prepared = Prepared::new(include_str!("ptx/bulk_copy.ptx"));
    unnoticed(&prepared, &Work::new("bulk", 1, 128, &[zeros(512), counted(256)]), 12);
    let prepared = Prepared::new(include_str!("ptx/cluster.ptx"));
    unnoticed(&prepared, &Work::new("ring", 8, 32, &[zeros(512)]), 12);
    let prepared = Prepared::new(include_str!("ptx/mma.ptx"));
    for kernel in ["halves", "integers", "moves"] {
        unnoticed(&prepared, &Work::new(kernel, 1, 32, &[zeros(16)]), 3);
    }
}
