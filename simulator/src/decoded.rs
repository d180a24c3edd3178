//! A program as the engine runs it: compact instructions whose operands are byte offsets.
//!
//! A register is a row of 32 lanes at a fixed offset in its function's frame; a constant is a broadcast
//! row in the program's constant area. A *slot* is an `i32`: zero or more is an offset into the frame,
//! less than zero is the bitwise complement of an offset into the constants (the ALU's convention).
//! Parameters of device functions, and the `.param` variables of call sequences, are *word rows*: byte `b`
//! of the variable lives in row `b / 4`, a row being 32 lanes of 4 bytes.
//!
//! Public for other interpreters of the same program ([`crate::Image`]), such as the verifier's.
#![allow(missing_docs, reason = "fields and variants carry the ISA's names")]

mod asynchronous;
mod matrix;
mod provided;
mod texture;

use bugaroo_ptx::op::{AtomOp, BarRed, ShflMode, VoteMode};
use bugaroo_ptx::types::{Semantics, Space, Type};

pub use asynchronous::{Asynchronous, Factor, Warpgroup};
pub use matrix::{GroupMultiply, Matrix};
pub use provided::Provided;
pub use texture::TextureInst;

use crate::alu::lanewise::Lanewise;
use crate::alu::{Operands, RowFn, Width};

/// `Inst::guard` of an instruction without one.
pub const NO_GUARD: u32 = u32::MAX;
/// Bytes of a word row.
pub const WORD_ROW: u32 = 128;

/// What an instruction does; the meaning of `Inst::extra` stands beside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Run the row function, and then those of so many instructions behind it, which are of this kind, too,
    /// and have no guard.
    Alu,
    /// Target instruction.
    Branch,
    /// Index into `accesses`.
    Load,
    /// Index into `accesses`.
    Store,
    /// Index into `atomics`.
    Atomic,
    /// A visible operation without effect. The lowest bit is set for a fence of the program's, which is counted;
    /// the others are an index into `fences`, or, for `nanosleep`, the length of that table or more.
    Fence,
    /// Nothing.
    Nop,
    /// Index into `accesses`; the address's offset is that of the first word row in the frame, the byte
    /// within the word being in its high half.
    ParamLoad,
    /// As `ParamLoad`.
    ParamStore,
    /// Address of a local variable: its offset in the function's local memory. `src[0]` is 1 for a 64-bit
    /// destination, `src[1]` for a generic address.
    LocalAddress,
    /// Index into `specials`.
    Special,
    /// Index into `packs`.
    Pack,
    /// Index into `packs`.
    Unpack,
    /// A window number (see [`crate::address::window`]).
    IsSpace,
    /// Index into `calls`.
    Call,
    /// –
    Ret,
    /// –
    Exit,
    /// –
    Trap,
    /// Index into `tables`.
    IndexedBranch,
    /// Index into `barriers`.
    Barrier,
    /// Index into `collectives`.
    Collective,
    /// –
    ActiveMask,
    /// What the device has as a function: number in [`Provided::ALL`].
    Provided,
    /// Alignment times two; the lowest bit is set for 64-bit registers. `src[0]`: the size.
    Alloca,
    /// As `Alloca`.
    StackSave,
    /// As `Alloca`; `src[0]`: what was saved.
    StackRestore,
    /// Index into `lanewise`.
    Lanewise,
    /// Index into `asyncs`.
    Asynchronous,
    /// Index into `textures`.
    Texture,
    /// 1 for `barrier.cluster.wait`, 0 for `barrier.cluster.arrive`, 2 for one that is relaxed.
    ClusterBarrier,
    /// Address operands in `src[0]` and the rank in `src[1]`; 1 for a 64-bit address. `mapa`.
    Mapa,
    /// As `Mapa`: `getctarank`.
    Getctarank,
}

/// Arithmetic that is computed lane by lane.
#[derive(Clone, Copy, Debug)]
pub struct LanewiseInst {
    pub what: Lanewise,
    pub dst: (u32, Width),
    /// Row of a predicate that comes out, too.
    pub second: Option<u32>,
    /// Slot, width, and whether it is negated (predicates).
    pub src: [(i32, Width, bool); 5],
    /// Sources that there are.
    pub count: usize,
}

/// One decoded instruction.
#[derive(Clone, Copy)]
pub struct Inst {
    /// The row function of an `Alu` instruction.
    pub run: RowFn,
    /// Operands of the row function; other kinds use `dst` and `src[0]` where they have such.
    pub ops: Operands,
    /// Frame offset of the guard predicate, or [`NO_GUARD`].
    pub guard: u32,
    /// All ones when the guard is negated.
    pub guard_flip: u32,
    /// Depends on `kind`.
    pub extra: u32,
    /// What to do.
    pub kind: Kind,
}

/// How an address comes about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// A row of 64-bit addresses at this slot.
    Row64(i32),
    /// A row of 32-bit addresses at this slot.
    Row32(i32),
    /// No register: the offset is the address.
    Fixed,
    /// The offset counts from the frame's local memory.
    FrameLocal,
}

