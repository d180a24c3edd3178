//! From a decoded instruction to its row function: asks the families in turn.

use bugaroo_ptx::op::Op;

use super::row::Picker;
use super::{Isa, OperandShape, RowFn};
use super::{approx, arith, bits, compare, convert, integer, permute, predicate, wide};

/// The row function of an instruction whose operands have the widths of `shape`; None when the ALU has
/// none for it: it is not arithmetic, or the widths are not the ISA's.
pub fn select(op: &Op, shape: &OperandShape, isa: Isa) -> Option<RowFn> {
    let picker = Picker { shape, isa };
    let families = [
        predicate::select,
        integer::select,
        wide::select,
        bits::select,
        permute::select,
        compare::select,
        convert::select,
        arith::select,
        approx::select,
    ];
    families.iter().find_map(|family| family(op, picker))
}
