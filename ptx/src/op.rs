//! Typed decoding: what an instruction means, with its modifiers resolved.
//!
//! An [`Op`] says everything but the operands, which stay in [`crate::ast::Instruction::operands`]
//! in the order of the ISA's syntax line (destination first).

mod matrix;
mod modifiers;
mod texture;

pub use matrix::{BitOp, MatrixPart, MatrixShape, MatrixType, Mma, Wgmma, WmmaMatrix};
pub use modifiers::{
    AtomOp, BarRed, BarrierKind, FenceKind, MbarrierOp, Part, Precision, PrmtMode, ShflMode, TestpKind,
    VoteMode,
};
pub use texture::{Bounds, Detail, Geometry, Query, Texture};

use crate::rare::Rare;
use crate::types::{BoolOp, Compare, Rounding, Scope, Semantics, Space, Type};

/// What an instruction does. Fields are the modifiers, resolved to their defaults.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "variants and fields carry the ISA's names")]
pub enum Op {
    // Integer and floating-point arithmetic (ISA 9.7.1 to 9.7.5).
    /// `add`, `addc` (`carry_in`), `.cc` (`carry_out`). `rnd` is `Nearest` unless stated.
    Add {
        ty: Type,
        rnd: Rounding,
        ftz: bool,
        sat: bool,
        carry_in: bool,
        carry_out: bool,
    },
    Sub {
        ty: Type,
        rnd: Rounding,
        ftz: bool,
        sat: bool,
        carry_in: bool,
        carry_out: bool,
    },
    /// `part` is None for floating point.
    Mul {
        ty: Type,
        part: Option<Part>,
        rnd: Rounding,
        ftz: bool,
        sat: bool,
    },
    /// `mad`, `madc`; floating-point `mad` is decoded as [`Op::Fma`].
    Mad {
        ty: Type,
        part: Part,
        sat: bool,
        carry_in: bool,
        carry_out: bool,
    },
    Mul24 {
        ty: Type,
        hi: bool,
    },
    Mad24 {
        ty: Type,
        hi: bool,
        sat: bool,
    },
    Fma {
        ty: Type,
        rnd: Rounding,
        ftz: bool,
        sat: bool,
        relu: bool,
    },
    Div {
        ty: Type,
        precision: Precision,
        ftz: bool,
    },
    Rem {
        ty: Type,
    },
    Sad {
        ty: Type,
    },
    Abs {
        ty: Type,
        ftz: bool,
    },
    Neg {
        ty: Type,
        ftz: bool,
    },
    Min {
        ty: Type,
        ftz: bool,
        nan: bool,
    },
    Max {
        ty: Type,
        ftz: bool,
        nan: bool,
    },
    Rcp {
        ty: Type,
        precision: Precision,
        ftz: bool,
    },
    Sqrt {
        ty: Type,
        precision: Precision,
        ftz: bool,
    },
    Rsqrt {
        ty: Type,
        ftz: bool,
    },
    Sin {
        ftz: bool,
    },
    Cos {
        ftz: bool,
    },
    Lg2 {
        ftz: bool,
    },
    Ex2 {
        ty: Type,
        ftz: bool,
    },
    Tanh {
        ty: Type,
    },
    Copysign {
        ty: Type,
    },
    Testp {
        ty: Type,
        kind: TestpKind,
    },
    // Logic and bits.
    And {
        ty: Type,
    },
    Or {
        ty: Type,
    },
    Xor {
        ty: Type,
    },
    Not {
        ty: Type,
    },
    Cnot {
        ty: Type,
    },
    Lop3,
    Shl {
        ty: Type,
    },
    Shr {
        ty: Type,
    },
    Shf {
        left: bool,
        wrap: bool,
    },
    Bfe {
        ty: Type,
    },
    Bfi {
        ty: Type,
    },
    Bfind {
        ty: Type,
        shiftamt: bool,
    },
    Brev {
        ty: Type,
    },
    Clz {
        ty: Type,
    },
    Popc {
        ty: Type,
    },
    Bmsk {
        wrap: bool,
    },
    Szext {
        ty: Type,
        wrap: bool,
    },
    Prmt {
        mode: PrmtMode,
    },
    Dp4a {
        a: Type,
        b: Type,
    },
    Dp2a {
        a: Type,
        b: Type,
        hi: bool,
    },
    // Comparison and selection.
    /// Operands: `p[|q], a, b[, {!}c]`; `p` and `q` come as one [`crate::ast::Operand::Pair`].
    Setp {
        cmp: Compare,
        ty: Type,
        ftz: bool,
        combine: Option<BoolOp>,
    },
    Set {
        cmp: Compare,
        dst: Type,
        ty: Type,
        ftz: bool,
        combine: Option<BoolOp>,
    },
    Selp {
        ty: Type,
    },
    Slct {
        ty: Type,
        selector: Type,
        ftz: bool,
    },
    // Movement and conversion.
    /// Operands may be registers, special registers, immediates, symbol addresses (`symbol`,
    /// `symbol+off`), vectors (pack and unpack).
    Mov {
        ty: Type,
    },
    /// `int_rnd` is set for `.rni/.rzi/.rmi/.rpi` (rounding to an integral value), `rnd` then is it.
    Cvt {
        dst: Type,
        src: Type,
        rnd: Option<Rounding>,
        int_rnd: bool,
        ftz: bool,
        sat: bool,
        relu: bool,
    },
    /// `cvta.SPACE` (`to` = false: SPACE to generic) and `cvta.to.SPACE` (generic to SPACE).
    Cvta {
        to: bool,
        space: Space,
        ty: Type,
    },
    Isspacep {
        space: Space,
    },
    // Memory. Vector width `vec` is 1, 2 or 4 (8 for .v8): the data operand is then a Vector.
    /// `nc` is the read-only path (`ld.global.nc`).
    Ld {
        space: Space,
        sem: Semantics,
        nc: bool,
        vec: u8,
        ty: Type,
    },
    /// `ldu`: as a weak load.
    Ldu {
        space: Space,
        vec: u8,
        ty: Type,
    },
    St {
        space: Space,
        sem: Semantics,
        vec: u8,
        ty: Type,
    },
    /// Semantics default to `Relaxed(Gpu)`.
    Atom {
        space: Space,
        sem: Semantics,
        op: AtomOp,
        ty: Type,
        vec: u8,
        noftz: bool,
    },
    Red {
        space: Space,
        sem: Semantics,
        op: AtomOp,
        ty: Type,
        vec: u8,
        noftz: bool,
    },
    /// `prefetch`, `prefetchu`, `discard`, `applypriority`, `pmevent`: no effect on values.
    Prefetch,
    /// `membar.*` and `fence.*`.
    Fence {
        kind: FenceKind,
        scope: Scope,
    },
    // Control.
    Bra {
        uni: bool,
    },
    /// `brx.idx`: operands `index, table`
    Brx {
        uni: bool,
    },
    /// Operands: `[(ret),] callee[, (args)][, prototype]`, see [`crate::ast::Operand::List`].
    Call {
        uni: bool,
    },
    Ret {
        uni: bool,
    },
    Exit,
    Trap,
    Brkpt,
    Nanosleep,
    /// `alloca`: operands `pointer, size{, alignment}`
    Alloca {
        ty: Type,
    },
    /// `stacksave`, `stackrestore` (`save` = false)
    Stack {
        save: bool,
        ty: Type,
    },
    // Threads together.
    Barrier {
        kind: BarrierKind,
        aligned: bool,
    },
    /// `bar.warp.sync mask`
    WarpSync,
    /// `sync` false: the deprecated form without `.sync` (acts on the converged lanes).
    Shfl {
        mode: ShflMode,
        sync: bool,
    },
    Vote {
        mode: VoteMode,
        sync: bool,
    },
    Match {
        all: bool,
        ty: Type,
    },
    Activemask,
    /// `redux.sync`: operands `d, a, membermask`. `abs` and `nan` are for `.f32`.
    Redux {
        op: AtomOp,
        ty: Type,
        abs: bool,
        nan: bool,
    },
    /// `elect.sync`: operands `d|p, membermask`
    Elect,
    // Asynchronous copies and their barriers.
    /// `mbarrier.*`. `order` is the stated or default order of an arrival or a test, weak for the others.
    Mbarrier {
        op: MbarrierOp,
        space: Space,
        order: Semantics,
    },
    /// `cp.async.ca|cg`: operands `[dst], [src], size{, src-size | ignore-src}{, policy}`
    CpAsync {
        policy: bool,
    },
    /// `cp.async.commit_group`, `cp.async.bulk.commit_group`
    CpAsyncCommit {
        bulk: bool,
    },
    /// `cp.async.wait_group N`, `cp.async.wait_all` (no operand), `cp.async.bulk.wait_group{.read} N`
    CpAsyncWait {
        bulk: bool,
        /// `.read`: for the reads of bulk copies only.
        read: bool,
    },
    /// `cp.async.mbarrier.arrive{.noinc}`: operand `[mbarrier]`
    CpAsyncArrive {
        space: Space,
        noinc: bool,
    },
    /// `cp.async.bulk`, `cp.reduce.async.bulk`: operands `[dst], [src], size{, [mbarrier]}{, mask}{, policy}`.
    /// With `mbarrier` false it belongs to the thread's bulk group.
    CpAsyncBulk {
        dst: Space,
        src: Space,
        mbarrier: bool,
        reduce: Option<(AtomOp, Type)>,
        multicast: bool,
        policy: bool,
    },
    /// `cp.async.bulk.tensor` of tiles, `cp.reduce.async.bulk.tensor`: operands `[dst], [map], {coordinates}, [mbarrier]` to
    /// shared memory, `[map], {coordinates}, [src]` from there. In the text map and coordinates are one operand.
    CpAsyncTensor {
        dims: u8,
        shared: Space,
        to_shared: bool,
        reduce: Option<AtomOp>,
        multicast: bool,
        policy: bool,
    },
    /// `st.async`: operands `[a], b, [mbarrier]`
    StAsync {
        vec: u8,
        ty: Type,
    },
    /// `red.async`: operands `[a], b, [mbarrier]`
    RedAsync {
        op: AtomOp,
        ty: Type,
    },
    // Clusters.
    /// `barrier.cluster.arrive` and `.wait`
    ClusterBarrier {
        wait: bool,
        order: Semantics,
    },
    /// `mapa`: operands `d, a, rank`. `space` is that of address and result.
    Mapa {
        space: Space,
        ty: Type,
    },
    /// `getctarank`: operands `d, a`
    Getctarank {
        space: Space,
        ty: Type,
    },
    // Matrices.
    /// `ldmatrix`: operands `{r…}, [p]`
    Ldmatrix {
        space: Space,
        count: u8,
        trans: bool,
    },
    /// `stmatrix`: operands `[p], {r…}`
    Stmatrix {
        space: Space,
        count: u8,
        trans: bool,
    },
    /// `movmatrix`: operands `d, a`
    Movmatrix,
    /// `mma.sync` and `wmma.mma`: operands `d, a, b, c`
    Mma(Mma),
    /// `wmma.load`: operands `{r…}, [p]{, stride}`
    WmmaLoad {
        part: MatrixPart,
        matrix: WmmaMatrix,
    },
    /// `wmma.store.d`: operands `[p], {r…}{, stride}`
    WmmaStore {
        matrix: WmmaMatrix,
    },
    /// `wgmma.mma_async`: operands `{d…}, a, b, scale-d{, imm-scale-a, imm-scale-b{, imm-trans-a}, imm-trans-b}`. `a` is a
    /// fragment or a descriptor; where it is a fragment, there is no `imm-trans-a`.
    Wgmma(Wgmma),
    /// `wgmma.fence`
    WgmmaFence,
    /// `wgmma.commit_group`
    WgmmaCommit,
    /// `wgmma.wait_group`: operand `n`
    WgmmaWait,
    /// `tex`, `tld4`, `suld`, `sust`, `txq`, `suq`
    Texture(Texture),
    /// No effect on values or order: `setmaxnreg`, `griddepcontrol`.
    Hint,
    /// `createpolicy`: a cache policy, which means nothing to who has no cache.
    Createpolicy,
    /// Rarely used arithmetic.
    Rare(Rare),
    /// An instruction that this crate does not decode. It keeps its text and passes through.
    Other,
}
