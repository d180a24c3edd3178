//! What decodes to what, and what must not decode. The forms that compilers write are in
//! `tests/opcodes.rs`; here are meanings, defaults and the limits.

use crate::ast::Operand;
use crate::op::{
    AtomOp, BarRed, BarrierKind, BitOp, FenceKind, MatrixPart, MatrixType, MbarrierOp, Op, Part, Precision,
    PrmtMode,
};
use crate::types::{BoolOp, Compare, Rounding, Scope, Semantics, Space, Type};

/// Decodes `opcode.modifiers` with so many operands.
fn decode(form: &str, operands: usize) -> Op {
    let mut words = form.split('.').map(str::to_owned);
    let opcode = words.next().expect("split gives one part at least");
    super::decode(&opcode, &words.collect::<Vec<_>>(), &vec![Operand::Sink; operands])
}

#[test]
fn sums_carry_round_and_saturate() {
    let rnd = Rounding::Nearest;
    let plain = Op::Add { ty: Type::S32, rnd, ftz: false, sat: false, carry_in: false, carry_out: false };
    assert_eq!(decode("add.s32", 3), plain);
    let carry = Op::Add { ty: Type::U32, rnd, ftz: false, sat: false, carry_in: true, carry_out: true };
    assert_eq!(decode("addc.cc.u32", 3), carry);
    let up =
        Op::Sub { ty: Type::F32, rnd: Rounding::Up, ftz: true, sat: true, carry_in: false, carry_out: false };
    assert_eq!(decode("sub.rp.ftz.sat.f32", 3), up);
}

#[test]
fn products() {
    let wide =
        Op::Mul { ty: Type::S32, part: Some(Part::Wide), rnd: Rounding::Nearest, ftz: false, sat: false };
    assert_eq!(decode("mul.wide.s32", 3), wide);
    let float = Op::Mul { ty: Type::F64, part: None, rnd: Rounding::Down, ftz: false, sat: false };
    assert_eq!(decode("mul.rm.f64", 3), float);
    let carry = Op::Mad { ty: Type::U32, part: Part::Hi, sat: false, carry_in: true, carry_out: false };
    assert_eq!(decode("madc.hi.u32", 4), carry);
    let fused = Op::Fma { ty: Type::F32, rnd: Rounding::Zero, ftz: false, sat: false, relu: false };
    assert_eq!(decode("mad.rz.f32", 4), fused);
    assert_eq!(decode("fma.rz.f32", 4), fused);
    let old = |sat| Op::Fma { ty: Type::F32, rnd: Rounding::Nearest, ftz: true, sat, relu: false };
    assert_eq!(decode("mad.f32", 4), old(false));
    assert_eq!(decode("mad.sat.f32", 4), old(true));
    assert_eq!(decode("mad.f64", 4), Op::Other);
    assert_eq!(decode("mad.ftz.f32", 4), Op::Other);
    assert_eq!(decode("madc.f32", 4), Op::Other);
    assert_eq!(decode("fma.f32", 4), Op::Other);
}

#[test]
fn division_says_how_exact_it_is() {
    let div = |ty, precision, ftz| Op::Div { ty, precision, ftz };
    assert_eq!(decode("div.u16", 3), div(Type::U16, Precision::Integer, false));
    assert_eq!(decode("div.full.ftz.f32", 3), div(Type::F32, Precision::Full, true));
    assert_eq!(decode("div.rn.f64", 3), div(Type::F64, Precision::Rounded(Rounding::Nearest), false));
    assert_eq!(decode("div.approx.f64", 3), Op::Other);
    assert_eq!(
        decode("rcp.approx.ftz.f64", 2),
        Op::Rcp { ty: Type::F64, precision: Precision::Approx, ftz: true }
    );
    assert_eq!(decode("rcp.approx.f64", 2), Op::Other);
}

#[test]
fn unsigned_comparisons_fold_into_the_plain_ones() {
    let less = Op::Setp { cmp: Compare::Lt, ty: Type::U32, ftz: false, combine: None };
    assert_eq!(decode("setp.lo.u32", 3), less);
    assert_eq!(decode("setp.lo.s32", 3), Op::Other);
    let combined = Op::Setp { cmp: Compare::Geu, ty: Type::F32, ftz: true, combine: Some(BoolOp::Xor) };
    assert_eq!(decode("setp.geu.xor.ftz.f32", 4), combined);
    assert_eq!(decode("setp.geu.xor.ftz.f32", 3), Op::Other, "the third predicate is missing");
    let set = Op::Set { cmp: Compare::Num, dst: Type::U32, ty: Type::F64, ftz: false, combine: None };
    assert_eq!(decode("set.num.u32.f64", 3), set);
    for bad in ["setp.lt.b32", "setp.equ.u32", "setp.eq.pred", "setp.eq.u8"] {
        assert_eq!(decode(bad, 3), Op::Other, "{bad}");
    }
}

