//! Control flow, barriers, and what the lanes of a warp do together.

use bugaroo_ptx::ast::{Instruction, Operand};
use bugaroo_ptx::op::{BarrierKind, Op, VoteMode};
use bugaroo_ptx::types::Type;

use super::error::LoadError;
use super::function::{Builder, Current, no_operands};
use super::scope::Name;
use crate::alu::Width;
use crate::decoded::{
    Argument, Barrier, BarrierAction, Call, Callee, Collective, CopyWidth, Formal, Kind, Together,
};

impl<'m> Builder<'m> {
    /// An instruction that is not one lane's business.
    pub fn control(&mut self, at: &mut Current<'m>, inst: &'m Instruction) -> Result<(), LoadError> {
        match &inst.op {
            Op::Bra { .. } => self.branch(at, inst),
            Op::Brx { .. } => self.indexed_branch(at, inst),
            Op::Call { .. } => self.call(at, inst),
            Op::Ret { .. } => {
                self.emit(at, Kind::Ret, no_operands(), 0);
                Ok(())
            }
            Op::Exit => {
                self.emit(at, Kind::Exit, no_operands(), 0);
                Ok(())
            }
            Op::Trap => {
                self.emit(at, Kind::Trap, no_operands(), 0);
                Ok(())
            }
            Op::Barrier { kind, aligned } => self.barrier(at, inst, *kind, *aligned),
            Op::Activemask => {
                let mut ops = no_operands();
                let dst = inst.operands.first().unwrap_or(&Operand::Sink);
                ops.dst = self.typed_destination(at, dst, Type::B32)?;
                self.emit(at, Kind::ActiveMask, ops, 0);
                Ok(())
            }
            _ => self.collective(at, inst),
        }
    }

    /// `alloca`, `stacksave`, `stackrestore`
    pub fn stack(&mut self, at: &mut Current<'m>, inst: &'m Instruction) -> Result<(), LoadError> {
        let mut ops = no_operands();
        let (kind, ty, align) = match (&inst.op, &inst.operands[..]) {
            (Op::Alloca { ty }, [dst, size, align @ ..]) => {
                ops.dst = self.typed_destination(at, dst, *ty)?;
                ops.src[0] = self.typed_source(at, size, *ty)?;
                let align = match align {
                    [] => 8,
                    [Operand::Integer(align)] if (1..=1 << 23).contains(align) => *align as u32,
                    _ => return Err(self.refuse(at, "an alignment of this form")),
                };
                (Kind::Alloca, ty, align)
            }
            (Op::Stack { save: true, ty }, [dst]) => {
                ops.dst = self.typed_destination(at, dst, *ty)?;
                (Kind::StackSave, ty, 0)
            }
            (Op::Stack { save: false, ty }, [saved]) => {
                ops.src[0] = self.typed_source(at, saved, *ty)?;
                (Kind::StackRestore, ty, 0)
            }
            _ => return Err(self.refuse(at, "operands of this form")),
        };
        at.grows = true;
        self.emit(at, kind, ops, align.next_power_of_two() << 1 | u32::from(ty.bytes() == 8));
        Ok(())
    }

    fn branch(&mut self, at: &mut Current<'m>, inst: &'m Instruction) -> Result<(), LoadError> {
        let label = match &inst.operands[..] {
            [Operand::Symbol { name, offset: 0 }] => match self.find(at, name) {
                Some(Name::Label(number)) => number,
                _ => return Err(self.refuse(at, format!("`{name}` is no label here"))),
            },
            _ => return Err(self.refuse(at, "a branch target of this form")),
        };
        at.jumps.branches.push((self.program.code.len() as u32, label));
        self.emit(at, Kind::Branch, no_operands(), 0);
        Ok(())
    }

    fn indexed_branch(&mut self, at: &mut Current<'m>, inst: &'m Instruction) -> Result<(), LoadError> {
        let [index, Operand::Symbol { name, offset: 0 }] = &inst.operands[..] else {
            return Err(self.refuse(at, "operands of this form"));
        };
        let Some(Name::Targets(labels)) = self.find(at, name) else {
            return Err(self.refuse(at, format!("`{name}` is no table of targets here")));
        };
        let mut ops = no_operands();
        ops.src[0] = self.typed_source(at, index, Type::U32)?;
        let table = self.program.tables.len() as u32;
        self.program.tables.push(Vec::new());
        at.jumps.table_uses.push((table, labels));
        self.emit(at, Kind::IndexedBranch, ops, table);
        Ok(())
    }

