//! What a launch counts, against numbers that follow from the kernels' text.

use crate::support::Device;
use bugaroo_simulator::{Counts, End};

const HEAD: &str = ".version 8.0\n.target sm_90\n.address_size 64\n";

/// The counts of one launch of 2 CTAs of 48 threads (a warp of 32 lanes and one of 16), without what
/// depends on the schedule; every schedule has the same.
fn counts(ptx: &str, kernel: &str) -> Counts {
    let run = |seed| {
        let mut device = Device::new(&format!("{HEAD}{ptx}"));
        let out = device.buffer(4096);
        let result = device.launch(kernel, 2, 48, &[out], seed);
        assert_eq!(result.end, End::Complete);
        assert_eq!(result.counts.blocks, 2);
        let counts = result.counts;
        Counts { warp_instructions: 0, turns: 0, operations: 0, thread_instructions: 0, blocks: 0, ..counts }
    };
    let counts = run(0);
    (1..20).for_each(|seed| assert_eq!(run(seed), counts, "seed {seed}"));
    counts
}

#[test]
fn fences_and_barriers_of_active_threads() {
    let ptx = "
.visible .entry sync(.param .u64 pointer)
{
    .reg .b32 tid, x;
    .reg .pred low, all;
    mov.u32 tid, %tid.x;
    setp.lt.u32 low, tid, 5;
    setp.lt.u32 all, tid, 48;
    membar.gl;
    @low membar.cta;
    @!low fence.acq_rel.sys;
    @low fence.sc.gpu;
    fence.proxy.async;
    nanosleep.u32 10;
    bar.sync 0;
    barrier.sync 1;
    bar.red.popc.u32 x, 0, low;
    setp.lt.u32 low, tid, 32;
    @low bar.arrive 2, 64;
    @!low bar.sync 2, 64;
    @low bar.warp.sync 0xffffffff;
    ret;
}";
    // Per CTA: 48 + 5 + 43 + 5 fences; 4 barriers of all threads.
    let expected = Counts { fences: 2 * 101, barriers: 2 * 4 * 48, ..Counts::default() };
    assert_eq!(counts(ptx, "sync"), expected);
}

/// Lanes that execute a fence in groups of their own are counted once each.
#[test]
fn diverged_lanes() {
    let ptx = "
.visible .entry diverged(.param .u64 pointer)
{
    .reg .b32 tid, n;
    .reg .pred p;
    mov.u32 tid, %tid.x;
    and.b32 n, tid, 3;
again:
    setp.eq.u32 p, n, 0;
    @p bra done;
    membar.gl;
    sub.u32 n, n, 1;
    bra again;
done:
    ret;
}";
    // Threads with 0, 1, 2 and 3 rounds, 12 of each in a CTA.
    let expected = Counts { fences: 2 * 12 * (1 + 2 + 3), ..Counts::default() };
    assert_eq!(counts(ptx, "diverged"), expected);
}

#[test]
fn stores_by_space() {
    let ptx = "
.visible .entry stores(.param .u64 pointer)
{
    .local .align 16 .b8 mine[64];
    .shared .align 16 .b8 ours[1024];
    .reg .b32 tid, x, s;
    .reg .b64 out, at, wide;
    .reg .pred p;
    ld.param.u64 out, [pointer];
    mov.u32 tid, %tid.x;
    mul.wide.u32 wide, tid, 16;
    add.u64 at, out, wide;
    mov.u32 s, ours;
    mad.lo.u32 s, tid, 16, s;
    setp.lt.u32 p, tid, 7;
    st.global.u32 [at], tid;
    st.global.v4.u32 [at], {tid, tid, tid, tid};
    @p st.global.u8 [at], tid;
    st.volatile.global.u32 [at], tid;
    st.release.gpu.global.u32 [at], tid;
    st.shared.u32 [s], tid;
    st.shared.v2.u32 [s], {tid, tid};
    @!p st.shared.u16 [s], tid;
    st.local.u32 [mine], tid;
    atom.global.add.u32 x, [out], 1;
    red.shared.add.u32 [s], 1;
    ld.global.u32 x, [at];
    ret;
}";
    // Per CTA: 4 global stores of all threads and one of 7; 2 shared ones and one of 41.
    let expected =
        Counts { global_stores: 2 * (4 * 48 + 7), shared_stores: 2 * (2 * 48 + 41), ..Counts::default() };
    assert_eq!(counts(ptx, "stores"), expected);
}