#[test]
fn conversions_keep_the_order_of_their_types() {
    let to_integer = Op::Cvt {
        dst: Type::S32,
        src: Type::F64,
        rnd: Some(Rounding::Zero),
        int_rnd: true,
        ftz: false,
        sat: false,
        relu: false,
    };
    assert_eq!(decode("cvt.rzi.s32.f64", 2), to_integer);
    let Op::Cvt { rnd, int_rnd, .. } = decode("cvt.rn.f32.s64", 2) else { panic!("a conversion") };
    assert_eq!((rnd, int_rnd), (Some(Rounding::Nearest), false));
    assert!(matches!(decode("cvt.rn.relu.f16x2.f32", 3), Op::Cvt { relu: true, .. }));
    for (bad, operands) in
        [("cvt.s32", 2), ("cvt.rn.s32.f32", 2), ("cvt.rn.f16x2.f32", 2), ("cvt.rn.satfinite.f32.f32", 2)]
    {
        assert_eq!(decode(bad, operands), Op::Other, "{bad}");
    }
}

#[test]
fn loads_and_stores_say_how_strong_they_are() {
    let ld = |space, sem, nc, vec, ty| Op::Ld { space, sem, nc, vec, ty };
    let weak = Semantics::Weak;
    assert_eq!(decode("ld.weak.global.u8", 2), ld(Space::Global, weak, false, 1, Type::U8));
    assert_eq!(decode("ld.global.nc.L1::no_allocate.v4.f32", 2), ld(Space::Global, weak, true, 4, Type::F32));
    let acquire = Semantics::Acquire(Scope::Gpu);
    assert_eq!(decode("ld.acquire.gpu.shared::cta.b64", 2), ld(Space::Shared, acquire, false, 1, Type::B64));
    assert_eq!(decode("ld.volatile.b32", 2), ld(Space::Generic, Semantics::Volatile, false, 1, Type::B32));
    assert_eq!(
        decode("ld.mmio.relaxed.sys.global.u32", 2),
        ld(Space::Global, Semantics::Mmio, false, 1, Type::U32)
    );
    let release = Semantics::Release(Scope::Cluster);
    let st = Op::St { space: Space::Global, sem: release, vec: 2, ty: Type::U64 };
    assert_eq!(decode("st.release.cluster.global.v2.u64", 2), st);
    for bad in [
        "ld.acquire.b32",
        "ld.volatile.gpu.b32",
        "ld.release.gpu.b32",
        "ld.shared.nc.b32",
        "ld.global.pred",
        "ld.global",
        "st.acquire.gpu.b32",
        "st.const.b32",
        "st.async.b32",
    ] {
        assert_eq!(decode(bad, 2), Op::Other, "{bad}");
    }
}

#[test]
fn atomics_default_to_relaxed_at_gpu_scope() {
    let atom = |space, sem, op, ty, noftz| Op::Atom { space, sem, op, ty, vec: 1, noftz };
    let relaxed = Semantics::Relaxed(Scope::Gpu);
    assert_eq!(decode("atom.global.add.u32", 3), atom(Space::Global, relaxed, AtomOp::Add, Type::U32, false));
    let block = Semantics::Relaxed(Scope::Cta);
    assert_eq!(decode("atom.cta.cas.b64", 4), atom(Space::Generic, block, AtomOp::Cas, Type::B64, false));
    let both = Semantics::AcqRel(Scope::Sys);
    assert_eq!(
        decode("atom.acq_rel.sys.shared.max.s64", 3),
        atom(Space::Shared, both, AtomOp::Max, Type::S64, false)
    );
    assert_eq!(
        decode("atom.add.noftz.f16x2", 3),
        atom(Space::Generic, relaxed, AtomOp::Add, Type::F16x2, true)
    );
    let red =
        Op::Red { space: Space::Global, sem: relaxed, op: AtomOp::Or, ty: Type::B32, vec: 1, noftz: false };
    assert_eq!(decode("red.global.or.b32", 2), red);
    for (bad, operands) in [
        ("atom.global.inc.s32", 3),
        ("atom.global.add.s64", 3),
        ("atom.local.add.u32", 3),
        ("atom.shared.add.v2.f32", 3),
        ("atom.global.add.v8.f32", 3),
        ("atom.global.and.v2.b32", 3),
        ("atom.global.cas.b32", 3),
        ("red.exch.b32", 2),
        ("red.async.add.u32", 2),
    ] {
        assert_eq!(decode(bad, operands), Op::Other, "{bad}");
    }
}

