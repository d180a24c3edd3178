//! Clusters of blocks: their extent, their barrier, and addresses in each other's shared memory.

use bugaroo_ptx::ast::{Function, Instruction};
use bugaroo_ptx::op::Op;
use bugaroo_ptx::types::{Semantics, Type};

use super::error::LoadError;
use super::function::{Builder, Current, no_operands};
use crate::decoded::Kind;

/// The extent that a kernel asks for (`.reqnctapercluster`).
pub(super) fn extent(function: &Function) -> Option<[u32; 3]> {
    let (_, stated) = function.directives.iter().find(|(name, _)| name == "reqnctapercluster")?;
    let of = |d: usize| stated.get(d).map_or(1, |n| u32::try_from(*n).unwrap_or(u32::MAX).max(1));
    Some([of(0), of(1), of(2)])
}

impl<'m> Builder<'m> {
    /// `barrier.cluster`, `mapa`, `getctarank`.
    pub fn cluster(&mut self, at: &mut Current<'m>, inst: &'m Instruction) -> Result<(), LoadError> {
        let mut ops = no_operands();
        match (&inst.op, &inst.operands[..]) {
            (Op::ClusterBarrier { wait, order }, []) => {
                let relaxed = matches!(order, Semantics::Relaxed(_));
                self.emit(at, Kind::ClusterBarrier, ops, u32::from(*wait) | u32::from(relaxed) << 1);
            }
            (Op::Mapa { ty, .. }, [dst, address, rank]) => {
                ops.dst = self.typed_destination(at, dst, *ty)?;
                ops.src[0] = self.typed_source(at, address, *ty)?;
                ops.src[1] = self.typed_source(at, rank, Type::U32)?;
                self.emit(at, Kind::Mapa, ops, u32::from(ty.bytes() == 8));
            }
            (Op::Getctarank { ty, .. }, [dst, address]) => {
                ops.dst = self.typed_destination(at, dst, Type::U32)?;
                ops.src[0] = self.typed_source(at, address, *ty)?;
                self.emit(at, Kind::Getctarank, ops, u32::from(ty.bytes() == 8));
            }
            _ => return Err(self.refuse(at, "operands of this form")),
        }
        Ok(())
    }
}