/// A generic store counts where it goes, though the lanes of one warp go to three memories.
#[test]
fn generic_stores_by_address() {
    let ptx = "
.visible .entry generic(.param .u64 pointer)
{
    .local .align 16 .b8 mine[64];
    .shared .align 16 .b8 ours[1024];
    .reg .b32 tid, third;
    .reg .b64 out, shared, local, at, wide;
    .reg .pred p, q;
    ld.param.u64 out, [pointer];
    mov.u32 tid, %tid.x;
    mul.wide.u32 wide, tid, 8;
    mov.u64 shared, ours;
    cvta.shared.u64 shared, shared;
    mov.u64 local, mine;
    cvta.local.u64 local, local;
    // Each memory on its own: consecutive addresses, one address, a stride.
    add.u64 at, out, wide;
    st.u64 [at], wide;
    st.u32 [out], tid;
    st.u32 [at], tid;
    add.u64 at, shared, wide;
    st.u64 [at], wide;
    st.u32 [shared], tid;
    st.v2.u16 [at], {1, 2};
    st.u32 [local], tid;
    // A guard without lane 0.
    setp.gt.u32 p, tid, 40;
    add.u64 at, out, wide;
    @p st.u64 [at], wide;
    // A third of the lanes to each.
    rem.u32 third, tid, 3;
    setp.eq.u32 p, third, 0;
    setp.eq.u32 q, third, 1;
    add.u64 at, shared, wide;
    selp.b64 at, out, at, p;
    selp.b64 at, local, at, q;
    st.u32 [at], tid;
    ret;
}";
    let global = 3 * 48 + 7 + 16;
    let shared = 3 * 48 + 16;
    let expected = Counts { global_stores: 2 * global, shared_stores: 2 * shared, ..Counts::default() };
    assert_eq!(counts(ptx, "generic"), expected);
}

/// What instrumentation brings along is not the program's.
#[test]
fn the_testers_own_code_is_left_out() {
    let ptx = "
.global .align 8 .b8 __bugaroo_buffer[64];
.func __bugaroo_drain(.param .b64 to)
{
    .reg .b64 at;
    ld.param.u64 at, [to];
    membar.gl;
    st.u32 [at], 1;
    st.global.u32 [at], 1;
    ret;
}
.func helper(.param .b64 to)
{
    .reg .b64 at;
    ld.param.u64 at, [to];
    membar.gl;
    st.u32 [at], 1;
    ret;
}
.visible .entry instrumented(.param .u64 pointer)
{
    .reg .b64 out;
    ld.param.u64 out, [pointer];
    st.global.u32 [__bugaroo_buffer], 1;
    {
    .param .b64 in;
    st.param.b64 [in], out;
    call __bugaroo_drain, (in);
    }
    {
    .param .b64 in;
    st.param.b64 [in], out;
    call helper, (in);
    }
    ret;
}";
    let expected = Counts { fences: 96, global_stores: 96, ..Counts::default() };
    assert_eq!(counts(ptx, "instrumented"), expected);
}

/// A store that faults has not been executed.
#[test]
fn a_faulting_store_does_not_count() {
    let ptx = "
.visible .entry wild(.param .u64 pointer)
{
    .reg .b64 out;
    ld.param.u64 out, [pointer];
    st.global.u32 [out], 1;
    st.global.u32 [out+8192], 1;
    ret;
}";
    let mut device = Device::new(&format!("{HEAD}{ptx}"));
    let out = device.buffer(4096);
    let result = device.launch("wild", 1, 32, &[out], 0);
    assert!(matches!(result.end, End::Fault(_)), "{:?}", result.end);
    assert_eq!(result.counts.global_stores, 32);
    assert_eq!(device.words(out, 1), [1]);
}
