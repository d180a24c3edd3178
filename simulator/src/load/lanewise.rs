//! Arithmetic that is computed lane by lane.

use bugaroo_ptx::ast::{Instruction, Operand};
use bugaroo_ptx::op::Op;
use bugaroo_ptx::rare::Rare;
use bugaroo_ptx::types::Type;

use super::error::LoadError;
use super::function::{Builder, Current, no_operands};
use crate::alu::lanewise::{Lanewise, Selector};
use crate::alu::{Width, source_type};
use crate::decoded::{Kind, LanewiseInst};

impl<'m> Builder<'m> {
    /// Rarely used arithmetic.
    pub fn rare(
        &mut self,
        at: &mut Current<'m>,
        inst: &'m Instruction,
        rare: &Rare,
    ) -> Result<(), LoadError> {
        let mut operands = inst.operands.clone();
        let mut selectors = [None; 3];
        if let Rare::Video(_) = rare {
            for (selector, operand) in selectors.iter_mut().zip(&mut operands) {
                let Operand::Register(name) = operand else { continue };
                // `%tid.x` is a register, not a part of one.
                let named =
                    name.rsplit_once('.').and_then(|(base, part)| Some((base, Selector::parse(part)?)));
                if let Some((base, found)) = named {
                    *selector = Some(found);
                    *operand = Operand::Register(base.to_string());
                }
            }
        }
        self.lanewise(at, &operands, Lanewise::Rare(*rare, selectors), rare.sources(), rare.result())
    }

    /// `set`, `setp` of packed halves; false when it is something else.
    pub fn packed_comparison(
        &mut self,
        at: &mut Current<'m>,
        inst: &'m Instruction,
    ) -> Result<bool, LoadError> {
        let Some(comparison) = Lanewise::comparison(&inst.op) else { return Ok(false) };
        let result = match inst.op {
            Op::Set { .. } => Type::B32,
            _ => Type::Pred,
        };
        let types: Vec<Type> = (0..3).map_while(|index| source_type(&inst.op, index)).collect();
        self.lanewise(at, &inst.operands, comparison, &types, result)?;
        Ok(true)
    }

    fn lanewise(
        &mut self,
        at: &mut Current<'m>,
        operands: &[Operand],
        what: Lanewise,
        types: &[Type],
        result: Type,
    ) -> Result<(), LoadError> {
        let Some((first, sources)) = operands.split_first() else {
            return Err(self.refuse(at, "no operands"));
        };
        let mut found = LanewiseInst {
            what,
            dst: (0, Width::W32),
            second: None,
            src: [(0, Width::W32, false); 5],
            count: 0,
        };
        for (operand, ty) in sources.iter().zip(types) {
            let source = self.source(at, operand, *ty)?;
            if Some(source.width) != Current::width(*ty) {
                return Err(self.refuse(at, "a register of another width than the instruction's"));
            }
            found.src[found.count] = (source.slot, source.width, source.negated);
            found.count += 1;
        }
        let dst = match first {
            Operand::Pair(dst, second) => {
                let (row, width) = self.destination(at, second, Type::Pred)?;
                if width != Width::Pred {
                    return Err(self.refuse(at, "a second result that is no predicate"));
                }
                found.second = Some(row);
                dst
            }
            single => single,
        };
        found.dst = self.destination(at, dst, result)?;
        if Some(found.dst.1) != Current::width(result) {
            return Err(self.refuse(at, "a register of another width than the instruction's"));
        }
        let index = self.program.lanewise.len() as u32;
        self.program.lanewise.push(found);
        self.emit(at, Kind::Lanewise, no_operands(), index);
        Ok(())
    }
}