/// An address operand.
#[derive(Clone, Copy, Debug)]
pub struct Address {
    /// The base.
    pub base: Base,
    /// Added, wrapping.
    pub offset: u64,
    /// `Const` is folded into `Global`; `Param` means the kernel's.
    pub space: Space,
}

/// Which of a launch's counts the executions of a store go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// None: a load, a store to local memory, or one of the tester's own.
    Nowhere,
    Shared,
    Global,
    /// A generic store: its addresses say.
    ByAddress,
}

/// `ld`, `st` and their `.param` forms.
#[derive(Clone, Copy, Debug)]
pub struct DecodedAccess {
    /// Where.
    pub address: Address,
    /// Bytes of an element: 1, 2, 4 or 8.
    pub size: u8,
    /// Elements: 1, 2, 4 or 8.
    pub vec: u8,
    /// Sign-extend on load.
    pub signed: bool,
    /// Width of each data row.
    pub width: [Width; 8],
    /// Data rows as slots; for loads, sinks point to a scratch row.
    pub rows: [i32; 8],
    /// Does it count as a visible operation (global, shared, generic)?
    pub visible: bool,
    /// Is whoever looks on told of it? Constants are, too: the host and other launches may write them meanwhile.
    pub watched: bool,
    /// What counts its executions.
    pub counted: Counted,
    /// Order, strength and scope.
    pub semantics: Semantics,
}

/// `atom` and `red`.
#[derive(Clone, Copy, Debug)]
pub struct Atomic {
    /// Where.
    pub address: Address,
    /// What.
    pub op: AtomOp,
    /// On what.
    pub ty: Type,
    /// Frame offset of the result row; None for `red` and sinks.
    pub dst: Option<u32>,
    /// Slots of the operands (`cas` has two).
    pub src: [i32; 2],
    /// Width of the rows.
    pub width: Width,
    /// Order and scope.
    pub semantics: Semantics,
    /// For 128 bits: where the high halves are. What stands above are the low ones, then.
    pub high: Option<HighHalves>,
}

/// Rows of the high halves of an atomic of 128 bits.
#[derive(Clone, Copy, Debug)]
pub struct HighHalves {
    /// As in [`Atomic`].
    pub dst: Option<u32>,
    /// As in [`Atomic`].
    pub src: [i32; 2],
}

impl Atomic {
    /// Bytes that it reads and writes.
    pub fn bytes(&self) -> u64 {
        match self.width {
            _ if self.high.is_some() => 16,
            Width::W16 => 2,
            Width::W64 => 8,
            _ => 4,
        }
    }

    /// Every row that it reads or writes, but for its address.
    pub fn rows(&self) -> impl Iterator<Item = i32> + '_ {
        let high =
            self.high.iter().flat_map(|high| high.src.into_iter().chain(high.dst.map(|row| row as i32)));
        self.src.into_iter().chain(self.dst.map(|row| row as i32)).chain(high)
    }
}

/// A special register that differs between warps, lanes or moments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpecialValue {
    /// `%tid`, by dimension.
    Tid(u8),
    /// `%ctaid`, by dimension.
    Ctaid(u8),
    Laneid,
    Warpid,
    Smid,
    LanemaskEq,
    LanemaskLt,
    LanemaskLe,
    LanemaskGt,
    LanemaskGe,
    /// Warp instructions executed so far, low half.
    Clock,
    /// High half.
    ClockHi,
    /// All of it.
    Clock64,
    /// Nanoseconds: a cycle takes one, and waiting that nothing else shortens passes time, too.
    GlobalTimer,
    GlobalTimerLow,
    GlobalTimerHigh,
    /// `%clusterid`, by dimension.
    Clusterid(u8),
    /// `%cluster_ctaid`, by dimension.
    ClusterCtaid(u8),
    ClusterCtarank,
}

impl SpecialValue {
    /// Whether it is other each time that it is read.
    pub fn is_time(self) -> bool {
        matches!(
            self,
            SpecialValue::Clock
                | SpecialValue::ClockHi
                | SpecialValue::Clock64
                | SpecialValue::GlobalTimer
                | SpecialValue::GlobalTimerLow
                | SpecialValue::GlobalTimerHigh
        )
    }
}

/// A value that is fixed for a launch: its constant row is written when the launch begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LaunchValue {
    Ntid(u8),
    Nctaid(u8),
    Nwarpid,
    Nsmid,
    Gridid,
    /// `%envreg1` and `%envreg2`: where the grid's workspace lies, by halves.
    WorkspaceHigh,
    WorkspaceLow,
    DynamicSharedSize,
    TotalSharedSize,
    /// An address in the shared memory that is reserved for the system, from where it begins.
    ReservedShared(u32),
    /// `%nclusterid`, by dimension.
    Nclusterid(u8),
    /// `%cluster_nctaid`, by dimension.
    ClusterNctaid(u8),
    ClusterNctarank,
    IsExplicitCluster,
    /// Address in shared space of byte so-and-so of the dynamic shared memory; the flag asks for a generic one.
    DynamicShared(u64, bool),
}

