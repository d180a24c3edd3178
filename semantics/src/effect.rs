//! What an instruction means for memory: one table, from which all who need to know take it.
//!
//! PTX ISA, "Memory Consistency Model" (operation types), "Parallel Synchronization and Communication Instructions", "Data
//! Movement and Conversion Instructions: Asynchronous copy", "Asynchronous Warpgroup Level Matrix Instructions".

use bugaroo_ptx::op::{FenceKind, MbarrierOp, Op};
use bugaroo_ptx::types::{Scope, Semantics, Space, Type};

use crate::event::kinds::{AccessKind, Proxy};

/// A load, store or atomic as its instruction states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stated {
    /// What it does.
    pub kind: AccessKind,
    /// The space that it names.
    pub space: Space,
    /// Order, strength and scope.
    pub semantics: Semantics,
    /// Type of an element.
    pub ty: Type,
    /// Elements of a vector.
    pub elements: u8,
}

impl Stated {
    /// Bytes of the smallest part of such an access, and how many parts there are.
    pub fn parts(&self) -> (u32, u32) {
        // A packed atomic is one of each of its elements (PTX ISA, "Packed Data-types").
        let packed =
            matches!(self.kind, AccessKind::Atomic(_)) && matches!(self.ty, Type::F16x2 | Type::BF16x2);
        if packed { (2, 2) } else { (self.ty.bytes(), self.elements.into()) }
    }
}

/// A fence, as the program has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fence {
    /// Which.
    pub kind: FenceKind,
    /// Among whom.
    pub scope: Scope,
}

impl Fence {
    /// Whether it is sequentially consistent.
    #[inline]
    pub fn is_sc(self) -> bool {
        self.kind == FenceKind::Sc
    }
}

/// What one instruction means for memory and for the order of what other threads see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Effect {
    /// Neither touches memory nor orders nor waits: arithmetic, branches, `activemask`, `prefetch`.
    #[default]
    Nothing,
    /// `ld`, `ldu`, `st`, `atom`, `red`, of whatever space.
    Access(Stated),
    /// `fence`, `membar`: orders memory.
    Fence(Fence),
    /// `fence.proxy.*`, `fence.mbarrier_init.*`: orders what one thread did through two proxies.
    ProxyFence,
    /// `bar`, `barrier`: orders memory among the threads of the CTA that take part.
    BlockBarrier,
    /// `bar.warp.sync`: orders memory among the lanes that take part.
    WarpBarrier,
    /// `barrier.cluster`.
    ClusterBarrier {
        /// `.wait`; else `.arrive`.
        wait: bool,
        /// `.relaxed`, `.release` or `.acquire`.
        order: Semantics,
    },
    /// Waits for other lanes without ordering memory: `shfl.sync`, `vote.sync`, `match`, `redux`, `elect`, `mma`.
    Collective,
    /// `mbarrier`.
    Mbarrier(MbarrierOp),
    /// Issues an asynchronous copy, store or reduction.
    Copy(Proxy),
    /// `cp.async.mbarrier.arrive`: an mbarrier is to count that the thread's copies are done.
    CopyArrive,
    /// Makes a group of the thread's copies, or waits for groups: what these copies touch belongs to their issue.
    CopyGroup {
        /// Waits.
        wait: bool,
    },
    /// `ldmatrix`, `stmatrix`, `wmma.load`, `wmma.store`: the warp reads or writes memory together.
    Matrix {
        /// Writes.
        writes: bool,
    },
    /// Something that may order grids or hints at memory: `griddepcontrol` and the like.
    Hint,
    /// `nanosleep`: lets others go first. It is no fence and orders nothing.
    Pause,
    /// The thread ends.
    Exit,
    /// `ret`: the thread ends where this is a kernel's.
    Return,
    /// `call`.
    Call,
    /// Not known.
    Unknown,
}

