//! `mbarrier`, asynchronous copies, asynchronous stores and reductions.

use bugaroo_ptx::ast::{Instruction, Operand};
use bugaroo_ptx::op::{AtomOp, MbarrierOp, Op};
use bugaroo_ptx::types::{Semantics, Space, Type};

use super::error::LoadError;
use super::function::{Builder, Current, no_operands};
use crate::alu::Width;
use crate::decoded::{Address, Asynchronous, Kind};

const SEVERAL: &str = "the simulator does not copy to several blocks at once";

impl<'m> Builder<'m> {
    /// Translates one such instruction.
    pub fn asynchronous(&mut self, at: &mut Current<'m>, inst: &'m Instruction) -> Result<(), LoadError> {
        let operands = &inst.operands[..];
        let found = match (&inst.op, operands) {
            (Op::Mbarrier { op, space, order }, _) => self.mbarrier(at, (*op, *order), *space, operands)?,
            (Op::CpAsync { policy }, [dst, src, bytes, rest @ ..]) => {
                let Some(left) = rest.len().checked_sub(usize::from(*policy)) else {
                    return Err(self.refuse(at, "no cache policy"));
                };
                let rest = &rest[..left];
                self.copy(at, dst, src, bytes, rest.first())?
            }
            (Op::CpAsyncCommit { bulk }, _) => Asynchronous::Commit { bulk: *bulk },
            (Op::CpAsyncWait { bulk, read }, rest) => {
                let keep = match rest {
                    [] => None,
                    [Operand::Integer(groups)] if *groups >= 0 => {
                        Some(u32::try_from(*groups).unwrap_or(u32::MAX))
                    }
                    _ => return Err(self.refuse(at, "a number of groups that is no constant")),
                };
                Asynchronous::Wait { bulk: *bulk, keep, read: *read }
            }
            (Op::CpAsyncArrive { space, noinc }, [address]) => {
                Asynchronous::Arrive { address: self.memory_address(at, address, *space)?, noinc: *noinc }
            }
            (Op::CpAsyncBulk { multicast: true, .. }, _) if !self.program.only_read => {
                return Err(self.refuse(at, SEVERAL));
            }
            (Op::CpAsyncTensor { multicast: true, .. }, _) => return Err(self.refuse(at, SEVERAL)),
            (
                Op::CpAsyncBulk { dst: to, src: from, mbarrier, reduce, multicast, .. },
                [dst, src, bytes, rest @ ..],
            ) => {
                if let Some((_, ty)) = reduce
                    && !matches!(ty.bytes(), 2 | 4 | 8)
                {
                    return Err(self.refuse(at, "a reduction of this type"));
                }
                Asynchronous::Bulk {
                    dst: self.memory_address(at, dst, *to)?,
                    src: self.memory_address(at, src, *from)?,
                    bytes: self.typed_source(at, bytes, Type::U32)?,
                    mbarrier: match rest.first().filter(|_| *mbarrier) {
                        Some(address) => Some(self.memory_address(at, address, Space::Shared)?),
                        None => None,
                    },
                    reduce: *reduce,
                    multicast: match rest.get(1).filter(|_| *multicast) {
                        Some(mask) => Some(self.typed_source(at, mask, Type::U16)?),
                        None => None,
                    },
                }
            }
            (
                Op::CpAsyncTensor { dims, to_shared: true, shared, .. },
                [to, map, Operand::Vector(coordinates), mbarrier, ..],
            ) => {
                let mbarrier = Some(self.memory_address(at, mbarrier, Space::Shared)?);
                self.tensor(at, (map, coordinates, *dims), (to, *shared), mbarrier, None)?
            }
            (
                Op::CpAsyncTensor { dims, to_shared: false, shared, reduce, .. },
                [map, Operand::Vector(coordinates), from, ..],
            ) => self.tensor(at, (map, coordinates, *dims), (from, *shared), None, *reduce)?,
            (Op::StAsync { ty, .. } | Op::RedAsync { ty, .. }, [address, data, mbarrier]) => {
                let elements: &[Operand] = match data {
                    Operand::Vector(elements) => elements,
                    single => std::slice::from_ref(single),
                };
                let mut sources = Vec::new();
                for element in elements {
                    let source = self.source(at, element, *ty)?;
                    if Some(source.width) != Current::width(*ty) {
                        return Err(self.refuse(at, "a register of another width than the type"));
                    }
                    sources.push((source.slot, source.width));
                }
                let reduce = match inst.op {
                    Op::RedAsync { op, .. } => Some(op),
                    _ => None,
                };
                Asynchronous::Store {
                    dst: self.memory_address(at, address, Space::SharedCluster)?,
                    ty: *ty,
                    sources,
                    mbarrier: self.memory_address(at, mbarrier, Space::SharedCluster)?,
                    reduce,
                }
            }
            _ => return Err(self.refuse(at, "operands of this form")),
        };
        let index = self.program.asyncs.len() as u32;
        self.program.asyncs.push(found);
        self.emit(at, Kind::Asynchronous, no_operands(), index);
        Ok(())
    }

