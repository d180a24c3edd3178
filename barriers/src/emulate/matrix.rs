//! Matrix instructions: which shared memory they touch. What they compute is not known.
//!
//! `ldmatrix` and `stmatrix` name by lane where each row lies. Which lane of a `wmma.load` or `wmma.store` touches which element, the
//! ISA leaves open: here lane `i` touches the `i`-th row (column, if the matrix is column-major).

use bugaroo_ptx::op::{MatrixPart, WmmaMatrix};
use bugaroo_simulator::alu::Width;
use bugaroo_simulator::decoded::{Address, Matrix};

use super::collective::Part;
use super::machine::{Machine, Target};
use super::memory::Touched;
use super::refusal::Refusal;
use super::registers::{Why, lanes};
use crate::program::{SharedAccessKind, SharedStrength, WrittenValues};

impl Machine<'_> {
    /// Does matrix instruction `index` for lanes that are all there.
    pub fn matrix(&mut self, w: usize, parts: &[Part], index: u32) -> Result<(), Refusal> {
        let matrices = self.set.code.image.matrices;
        match &matrices[index as usize] {
            Matrix::Load { address, rows, .. } => {
                self.rows(w, parts, address, rows.len(), SharedAccessKind::Read)?;
                self.forget(parts, rows.iter().flatten());
            }
            Matrix::Store { address, sources, .. } => {
                self.rows(w, parts, address, sources.len(), SharedAccessKind::Write)?;
            }
            Matrix::Transpose { dst, .. } => self.forget(parts, std::iter::once(dst)),
            Matrix::Multiply { d, .. } => self.forget(parts, d.iter().flatten()),
            Matrix::Group(_) => {
                unreachable!("in a program that is only read it stands among the asynchronous ones")
            }
            Matrix::WmmaLoad { part, matrix, address, stride, rows } => {
                self.tile(w, parts, address, *stride, (matrix, *part), SharedAccessKind::Read)?;
                self.forget(parts, rows.iter().flatten());
            }
            Matrix::WmmaStore { matrix, address, stride, .. } => {
                self.tile(w, parts, address, *stride, (matrix, MatrixPart::C), SharedAccessKind::Write)?;
            }
        }
        Ok(())
    }

    fn forget<'r>(&mut self, parts: &[Part], rows: impl Iterator<Item = &'r u32>) {
        for row in rows {
            for part in parts {
                self.calls.frames[part.frame as usize].registers.mark(*row, part.lanes, 0, Why::at(part.pc));
            }
        }
    }

    /// Rows of 16 bytes, of which lanes 0 to 7 name the first eight, and so on.
    fn rows(
        &mut self,
        w: usize,
        parts: &[Part],
        address: &Address,
        count: usize,
        kind: SharedAccessKind,
    ) -> Result<(), Refusal> {
        for part in parts {
            let mut touched = Touched::none();
            for lane in lanes(part.lanes).filter(|lane| *lane < count * 8) {
                self.piece(w, part, address, (lane, lane), (0, 16), kind, &mut touched)?;
            }
            self.touch(w, part.pc, kind, (16, 16, SharedStrength::Weak), &touched, WrittenValues::Unknown)?;
        }
        Ok(())
    }

    /// `bytes` of a matrix, `offset` behind the address that lane `from` names, as an access of lane `by`.
    #[allow(clippy::too_many_arguments, reason = "who, where, what")]
    fn piece(
        &mut self,
        w: usize,
        part: &Part,
        address: &Address,
        (from, by): (usize, usize),
        (offset, bytes): (u64, u64),
        kind: SharedAccessKind,
        touched: &mut Touched,
    ) -> Result<(), Refusal> {
        match self.target(w, part.frame, address, from) {
            Target::Shared(rank, at) => {
                let at = at.wrapping_add(offset);
                self.inside(w, part.pc, from, (rank, at), bytes, 1)?;
                if kind == SharedAccessKind::Write {
                    self.ctas[rank as usize].shared.forget(at as usize, bytes as usize, Why::at(part.pc));
                }
                touched.add(by, rank, at);
                Ok(())
            }
            Target::Global(_) => Ok(()),
            Target::Unknown(why) => Err(self.unknown(w, part.pc, from, "the address of a matrix", why)),
            Target::Local(_) | Target::Param(_) => {
                Err(self.illegal(w, part.pc, from, "a matrix in local memory or a parameter"))
            }
        }
    }

    fn tile(
        &mut self,
        w: usize,
        parts: &[Part],
        address: &Address,
        stride: Option<i32>,
        (matrix, which): (&WmmaMatrix, MatrixPart),
        kind: SharedAccessKind,
    ) -> Result<(), Refusal> {
        let part = &parts[0];
        let lane = part.lanes.trailing_zeros() as usize;
        let (rows, columns) = matrix.shape.extent(which);
        let (lines, length) = if matrix.row { (rows, columns) } else { (columns, rows) };
        let bits = u64::from(matrix.ty.bits());
        let registers = &self.calls.frames[part.frame as usize].registers;
        let step = match stride {
            None => length as u64,
            Some(slot) if registers.known(slot) >> lane & 1 != 0 => registers.read(slot, Width::W32, lane),
            // In global memory it does not matter.
            Some(_) if matches!(self.target(w, part.frame, address, lane), Target::Global(_)) => {
                return Ok(());
            }
            Some(slot) => {
                return Err(self.unknown(w, part.pc, lane, "the stride of a matrix", registers.why(slot)));
            }
        };
        let bytes = (length as u64 * bits).div_ceil(8);
        let by: Vec<usize> = lanes(self.warps[w].alive).collect();
        // More lines than lanes go in rounds.
        for round in 0..lines.div_ceil(by.len()) {
            let mut touched = Touched::none();
            for (line, by) in (round * by.len()..lines).zip(&by) {
                let offset = line as u64 * step * bits / 8;
                self.piece(w, part, address, (lane, *by), (offset, bytes), kind, &mut touched)?;
            }
            self.touch(
                w,
                part.pc,
                kind,
                (bytes as usize, bytes as usize, SharedStrength::Weak),
                &touched,
                WrittenValues::Unknown,
            )?;
        }
        Ok(())
    }
}