#[test]
fn fences() {
    let fence = |kind, scope| Op::Fence { kind, scope };
    assert_eq!(decode("membar.gl", 0), fence(FenceKind::Sc, Scope::Gpu));
    assert_eq!(decode("fence.sc.cta", 0), fence(FenceKind::Sc, Scope::Cta));
    assert_eq!(decode("fence.sys", 0), fence(FenceKind::AcqRel, Scope::Sys));
    assert_eq!(decode("fence.acquire.gpu", 0), fence(FenceKind::Acquire, Scope::Gpu));
    let restricted = "fence.acquire.sync_restrict::shared::cluster.cluster";
    assert_eq!(decode(restricted, 0), fence(FenceKind::Acquire, Scope::Cluster));
    let restricted = "fence.release.sync_restrict::shared::cta.cluster";
    assert_eq!(decode(restricted, 0), fence(FenceKind::Release, Scope::Cluster));
    assert_eq!(decode("fence.proxy.async", 0), fence(FenceKind::Proxy, Scope::Sys));
    assert_eq!(decode("fence.mbarrier_init.release.cluster", 0), fence(FenceKind::Proxy, Scope::Sys));
    for bad in ["membar", "fence", "fence.sc", "membar.gpu", "fence.sc.gl"] {
        assert_eq!(decode(bad, 0), Op::Other, "{bad}");
    }
}

#[test]
fn barriers() {
    let barrier = |kind, aligned| Op::Barrier { kind, aligned };
    assert_eq!(decode("bar.sync", 1), barrier(BarrierKind::Sync, true));
    assert_eq!(decode("barrier.cta.sync", 2), barrier(BarrierKind::Sync, false));
    assert_eq!(decode("barrier.sync.aligned", 1), barrier(BarrierKind::Sync, true));
    assert_eq!(decode("bar.cta.arrive", 2), barrier(BarrierKind::Arrive, true));
    assert_eq!(decode("bar.red.popc.u32", 3), barrier(BarrierKind::Red(BarRed::Popc), true));
    assert_eq!(decode("bar.red.and.pred", 4), barrier(BarrierKind::Red(BarRed::And), true));
    assert_eq!(decode("bar.warp.sync", 1), Op::WarpSync);
    for (bad, operands) in [
        ("barrier.cluster.sync", 0),
        ("bar.arrive", 1),
        ("bar.sync", 0),
        ("bar.red.and.u32", 3),
        ("bar.warp", 1),
    ] {
        assert_eq!(decode(bad, operands), Op::Other, "{bad}");
    }
}

#[test]
fn bits() {
    assert_eq!(decode("prmt.b32", 4), Op::Prmt { mode: PrmtMode::Index });
    assert_eq!(decode("prmt.b32.rc16", 4), Op::Prmt { mode: PrmtMode::Rc16 });
    assert_eq!(decode("shf.l.wrap.b32", 4), Op::Shf { left: true, wrap: true });
    assert_eq!(decode("lop3.b32", 5), Op::Lop3);
    assert_eq!(decode("dp4a.s32.u32", 4), Op::Dp4a { a: Type::S32, b: Type::U32 });
    assert_eq!(decode("dp2a.hi.u32.s32", 4), Op::Dp2a { a: Type::U32, b: Type::S32, hi: true });
    assert_eq!(decode("szext.clamp.s32", 3), Op::Szext { ty: Type::S32, wrap: false });
    assert_eq!(decode("slct.ftz.f64.f32", 4), Op::Slct { ty: Type::F64, selector: Type::F32, ftz: true });
    for (bad, operands) in
        [("lop3.nand.b32", 6), ("shl.u32", 3), ("and.s32", 3), ("popc.b16", 2), ("shf.l.b32", 4)]
    {
        assert_eq!(decode(bad, operands), Op::Other, "{bad}");
    }
}