    fn tensor(
        &mut self,
        at: &mut Current<'m>,
        (map, coordinates, dims): (&Operand, &[Operand], u8),
        (shared, space): (&Operand, Space),
        mbarrier: Option<Address>,
        reduce: Option<AtomOp>,
    ) -> Result<Asynchronous, LoadError> {
        if coordinates.len() != usize::from(dims) {
            return Err(self.refuse(at, "another number of coordinates than dimensions"));
        }
        let each = coordinates.iter().map(|coordinate| self.typed_source(at, coordinate, Type::S32));
        Ok(Asynchronous::Tensor {
            coordinates: each.collect::<Result<_, _>>()?,
            map: self.memory_address(at, map, Space::Generic)?,
            shared: self.memory_address(at, shared, space)?,
            mbarrier,
            reduce,
        })
    }

    fn mbarrier(
        &mut self,
        at: &mut Current<'m>,
        (op, order): (MbarrierOp, Semantics),
        space: Space,
        operands: &[Operand],
    ) -> Result<Asynchronous, LoadError> {
        match (op, operands) {
            (MbarrierOp::PendingCount, [dst, state]) => Ok(Asynchronous::PendingCount {
                state: self.typed_source(at, state, Type::B64)?,
                dst: self.typed_destination(at, dst, Type::U32)?,
            }),
            (
                MbarrierOp::Init | MbarrierOp::Inval | MbarrierOp::ExpectTx | MbarrierOp::CompleteTx,
                [address, rest @ ..],
            ) => {
                let address = self.memory_address(at, address, space)?;
                let value = rest.first().map(|v| self.typed_source(at, v, Type::U32)).transpose()?;
                Ok(Asynchronous::Mbarrier { op, address, value, dst: None, order })
            }
            (MbarrierOp::Arrive { .. }, [state, address, rest @ ..]) => {
                let dst = match state {
                    Operand::Sink => None,
                    state => Some(self.typed_destination(at, state, Type::B64)?),
                };
                let address = self.memory_address(at, address, space)?;
                let value = rest.first().map(|v| self.typed_source(at, v, Type::U32)).transpose()?;
                Ok(Asynchronous::Mbarrier { op, address, value, dst, order })
            }
            (MbarrierOp::Wait { parity, .. }, [done, address, state, ..]) => {
                let dst = Some(self.typed_destination(at, done, Type::Pred)?);
                let address = self.memory_address(at, address, space)?;
                let ty = if parity { Type::U32 } else { Type::B64 };
                let value = Some(self.typed_source(at, state, ty)?);
                Ok(Asynchronous::Mbarrier { op, address, value, dst, order })
            }
            _ => Err(self.refuse(at, "operands of this form")),
        }
    }

    fn copy(
        &mut self,
        at: &mut Current<'m>,
        dst: &Operand,
        src: &Operand,
        bytes: &Operand,
        source_size: Option<&Operand>,
    ) -> Result<Asynchronous, LoadError> {
        let Operand::Integer(bytes @ (4 | 8 | 16)) = bytes else {
            return Err(self.refuse(at, "a copy of a size other than 4, 8 or 16"));
        };
        let dst = self.memory_address(at, dst, Space::Shared)?;
        let src = self.memory_address(at, src, Space::Global)?;
        let (mut src_bytes, mut ignore) = (None, None);
        if let Some(operand) = source_size {
            let source = self.source(at, operand, Type::U32)?;
            match source.width {
                Width::Pred => ignore = Some((source.slot, source.negated)),
                Width::W32 => src_bytes = Some(source.slot),
                _ => return Err(self.refuse(at, "a register of another width than the instruction's")),
            }
        }
        Ok(Asynchronous::Copy { dst, src, bytes: *bytes as u32, src_bytes, ignore })
    }
}
