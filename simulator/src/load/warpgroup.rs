//! `wgmma` (PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions"): a collective of each warp for who runs the program, which
//! multiplies at once; with its groups for who only reads it.

use bugaroo_ptx::ast::{Instruction, Operand};
use bugaroo_ptx::op::{MatrixType, Op, Wgmma};
use bugaroo_ptx::types::Type;

use super::error::LoadError;
use super::function::{Builder, Current, no_operands};
use crate::alu::tensor::Tensor;
use crate::decoded::{Asynchronous, Factor, GroupMultiply, Kind, Matrix, Warpgroup};

impl<'m> Builder<'m> {
    /// Translates one such instruction.
    pub fn warpgroup(&mut self, at: &mut Current<'m>, inst: &'m Instruction) -> Result<(), LoadError> {
        if !self.program.only_read {
            return match (&inst.op, &inst.operands[..]) {
                (Op::Wgmma(wgmma), [d, a, b, adds, rest @ ..]) => {
                    let found = self.group(at, *wgmma, (d, a, b), adds, rest)?;
                    self.of_all_lanes(at, Matrix::Group(Box::new(found)));
                    Ok(())
                }
                // What was issued has been done.
                _ => {
                    self.emit(at, Kind::Nop, no_operands(), 0);
                    Ok(())
                }
            };
        }
        let found = match (&inst.op, &inst.operands[..]) {
            (Op::WgmmaFence, []) => Warpgroup::Fence,
            (Op::WgmmaCommit, []) => Warpgroup::Commit,
            (Op::WgmmaWait, [Operand::Integer(keep)]) if *keep >= 0 => {
                Warpgroup::Wait { keep: u32::try_from(*keep).unwrap_or(u32::MAX) }
            }
            (Op::Wgmma(wgmma), [d, a, b, adds, rest @ ..]) => {
                self.multiply(at, *wgmma, (d, a, b), adds, rest)?
            }
            _ => return Err(self.refuse(at, "operands of this form")),
        };
        let index = self.program.asyncs.len() as u32;
        self.program.asyncs.push(Asynchronous::Warpgroup(found));
        self.emit(at, Kind::Asynchronous, no_operands(), index);
        Ok(())
    }

    /// A warp's part of a multiplication.
    fn group(
        &mut self,
        at: &mut Current<'m>,
        wgmma: Wgmma,
        (d, a, b): (&Operand, &Operand, &Operand),
        adds: &Operand,
        rest: &[Operand],
    ) -> Result<GroupMultiply, LoadError> {
        let c = self.fragment_source(at, d, super::matrix::register(wgmma.d), wgmma.registers())?;
        let signs = match rest {
            [] | [_] => [false; 2],
            [a, b, ..] => [self.negates(at, a)?, self.negates(at, b)?],
        };
        let sign: u32 = match wgmma.a {
            MatrixType::TF32 => 0x8000_0000,
            MatrixType::E4M3 | MatrixType::E5M2 => 0x8080_8080,
            _ => 0x8000_8000,
        };
        let Warpgroup::Multiply { d, a, b, adds, transposed, .. } =
            self.multiply(at, wgmma, (d, a, b), adds, rest)?
        else {
            unreachable!("it gives a multiplication");
        };
        let flipped = signs.map(|negates| if negates { sign } else { 0 });
        let tensor = Tensor::new(&wgmma.of_warp(), self.program.isa);
        Ok(GroupMultiply { tensor, d, c, a, b, adds, transposed, flipped })
    }

    /// An immediate that is 1 or -1: -1?
    fn negates(&self, at: &Current<'m>, operand: &Operand) -> Result<bool, LoadError> {
        match operand {
            Operand::Integer(value @ (1 | -1)) => Ok(*value == -1),
            _ => Err(self.refuse(at, "a sign that is neither 1 nor -1")),
        }
    }

    fn multiply(
        &mut self,
        at: &mut Current<'m>,
        wgmma: Wgmma,
        (d, a, b): (&Operand, &Operand, &Operand),
        adds: &Operand,
        rest: &[Operand],
    ) -> Result<Warpgroup, LoadError> {
        let in_registers = matches!(a, Operand::Vector(_));
        // Signs of the factors, then for halves whether they are transposed; a fragment cannot be.
        let transposed = match (wgmma.transposes(), in_registers, rest) {
            (true, false, [_, _, a, b]) => [self.flag(at, a)?, self.flag(at, b)?],
            (true, true, [_, _, b]) => [false, self.flag(at, b)?],
            (false, _, [] | [_, _]) => [false; 2],
            _ => return Err(self.refuse(at, "operands of this form")),
        };
        let adds = self.source(at, adds, Type::Pred)?;
        Ok(Warpgroup::Multiply {
            d: self.fragment(at, d, super::matrix::register(wgmma.d), wgmma.registers())?,
            a: match a {
                Operand::Vector(_) => Factor::Fragment(self.fragment_source(at, a, Type::B32, 4)?),
                descriptor => Factor::Shared(self.typed_source(at, descriptor, Type::B64)?),
            },
            b: self.typed_source(at, b, Type::B64)?,
            adds: (adds.slot, adds.negated),
            transposed,
            wgmma,
        })
    }

    /// An immediate that is 0 or 1.
    fn flag(&self, at: &Current<'m>, operand: &Operand) -> Result<bool, LoadError> {
        match operand {
            Operand::Integer(value @ (0 | 1)) => Ok(*value == 1),
            _ => Err(self.refuse(at, "a transposition that is neither 0 nor 1")),
        }
    }
}