#[test]
fn rare_arithmetic() {
    use crate::rare::{Fp8, PairOp, Rare, Video, VideoOp, VideoThen};
    let fp8 = Fp8::E4m3;
    let from = Rare::FromFp8 { fp8, relu: true };
    for (form, operands, rare) in [
        ("cvt.rn.satfinite.e4m3x2.f32", 3, Rare::ToFp8 { fp8, src: Type::F32, relu: false }),
        ("cvt.rn.satfinite.relu.e4m3x2.f16x2", 2, Rare::ToFp8 { fp8, src: Type::F16x2, relu: true }),
        ("cvt.rn.relu.f16x2.e4m3x2", 2, from),
        ("cvt.rna.tf32.f32", 2, Rare::ToTf32 { rnd: Rounding::NearestAway, relu: false, satfinite: false }),
        ("cvt.pack.sat.u8.s32.b32", 4, Rare::Pack { dst: Type::U8 }),
        ("add.s16x2", 3, Rare::Pair { op: PairOp::Add, signed: true, relu: false }),
        ("max.relu.s16x2", 3, Rare::Pair { op: PairOp::Max, signed: true, relu: true }),
        ("min.relu.s32", 3, Rare::Relu { max: false }),
        ("max.ftz.xorsign.abs.f32", 3, Rare::Xorsign { max: true, ty: Type::F32, ftz: true, nan: false }),
        ("fns.b32", 4, Rare::Fns),
        ("lop3.or.b32", 6, Rare::Lop3 { combine: BoolOp::Or }),
    ] {
        assert_eq!(decode(form, operands), Op::Rare(rare), "{form}");
        assert_eq!(decode(form, operands + 1), Op::Other, "{form}");
    }
    let Op::Rare(Rare::Video(video)) = decode("vabsdiff4.u32.s32.u32.sat.add", 4) else { panic!() };
    let expected = Video {
        op: VideoOp::AbsDiff,
        lanes: 4,
        signed: [true, false],
        signed_result: false,
        sat: true,
        wrap: false,
        plus_one: false,
        scale: 0,
        then: Some(VideoThen::Add),
    };
    assert_eq!(video, expected);
    for bad in [
        "add.sat.u16x2",
        "max.relu.u16x2",
        "cvt.rn.e4m3x2.f32",
        "vabsdiff4.u32.u32.u32.min",
        "vshl.u32.u32.u32",
    ] {
        assert_eq!(decode(bad, 4), Op::Other, "{bad}");
        assert_eq!(decode(bad, 3), Op::Other, "{bad}");
    }
}

#[test]
fn what_is_not_known_for_certain_stays_other() {
    let many = format!("ld{}", ".global".repeat(40));
    for bad in [
        "add",
        "add.s32.s32",
        "add.b32",
        "add.sat.u32",
        "add.rn.s32",
        "add.cc.u16",
        "mul.s32",
        "mul.wide.u64",
        "madc.wide.u32",
        "madc.rn.f32",
        "mad.rn.f16",
        "fma.f32",
        "fma.rna.f32",
        "min.nan.f32",
        "sin.f32",
        "nosuch.u32",
        "mbarrier.init",
        &many,
    ] {
        for operands in 0..6 {
            assert_eq!(decode(bad, operands), Op::Other, "{bad}");
        }
    }
    // The right form with the wrong number of operands.
    for (form, right) in
        [("add.s32", 3), ("ret", 0), ("bra", 1), ("shfl.sync.up.b32", 5), ("mov.u32", 2), ("bfi.b32", 5)]
    {
        for operands in 0..8 {
            assert_eq!(decode(form, operands) == Op::Other, operands != right, "{form} with {operands}");
        }
    }
}

