//! Matrix instructions: fragments to rows.

use bugaroo_ptx::ast::{Instruction, Operand};
use bugaroo_ptx::op::{MatrixType, Op};
use bugaroo_ptx::types::Type;

use super::error::LoadError;
use super::function::{Builder, Current};
use crate::alu::tensor::Tensor;
use crate::decoded::{Collective, Matrix, Together};

impl<'m> Builder<'m> {
    /// Translates one such instruction: a collective of all lanes.
    pub fn matrix(&mut self, at: &mut Current<'m>, inst: &'m Instruction) -> Result<(), LoadError> {
        let word = Type::B32;
        let found = match (&inst.op, &inst.operands[..]) {
            (Op::Ldmatrix { space, count, trans }, [rows, address]) => Matrix::Load {
                address: self.memory_address(at, address, *space)?,
                rows: self.fragment(at, rows, word, usize::from(*count))?,
                trans: *trans,
            },
            (Op::Stmatrix { space, count, trans }, [address, rows]) => Matrix::Store {
                address: self.memory_address(at, address, *space)?,
                sources: self.fragment_source(at, rows, word, usize::from(*count))?,
                trans: *trans,
            },
            (Op::Movmatrix, [dst, src]) => Matrix::Transpose {
                dst: self.typed_destination(at, dst, word)?,
                src: self.typed_source(at, src, word)?,
            },
            (Op::WmmaLoad { part, matrix }, [rows, address, stride @ ..]) => Matrix::WmmaLoad {
                part: *part,
                matrix: *matrix,
                address: self.memory_address(at, address, matrix.space)?,
                stride: stride.first().map(|s| self.typed_source(at, s, Type::U32)).transpose()?,
                rows: self.fragment(at, rows, register(matrix.ty), matrix.registers(*part))?,
            },
            (Op::WmmaStore { matrix }, [address, rows, stride @ ..]) => Matrix::WmmaStore {
                matrix: *matrix,
                address: self.memory_address(at, address, matrix.space)?,
                stride: stride.first().map(|s| self.typed_source(at, s, Type::U32)).transpose()?,
                sources: self.fragment_source(
                    at,
                    rows,
                    register(matrix.ty),
                    matrix.registers(bugaroo_ptx::op::MatrixPart::C),
                )?,
            },
            (Op::Mma(mma), [d, a, b, c]) => {
                let [ra, rb, rc, rd] = mma.registers();
                Matrix::Multiply {
                    tensor: Box::new(Tensor::new(mma, self.program.isa)),
                    d: self.fragment(at, d, register(mma.d), rd)?,
                    a: self.fragment_source(at, a, register(mma.a), ra)?,
                    b: self.fragment_source(at, b, register(mma.b), rb)?,
                    c: self.fragment_source(at, c, register(mma.c), rc)?,
                }
            }
            _ => return Err(self.refuse(at, "operands of this form")),
        };
        self.of_all_lanes(at, found);
        Ok(())
    }

    /// Emits a matrix instruction that all lanes of a warp do together.
    pub(super) fn of_all_lanes(&mut self, at: &mut Current<'m>, found: Matrix) {
        let index = self.program.matrices.len() as u32;
        self.program.matrices.push(found);
        let all = self.program.constants.slot(crate::alu::Width::W32, 0xffff_ffff);
        let collective = Collective {
            what: Together::Matrix(index),
            mask: Some(all),
            dst: None,
            dst_pred: None,
            src: [0; 3],
            negated: false,
        };
        self.together(at, collective);
    }

    pub(super) fn fragment(
        &mut self,
        at: &mut Current<'m>,
        operand: &Operand,
        ty: Type,
        count: usize,
    ) -> Result<Vec<Option<u32>>, LoadError> {
        let elements = self.elements(at, operand, count)?;
        elements
            .iter()
            .map(|element| match element {
                Operand::Sink => Ok(None),
                element => self.typed_destination(at, element, ty).map(Some),
            })
            .collect()
    }

    pub(super) fn fragment_source(
        &mut self,
        at: &mut Current<'m>,
        operand: &Operand,
        ty: Type,
        count: usize,
    ) -> Result<Vec<i32>, LoadError> {
        let elements = self.elements(at, operand, count)?;
        elements.iter().map(|element| self.typed_source(at, element, ty)).collect()
    }

    pub(super) fn elements<'o>(
        &self,
        at: &Current<'m>,
        operand: &'o Operand,
        count: usize,
    ) -> Result<&'o [Operand], LoadError> {
        let elements = match operand {
            Operand::Vector(elements) => &elements[..],
            single => std::slice::from_ref(single),
        };
        if elements.len() == count {
            Ok(elements)
        } else {
            Err(self.refuse(at, format!("a vector of {} registers, not {count}", elements.len())))
        }
    }
}

/// The type of the registers that hold elements of this type.
pub(super) fn register(ty: MatrixType) -> Type {
    match ty {
        MatrixType::F64 => Type::F64,
        MatrixType::F32 => Type::F32,
        _ => Type::B32,
    }
}