impl Effect {
    /// The effect of an operation.
    pub fn of(op: &Op) -> Effect {
        let access = |kind, space, semantics, ty, elements| {
            Effect::Access(Stated { kind, space, semantics, ty, elements })
        };
        match *op {
            Op::Ld { space, sem, vec, ty, .. } => access(AccessKind::Load, space, sem, ty, vec),
            Op::Ldu { space, vec, ty } => access(AccessKind::Load, space, Semantics::Weak, ty, vec),
            Op::St { space, sem, vec, ty } => access(AccessKind::Store, space, sem, ty, vec),
            Op::Atom { space, sem, op, ty, vec, .. } | Op::Red { space, sem, op, ty, vec, .. } => {
                access(AccessKind::Atomic(op), space, sem, ty, vec)
            }
            Op::Fence { kind: FenceKind::Proxy, .. } => Effect::ProxyFence,
            Op::Fence { kind, scope } => Effect::Fence(Fence { kind, scope }),
            Op::Barrier { .. } => Effect::BlockBarrier,
            Op::WarpSync => Effect::WarpBarrier,
            Op::ClusterBarrier { wait, order } => Effect::ClusterBarrier { wait, order },
            // Without `.sync` they take whoever is there.
            Op::Shfl { sync, .. } | Op::Vote { sync, .. } if sync => Effect::Collective,
            Op::Match { .. } | Op::Redux { .. } | Op::Elect | Op::Movmatrix | Op::Mma(_) => {
                Effect::Collective
            }
            Op::Mbarrier { op, .. } => Effect::Mbarrier(op),
            Op::CpAsync { .. } => Effect::Copy(Proxy::Generic),
            Op::CpAsyncBulk { .. } | Op::CpAsyncTensor { .. } | Op::StAsync { .. } | Op::RedAsync { .. } => {
                Effect::Copy(Proxy::Async)
            }
            Op::CpAsyncArrive { .. } => Effect::CopyArrive,
            Op::CpAsyncCommit { .. } => Effect::CopyGroup { wait: false },
            Op::CpAsyncWait { .. } => Effect::CopyGroup { wait: true },
            Op::Ldmatrix { .. } | Op::WmmaLoad { .. } | Op::Wgmma(_) => Effect::Matrix { writes: false },
            Op::Stmatrix { .. } | Op::WmmaStore { .. } => Effect::Matrix { writes: true },
            Op::Hint => Effect::Hint,
            Op::Nanosleep => Effect::Pause,
            Op::Exit => Effect::Exit,
            Op::Ret { .. } => Effect::Return,
            Op::Call { .. } => Effect::Call,
            // Nobody executes them.
            Op::Other => Effect::Unknown,
            _ => Effect::Nothing,
        }
    }

    /// Whether it waits for other threads without ordering what its own thread has stored: waiting acquires, at most.
    pub fn only_waits(self) -> bool {
        matches!(
            self,
            Effect::Collective
                | Effect::Mbarrier(MbarrierOp::Wait { .. })
                | Effect::ClusterBarrier { wait: true, .. }
        )
    }

    /// Whether it, other than as a load, a store or an atomic, reads or writes memory, or has it read or written on the thread's
    /// behalf, or tells others that it was: an arrival releases. Making a group of asynchronous copies and waiting for
    /// it is nothing of the kind: their memory was touched when they were issued.
    pub fn works_on_memory(self) -> bool {
        match self {
            Effect::Mbarrier(op) => !matches!(op, MbarrierOp::Wait { .. } | MbarrierOp::PendingCount),
            Effect::ClusterBarrier { wait, .. } => !wait,
            Effect::Copy(_) | Effect::CopyArrive | Effect::Matrix { .. } | Effect::Hint => true,
            _ => false,
        }
    }

    /// The scope that it states: of a fence or an atomic.
    pub fn stated_scope(self) -> Option<Scope> {
        match self {
            Effect::Fence(fence) => Some(fence.scope),
            Effect::Access(Stated { kind: AccessKind::Atomic(_), semantics, .. }) => scope_of(semantics),
            _ => None,
        }
    }
}

/// The scope that an access states. A volatile one states none: it is as one of system scope.
pub fn scope_of(semantics: Semantics) -> Option<Scope> {
    match semantics {
        Semantics::Relaxed(scope)
        | Semantics::Acquire(scope)
        | Semantics::Release(scope)
        | Semantics::AcqRel(scope) => Some(scope),
        Semantics::Weak | Semantics::Volatile | Semantics::Mmio => None,
    }
}

/// Among whom an access is strong; None for a weak one.
pub fn strong_among(semantics: Semantics) -> Option<Scope> {
    match semantics {
        Semantics::Weak => None,
        Semantics::Volatile | Semantics::Mmio => Some(Scope::Sys),
        _ => scope_of(semantics),
    }
}

/// Whether an access acquires.
pub fn acquires(semantics: Semantics) -> bool {
    matches!(semantics, Semantics::Acquire(_) | Semantics::AcqRel(_))
}

/// Whether an access releases.
pub fn releases(semantics: Semantics) -> bool {
    matches!(semantics, Semantics::Release(_) | Semantics::AcqRel(_))
}

/// Whether nothing of its thread may be held back beyond it: a release, and an access of memory-mapped devices.
#[inline]
pub fn drains(semantics: Semantics) -> bool {
    releases(semantics) || semantics == Semantics::Mmio
}

/// The access with at least this scope: a weak one becomes relaxed.
pub fn widened(semantics: Semantics, to: Scope) -> Semantics {
    match semantics {
        Semantics::Weak => Semantics::Relaxed(to),
        Semantics::Relaxed(scope) => Semantics::Relaxed(scope.max(to)),
        Semantics::Acquire(scope) => Semantics::Acquire(scope.max(to)),
        Semantics::Release(scope) => Semantics::Release(scope.max(to)),
        Semantics::AcqRel(scope) => Semantics::AcqRel(scope.max(to)),
        Semantics::Volatile | Semantics::Mmio => semantics,
    }
}
