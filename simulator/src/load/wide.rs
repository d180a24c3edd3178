//! 128-bit registers: two rows of 64 bits, the low half first.

use bugaroo_ptx::ast::{Instruction, Operand};
use bugaroo_ptx::op::Op;
use bugaroo_ptx::types::Type;

use super::error::LoadError;
use super::function::{Builder, Current, no_operands};
use super::scope::Name;
use crate::alu::{OperandShape, Width, select};
use crate::decoded::Kind;

impl<'m> Builder<'m> {
    /// The rows of a 128-bit register's halves.
    pub fn halves(&mut self, at: &mut Current<'m>, operand: &Operand) -> Result<[u32; 2], LoadError> {
        match operand {
            Operand::Sink => Ok([at.frame.scratch(); 2]),
            Operand::Register(name) => match self.find(at, name) {
                Some(Name::Register(number, Type::B128)) => Ok(at.wide_rows(number)),
                _ => Err(self.refuse(at, format!("`{name}` is no register of 128 bits"))),
            },
            _ => Err(self.refuse(at, "an operand of 128 bits of this form")),
        }
    }

    /// `mov.b128`: between two registers, or between one and its halves.
    pub fn mov_wide(&mut self, at: &mut Current<'m>, inst: &'m Instruction) -> Result<(), LoadError> {
        let [to, from] = &inst.operands[..] else {
            return Err(self.refuse(at, "a move needs two operands"));
        };
        let sources = match from {
            Operand::Vector(parts) => {
                let [low, high] = &parts[..] else {
                    return Err(self.refuse(at, "a vector that does not fill the register"));
                };
                [self.half(at, low)?, self.half(at, high)?]
            }
            whole => self.halves(at, whole)?.map(|row| row as i32),
        };
        let destinations = match to {
            Operand::Vector(parts) => {
                let [low, high] = &parts[..] else {
                    return Err(self.refuse(at, "a vector that does not fill the register"));
                };
                let (low, high) =
                    (self.destination(at, low, Type::B64)?, self.destination(at, high, Type::B64)?);
                if low.1 != Width::W64 || high.1 != Width::W64 {
                    return Err(self.refuse(at, "a half that is not 64 bits wide"));
                }
                [low.0, high.0]
            }
            whole => self.halves(at, whole)?,
        };
        let shape = OperandShape {
            dst: Width::W64,
            dst2: None,
            src: [Some(Width::W64), None, None, None],
            negated: [false; 4],
        };
        let run =
            select(&Op::Mov { ty: Type::B64 }, &shape, self.program.isa).expect("there is a move of 64 bits");
        for (dst, src) in destinations.into_iter().zip(sources) {
            let mut ops = no_operands();
            (ops.dst, ops.src[0]) = (dst, src);
            self.emit_run(at, Kind::Alu, run, ops, 0);
        }
        Ok(())
    }

    /// A source of 64 bits.
    fn half(&mut self, at: &mut Current<'m>, operand: &Operand) -> Result<i32, LoadError> {
        let source = self.source(at, operand, Type::B64)?;
        if source.width != Width::W64 {
            return Err(self.refuse(at, "a half that is not 64 bits wide"));
        }
        Ok(source.slot)
    }
}
