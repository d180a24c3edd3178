//! The product: `d = epilogue(alpha op(a) op(b) + beta c + bias)`.

use std::ffi::{c_int, c_void};

use bugaroo_cuda_abi::{CUstream, FunctionAddress, Functions};
use half::{bf16, f16};
use num_traits::Float;

use super::super::call::{self, Call, Handle, Value, call};
use super::super::ex::{Element, converted, single};
use super::super::number;
use super::super::operand::Place;
use super::super::status::{Outcome, Status};
use super::description::{self, Layout, Operation};
use crate::blas::matrix::{Matrix, Op};
use crate::blas::product;
use crate::blas::scalar::Scalar;
use crate::driver;
use crate::work::{Memory, Plain};

/// What is done to each sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    None,
    Relu,
    Gelu,
}

/// A matrix, checked.
#[derive(Clone, Copy, Debug)]
struct Operand {
    element: Element,
    place: Place,
    /// It stands row by row: it is the transpose of `place`.
    by_rows: bool,
    /// As it is: rows and columns.
    extent: [usize; 2],
    /// From one of the batch to the next, in bytes.
    distance: u64,
    batch: usize,
}

/// A product, checked.
#[derive(Clone, Copy, Debug)]
struct Checked {
    ops: [Op; 2],
    operands: [Operand; 4],
    shape: Shape,
    bias: Option<(u64, Element, u64)>,
}

impl Operand {
    /// Checks a layout.
    ///
    /// # Errors
    /// `CUBLAS_STATUS_INVALID_VALUE`, and what is not supported.
    fn new(call: &Call<'_>, layout: Layout) -> Outcome<Operand> {
        let element = Element::of(layout.kind)
            .filter(|element| matches!(element, Element::F16 | Element::Bf16 | Element::F32 | Element::F64));
        let element =
            element.ok_or_else(|| call.unsupported(&format!("a matrix of type {}", layout.kind)))?;
        let by_rows = match layout.order {
            0 => false,
            1 => true,
            order => return Err(call.unsupported(&format!("order {order} of a matrix"))),
        };
        let size = |value: u64| usize::try_from(value).map_err(|_| Status::INVALID_VALUE);
        let extent = [size(layout.rows)?, size(layout.columns)?];
        let [rows, columns] = if by_rows { [extent[1], extent[0]] } else { extent };
        let place = Place::new(0, rows, columns, layout.leading)?;
        let distance = number::distance(layout.distance).wrapping_mul(element.bytes() as u64);
        Ok(Operand { element, place, by_rows, extent, distance, batch: number::count(layout.batch)? })
    }

    fn at(&self, address: u64, index: usize) -> Place {
        self.place.moved(address.wrapping_add(self.distance.wrapping_mul(index as u64)))
    }
}