/// `mov` of a special register.
#[derive(Clone, Copy, Debug)]
pub struct Special {
    pub value: SpecialValue,
    pub dst: u32,
    pub width: Width,
}

/// `mov` between a register and a vector of its parts.
#[derive(Clone, Debug)]
pub struct Pack {
    /// Slot of the whole.
    pub whole: i32,
    /// Bytes of each part.
    pub part_bytes: u8,
    /// The parts' rows, low part first; None is a sink.
    pub parts: Vec<Option<(i32, Width)>>,
    /// Bytes of the whole.
    pub whole_bytes: u8,
}

impl Pack {
    /// The slots of both halves, where two words make up a pair and neither is a sink.
    pub fn halves(&self) -> Option<[i32; 2]> {
        match (&self.parts[..], self.part_bytes) {
            (&[Some((low, Width::W32)), Some((high, Width::W32))], 4) => Some([low, high]),
            _ => None,
        }
    }
}

/// Rows that a call copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyWidth {
    /// This many word rows.
    Words(u32),
    /// One register row.
    Row(Width),
}

/// One argument or result: where it lies in the caller, and how wide it is.
#[derive(Clone, Copy, Debug)]
pub struct Argument {
    pub slot: i32,
    pub width: CopyWidth,
}

/// Who is called.
#[derive(Clone, Copy, Debug)]
pub enum Callee {
    /// Index of the function.
    Function(u32),
    /// Slot of a 64-bit row of code addresses.
    Row(i32),
}

/// `call`.
#[derive(Clone, Debug)]
pub struct Call {
    pub callee: Callee,
    pub args: Vec<Argument>,
    pub rets: Vec<Argument>,
}

/// What a CTA barrier instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarrierAction {
    Sync,
    Arrive,
    /// Reduction, destination row, predicate slot, negated.
    Reduce(BarRed, u32, i32, bool),
}

/// `bar`, `barrier`.
#[derive(Clone, Copy, Debug)]
pub struct Barrier {
    pub action: BarrierAction,
    pub aligned: bool,
    /// Slot of the 32-bit barrier number.
    pub id: i32,
    /// Slot of the 32-bit thread count.
    pub count: Option<i32>,
    /// It is none of the program's: its number is [`Barrier::INSERTED`].
    pub inserted: bool,
}

impl Barrier {
    /// The number of the barrier that is inserted: one behind those that a program can name.
    pub const INSERTED: u32 = 16;
}

/// What lanes of a warp do together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Together {
    /// `bar.warp.sync`
    Sync,
    Shfl(ShflMode),
    Vote(VoteMode),
    /// `match.any` (`all` = false) and `match.all`; 64-bit values?
    Match {
        all: bool,
        wide: bool,
    },
    /// `redux`: operation, type, of absolute values, NaN wins
    Redux(AtomOp, Type, bool, bool),
    /// `elect`
    Elect,
    /// Index into `matrices`: instructions that all lanes execute.
    Matrix(u32),
}

/// `shfl`, `vote`, `match`, `redux`, `elect`, `bar.warp.sync`, and matrices.
#[derive(Clone, Copy, Debug)]
pub struct Collective {
    pub what: Together,
    /// Slot of the member mask; None for the deprecated forms that act on the converged lanes.
    pub mask: Option<i32>,
    /// Destination row (32-bit, or a predicate for `vote.all` and the like).
    pub dst: Option<u32>,
    /// Predicate destination (`shfl d|p`, `match.all d|p`).
    pub dst_pred: Option<u32>,
    /// Source slots: a, b, c.
    pub src: [i32; 3],
    /// The source predicate is negated (`vote … !p`).
    pub negated: bool,
}

/// A parameter or result of a function, as laid out in its frame.
#[derive(Clone, Copy, Debug)]
pub struct Formal {
    pub offset: u32,
    pub width: CopyWidth,
}

/// A loaded function.
#[derive(Clone, Debug)]
pub struct LoadedFunction {
    pub name: String,
    /// First instruction.
    pub entry: u32,
    /// Bytes of a frame, a multiple of 64.
    pub frame_bytes: u32,
    /// Bytes of local variables, a multiple of 16.
    pub local_bytes: u32,
    /// Rows of a frame, but for the one of results that nobody wants.
    pub rows: Vec<(u32, Width)>,
    pub rets: Vec<Formal>,
    pub params: Vec<Formal>,
    /// Its frame's local memory grows as it runs (`alloca`).
    pub grows: bool,
    /// It was translated: from its body, or as one of the device's own.
    pub defined: bool,
}

/// Where a decoded instruction comes from.
#[derive(Clone, Copy, Debug)]
pub struct Origin {
    pub function: u32,
    pub line: u32,
    /// Span of the text.
    pub text: (usize, usize),
    /// Range in the program's source positions.
    pub source: (u32, u32),
}