    fn call(&mut self, at: &mut Current<'m>, inst: &'m Instruction) -> Result<(), LoadError> {
        let mut operands = &inst.operands[..];
        let mut rets: &[Operand] = &[];
        if let [Operand::List(list), rest @ ..] = operands {
            (rets, operands) = (list, rest);
        }
        let Some((callee, operands)) = operands.split_first() else {
            return Err(self.refuse(at, "nothing to call"));
        };
        let args: &[Operand] = match operands.first() {
            Some(Operand::List(list)) => list,
            _ => &[],
        };
        let callee = match callee {
            Operand::Symbol { name, offset: 0 } => match self.names.get(name.as_str()) {
                Some(index) => Callee::Function(*index),
                None => return Err(self.undefined(at, name)),
            },
            Operand::Register(_) => Callee::Row(self.typed_source(at, callee, Type::U64)?),
            _ => return Err(self.refuse(at, "a callee of this form")),
        };
        let (params, results) = match callee {
            Callee::Function(index) => {
                let loaded = &self.program.functions[index as usize];
                if !self.is_callable(index) {
                    return Err(self.undefined(at, &loaded.name));
                }
                (loaded.params.clone(), loaded.rets.clone())
            }
            Callee::Row(_) => (Vec::new(), Vec::new()),
        };
        let mut place = |list: &[Operand], formals: &[Formal]| {
            list.iter()
                .enumerate()
                .map(|(i, operand)| self.argument(at, operand, formals.get(i)))
                .collect::<Result<Vec<_>, _>>()
        };
        let call = Call { callee, args: place(args, &params)?, rets: place(rets, &results)? };
        // A row of constants is none of the frame's, into which results are written.
        if call.rets.iter().any(|result| result.slot < 0) {
            return Err(self.refuse(at, "a result that goes to no register and no parameter"));
        }
        if let Callee::Function(_) = callee
            && !(agrees(&call.args, &params) && agrees(&call.rets, &results))
        {
            return Err(self.refuse(at, "arguments that are not the function's"));
        }
        let index = self.program.calls.len() as u32;
        self.program.calls.push(call);
        self.emit(at, Kind::Call, no_operands(), index);
        Ok(())
    }

    /// An argument or result; an immediate is as wide as the parameter that it is for, 64 bits when that
    /// is not known.
    fn argument(
        &mut self,
        at: &mut Current<'m>,
        operand: &Operand,
        formal: Option<&Formal>,
    ) -> Result<Argument, LoadError> {
        match operand {
            Operand::Symbol { name, offset: 0 } => match self.find(at, name) {
                Some(Name::Words { offset, bytes }) => {
                    Ok(Argument { slot: offset as i32, width: CopyWidth::Words(bytes.div_ceil(4)) })
                }
                Some(Name::Register(..)) => self.argument(at, &Operand::Register(name.clone()), formal),
                _ => Err(self.refuse(at, format!("`{name}` as an argument"))),
            },
            Operand::Sink => Err(self.refuse(at, "an argument left out")),
            _ => {
                let ty = match formal.map(|f| f.width) {
                    Some(CopyWidth::Row(Width::Pred)) => Type::Pred,
                    Some(CopyWidth::Row(Width::W16)) => Type::B16,
                    Some(CopyWidth::Row(Width::W32)) => Type::B32,
                    _ => Type::B64,
                };
                let source = self.source(at, operand, ty)?;
                if source.negated {
                    return Err(self.refuse(at, "a negated argument"));
                }
                Ok(Argument { slot: source.slot, width: CopyWidth::Row(source.width) })
            }
        }
    }

    fn undefined(&self, at: &Current<'m>, callee: &str) -> LoadError {
        LoadError::Undefined {
            function: at.function.name.clone(),
            line: at.now.instruction.map_or(0, |i| i.line),
            callee: callee.to_string(),
            cuda: self.positions(at),
        }
    }

    fn barrier(
        &mut self,
        at: &mut Current<'m>,
        inst: &'m Instruction,
        kind: BarrierKind,
        aligned: bool,
    ) -> Result<(), LoadError> {
        let mut operands = &inst.operands[..];
        let action = match kind {
            BarrierKind::Sync => BarrierAction::Sync,
            BarrierKind::Arrive => BarrierAction::Arrive,
            BarrierKind::Red(op) => {
                let [dst, middle @ .., predicate] = operands else {
                    return Err(self.refuse(at, "too few operands"));
                };
                operands = middle;
                let ty = if op == bugaroo_ptx::op::BarRed::Popc { Type::U32 } else { Type::Pred };
                let dst = self.typed_destination(at, dst, ty)?;
                let source = self.source(at, predicate, Type::Pred)?;
                BarrierAction::Reduce(op, dst, source.slot, source.negated)
            }
        };
        let (id, count) = match operands {
            [id] if action != BarrierAction::Arrive => (id, None),
            [id, count] => (id, Some(count)),
            // `barrier.sync` alone is barrier 0.
            [] if action == BarrierAction::Sync => (&Operand::Integer(0), None),
            _ => return Err(self.refuse(at, "operands of this form")),
        };
        let id = self.typed_source(at, id, Type::U32)?;
        let count = count.map(|c| self.typed_source(at, c, Type::U32)).transpose()?;
        let index = self.program.barriers.len() as u32;
        self.program.barriers.push(Barrier { action, aligned, id, count, inserted: false });
        self.emit(at, Kind::Barrier, no_operands(), index);
        Ok(())
    }