#[test]
fn memory_barriers_say_their_order() {
    let of = |op, space, order| Op::Mbarrier { op, space, order };
    let (cta, cluster) = (Scope::Cta, Scope::Cluster);
    let arrive = |no_complete, expect_tx| MbarrierOp::Arrive { drop: false, no_complete, expect_tx };
    assert_eq!(decode("mbarrier.init.shared.b64", 2), of(MbarrierOp::Init, Space::Shared, Semantics::Weak));
    let plain = of(arrive(false, false), Space::Generic, Semantics::Release(cta));
    assert_eq!(decode("mbarrier.arrive.b64", 2), plain);
    let expecting = of(arrive(false, true), Space::SharedCluster, Semantics::Release(cluster));
    assert_eq!(decode("mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64", 3), expecting);
    let relaxed = of(arrive(true, false), Space::Shared, Semantics::Relaxed(cta));
    assert_eq!(decode("mbarrier.arrive.noComplete.relaxed.cta.shared::cta.b64", 3), relaxed);
    let wait = MbarrierOp::Wait { blocking: true, parity: true };
    let tried = of(wait, Space::Shared, Semantics::Acquire(cta));
    assert_eq!(decode("mbarrier.try_wait.parity.shared.b64", 4), tried);
    for (bad, operands) in [
        ("mbarrier.init.shared.b32", 2),
        ("mbarrier.init.global.b64", 2),
        ("mbarrier.test_wait.shared.b64", 4),
        ("mbarrier.arrive.noComplete.expect_tx.b64", 3),
        ("mbarrier.arrive.acquire.cta.b64", 2),
    ] {
        assert_eq!(decode(bad, operands), Op::Other, "{bad}");
    }
}

#[test]
fn asynchronous_copies() {
    assert_eq!(decode("cp.async.ca.shared.global", 3), Op::CpAsync { policy: false });
    assert_eq!(decode("cp.async.cg.shared.global.L2::cache_hint.L2::128B", 4), Op::CpAsync { policy: true });
    assert_eq!(decode("cp.async.commit_group", 0), Op::CpAsyncCommit { bulk: false });
    assert_eq!(decode("cp.async.bulk.wait_group.read", 1), Op::CpAsyncWait { bulk: true, read: true });
    assert_eq!(decode("cp.async.wait_all", 0), Op::CpAsyncWait { bulk: false, read: false });
    let arrive = Op::CpAsyncArrive { space: Space::Shared, noinc: true };
    assert_eq!(decode("cp.async.mbarrier.arrive.noinc.shared::cta.b64", 1), arrive);
    let bulk = |dst, src, mbarrier, reduce| Op::CpAsyncBulk {
        dst,
        src,
        mbarrier,
        reduce,
        multicast: false,
        policy: false,
    };
    let inwards = bulk(Space::SharedCluster, Space::Global, true, None);
    assert_eq!(decode("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes", 4), inwards);
    let outwards = bulk(Space::Global, Space::Shared, false, Some((AtomOp::Add, Type::U32)));
    assert_eq!(decode("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32", 3), outwards);
    let tensor = |to_shared, shared, reduce| Op::CpAsyncTensor {
        dims: 2,
        shared,
        to_shared,
        reduce,
        multicast: false,
        policy: false,
    };
    let inwards = "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes";
    assert_eq!(decode(inwards, 4), tensor(true, Space::SharedCluster, None));
    let outwards = "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group";
    assert_eq!(decode(outwards, 3), tensor(false, Space::Shared, Some(AtomOp::Add)));
    assert_eq!(decode("cp.async.bulk.prefetch.tensor.2d.L2.global.tile", 2), Op::Prefetch);
    for (bad, operands) in [
        ("cp.async.bulk.tensor.2d.global.shared::cta.mbarrier::complete_tx::bytes", 4),
        ("cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes", 4),
        ("cp.async.ca.global.shared", 3),
        ("cp.async.bulk.global.global.bulk_group", 3),
        ("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes", 3),
        ("cp.async.bulk.shared::cluster.global.bulk_group", 3),
        ("cp.async", 0),
    ] {
        assert_eq!(decode(bad, operands), Op::Other, "{bad}");
    }
}