/// Numbers that are computed with.
trait Sum: Scalar + Float {
    fn read(memory: &Memory<'_>, place: Place, element: Element) -> driver::Outcome<Matrix<Self>>;
    fn write(memory: &Memory<'_>, place: Place, element: Element, matrix: Matrix<Self>) -> driver::Outcome;
    fn constant(value: f64) -> Self;
}

impl Sum for f32 {
    fn read(memory: &Memory<'_>, place: Place, element: Element) -> driver::Outcome<Matrix<f32>> {
        single(memory, place, element)
    }
    fn write(memory: &Memory<'_>, place: Place, element: Element, matrix: Matrix<f32>) -> driver::Outcome {
        match element {
            Element::F16 => place.write(memory, &converted(matrix, f16::from_f32)),
            Element::Bf16 => place.write(memory, &converted(matrix, bf16::from_f32)),
            _ => place.write(memory, &matrix),
        }
    }
    fn constant(value: f64) -> f32 {
        value as f32
    }
}

impl Sum for f64 {
    fn read(memory: &Memory<'_>, place: Place, _element: Element) -> driver::Outcome<Matrix<f64>> {
        place.read(memory)
    }
    fn write(memory: &Memory<'_>, place: Place, _element: Element, matrix: Matrix<f64>) -> driver::Outcome {
        place.write(memory, &matrix)
    }
    fn constant(value: f64) -> f64 {
        value
    }
}

impl Shape {
    fn of<T: Sum>(self, value: T) -> T {
        match self {
            Shape::None => value,
            // What is no number stays so.
            Shape::Relu => {
                if value < T::zero() {
                    T::zero()
                } else {
                    value
                }
            }
            Shape::Gelu => {
                let [half, cubic, root] =
                    [0.5, 0.044_715, (2.0 / std::f64::consts::PI).sqrt()].map(T::constant);
                let inner = root * (value + cubic * value * value * value);
                half * value * (T::one() + inner.tanh())
            }
        }
    }
}

impl Checked {
    /// Checks a product's arguments.
    ///
    /// # Errors
    /// `CUBLAS_STATUS_INVALID_VALUE` for extents that do not fit, and what is not supported.
    fn new(call: &Call<'_>, operation: Operation, layouts: [Layout; 4]) -> Outcome<Checked> {
        let ops = [number::op(operation.ops[0])?, number::op(operation.ops[1])?];
        if operation.ops[2] != 0 || operation.fill != 2 {
            return Err(call.unsupported("a transposed or triangular result"));
        }
        let mut operands = Vec::with_capacity(4);
        for layout in layouts {
            operands.push(Operand::new(call, layout)?);
        }
        let operands: [Operand; 4] = operands.try_into().map_err(|_| Status::INTERNAL_ERROR)?;
        let [a, b, c, d] = operands;
        let taken = |operand: Operand, op: Op| {
            let [rows, columns] = operand.extent;
            if op.swaps() { [columns, rows] } else { [rows, columns] }
        };
        let ([m, k], [inner, n]) = (taken(a, ops[0]), taken(b, ops[1]));
        if k != inner
            || c.extent != [m, n]
            || d.extent != [m, n]
            || operands.iter().any(|one| one.batch != d.batch)
        {
            return Err(Status::INVALID_VALUE);
        }
        let double = [a, b, c, d].map(|one| one.element == Element::F64);
        let fits = match operation.compute {
            // CUBLAS_COMPUTE_16F, and those of 32 bits
            64 | 65 | 68 | 69 | 74 | 75 | 77 => double == [false; 4],
            // Of 64
            70 | 71 => double == [true; 4],
            _ => false,
        };
        if !fits || a.element != b.element || c.element != d.element {
            let what =
                format!("{:?} with compute type {}", operands.map(|one| one.element), operation.compute);
            return Err(call.unsupported(&what));
        }
        let (shape, adds) = match operation.epilogue {
            1 => (Shape::None, false),
            2 => (Shape::Relu, false),
            4 => (Shape::None, true),
            6 => (Shape::Relu, true),
            32 => (Shape::Gelu, false),
            36 => (Shape::Gelu, true),
            epilogue => return Err(call.unsupported(&format!("epilogue {epilogue}"))),
        };
        let kind =
            Some(d.element).filter(|_| operation.bias_kind < 0).or_else(|| Element::of(operation.bias_kind));
        let kind = kind.filter(|kind| {
            (*kind == Element::F64) == double[3] && !matches!(kind, Element::I8 | Element::I32)
        });
        let kind =
            kind.ok_or_else(|| call.unsupported(&format!("a bias of type {}", operation.bias_kind)))?;
        let bias_distance = number::distance(operation.bias_distance).wrapping_mul(kind.bytes() as u64);
        let bias = adds.then_some((operation.bias, kind, bias_distance));
        Ok(Checked { ops, operands, shape, bias })
    }

    fn compute<T: Sum>(
        &self,
        memory: &Memory<'_>,
        alpha: T,
        beta: T,
        addresses: [u64; 4],
    ) -> driver::Outcome {
        let [a, b, c, d] = self.operands;
        for index in 0..d.batch {
            let read = |operand: Operand, address: u64| -> driver::Outcome<Matrix<T>> {
                let matrix = T::read(memory, operand.at(address, index), operand.element)?;
                Ok(if operand.by_rows { matrix.transposed() } else { matrix })
            };
            let [rows, columns] = d.extent;
            let mut sum = if num_traits::Zero::is_zero(&beta) {
                Matrix::zero(rows, columns)
            } else {
                read(c, addresses[2])?
            };
            if num_traits::Zero::is_zero(&alpha) {
                product::scale(beta, &mut sum.data);
            } else {
                let (left, right) = (read(a, addresses[0])?, read(b, addresses[1])?);
                product::gemm(alpha, (&left, self.ops[0]), (&right, self.ops[1]), beta, &mut sum);
            }
            if let Some((address, kind, distance)) = self.bias {
                let address = address.wrapping_add(distance.wrapping_mul(index as u64));
                // A vector is a matrix of one column.
                let place = Place::new(address, rows, 1, rows.max(1) as i64).map_err(|_| 1_u32)?;
                let bias = T::read(memory, place, kind)?;
                for column in 0..columns {
                    let sums = sum.column_mut(column).iter_mut();
                    sums.zip(&bias.data).for_each(|(sum, bias)| *sum += *bias);
                }
            }
            sum.data.iter_mut().for_each(|value| *value = self.shape.of(*value));
            let result = if d.by_rows { sum.transposed() } else { sum };
            T::write(memory, d.at(addresses[3], index), d.element, result)?;
        }
        Ok(())
    }
}

/// A factor by the operation's pointer mode.
///
/// # Safety
/// In the host's mode, `pointer` is null or points to a value.
unsafe fn factor<T: Plain>(call: &Call<'_>, mode: c_int, pointer: *const c_void) -> Outcome<Value<T>> {
    match mode {
        // SAFETY: the caller's promise.
        0 | 1 => unsafe { call::value(mode == 1, pointer.cast()) },
        _ => Err(call.unsupported(&format!("pointer mode {mode}"))),
    }
}

/// Hands a product over, whose factors are of a type that becomes that of the sums.
///
/// # Errors
/// For null; as the driver has it.
///
/// # Safety
/// As [`factor`].
unsafe fn submit<S: Plain, T: Sum>(
    call: &Call<'_>,
    (checked, addresses, stream): (Checked, [u64; 4], CUstream),
    mode: c_int,
    (alpha, beta): (*const c_void, *const c_void),
    to: fn(S) -> T,
) -> Outcome {
    // SAFETY: the caller's promise.
    let (alpha, beta) = unsafe { (factor::<S>(call, mode, alpha)?, factor::<S>(call, mode, beta)?) };
    call.submit_to(stream, move |memory| {
        checked.compute(memory, to(alpha.get(memory)?), to(beta.get(memory)?), addresses)
    })
}

#[allow(clippy::too_many_arguments, reason = "the API's own signature")]
unsafe extern "C" fn matmul(
    handle: Handle,
    operation: *const c_void,
    alpha: *const c_void,
    a: u64,
    a_layout: *const c_void,
    b: u64,
    b_layout: *const c_void,
    beta: *const c_void,
    c: u64,
    c_layout: *const c_void,
    d: u64,
    d_layout: *const c_void,
    _algorithm: *const c_void,
    _workspace: *mut c_void,
    _workspace_bytes: usize,
    stream: CUstream,
) -> c_int {
    call(handle, "cublasLtMatmul", |call| {
        // SAFETY: the caller's promise.
        let (operation, checked) =
            unsafe { checked(call, operation, [a_layout, b_layout, c_layout, d_layout]) }?;
        let mode = operation.pointer_mode;
        if checked.operands[3].place.is_empty() {
            return Ok(());
        }
        let addresses = [a, b, c, d];
        let factors = (alpha, beta);
        let product = (checked, addresses, stream);
        match operation.scale {
            // SAFETY: the caller's promise.
            0 => unsafe { submit(call, product, mode, factors, |value: f32| value) },
            // SAFETY: as above.
            1 => unsafe { submit(call, product, mode, factors, |value: f64| value) },
            // SAFETY: as above.
            2 => unsafe { submit(call, product, mode, factors, f16::to_f32) },
            scale => Err(call.unsupported(&format!("factors of type {scale}"))),
        }
    })
}

/// Reads and checks what describes a product.
///
/// # Errors
/// As [`Checked::new`], and for factors of another type than the sums'.
///
/// # Safety
/// Each is null or points to a description.
unsafe fn checked(
    call: &Call<'_>,
    operation: *const c_void,
    layouts: [*const c_void; 4],
) -> Outcome<(Operation, Checked)> {
    // SAFETY: the caller's promise.
    let operation: Operation = unsafe { description::get(operation) }?;
    let mut found = [Layout::default(); 4];
    for (found, layout) in found.iter_mut().zip(layouts) {
        // SAFETY: the caller's promise.
        *found = unsafe { description::get(layout) }?;
    }
    let fits = matches!(
        (operation.compute, operation.scale),
        (64 | 65, 2) | (68 | 69 | 74 | 75 | 77, 0) | (70 | 71, 1)
    );
    if !fits {
        let Operation { compute, scale, .. } = operation;
        return Err(call.unsupported(&format!("compute type {compute} with factors of type {scale}")));
    }
    Ok((operation, Checked::new(call, operation, found)?))
}

/// What is told of an algorithm (`cublasLtMatmulHeuristicResult_t`).
#[repr(C)]
struct Found {
    algorithm: [u64; 8],
    workspace: usize,
    state: c_int,
    waves: f32,
    reserved: [c_int; 4],
}

#[allow(clippy::too_many_arguments, reason = "the API's own signature")]
unsafe extern "C" fn heuristic(
    handle: Handle,
    operation: *const c_void,
    a: *const c_void,
    b: *const c_void,
    c: *const c_void,
    d: *const c_void,
    _preference: *const c_void,
    asked: c_int,
    place: *mut Found,
    count: *mut c_int,
) -> c_int {
    call(handle, "cublasLtMatmulAlgoGetHeuristic", |call| {
        if asked < 1 || place.is_null() || count.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: the caller's promise.
        unsafe { checked(call, operation, [a, b, c, d]) }?;
        let found = Found { algorithm: [0; 8], workspace: 0, state: 0, waves: 1.0, reserved: [0; 4] };
        // SAFETY: not null, and the caller vouches for the rest.
        unsafe {
            place.write_unaligned(found);
            count.write_unaligned(1);
        }
        Ok(())
    })
}

/// The functions of this file, by name.
pub const FUNCTIONS: Functions = &[
    ("cublasLtMatmul", FunctionAddress(matmul as *const c_void)),
    ("cublasLtMatmulAlgoGetHeuristic", FunctionAddress(heuristic as *const c_void)),
];