    fn collective(&mut self, at: &mut Current<'m>, inst: &'m Instruction) -> Result<(), LoadError> {
        let mut found = Collective {
            what: Together::Sync,
            mask: None,
            dst: None,
            dst_pred: None,
            src: [0; 3],
            negated: false,
        };
        let operands = &inst.operands[..];
        match (&inst.op, operands) {
            (Op::WarpSync, [mask]) => found.mask = Some(self.typed_source(at, mask, Type::B32)?),
            (Op::Shfl { mode, sync }, [dst, a, b, c, rest @ ..]) if rest.len() == usize::from(*sync) => {
                found.what = Together::Shfl(*mode);
                self.destinations(at, dst, Type::B32, &mut found)?;
                for (slot, operand) in found.src.iter_mut().zip([a, b, c]) {
                    *slot = self.typed_source(at, operand, Type::B32)?;
                }
                found.mask = rest.first().map(|m| self.typed_source(at, m, Type::B32)).transpose()?;
            }
            (Op::Vote { mode, sync }, [dst, a, rest @ ..]) if rest.len() == usize::from(*sync) => {
                found.what = Together::Vote(*mode);
                let ty = if *mode == VoteMode::Ballot { Type::B32 } else { Type::Pred };
                self.destinations(at, dst, ty, &mut found)?;
                let source = self.source(at, a, Type::Pred)?;
                if source.width != Width::Pred {
                    return Err(self.refuse(at, "a vote on something that is no predicate"));
                }
                (found.src[0], found.negated) = (source.slot, source.negated);
                found.mask = rest.first().map(|m| self.typed_source(at, m, Type::B32)).transpose()?;
            }
            (Op::Match { all, ty }, [dst, a, mask]) => {
                let wide = ty.bytes() == 8;
                found.what = Together::Match { all: *all, wide };
                self.destinations(at, dst, Type::B32, &mut found)?;
                found.src[0] = self.typed_source(at, a, if wide { Type::B64 } else { Type::B32 })?;
                found.mask = Some(self.typed_source(at, mask, Type::B32)?);
            }
            (Op::Redux { op, ty, abs, nan }, [dst, a, mask]) => {
                found.what = Together::Redux(*op, *ty, *abs, *nan);
                self.destinations(at, dst, *ty, &mut found)?;
                found.src[0] = self.typed_source(at, a, *ty)?;
                found.mask = Some(self.typed_source(at, mask, Type::B32)?);
            }
            (Op::Elect, [dst, mask]) => {
                found.what = Together::Elect;
                self.destinations(at, dst, Type::B32, &mut found)?;
                found.mask = Some(self.typed_source(at, mask, Type::B32)?);
            }
            _ => return Err(self.refuse(at, "operands of this form")),
        }
        self.together(at, found);
        Ok(())
    }

    /// Appends what the lanes do together.
    pub(super) fn together(&mut self, at: &Current<'m>, found: Collective) {
        self.program.leans_on_convergence |= found.mask.is_none();
        let index = self.program.collectives.len() as u32;
        self.program.collectives.push(found);
        self.emit(at, Kind::Collective, no_operands(), index);
    }

    /// `d` or `d|p`.
    fn destinations(
        &mut self,
        at: &mut Current<'m>,
        operand: &Operand,
        ty: Type,
        into: &mut Collective,
    ) -> Result<(), LoadError> {
        let dst = match operand {
            Operand::Pair(dst, pred) => {
                if **pred != Operand::Sink {
                    into.dst_pred = Some(self.typed_destination(at, pred, Type::Pred)?);
                }
                dst
            }
            single => single,
        };
        if *dst != Operand::Sink {
            into.dst = Some(self.typed_destination(at, dst, ty)?);
        }
        Ok(())
    }

    /// The slot of a source that must be as wide as `ty`.
    pub(super) fn typed_source(
        &mut self,
        at: &mut Current<'m>,
        operand: &Operand,
        ty: Type,
    ) -> Result<i32, LoadError> {
        let source = self.source(at, operand, ty)?;
        if Some(source.width) != Current::width(ty) || source.negated {
            return Err(self.refuse(at, "a register of another width than the instruction's"));
        }
        Ok(source.slot)
    }

    /// The row of a destination that must be as wide as `ty`.
    pub(super) fn typed_destination(
        &mut self,
        at: &mut Current<'m>,
        operand: &Operand,
        ty: Type,
    ) -> Result<u32, LoadError> {
        let (row, width) = self.destination(at, operand, ty)?;
        if Some(width) != Current::width(ty) {
            return Err(self.refuse(at, "a register of another width than the instruction's"));
        }
        Ok(row)
    }
}

/// Do arguments and parameters go together one by one?
pub(crate) fn agrees(arguments: &[Argument], formals: &[Formal]) -> bool {
    arguments.len() == formals.len() && arguments.iter().zip(formals).all(|(a, f)| a.width == f.width)
}
