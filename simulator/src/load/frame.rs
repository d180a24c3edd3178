//! The layout of a function's frame: where results, parameters and registers lie.

use bugaroo_ptx::ast::{Function, Param};
use bugaroo_ptx::types::Type;

use crate::alu::Width;
use crate::decoded::{CopyWidth, Formal, WORD_ROW};

/// The row that a register of this type takes; None for `.b128`.
pub(super) fn register_width(ty: Type) -> Option<Width> {
    Some(match ty.bytes() {
        0 => Width::Pred,
        1 | 2 => Width::W16,
        4 => Width::W32,
        8 => Width::W64,
        _ => return None,
    })
}

/// Bytes that a frame may have: offsets in it stay far from what 32 bits hold, with the sign that slots need.
const LARGEST: u32 = 1 << 28;
/// Word rows that one variable may have; what declares more is refused.
const MOST_WORDS: u32 = 1 << 14;

/// A frame as it grows.
#[derive(Debug, Default)]
pub(super) struct Frame {
    bytes: u32,
    /// More was asked for than a frame may have; the rows that did not fit have no place, and the function is refused.
    full: bool,
    /// Predicate rows that still fit into the chunk begun last.
    spare_preds: (u32, u32),
    scratch: Option<u32>,
    /// Word rows given back, as (rows, offset).
    spare_words: Vec<(u32, u32)>,
    /// Every row but the scratch row, and how wide it is.
    rows: Vec<(u32, Width)>,
}

impl Frame {
    /// A new row.
    pub fn row(&mut self, width: Width) -> u32 {
        let offset = self.place_row(width);
        self.rows.push((offset, width));
        offset
    }

    /// All rows that have been given out, but for the scratch row.
    pub fn rows(&self) -> &[(u32, Width)] {
        &self.rows
    }

    fn place_row(&mut self, width: Width) -> u32 {
        if width == Width::Pred {
            let (offset, left) = self.spare_preds;
            if left > 0 {
                self.spare_preds = (offset + 4, left - 1);
                return offset;
            }
            let offset = self.take(32);
            self.spare_preds = (offset + 4, 7);
            return offset;
        }
        self.take(width.bytes())
    }

    /// Word rows for a variable of so many bytes.
    pub fn words(&mut self, bytes: u64) -> u32 {
        // More than fit into any frame, where they are no number of 32 bits.
        let rows = u32::try_from(bytes.div_ceil(4)).unwrap_or(u32::MAX);
        match self.spare_words.iter().rposition(|(spare, _)| *spare == rows) {
            Some(at) => self.spare_words.swap_remove(at).1,
            None => {
                let offset = self.take(rows.saturating_mul(WORD_ROW));
                if rows <= MOST_WORDS {
                    self.rows.extend((0..rows).map(|row| (offset + row * WORD_ROW, Width::W32)));
                }
                offset
            }
        }
    }

    /// Gives the word rows of a variable back whose block has ended: the next call sequence takes them again,
    /// so that a frame's size does not grow with the number of its calls. Lanes that are still in the block
    /// are not disturbed: every lane has its own column of a row.
    pub fn release_words(&mut self, offset: u32, bytes: u32) {
        self.spare_words.push((bytes.div_ceil(4), offset));
    }

    /// A row that results nobody wants go to; wide enough for any.
    pub fn scratch(&mut self) -> u32 {
        match self.scratch {
            Some(offset) => offset,
            None => {
                let offset = self.take(Width::W64.bytes());
                self.scratch = Some(offset);
                offset
            }
        }
    }

    /// Bytes, rounded up to a cache line; None when they are more than a frame may have.
    pub fn bytes(&self) -> Option<u32> {
        (!self.full).then_some(self.bytes.next_multiple_of(64))
    }

    fn take(&mut self, bytes: u32) -> u32 {
        let end = bytes.checked_next_multiple_of(32).and_then(|bytes| self.bytes.checked_add(bytes));
        match end.filter(|end| *end <= LARGEST) {
            Some(end) => std::mem::replace(&mut self.bytes, end),
            None => {
                self.full = true;
                0
            }
        }
    }
}

/// Results and parameters come first in a device function's frame, in order of declaration, so that callers
/// know where they lie without having seen the body. A kernel has none there. None when a register parameter
/// is of a type that has no row.
pub(super) fn signature(function: &Function, frame: &mut Frame) -> Option<(Vec<Formal>, Vec<Formal>)> {
    let mut place = |params: &[Param]| {
        params
            .iter()
            .map(|param| {
                Some(if param.in_register {
                    let width = register_width(param.variable.ty)?;
                    Formal { offset: frame.row(width), width: CopyWidth::Row(width) }
                } else {
                    let bytes = param.variable.size();
                    let words = u32::try_from(bytes.div_ceil(4)).ok()?;
                    Formal { offset: frame.words(bytes), width: CopyWidth::Words(words) }
                })
            })
            .collect::<Option<Vec<_>>>()
    };
    Some((place(&function.returns)?, place(&function.params)?))
}
