//! What a decoded instruction means for memory, in the words of [`bugaroo_semantics::effect`].
//!
//! The engine, its memory models and its observers ask here, so that a fence that a trial inserts, leaves out, narrows or
//! widens means to all of them what it does.

use bugaroo_ptx::op::{FenceKind, MbarrierOp};
use bugaroo_ptx::types::{Semantics, Type};
use bugaroo_semantics::effect::{Effect, Stated};
use bugaroo_semantics::event::{AccessKind, Proxy};

use super::Program;
use crate::decoded::{Asynchronous, Inst, Kind, Matrix, Together};

/// The type without a meaning of this many bytes.
fn bits(bytes: u32) -> Type {
    match bytes {
        1 => Type::B8,
        2 => Type::B16,
        4 => Type::B32,
        8 => Type::B64,
        _ => Type::B128,
    }
}

impl Program {
    /// What instruction `pc` means for memory. An access states the space as the engine has it (constant memory is global) and
    /// its elements by their size alone, those of 128 bits that are moved as two halves. A collective without a mask takes whoever is there.
    pub fn effect(&self, pc: u32) -> Effect {
        self.effect_of(&self.code[pc as usize])
    }

    pub(crate) fn effect_of(&self, inst: &Inst) -> Effect {
        let index = inst.extra as usize;
        match inst.kind {
            Kind::Load | Kind::Store => {
                let access = &self.accesses[index];
                Effect::Access(Stated {
                    kind: if inst.kind == Kind::Load { AccessKind::Load } else { AccessKind::Store },
                    space: access.address.space,
                    semantics: access.semantics,
                    ty: bits(access.size.into()),
                    elements: access.vec,
                })
            }
            Kind::Atomic => {
                let atomic = &self.atomics[index];
                Effect::Access(Stated {
                    kind: AccessKind::Atomic(atomic.op),
                    space: atomic.address.space,
                    semantics: atomic.semantics,
                    ty: bits(atomic.ty.bytes()),
                    elements: 1,
                })
            }
            Kind::Fence => match self.fences.get(index >> 1) {
                None => Effect::Pause,
                Some(fence) if fence.kind == FenceKind::Proxy => Effect::ProxyFence,
                Some(fence) => Effect::Fence(*fence),
            },
            Kind::Barrier => Effect::BlockBarrier,
            Kind::Collective => {
                let collective = &self.collectives[index];
                match collective.what {
                    Together::Sync => Effect::WarpBarrier,
                    Together::Matrix(matrix) => match &self.matrices[matrix as usize] {
                        Matrix::Load { .. } | Matrix::WmmaLoad { .. } | Matrix::Group(_) => {
                            Effect::Matrix { writes: false }
                        }
                        Matrix::Store { .. } | Matrix::WmmaStore { .. } => Effect::Matrix { writes: true },
                        Matrix::Transpose { .. } | Matrix::Multiply { .. } => Effect::Collective,
                    },
                    _ if collective.mask.is_none() => Effect::Nothing,
                    _ => Effect::Collective,
                }
            }
            Kind::Asynchronous => match &self.asyncs[index] {
                Asynchronous::Mbarrier { op, .. } => Effect::Mbarrier(*op),
                Asynchronous::PendingCount { .. } => Effect::Mbarrier(MbarrierOp::PendingCount),
                Asynchronous::Copy { .. } => Effect::Copy(Proxy::Generic),
                Asynchronous::Bulk { .. } | Asynchronous::Tensor { .. } | Asynchronous::Store { .. } => {
                    Effect::Copy(Proxy::Async)
                }
                Asynchronous::Commit { .. } => Effect::CopyGroup { wait: false },
                Asynchronous::Wait { .. } => Effect::CopyGroup { wait: true },
                Asynchronous::Arrive { .. } => Effect::CopyArrive,
                Asynchronous::Warpgroup(_) => Effect::Unknown,
            },
            // The order that it states does not matter to the engine, which orders always.
            Kind::ClusterBarrier => {
                let wait = inst.extra & 1 != 0;
                let scope = bugaroo_ptx::types::Scope::Cluster;
                let order = if wait { Semantics::Acquire(scope) } else { Semantics::Release(scope) };
                Effect::ClusterBarrier { wait, order }
            }
            Kind::Provided => Effect::Unknown,
            Kind::Exit => Effect::Exit,
            Kind::Ret => Effect::Return,
            Kind::Call => Effect::Call,
            _ => Effect::Nothing,
        }
    }
}