#[test]
fn matrices() {
    let Op::Mma(half) = decode("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 4) else {
        panic!("a multiplication")
    };
    assert_eq!(
        (half.a, half.c, half.wmma, half.registers()),
        (MatrixType::F16, MatrixType::F32, false, [4, 2, 4, 4])
    );
    let Op::Mma(bits) = decode("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc", 4) else {
        panic!("a multiplication")
    };
    assert_eq!((bits.shape.depth(), bits.bits, bits.registers()), (256, Some(BitOp::Xor), [4, 2, 4, 4]));
    let Op::Mma(wmma) = decode("wmma.mma.sync.aligned.row.col.m32n8k16.f16.f32", 4) else {
        panic!("a multiplication")
    };
    assert_eq!((wmma.d, wmma.c, wmma.registers()), (MatrixType::F16, MatrixType::F32, [8, 8, 8, 4]));
    let Op::WmmaLoad { part, matrix } = decode("wmma.load.b.sync.aligned.col.m8n32k16.shared.u8", 3) else {
        panic!("a load")
    };
    assert_eq!((part, matrix.row, matrix.registers(part)), (MatrixPart::B, false, 4));
    let four = Op::Ldmatrix { space: Space::Shared, count: 4, trans: true };
    assert_eq!(decode("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16", 2), four);
    for (bad, operands) in [
        ("mma.sync.aligned.m16n8k16.col.col.f32.f16.f16.f32", 4),
        ("mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32", 4),
        ("mma.sync.m16n8k16.row.col.f32.f16.f16.f32", 4),
        ("mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", 6),
        ("mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32", 4),
        ("wmma.load.a.sync.aligned.row.m16n16k8.f16", 3),
        ("wmma.store.a.sync.aligned.row.m16n16k16.f16", 3),
        ("ldmatrix.sync.aligned.m8n8.x3.shared.b16", 2),
        ("wgmma.fence.aligned", 0),
        ("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.bf16", 8),
        ("wgmma.mma_async.sync.aligned.m64n64k32.f32.f16.f16", 8),
        ("wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16", 8),
        ("wgmma.mma_async.sync.aligned.m64n64k16.satfinite.f32.f16.f16", 8),
        ("wgmma.mma_async.sp.sync.aligned.m64n64k32.f32.f16.f16", 9),
    ] {
        assert_eq!(decode(bad, operands), Op::Other, "{bad}");
    }
}

#[test]
fn warpgroups() {
    let group = [
        ("wgmma.fence.sync.aligned", 0, Op::WgmmaFence),
        ("wgmma.commit_group.sync.aligned", 0, Op::WgmmaCommit),
        ("wgmma.wait_group.sync.aligned", 1, Op::WgmmaWait),
    ];
    for (text, operands, op) in group {
        assert_eq!(decode(text, operands), op, "{text}");
    }
    let of = |text: &str, operands| match decode(text, operands) {
        Op::Wgmma(wgmma) => (wgmma.n, wgmma.depth(), wgmma.registers(), wgmma.transposes()),
        other => panic!("{text}: {other:?}"),
    };
    assert_eq!(of("wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16", 8), (256, 16, 128, true));
    assert_eq!(of("wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16", 7), (8, 16, 2, true));
    assert_eq!(of("wgmma.mma_async.sync.aligned.m64n96k8.f32.tf32.tf32", 6), (96, 8, 48, false));
    assert_eq!(of("wgmma.mma_async.sync.aligned.m64n16k32.f32.e4m3.e5m2", 6), (16, 32, 8, false));
    let saturates = |text: &str| matches!(decode(text, 4), Op::Wgmma(wgmma) if wgmma.satfinite && wgmma.of_warp().satfinite);
    assert!(saturates("wgmma.mma_async.sync.aligned.m64n24k32.satfinite.s32.u8.s8"));
    assert!(!saturates("wgmma.mma_async.sync.aligned.m64n24k32.s32.u8.s8"));
    assert_eq!(of("wgmma.mma_async.sync.aligned.m64n24k256.s32.b1.b1.and.popc", 4), (24, 256, 12, false));
}

#[test]
fn lanes_and_clusters() {
    let redux = |op, ty| Op::Redux { op, ty, abs: false, nan: false };
    assert_eq!(decode("redux.sync.add.u32", 3), redux(AtomOp::Add, Type::U32));
    assert_eq!(decode("elect.sync", 2), Op::Elect);
    let arrive = Op::ClusterBarrier { wait: false, order: Semantics::Release(Scope::Cluster) };
    assert_eq!(decode("barrier.cluster.arrive.aligned", 0), arrive);
    let mapa = Op::Mapa { space: Space::SharedCluster, ty: Type::U32 };
    assert_eq!(decode("mapa.shared::cluster.u32", 3), mapa);
    assert_eq!(decode("griddepcontrol.wait", 0), Op::Hint);
    assert_eq!(decode("createpolicy.fractional.L2::evict_last.b64", 2), Op::Createpolicy);
    for (bad, operands) in
        [("redux.sync.add.b32", 3), ("redux.sync.and.u32", 3), ("redux.add.u32", 3), ("mapa.global.u32", 3)]
    {
        assert_eq!(decode(bad, operands), Op::Other, "{bad}");
    }
}
